// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Awaitables of other libraries, deep chains and what outlives its runtime.
 * Prints:
 *
 *   foreign: by a thread 42, refused 8, a member 42, an lvalue 42, thrown: yes
 *   after a cancel the callback is waited for: yes
 *   without co_return: logic_error
 *   a future after its runtime: 4, ECANCELED
 *   a chain of then(): 300000, a loop of awaits: 100000
 *   names that the program has made are of one kind: yes
 *   two names with a limit are two kinds: yes
 */
#include <lkdf/co.hpp>

#include <atomic>
#include <cstdio>
#include <malloc.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> nr_called{ 0 };

// Resumes on a thread of its own, as any callback does.
struct on_thread {
	int value = 0;

	bool await_ready()
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> h)
	{
		std::thread([this, h] {
			std::this_thread::sleep_for(
				std::chrono::milliseconds(5));
			value = 42;
			nr_called++;
			h.resume();
		}).detach();
	}
	int await_resume()
	{
		return value;
	}
};
struct not_now {
	bool throws = false;

	bool await_ready()
	{
		return false;
	}
	bool await_suspend(std::coroutine_handle<>)
	{
		if (throws)
			throw std::domain_error("refused");
		return false;
	}
	int await_resume()
	{
		return 8;
	}
};
struct by_member {
	on_thread operator co_await() const
	{
		return {};
	}
};

static lk::co<> foreign()
{
	on_thread kept;
	int a = co_await on_thread{}, b = co_await not_now{};
	int c = co_await by_member{}, d = co_await kept;
	bool thrown = false;

	co_await std::suspend_never{};
	try {
		co_await not_now{ true };
	} catch (const std::domain_error &) {
		thrown = true;
	}
	std::printf("foreign: by a thread %d, refused %d, a member %d, an "
		    "lvalue %d, thrown: %s\n",
		    a, b, c, d, thrown ? "yes" : "no");
}
static lk::co<> cancelled(lk::scope &s, std::atomic<bool> &is_right)
{
	int before = nr_called;

	s.cancel();
	int v = co_await on_thread{};
	is_right = v == 42 && nr_called == before + 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
static lk::co<int> without(bool returns)
{
	if (returns)
		co_return 1;
}
#pragma GCC diagnostic pop

static lk::co<int> one()
{
	co_return 1;
}
static lk::co<int> loop(int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum += co_await one();
	co_return sum;
}
static void outlive()
{
	lk::future<int> waited, not_waited, then;
	{
		lk::runtime rt("workers=1,log=none");

		waited = rt.async([] { return 4; });
		not_waited = rt.async([] { return 5; });
		then = lk::start(rt, one()).then([](int v) { return v; });
		waited.wait();
	}
	int code = 0, four = waited.get();

	try {
		not_waited.get();
	} catch (const lk::error &e) {
		code = e.code().value();
	}
	std::printf("a future after its runtime: %d, %s\n", four,
		    code == ECANCELED ? "ECANCELED" : "wrong");
}

// The same text at another place each time: a kind for each would take memory.
static bool names_share_a_kind(lk::runtime &rt)
{
	std::vector<std::string> names(5000, "a name that is made at run time");
	size_t before = 0;

	for (size_t i = 0; i < names.size(); i++) {
		if (i == 100)
			before = mallinfo2().uordblks;
		lk::start(rt, lk::with(names[i].c_str()), one()).get();
	}
	return mallinfo2().uordblks < before + 100000;
}

// Each of them counts its own bodies, with a limit as well.
static bool names_with_a_limit_differ()
{
	lk::runtime rt("log=none,kinds=yes");
	lk::limit l(rt, 1);
	uint64_t nr[2] = { 0, 0 };

	for (const char *name : { "first", "second", "second" })
		lk::start(rt, lk::with(name).limit(l), one()).get();
	lk::must(lkdf_stat(rt.get(), "lkdf.kind.first.bodies", &nr[0]));
	lk::must(lkdf_stat(rt.get(), "lkdf.kind.second.bodies", &nr[1]));
	return nr[0] == 1 && nr[1] == 2;
}

int main()
{
	lk::runtime rt("log=none");
	lk::scope s(rt);
	std::atomic<bool> is_right{ false };
	const char *said = "nothing";

	lk::start(rt, foreign()).get();
	try {
		lk::start(rt, lk::with("cancelled").in(s),
			  cancelled(s, is_right))
			.get();
	} catch (const lk::error &) {
	}
	std::printf("after a cancel the callback is waited for: %s\n",
		    is_right ? "yes" : "no");
	try {
		lk::start(rt, without(false)).get();
	} catch (const std::logic_error &) {
		said = "logic_error";
	}
	std::printf("without co_return: %s\n", said);
	outlive();
	auto f = rt.async([] { return 0L; });
	for (int i = 0; i < 300000; i++)
		f = f.then([](long x) { return x + 1; });
	long chain = f.get();
	int turns = lk::start(rt, loop(100000)).get();
	std::printf("a chain of then(): %ld, a loop of awaits: %d\n", chain,
		    turns);
	std::printf("names that the program has made are of one kind: %s\n",
		    names_share_a_kind(rt) ? "yes" : "no");
	std::printf("two names with a limit are two kinds: %s\n",
		    names_with_a_limit_differ() ? "yes" : "no");
}
