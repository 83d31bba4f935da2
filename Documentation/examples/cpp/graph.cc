// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A graph that is built once and run a thousand times. Prints:
 *
 *   after 1000 runs: 1024000
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>

int main()
{
	lk::runtime rt;
	lk::graph g(rt);
	long total = 0;
	auto source = g.add("source", [] { return 32L; });
	auto square = g.add("square", [](long v) { return v * v; });
	auto sink = g.add("sink", [&total](long v) { total += v; });

	g.connect(lk::out(source), lk::in(square));
	g.connect(lk::out(square), lk::in(sink));
	g.seal();
	g.run(1000);
	std::printf("after 1000 runs: %ld\n", total);
}
