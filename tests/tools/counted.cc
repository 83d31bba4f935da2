// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The reusable engine of Documentation/examples/ports takes no memory from its
 * second run on: a loop, a choice, a value for the next call and several tasks
 * that read one value. Every call of malloc() and the others counts, whoever
 * makes it, but for those of libc: the library looks at files of the cgroup
 * every 100 ms or so, and stdio has buffers for that. Prints:
 *
 *   100 runs: sums 4950 and 9900, steps 600
 *   calls for memory: 0
 */
#include "multiple_uses.hpp"

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <stdlib.h>

static std::atomic<long> nr_calls;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__)
static const void *libc;

static void count(void *caller)
{
	Dl_info info;

	if (libc && dladdr(caller, &info) && info.dli_fbase != libc)
		nr_calls++;
}

static bool find_libc()
{
	Dl_info info;

	if (dladdr(reinterpret_cast<void *>(fgets), &info))
		libc = info.dli_fbase;
	return libc != nullptr;
}

extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	count(__builtin_return_address(0));
	return __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_memalign(align, size);
}
}
#else
static bool find_libc()
{
	return false;
}
#endif

using namespace ports;
using multiple_uses::Ports;

struct sums {
	long once, twice, steps;
};

// count -> twice -> add, and count -> halve (a loop) -> steps
static void build(multiple_uses::Engine &e, struct sums &sums)
{
	auto count = e.node<Ports<long>, Ports<long, long>>(
		"count", TaskMut{ StrictTask{ [](long last) {
			return std::tuple{ last, last + 1 };
		} } });
	auto twice = e.node<Ports<long>, Ports<long>>(
		"twice", Task{ StrictTask{ [](long n) { return 2 * n; } } });
	auto add = e.node<Ports<long, long>, Ports<>>(
		"add", TaskMut{ StrictTask{ [&sums](long n, long m) {
			sums.once += n;
			sums.twice += m;
		} } });
	auto start = e.node<Ports<long>, Ports<long>>(
		"start",
		TaskMut{ StrictTask{ [](long n) { return 64 + n % 8; } } });
	auto halve = e.node<Ports<long>, Ports<long, long>>(
		"halve", TaskMut{ [&sums](Scheduler &s, auto in, auto out) {
			long n = std::get<0>(in).receive() / 2;

			sums.steps++;
			if (n > 1)
				std::get<0>(out).send(s, n);
			else
				std::get<1>(out).send(s, n);
		} });
	auto end = e.node<Ports<long>, Ports<>>(
		"end", TaskMut{ StrictTask{ [](long) {} } });

	e.keep<1>(count, 0L);
	e.connect(count, twice);
	e.connect<0, 0>(count, add);
	e.connect<0, 1>(twice, add);
	e.connect(count, start);
	e.connect_back<0>(halve, halve);
	e.connect(start, halve);
	e.connect<1>(halve, end);
	e.seal();
}

int main()
{
	lk::runtime rt;
	multiple_uses::Engine engine(rt);
	struct sums sums = {};
	long before, after;

	if (!find_libc())
		std::puts("SKIP");
	build(engine, sums);
	engine.run();
	before = nr_calls;
	for (int i = 1; i < 100; i++)
		engine.run();
	after = nr_calls;
	std::printf("100 runs: sums %ld and %ld, steps %ld\n", sums.once,
		    sums.twice, sums.steps);
	std::printf("calls for memory: %ld\n", after - before);
	return 0;
}
