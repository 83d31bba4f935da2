/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* oneTBB's loops and task_group: the question of peer_cpp.h, way "tbb". */
#include "tests/bench/peer_cpp.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <array>
#include <functional>
#include <memory>
#include <numeric>

using range = tbb::blocked_range<size_t>;

static int tbb_loop(struct cpp_job *j)
{
	tbb::parallel_for(size_t(0), size_t(j->size),
			  [x = j->x](size_t i) { x[i] += i | 1; });
	return 0;
}

static int tbb_reduce(struct cpp_job *j)
{
	j->result = tbb::parallel_reduce(
		range(0, j->size), uint64_t(0),
		[x = j->x](const range &r, uint64_t sum) {
			for (size_t i = r.begin(); i < r.end(); i++)
				sum += x[i];
			return sum;
		},
		std::plus<uint64_t>());
	return 0;
}

static uint64_t fib(uint32_t n)
{
	uint64_t a = 0, b;

	if (n < 2)
		return n;
	tbb::task_group g;
	g.run([&a, n] { a = fib(n - 1); });
	b = fib(n - 2);
	g.wait();
	return a + b;
}

static int tbb_fib(struct cpp_job *j)
{
	j->result = fib(j->size);
	return 0;
}

static uint64_t skynet(uint64_t first, uint64_t nr)
{
	std::array<uint64_t, CPP_FAN> sum{};

	if (nr == 1)
		return first;
	tbb::task_group g;
	nr /= CPP_FAN;
	for (uint64_t i = 0; i < CPP_FAN; i++)
		g.run([s = &sum[i], first = first + i * nr, nr] {
			*s = skynet(first, nr);
		});
	g.wait();
	return std::accumulate(sum.begin(), sum.end(), uint64_t(0));
}

static int tbb_skynet(struct cpp_job *j)
{
	j->result = skynet(0, cpp_leaves(j->size));
	return 0;
}

static uint64_t queens(cpp_board b)
{
	std::array<uint64_t, CPP_QUEENS> nr{};
	uint32_t left = cpp_free(&b);
	size_t i = 0;

	if (!left)
		return uint64_t(cpp_is_full(&b));
	tbb::task_group g;
	for (; left; left &= left - 1, i++)
		g.run([to = &nr[i], next = cpp_put(&b, left & -left)] {
			*to = queens(next);
		});
	g.wait();
	return std::accumulate(nr.begin(), nr.begin() + i, uint64_t(0));
}

static int tbb_nqueens(struct cpp_job *j)
{
	j->result = queens(cpp_board{ j->size, 0, 0, 0 });
	return 0;
}

static const struct cpp_shape shapes[] = {
	{ "tbb", "loop", tbb_loop },	   { "tbb", "reduce", tbb_reduce },
	{ "tbb", "fib", tbb_fib },	   { "tbb", "skynet", tbb_skynet },
	{ "tbb", "nqueens", tbb_nqueens }, { nullptr, nullptr, nullptr },
};

static int peer_answer(struct question *q)
{
	static std::unique_ptr<tbb::global_control> control;
	static std::unique_ptr<tbb::task_arena> arena;
	static uint32_t now;
	struct cpp_job j = {};
	uint32_t workers = peer_number(q, 3);
	int nr = 0;

	if (now != workers) {
		now = workers;
		arena.reset();
		control.reset(new tbb::global_control(
			tbb::global_control::max_allowed_parallelism, workers));
		arena.reset(new tbb::task_arena(int(workers)));
	}
	j.size = peer_number(q, 2);
	arena->execute([&] { nr = cpp_answer(q, shapes, &j); });
	return nr;
}

int main()
{
	return peer_loop();
}
