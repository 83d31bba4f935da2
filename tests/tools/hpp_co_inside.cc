// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a coroutine waits for, and errors that it catches. Prints:
 *
 *   ended when lk::join goes on: of async 1, start 1, group 1, fork 1
 *   ended when lk::join_here goes on: of async 1, start 1, group 1, fork 1
 *   caught from async 5, start 5, fork 5, join_here 5, all 5, co_await 5
 *   caught from a group 5, from one that is ready 5, in a body 5
 *   a group is awaited: 10, its other children go on: 1, used again: 3
 *   a group of a block of a loop of a coroutine: 20
 */
#include <lkdf/co.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>

static std::atomic<int> ended{ 0 };

static void slow()
{
	for (int i = 0; i < 100; i++)
		std::this_thread::yield();
	ended++;
}
static lk::co<> slow_co()
{
	co_await lk::sleep(std::chrono::milliseconds(2));
	ended++;
}

template <class J> static lk::co<int> by_async(lk::runtime &rt, J join)
{
	auto f = rt.async(slow);
	co_await join;
	co_return ended.exchange(0);
}
template <class J> static lk::co<int> by_start(lk::runtime &rt, J join)
{
	auto f = lk::start(rt, slow_co());
	co_await join;
	co_return ended.exchange(0);
}
template <class J> static lk::co<int> by_group(J join)
{
	lk::group g;
	g.run(slow);
	co_await lk::sleep(std::chrono::milliseconds(1));
	co_await join;
	co_return ended.exchange(0);
}
template <class J> static lk::co<int> by_fork(J join)
{
	auto f = co_await lk::fork(slow_co());
	co_await join;
	co_return ended.exchange(0);
}
template <class J> static void waits(lk::runtime &rt, const char *name, J join)
{
	int a = lk::start(rt, by_async(rt, join)).get();
	int s = lk::start(rt, by_start(rt, join)).get();
	int g = lk::start(rt, by_group(join)).get();
	int f = lk::start(rt, by_fork(join)).get();

	std::printf("ended when %s goes on: of async %d, start %d, group %d, "
		    "fork %d\n",
		    name, a, s, g, f);
}

static int fails()
{
	throw std::domain_error("child");
}
static lk::co<int> bad()
{
	throw std::domain_error("child");
	co_return 1;
}
static lk::co<int> of_async(lk::runtime &rt)
{
	auto f = rt.async(fails);
	try {
		co_await f;
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
static lk::co<int> of_start(lk::runtime &rt)
{
	auto f = lk::start(rt, bad());
	try {
		co_await std::move(f);
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
template <class J> static lk::co<int> of_fork(J join)
{
	auto f = co_await lk::fork(bad());
	try {
		co_await join;
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
static lk::co<int> of_all()
{
	try {
		co_await lk::all(bad(), bad());
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
static lk::co<int> of_await()
{
	try {
		co_await bad();
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
static lk::co<int> of_group()
{
	lk::group g;
	g.run(fails);
	try {
		co_await g;
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}
static lk::co<int> of_ready(lk::runtime &rt)
{
	auto f = rt.async(fails);
	while (!f.is_ready())
		co_await lk::sleep(std::chrono::microseconds(100));
	try {
		co_await f;
	} catch (const std::domain_error &) {
		co_return 5;
	}
	co_return 6;
}

static void errors(lk::runtime &rt)
{
	auto get = [&rt](lk::co<int> c) {
		try {
			return lk::start(rt, std::move(c)).get();
		} catch (const std::exception &) {
			return 0;
		}
	};
	int async = get(of_async(rt)), start = get(of_start(rt));
	int fork = get(of_fork(lk::join)), here = get(of_fork(lk::join_here));
	int all = get(of_all()), awaited = get(of_await());

	std::printf("caught from async %d, start %d, fork %d, join_here %d, "
		    "all %d, co_await %d\n",
		    async, start, fork, here, all, awaited);
	int group = get(of_group()), ready = get(of_ready(rt));
	int body = rt.async([&] {
			     auto f = rt.async(fails);
			     try {
				     f.get();
			     } catch (const std::domain_error &) {
				     return 5;
			     }
			     return 6;
		     }).get();
	std::printf("caught from a group %d, from one that is ready %d, in a "
		    "body %d\n",
		    group, ready, body);
}

// A child that is not of the group ends when the event fires, later.
static lk::co<int> awaits_group(int *others, int *again, struct lkdf_event gate)
{
	std::atomic<int> nr{ 0 };
	lk::group g, other;

	other.run([gate] { lk::must(lkdf_event_signal(gate, 0)); });
	co_await other;
	for (int i = 0; i < 10; i++)
		g.run([&nr] { nr++; });
	co_await g;
	int first = nr.exchange(0);
	auto child = co_await lk::fork(slow_co());
	g.run([] {});
	co_await g;
	*others = ended.load() == 0 || ended.load() == 1;
	co_await lk::join;
	ended = 0;
	for (int i = 0; i < 3; i++)
		g.run([&nr] { nr++; });
	g.wait();
	*again = nr;
	co_return first;
}
static lk::co<int> loops(lk::runtime &rt)
{
	std::atomic<int> nr{ 0 };

	rt.for_each(
		0, 20,
		[&](size_t) {
			lk::group g;

			g.run([&nr] { nr++; });
			g.wait();
		},
		lk::grain{ 1 });
	co_return nr.load();
}

int main()
{
	lk::runtime rt("log=none");
	struct lkdf_event gate;
	int others = 0, again = 0;

	waits(rt, "lk::join", lk::join);
	waits(rt, "lk::join_here", lk::join_here);
	errors(rt);
	lk::must(lkdf_event_create(rt.get(), 1, 0, &gate));
	int first = lk::start(rt, awaits_group(&others, &again, gate)).get();
	lkdf_event_put(gate);
	std::printf("a group is awaited: %d, its other children go on: %d, "
		    "used again: %d\n",
		    first, others, again);
	std::printf("a group of a block of a loop of a coroutine: %d\n",
		    lk::start(rt, loops(rt)).get());
}
