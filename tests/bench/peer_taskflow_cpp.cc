/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Taskflow 4, where its headers are found: loops, sums and tf::TaskGroup; the
 * question of peer_cpp.h, way "taskflow".
 */
#include "tests/bench/cpp_group.h"
#include "tests/bench/peer_cpp.h"
#include "tests/bench/peer_executor.h"

#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/reduce.hpp>

#include <functional>
#include <optional>

static tf::Executor *executor;

/* In a task of the executor. */
struct group {
	tf::TaskGroup g = executor->task_group();

	template <class F> void run(F &&f)
	{
		g.silent_async(std::forward<F>(f));
	}
	void wait()
	{
		g.corun();
	}
};

static int flow_loop(struct cpp_job *j)
{
	tf::Taskflow flow;

	flow.for_each_index(size_t(0), size_t(j->size), size_t(1),
			    [x = j->x](size_t i) { x[i] += i | 1; });
	executor->run(flow).wait();
	return 0;
}

static int flow_reduce(struct cpp_job *j)
{
	using range = tf::IndexRange<size_t>;
	tf::Taskflow flow;
	uint64_t sum = 0;

	flow.reduce_by_index(
		range(0, j->size, 1), sum,
		[x = j->x](const range &r, std::optional<uint64_t> before) {
			uint64_t s = before.value_or(0);

			for (size_t i = r.begin(); i < r.end(); i++)
				s += x[i];
			return s;
		},
		std::plus<uint64_t>());
	executor->run(flow).wait();
	j->result = sum;
	return 0;
}

/* A shape whose groups want a task around them. */
template <int (*Run)(struct cpp_job *)> static int in_task(struct cpp_job *j)
{
	return executor->async([j] { return Run(j); }).get();
}

static const struct cpp_shape shapes[] = {
	{ "taskflow", "loop", flow_loop },
	{ "taskflow", "reduce", flow_reduce },
	{ "taskflow", "fib", in_task<run_fib<group>> },
	{ "taskflow", "skynet", in_task<run_skynet<group>> },
	{ "taskflow", "nqueens", in_task<run_nqueens<group>> },
	{ nullptr, nullptr, nullptr },
};

static int peer_answer(struct question *q)
{
	struct cpp_job j = {};

	executor = &executor_of((int)peer_number(q, 3));
	j.size = peer_number(q, 2);
	return cpp_answer(q, shapes, &j);
}

int main()
{
	return peer_loop();
}
