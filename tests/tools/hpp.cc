// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What lkdf.hpp has besides runs of strict tasks. Prints:
 *
 *   a stream of 100 waves: 5050
 *   one at a time: 5050
 *   the source ended it after 7 waves: 28
 *   a task that sets one port of two: even 0 2 4, odd 1 3
 *   its exception: bad#0: the third is bad
 *   lambdas destroyed: 3 of 3
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

static void streams(lk::runtime &rt)
{
	lk::graph g(rt, 4);
	long n = 0, sum = 0;

	auto source = g.add("source", [&n] { return ++n; });
	auto same = g.shared("same", [](long v) { return v; });
	auto sink = g.add("sink", [&sum](long v) { sum += v; });

	g.connect(lk::out(source), lk::in(same));
	g.connect(lk::out(same), lk::in(sink));
	g.seal();
	g.stream(100);
	std::printf("a stream of 100 waves: %ld\n", sum);
	n = sum = 0;
	g.stream(100, 1);
	std::printf("one at a time: %ld\n", sum);
}

static void ends(lk::runtime &rt)
{
	lk::graph g(rt, 4);
	long n = 0, sum = 0;
	int waves = 0;

	auto source = g.add("source", [&n]() -> std::pair<lk::branch, long> {
		if (n == 7)
			return { lk::end, 0 };
		return { lk::branch{ 0 }, ++n };
	});
	auto sink = g.add("sink", [&](long v) {
		sum += v;
		waves++;
	});

	g.connect(lk::out(source), lk::in(sink));
	g.seal();
	g.stream();
	std::printf("the source ended it after %d waves: %ld\n", waves, sum);
}

static void chooses(lk::runtime &rt)
{
	using port = std::tuple<long>;
	lk::graph g(rt);
	std::string even, odd;
	long n = 0;

	auto source = g.add("source", [&n] { return n++; });
	auto choose = g.add_body<port, std::tuple<long, long>>(
		"choose", [](struct lkdf_ctx *c) {
			long v = *static_cast<const long *>(lkdf_in(c, 0));
			unsigned out = v % 2 ? 1 : 0;

			*static_cast<long *>(lkdf_out(c, out)) = v;
			return static_cast<int>(out);
		});
	auto evens =
		g.add("even", [&](long v) { even += " " + std::to_string(v); });
	auto odds =
		g.add("odd", [&](long v) { odd += " " + std::to_string(v); });

	g.connect(lk::out(source), lk::in(choose));
	g.connect_branch(0, lk::out<0>(choose), lk::in(evens));
	g.connect_branch(1, lk::out<1>(choose), lk::in(odds));
	g.seal();
	g.run(5);
	std::printf("a task that sets one port of two: even%s, odd%s\n",
		    even.c_str(), odd.c_str());
}

static void throws(lk::runtime &rt)
{
	struct lkdf_error e = {};
	lk::graph g(rt);
	int n = 0;

	g.add_body<std::tuple<>, std::tuple<>>(
		"bad", [&n](struct lkdf_ctx *) -> int {
			if (++n == 3)
				throw std::domain_error("the third is bad");
			return 0;
		});
	g.seal();
	g.start(5);
	try {
		rt.wait();
	} catch (const lk::error &) {
	}
	e.size = sizeof(e);
	lkdf_scope_error(rt.get(), nullptr, &e);
	std::printf("its exception: %s\n", e.why);
}

struct counted {
	int *nr;

	explicit counted(int *n) : nr(n)
	{
	}
	counted(counted &&other) noexcept : nr(std::exchange(other.nr, nullptr))
	{
	}
	~counted()
	{
		if (nr)
			++*nr;
	}
	int operator()(struct lkdf_ctx *) const
	{
		return 0;
	}
};

static void destroys(lk::runtime &rt)
{
	int nr = 0;

	{
		lk::graph g(rt);

		for (int i = 0; i < 3; i++)
			g.add_body<std::tuple<>, std::tuple<>>("one",
							       counted(&nr));
		g.seal();
		g.run();
	}
	std::printf("lambdas destroyed: %d of 3\n", nr);
}

int main()
{
	lk::runtime rt("log=none");

	streams(rt);
	ends(rt);
	chooses(rt);
	throws(rt);
	destroys(rt);
	return 0;
}
