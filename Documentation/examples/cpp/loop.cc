// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A loop and a sum. Prints:
 *
 *   the sum of 1000000 squares: 333332833333500000
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <vector>

int main()
{
	lk::runtime rt;
	std::vector<long> square(1000000);

	rt.for_each(0, square.size(),
		    [&](size_t i) { square[i] = long(i) * long(i); });
	long sum = rt.reduce(0, square.size(), 0L,
			     [&](long s, size_t i) { return s + square[i]; });
	std::printf("the sum of %zu squares: %ld\n", square.size(), sum);
}
