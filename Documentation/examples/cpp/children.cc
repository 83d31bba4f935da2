// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A task that starts children and waits for them; they run on any worker.
 * Prints:
 *
 *   fib(20) = 6765
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>

static long fib(int n)
{
	long a = 0, b;

	if (n < 2)
		return n;
	lk::group g;
	g.run([&a, n] { a = fib(n - 1); });
	b = fib(n - 2);
	g.wait();
	return a + b;
}

int main()
{
	lk::runtime rt;

	std::printf("fib(20) = %ld\n", rt.async(fib, 20).get());
}
