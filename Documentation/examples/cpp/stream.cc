// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A stream of numbers that goes on after one that is refused, and a channel
 * that begins with values. Prints:
 *
 *   refused: 13 brings bad luck
 *   17 numbers, their squares make 1940
 *   the channel has 3 and 4
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <stdexcept>

int main()
{
	lk::runtime rt;
	lk::graph g(rt, 8);
	long n = 0, nr = 0, sum = 0;
	auto source = g.add("source", [&n] {
		n++;
		return std::pair{ n > 18 ? lk::end : lk::branch{ 0 }, n };
	});
	auto square = g.shared("square", [](long v) {
		if (v == 13)
			throw std::domain_error("13 brings bad luck");
		return v * v;
	});
	auto sink = g.add("sink", [&](long v) {
		nr++;
		sum += v;
	});

	g.connect(lk::out(source), lk::in(square));
	g.connect(lk::out(square), lk::in(sink));
	g.seal();
	try {
		g.stream(lk::waves().at_most(4).go_on());
	} catch (const std::domain_error &e) {
		std::printf("refused: %s\n", e.what());
	}
	std::printf("%ld numbers, their squares make %ld\n", nr, sum);
	lk::channel<int> ch(rt, 4, 0, "two", { 3, 4 });
	int three = *ch.recv(), four = *ch.recv();
	std::printf("the channel has %d and %d\n", three, four);
}
