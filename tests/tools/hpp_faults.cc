// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What goes wrong in programs with lkdf.hpp, and callables of all sorts.
 * Prints:
 *
 *   work under way at the end: no body runs after it
 *   values aligned to 64 bytes: 4 of 4
 *   noexcept callables: 1 2 3
 *   the exception itself: domain_error 7, then none
 *   of a stream: domain_error 8, then none
 *   what no run waits for: task error
 *   an overlapping callable that is not const: refused
 */
#include <lkdf/lkdf.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

static void nap()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// Bodies refer to what is destroyed after the runtime, and not later.
static void ends_while_it_works()
{
	static std::atomic<bool> has_begun, is_gone;
	static std::atomic<int> nr_late;
	struct guard {
		~guard()
		{
			is_gone = true;
		}
	};

	{
		guard local;
		lk::runtime rt("workers=2,log=none");
		lk::graph g(rt);

		g.add("slow", [&local] {
			(void)local;
			has_begun = true;
			nap();
			if (is_gone)
				nr_late++;
		});
		g.seal();
		g.start(1000);
		while (!has_begun)
			std::this_thread::yield();
	}
	nap();
	nap();
	std::printf("work under way at the end: %s\n",
		    nr_late ? "bodies run after it" : "no body runs after it");
}

struct alignas(64) line {
	long v[8];
};

static bool is_aligned(const line &l)
{
	return reinterpret_cast<uintptr_t>(&l) % 64 == 0;
}

// An odd value before, so that the next slot is not aligned by chance.
static void aligns(lk::runtime &rt)
{
	lk::graph g(rt, 2);
	int nr = 0;

	auto odd = g.add("odd", [] { return 'x'; });
	auto first = g.add("first", [](char) { return line{}; });
	auto next = g.add("next", [&nr](const line &l, const line &last) {
		nr += is_aligned(l) && is_aligned(last);
		return line{};
	});

	g.connect(lk::out(odd), lk::in(first));
	g.connect(lk::out(first), lk::in<0>(next));
	g.next(lk::out(next), lk::in<1>(next), line{});
	g.seal();
	g.run(4);
	std::printf("values aligned to 64 bytes: %d of 4\n", nr);
}

static int three() noexcept
{
	return 3;
}

static void takes_noexcept(lk::runtime &rt)
{
	lk::graph g(rt);
	int got[3] = {};

	auto a = g.add("a", []() noexcept { return 1; });
	auto b = g.add("b", [n = 1]() mutable noexcept { return ++n; });
	auto c = g.add("c", three);
	auto d = g.add("d", [&got](int x, int y, int z) noexcept {
		got[0] = x;
		got[1] = y;
		got[2] = z;
	});

	g.connect(lk::out(a), lk::in<0>(d));
	g.connect(lk::out(b), lk::in<1>(d));
	g.connect(lk::out(c), lk::in<2>(d));
	g.seal();
	g.run();
	std::printf("noexcept callables: %d %d %d\n", got[0], got[1], got[2]);
}

struct numbered : std::domain_error {
	int number;

	explicit numbered(int n) : std::domain_error("numbered"), number(n)
	{
	}
};

template <class Run> static void catch_once(const char *what, Run run)
{
	int number = 0;

	try {
		run();
	} catch (const numbered &e) {
		number = e.number;
	}
	std::printf("%s: domain_error %d, then ", what, number);
	try {
		run();
		std::printf("none\n");
	} catch (const std::exception &e) {
		std::printf("%s\n", e.what());
	}
}

static void throws(lk::runtime &rt)
{
	lk::graph g(rt, 4);
	int nr = 0;

	g.add("throws", [&nr] {
		nr++;
		if (nr == 1)
			throw numbered(7);
		if (nr == 5)
			throw numbered(8);
		if (nr == 20)
			throw numbered(9);
	});
	g.seal();
	catch_once("the exception itself", [&] { g.run(); });
	catch_once("of a stream", [&] { g.stream(5); });
	nr = 19;
	g.start();
	try {
		rt.wait();
	} catch (const lk::error &) {
		std::printf("what no run waits for: task error\n");
	}
}

static void refuses(lk::runtime &rt)
{
	lk::graph g(rt);

	try {
		g.add(
			"counts", [n = 0]() mutable { n++; }, LKDF_SHARED);
	} catch (const std::invalid_argument &) {
		std::printf("an overlapping callable that is not const: "
			    "refused\n");
	}
}

int main()
{
	ends_while_it_works();

	lk::runtime rt("log=none");

	aligns(rt);
	takes_noexcept(rt);
	throws(rt);
	refuses(rt);
	return 0;
}
