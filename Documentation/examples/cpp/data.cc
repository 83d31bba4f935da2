// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Tasks in the order of the data that they use. Prints:
 *
 *   4 then 14, half of it 7
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>

int main()
{
	lk::runtime rt;
	lk::data<double> x(rt, 2.0), y(rt);

	rt.submit([](const double &a, double &b) { b = a * a; }, lk::read(x),
		  lk::write(y));
	auto before = rt.submit([](const double &b) { return b; }, lk::read(y));
	for (int i = 0; i < 10; i++)
		rt.submit([](double &b) { b += 1; }, lk::update(y));
	auto half =
		rt.submit([](const double &b) { return b / 2; }, lk::read(y));
	double four = before.get(), seven = half.get();
	std::printf("%g then %g, half of it %g\n", four, y.read(), seven);
}
