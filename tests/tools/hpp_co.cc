// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coroutines: what they await, what they throw, and how they end. Prints:
 *
 *   children: 610, on this stack 610, several at once 3 and 4
 *   a chain of 10000 awaits: 10000
 *   tasks: 7, one that has ended 8, group 55, thrown: domain_error
 *   io: 20 of 20 connections, 100 times each; bad descriptor: EBADF
 *   slept, polled
 *   channel: 500500, then it has ended; to one that has ended: refused
 *   events: fired, with EIO: EIO
 *   thrown below: domain_error, by a child: domain_error, at once: domain_error
 *   frames of a warm coroutine: 0 calls of new
 *   lkdf: coroutine two was never awaited
 */
#include "hpp_co.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

static std::atomic<long> nr_new{ 0 };

void *operator new(size_t bytes)
{
	void *p = std::malloc(bytes);

	nr_new++;
	if (!p)
		std::abort();
	return p;
}
void operator delete(void *p) noexcept
{
	std::free(p);
}
void operator delete(void *p, size_t) noexcept
{
	std::free(p);
}

static lk::co<long> fib(int n)
{
	if (n < 2)
		co_return n;
	auto a = co_await lk::fork(fib(n - 1));
	long b = co_await fib(n - 2);

	co_await lk::join;
	co_return a.get() + b;
}

static lk::co<long> fib_here(int n)
{
	if (n < 2)
		co_return n;
	auto a = co_await lk::fork(fib_here(n - 1));
	long b = co_await fib_here(n - 2);

	co_await lk::join_here;
	co_return a.get() + b;
}

static lk::co<std::string> four()
{
	co_return "4";
}
static lk::co<> nothing()
{
	co_return;
}
static lk::co<std::string> at_once()
{
	auto [a, b, c] = co_await lk::all(three(), four(), nothing());

	(void)c;
	co_return std::to_string(a) + " and " + b;
}
static lk::co<int> chain(int nr)
{
	int all = 0;

	for (int i = 0; i < nr; i += 3)
		all += co_await three();
	co_return all - 2;
}

static void children(lk::runtime &rt)
{
	long a = lk::start(rt, fib(15)).get();
	long b = lk::start(rt, fib_here(15)).get();

	std::printf("children: %ld, on this stack %ld, several at once %s\n", a,
		    b, lk::start(rt, at_once()).get().c_str());
	std::printf("a chain of 10000 awaits: %d\n",
		    lk::start(rt, chain(10000)).get());
}

static lk::co<std::string> awaits_tasks(lk::runtime &rt)
{
	auto late = rt.async([] { return 7; });
	auto done = rt.async([] { return 8; });
	std::atomic<int> sum{ 0 };
	lk::group g;

	int seven = co_await late;
	int eight = co_await std::move(done);
	for (int i = 1; i <= 10; i++)
		g.run([&, i] { sum += i; });
	co_await g;
	co_return std::to_string(seven) + ", one that has ended " +
		std::to_string(eight) + ", group " + std::to_string(sum.load());
}
static lk::co<> awaits_failure(lk::runtime &rt)
{
	co_await rt.async([] { throw std::domain_error("no"); });
}

static void tasks(lk::runtime &rt)
{
	std::string all = lk::start(rt, awaits_tasks(rt)).get();

	std::printf("tasks: %s, thrown: %s\n", all.c_str(),
		    thrown([&] {
			    lk::start(rt, awaits_failure(rt)).get();
		    }).c_str());
}

static lk::co<int> answer(int fd)
{
	char b[64];
	int nr = 0;
	int64_t n;

	while ((n = co_await lk::recv(fd, b)) > 0) {
		if (co_await lk::send(fd, lk::const_buffer(b, size_t(n))) != n)
			co_return -1;
		nr++;
	}
	co_return nr;
}
static lk::co<bool> ask(int fd, int nr)
{
	char b[64];

	for (int i = 0; i < nr; i++) {
		std::snprintf(b, sizeof(b), "%d", i);
		co_await lk::send(fd, b);
		size_t got = 0;
		while (got < sizeof(b)) {
			int64_t n = co_await lk::recv(
				fd, lk::buffer(b + got, sizeof(b) - got));
			if (n <= 0)
				co_return false;
			got += size_t(n);
		}
		if (std::atoi(b) != i)
			co_return false;
	}
	shutdown(fd, SHUT_WR);
	co_return true;
}
static lk::co<> sleeps(int fd)
{
	co_await lk::sleep(std::chrono::milliseconds(2));
	std::printf("slept, ");
	co_await lk::poll(fd, 4 /* POLLOUT */);
	std::printf("polled\n");
}
static lk::co<int64_t> reads_nothing()
{
	char b[1];

	co_return co_await lk::read(-1, b);
}

