// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A filter with feedback: two second-order sections, each a serial stage that
 * gets its own last state through a NEXT edge to itself. So the stages of
 * different samples overlap, and there is no variable that two of them share:
 * section 1 filters sample 5 while section 2 filters sample 4. A serial loop
 * checks each output. Prints:
 *
 *   y[0] = 0.004652
 *   y[999] = 1.000000
 *   1000 outputs, right
 */
#include <lkdf/lkdf.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace
{
// The last two inputs and outputs of a section.
struct state {
	double x1, x2, y1, y2;
};

struct section {
	double b0, b1, b2, a1, a2;

	std::tuple<double, state> operator()(double x, state s) const
	{
		double y = b0 * x + b1 * s.x1 + b2 * s.x2;

		y -= a1 * s.y1 + a2 * s.y2;
		return { y, state{ x, s.x1, y, s.y1 } };
	}
};

// Butterworth low passes, at 1/20 and at 1/10 of the sampling rate.
constexpr section slow{ 0.020083, 0.040166, 0.020083, -1.561018, 0.641350 };
constexpr section fast{ 0.067455, 0.134911, 0.067455, -1.142980, 0.412801 };
constexpr int nr = 1000;

// A step with a ripple that dies away.
double input(int n)
{
	return 1 + 2.434 * std::pow(0.97, n) * std::cos(0.3 * n);
}

std::vector<double> filter(lk::runtime &rt)
{
	std::vector<double> y;
	lk::graph g(rt, 8, "iir");
	int n = 0;

	auto x = g.add("x", [&n] { return input(n++); });
	auto first = g.add("section 1", slow);
	auto second = g.add("section 2", fast);
	auto sink = g.add("y", [&y](double v) { y.push_back(v); });

	g.connect(lk::out(x), lk::in<0>(first));
	g.next(lk::out<1>(first), lk::in<1>(first), state{});
	g.connect(lk::out(first), lk::in<0>(second));
	g.next(lk::out<1>(second), lk::in<1>(second), state{});
	g.connect(lk::out(second), lk::in(sink));
	g.seal();
	g.stream(nr);
	return y;
}

std::vector<double> serial()
{
	std::vector<double> y;
	state s1{}, s2{};
	double v;

	for (int n = 0; n < nr; n++) {
		std::tie(v, s1) = slow(input(n), s1);
		std::tie(v, s2) = fast(v, s2);
		y.push_back(v);
	}
	return y;
}
} // namespace

int main()
{
	lk::runtime rt;
	std::vector<double> y = filter(rt), want = serial();
	bool right = y == want;

	std::printf("y[0] = %.6f\n", y.at(0));
	std::printf("y[%d] = %.6f\n", nr - 1, y.at(nr - 1));
	std::printf("%zu outputs, %s\n", y.size(), right ? "right" : "wrong");
	return !right;
}
