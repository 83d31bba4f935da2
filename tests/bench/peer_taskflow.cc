/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Taskflow, where its headers are found: the questions of peer_graph.h. */
#include "tests/bench/peer_executor.h"
#include "tests/bench/peer_graph.h"

#include <vector>

template <class Body> struct contest {
	tf::Executor &executor;
	tf::Taskflow flow;

	contest(int workers, const struct shape &s)
	    : executor(executor_of(workers))
	{
		std::vector<tf::Task> tasks(s.nr_tasks);

		for (uint32_t i = 0; i < s.nr_tasks; i++)
			tasks[i] = flow.emplace([i] { Body()(i); });
		for (uint32_t i = 0; i < s.nr_tasks; i++)
			for (uint32_t e = s.pred_at[i]; e < s.pred_at[i + 1];
			     e++)
				tasks[s.pred[e]].precede(tasks[i]);
	}

	void run()
	{
		executor.run(flow).wait();
	}
};

struct runtime {
	tf::Executor executor;

	explicit runtime(int workers) : executor((size_t)workers)
	{
	}
};

static int peer_answer(struct question *q)
{
	if (peer_is(q, "open"))
		return answer_open<runtime>(q);
	return answer_graphs<contest>(q);
}

int main()
{
	return peer_loop();
}
