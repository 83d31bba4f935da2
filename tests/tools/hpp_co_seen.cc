// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Three children throw. What is caught has no line in the log, each of the
 * others has one. Says how many were caught, and how many lines there are.
 * Prints:
 *
 *   lk::join: 1, lines 2
 *   lk::join_here: 1, lines 2
 *   lk::all: 1, lines 2
 *   a group: 1, lines 2
 *   a group that is awaited: 1, lines 2
 *   get() of each: 3, lines 0
 *   get() of one, then lkdf_join(): 2, lines 1
 */
#include <lkdf/co.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

static std::atomic<int> lines{ 0 };

static void count_line(void *, int, const char *text)
{
	lines += std::strstr(text, "unobserved error: ") != nullptr;
}

static std::atomic<int> nr_thrown{ 0 };

// Each says something else.
static void fail()
{
	throw std::domain_error("as wanted, " + std::to_string(++nr_thrown));
}
static lk::co<> fail_co()
{
	fail();
	co_return;
}

// How many throw what the children have thrown.
template <class F> static int caught(F f)
{
	try {
		f();
		return 0;
	} catch (const std::domain_error &) {
		return 1;
	}
}

template <class J> static lk::co<int> by_fork(lk::runtime &, J join)
{
	auto a = co_await lk::fork(fail_co());
	auto b = co_await lk::fork(fail_co());
	auto c = co_await lk::fork(fail_co());

	try {
		co_await join;
	} catch (const std::domain_error &) {
		co_return 1;
	}
	co_return 0;
}

static lk::co<int> by_all(lk::runtime &)
{
	try {
		co_await lk::all(fail_co(), fail_co(), fail_co());
	} catch (const std::domain_error &) {
		co_return 1;
	}
	co_return 0;
}

static lk::co<int> by_group(lk::runtime &)
{
	lk::group g;

	for (int i = 0; i < 3; i++)
		g.run(fail);
	try {
		co_await g;
	} catch (const std::domain_error &) {
		co_return 1;
	}
	co_return 0;
}

static int wait_for_group(lk::runtime &)
{
	lk::group g;

	for (int i = 0; i < 3; i++)
		g.run(fail);
	return caught([&] { g.wait(); });
}

static int get_each(lk::runtime &rt)
{
	auto a = rt.async(fail), b = rt.async(fail), c = rt.async(fail);
	int sum = caught([&] { a.get(); });

	sum += caught([&] { b.get(); });
	return sum + caught([&] { c.get(); });
}

static int get_one(lk::runtime &rt)
{
	auto a = rt.async(fail), b = rt.async(fail), c = rt.async(fail);
	int sum = caught([&] { b.get(); });

	return sum + (lkdf_join(lk::context()) != 0);
}

template <class F> static void tell(const char *what, F f)
{
	int nr;

	lines = 0;
	{
		struct lkdf_open_attr a = {};

		a.size = sizeof(a);
		a.log = count_line;
		lk::runtime rt(a);
		nr = f(rt);
	}
	std::printf("%s: %d, lines %d\n", what, nr, lines.load());
}

int main()
{
	tell("lk::join", [](lk::runtime &rt) {
		return lk::start(rt, by_fork(rt, lk::join)).get();
	});
	tell("lk::join_here", [](lk::runtime &rt) {
		return lk::start(rt, by_fork(rt, lk::join_here)).get();
	});
	tell("lk::all",
	     [](lk::runtime &rt) { return lk::start(rt, by_all(rt)).get(); });
	tell("a group", [](lk::runtime &rt) {
		return rt.async([&] { return wait_for_group(rt); }).get();
	});
	tell("a group that is awaited",
	     [](lk::runtime &rt) { return lk::start(rt, by_group(rt)).get(); });
	tell("get() of each", [](lk::runtime &rt) {
		return rt.async([&] { return get_each(rt); }).get();
	});
	tell("get() of one, then lkdf_join()", [](lk::runtime &rt) {
		return rt.async([&] { return get_one(rt); }).get();
	});
}
