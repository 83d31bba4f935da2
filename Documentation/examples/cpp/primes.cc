// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * README's program: a sum over a loop of uneven iterations. Prints:
 *
 *   148933 primes below 2000000
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>

static bool is_prime(unsigned long n)
{
	for (unsigned long d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

int main()
{
	lk::runtime rt; // a worker for each CPU
	long nr = rt.reduce(0, 2000000, 0L, [](long sum, size_t n) {
		return sum + is_prime(n);
	});

	std::printf("%ld primes below 2000000\n", nr);
}
