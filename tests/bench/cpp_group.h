/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * C++: the shapes of cpp.h whose children are a group's, for each class of
 * groups: run(f) starts a child, wait() waits for all.
 */
#ifndef TESTS_BENCH_CPP_GROUP_H
#define TESTS_BENCH_CPP_GROUP_H

#include "tests/bench/cpp.h"

#include <array>
#include <cstddef>
#include <numeric>

template <class Group> static uint64_t group_fib(uint32_t n)
{
	uint64_t a = 0, b;

	if (n < 2)
		return n;
	Group g;
	g.run([&a, n] { a = group_fib<Group>(n - 1); });
	b = group_fib<Group>(n - 2);
	g.wait();
	return a + b;
}

template <class Group> static uint64_t group_skynet(uint64_t first, uint64_t nr)
{
	std::array<uint64_t, CPP_FAN> sum{};

	if (nr == 1)
		return first;
	Group g;
	nr /= CPP_FAN;
	for (uint64_t i = 0; i < CPP_FAN; i++)
		g.run([s = &sum[i], first = first + i * nr, nr] {
			*s = group_skynet<Group>(first, nr);
		});
	g.wait();
	return std::accumulate(sum.begin(), sum.end(), uint64_t(0));
}

template <class Group> static uint64_t group_queens(cpp_board b)
{
	std::array<uint64_t, CPP_QUEENS> nr{};
	uint32_t left = cpp_free(&b);
	size_t i = 0;

	if (!left)
		return uint64_t(cpp_is_full(&b));
	Group g;
	for (; left; left &= left - 1, i++)
		g.run([to = &nr[i], next = cpp_put(&b, left & -left)] {
			*to = group_queens<Group>(next);
		});
	g.wait();
	return std::accumulate(nr.begin(), nr.begin() + i, uint64_t(0));
}

/* The same as shapes of a peer whose threads call them. */
template <class Group> static int run_fib(struct cpp_job *j)
{
	j->result = group_fib<Group>(j->size);
	return 0;
}
template <class Group> static int run_skynet(struct cpp_job *j)
{
	j->result = group_skynet<Group>(0, cpp_leaves(j->size));
	return 0;
}
template <class Group> static int run_nqueens(struct cpp_job *j)
{
	j->result = group_queens<Group>({ j->size, 0, 0, 0 });
	return 0;
}

#endif
