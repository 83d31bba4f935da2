/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* C++: Taskflow's threads, which the peers that use it keep. */
#ifndef TESTS_BENCH_PEER_EXECUTOR_H
#define TESTS_BENCH_PEER_EXECUTOR_H

#include <taskflow/taskflow.hpp>

#include <memory>

/* Valid until another number of workers is asked for. */
static tf::Executor &executor_of(int workers)
{
	static std::unique_ptr<tf::Executor> executor;
	static int now;

	if (now != workers) {
		now = workers;
		executor.reset();
		executor.reset(new tf::Executor((size_t)workers));
	}
	return *executor;
}

#endif
