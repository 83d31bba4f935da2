// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Races in C++: futures, coroutines, groups, loops, data, scopes and streams,
 * each with the program that is right: check_lang NAME 0|1, without arguments
 * the names. See test_check_planted.sh.
 */
#include <lkdf/co.hpp>
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static bool is_right;
static int shared, sink;

static void future(lk::runtime &rt)
{
	auto first = rt.async([] { shared = 1; });

	if (is_right)
		first.get();
	rt.async([] { sink = shared; }).get();
	if (!is_right)
		first.get();
}

static void then(lk::runtime &rt)
{
	auto first = rt.async([] { shared = 1; });
	auto other = rt.async([] {});

	if (is_right)
		first.then([] { sink = shared; }).get();
	else
		other.then([] { sink = shared; }).get();
}

static lk::co<int> writes()
{
	shared = 2;
	co_return 1;
}

static lk::co<int> reads_child()
{
	auto child = co_await lk::fork(writes());
	int seen = 0;

	if (!is_right)
		seen = shared;
	co_await lk::join;
	if (is_right)
		seen = shared;
	co_return seen + child.get();
}

static void coroutine(lk::runtime &rt)
{
	sink = lk::start(rt, reads_child()).get();
}

static lk::co<int> adds(int *to)
{
	++*to;
	co_return *to;
}

static lk::co<int> waits_for_both()
{
	int sum[2] = { 0, 0 };
	auto [a, b] = co_await lk::all(adds(&sum[0]), adds(&sum[is_right]));

	co_return a + b;
}

static void coroutines(lk::runtime &rt)
{
	sink = lk::start(rt, waits_for_both()).get();
}

static void group(lk::runtime &rt)
{
	rt.async([] {
		  lk::group g;
		  int a = 0;

		  g.run([&a] { a = 3; });
		  if (!is_right)
			  sink = a;
		  g.wait();
		  sink = a;
	  }).get();
}

/* A vector that grows, or one that has a place for each. */
static void vector(lk::runtime &rt)
{
	std::vector<size_t> found;

	if (is_right)
		found.resize(64);
	rt.for_each(0, 64, [&](size_t i) {
		if (is_right)
			found[i] = i;
		else
			found.push_back(i);
	});
}

static void data(lk::runtime &rt)
{
	lk::data<int> total(rt, 0);
	int *outside = nullptr;

	rt.submit([&](int &t) { outside = &t; }, lk::update(total));
	rt.wait();
	rt.submit([](int &t) { t++; }, lk::update(total));
	if (is_right)
		rt.submit([](int &t) { t++; }, lk::update(total));
	else
		rt.async([&] { ++*outside; }).get();
	rt.wait();
}

/* A string that a task takes by its address, or as a copy. */
static void argument(lk::runtime &rt)
{
	std::string text(100, 'x');

	if (is_right) {
		auto size = rt.async([text] { return text.find('y'); });

		text[7] = 'y';
		sink = int(size.get());
		return;
	}
	auto size = rt.async([&text] { return text.find('y'); });

	text[7] = 'y';
	sink = int(size.get());
}

static void stream(lk::runtime &rt)
{
	lk::graph g(rt, 4);
	long n = 0, sum = 0;
	auto source = g.add("source", [&n] {
		n++;
		return std::pair{ n > 8 ? lk::end : lk::branch{ 0 }, n };
	});
	auto square = g.shared("square", [&](long v) {
		if (!is_right)
			sum += v;
		return v * v;
	});
	auto last = g.add("last", [&](long v) {
		if (is_right)
			sum += v;
	});

	g.connect(lk::out(source), lk::in(square));
	g.connect(lk::out(square), lk::in(last));
	g.seal();
	g.stream(lk::waves().at_most(4));
}

static const struct {
	const char *name;
	void (*fn)(lk::runtime &rt);
} rows[] = {
	{ "future", future },	    { "then", then },
	{ "coroutine", coroutine }, { "coroutines", coroutines },
	{ "group", group },	    { "vector", vector },
	{ "data", data },	    { "argument", argument },
	{ "stream", stream },
};

int main(int argc, char **argv)
{
	for (auto &row : rows) {
		if (argc < 3) {
			std::puts(row.name);
			continue;
		}
		if (std::strcmp(argv[1], row.name))
			continue;
		is_right = argv[2][0] == '1';
		lk::runtime rt;
		row.fn(rt);
		return sink == -2; // so that sink is used
	}
	return argc < 3 ? 0 : 2;
}