static void io(lk::runtime &rt)
{
	std::vector<lk::future<int>> answers;
	std::vector<lk::future<bool>> asks;
	int fd[20][2], nr = 0;

	for (auto &f : fd) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f))
			std::abort();
		answers.push_back(lk::start(rt, answer(f[0])));
		asks.push_back(lk::start(rt, ask(f[1], 100)));
	}
	for (auto &a : asks)
		nr += a.get();
	bool all = true;
	for (auto &a : answers)
		all = a.get() > 0 && all;
	std::printf("io: %d of 20 connections, 100 times each; bad descriptor: "
		    "%s\n",
		    all ? nr : -1,
		    lk::start(rt, reads_nothing()).get() == -EBADF ? "EBADF"
								   : "?");
	lk::start(rt, sleeps(fd[0][0])).get();
	for (auto &f : fd) {
		close(f[0]);
		close(f[1]);
	}
}

static lk::co<bool> sends(lk::channel<int> &ch)
{
	for (int i = 1; i <= 1000; i++)
		co_await lk::deliver(ch, i);
	ch.end();
	co_return co_await lk::deliver(ch, 0);
}
static lk::co<long> receives(lk::channel<int> &ch)
{
	long sum = 0;

	while (std::optional<int> v = co_await lk::receive(ch))
		sum += *v;
	co_return sum;
}

static void channels(lk::runtime &rt)
{
	lk::channel<int> ch(rt, 4);
	auto to = lk::start(rt, receives(ch));
	auto from = lk::start(rt, sends(ch));
	long sum = to.get();

	std::printf("channel: %ld, then it has ended; to one that has ended: "
		    "%s\n",
		    sum, from.get() ? "sent" : "refused");
}

static void events(lk::runtime &rt)
{
	struct lkdf_event good = event_of(rt), bad = event_of(rt);
	auto a = lk::start(rt, waits_for(good));
	auto b = lk::start(rt, waits_for(bad));

	lkdf_event_signal(good, 0);
	lkdf_event_signal(bad, -EIO);
	a.get();
	std::printf("events: fired, with EIO: %s\n",
		    thrown([&] { b.get(); }).c_str());
}

static lk::co<int> throws(int level)
{
	value v;

	if (!level)
		throw std::domain_error("below");
	co_return co_await throws(level - 1);
}
static lk::co<int> forks_one_that_throws()
{
	value v;
	auto a = co_await lk::fork(throws(3));
	auto b = co_await lk::fork(three());

	co_await lk::join;
	co_return a.get() + b.get();
}
static lk::co<> throws_at_once()
{
	value v;

	co_await lk::all(three(), throws(2), nothing());
}

static void exceptions(lk::runtime &rt)
{
	std::string a = thrown([&] { lk::start(rt, throws(5)).get(); });
	std::string b =
		thrown([&] { lk::start(rt, forks_one_that_throws()).get(); });
	std::string c = thrown([&] { lk::start(rt, throws_at_once()).get(); });

	std::printf("thrown below: %s, by a child: %s, at once: %s\n",
		    a.c_str(), b.c_str(), c.c_str());
}

static lk::co<int> two()
{
	co_return 2;
}

// The first await takes memory for a frame, those that follow have it.
static lk::co<long> count_new()
{
	long before;

	co_await two();
	before = nr_new;
	for (int i = 0; lk::detail::keeps_frames && i < 300; i++)
		co_await two();
	co_return nr_new - before;
}

static void frames(lk::runtime &rt)
{
	std::printf("frames of a warm coroutine: %ld calls of new\n",
		    lk::start(rt, count_new()).get());
	lk::co<int> unused = two();
}

int main()
{
	lk::runtime rt("log=none");

	setvbuf(stdout, nullptr, _IOLBF, 0);
	children(rt);
	tasks(rt);
	io(rt);
	channels(rt);
	events(rt);
	exceptions(rt);
	frames(rt);
}
