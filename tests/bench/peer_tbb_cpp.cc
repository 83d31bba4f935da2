/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* oneTBB's loops and task_group: the question of peer_cpp.h, way "tbb". */
#include "tests/bench/cpp_group.h"
#include "tests/bench/peer_cpp.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <functional>
#include <memory>

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

static int tbb_nested(struct cpp_job *j)
{
	tbb::parallel_for(uint32_t(0), cpp_rows(j), [x = j->x](size_t row) {
		size_t i = row * CPP_ROW;

		tbb::parallel_for(i, i + CPP_ROW,
				  [x](size_t at) { x[at] += at | 1; });
	});
	return 0;
}

static const struct cpp_shape shapes[] = {
	{ "tbb", "loop", tbb_loop },
	{ "tbb", "nested", tbb_nested },
	{ "tbb", "reduce", tbb_reduce },
	{ "tbb", "fib", run_fib<tbb::task_group> },
	{ "tbb", "skynet", run_skynet<tbb::task_group> },
	{ "tbb", "nqueens", run_nqueens<tbb::task_group> },
	{ nullptr, nullptr, nullptr },
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
