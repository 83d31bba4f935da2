// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Values at ports, in C++: lambdas are tasks, parameters are in ports, results
 * are out ports. A filter with feedback, y[n] = (x[n]^2 + 3 y[n-1]) / 4, over
 * four runs in flight; a port of another type would not compile. Prints:
 *
 *   y[1] = 0.25
 *   y[2] = 1.1875
 *   y[3] = 3.14062
 *   root: the number is negative
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <stdexcept>

static void run(lk::runtime &rt)
{
	lk::graph g(rt, 4);
	double x = 0;
	int n = 0;

	auto source = g.add("x", [&x] { return x += 1; });
	auto square = g.shared("square", [](double v) { return v * v; });
	auto filter = g.add("y", [](double v, double last) {
		return (v + 3 * last) / 4;
	});
	auto sink = g.add("print", [&n](double y) {
		std::printf("y[%d] = %g\n", ++n, y);
	});

	g.connect(lk::out(source), lk::in(square));
	g.connect(lk::out(square), lk::in<0>(filter));
	g.next(lk::out(filter), lk::in<1>(filter), 0.0);
	g.connect(lk::out(filter), lk::in(sink));
	g.seal();
	g.run(3);
}

static void fail(lk::runtime &rt)
{
	lk::graph g(rt);

	g.add("root", []() -> double {
		throw std::domain_error("the number is negative");
	});
	g.seal();
	try {
		g.run();
	} catch (const std::domain_error &e) {
		std::printf("root: %s\n", e.what());
	}
}

int main()
{
	lk::runtime rt("log=none");

	run(rt);
	fail(rt);
	return 0;
}
