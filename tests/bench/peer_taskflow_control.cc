/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Taskflow, where its headers are found: condition tasks and tf::Pipeline; the
 * questions of peer_control.h.
 */
#include "tests/bench/peer_control.h"
#include "tests/bench/peer_executor.h"

#include <taskflow/algorithm/pipeline.hpp>

#include <vector>

struct loops : contest {
	tf::Executor &executor;
	tf::Taskflow flow;
	struct control &of = the_control;

	explicit loops(int workers) : executor(executor_of(workers))
	{
		std::vector<tf::Task> tasks;
		uint32_t i, last = of.nr_steps - 1;

		for (i = 0; i <= last; i++)
			tasks.push_back(task_of(i));
		for (i = 1; i < last; i++) {
			tasks[0].precede(tasks[i]);
			tasks[i].precede(tasks[last]);
		}
		if (of.shape == CONTROL_LOOP)
			tasks[0].precede(tasks[last]);
		if (of.shape != CONTROL_RUNS)
			close_loop(tasks[0], tasks[last]);
	}

	/* A join waits for all tasks before it that are no conditions, and one
	 * arm does not run: so arms are conditions, too. */
	tf::Task task_of(uint32_t i)
	{
		struct step *s = &of.step[i];

		if (control_is_choice(&of, i))
			return flow.emplace([s] {
				control_do(s);
				return (int)control_arm(s);
			});
		if (control_is_last(&of, i))
			return flow.emplace([s] {
				control_do(s);
				return control_again(s) ? 0 : 1;
			});
		if (control_is_arm(&of, i))
			return flow.emplace([s] {
				control_do(s);
				return 0;
			});
		return flow.emplace([s] { control_do(s); });
	}

	/* A graph starts where no edge ends: a loop needs a task before it. */
	void close_loop(tf::Task head, tf::Task condition)
	{
		tf::Task init = flow.emplace([] {}), out = flow.emplace([] {});

		init.precede(head);
		condition.precede(head, out);
	}

	void run() override
	{
		if (of.shape == CONTROL_RUNS)
			executor.run_n(flow, of.nr).wait();
		else
			executor.run(flow).wait();
	}
};

/* What one stage does with a token; the first also ends the stream. */
struct stage_body {
	struct stream *of;
	unsigned stage;

	void operator()(tf::Pipeflow &p) const
	{
		if (!stage && p.token() == of->nr)
			p.stop();
		else
			stream_do(of, stage, p.token());
	}
};

struct line : contest {
	using pipe = tf::Pipe<stage_body>;

	tf::Executor &executor;
	tf::Pipeline<pipe, pipe, pipe, pipe> pipeline;
	tf::Taskflow flow;

	static pipe stage(unsigned i)
	{
		struct stream &s = the_stream;

		return pipe(s.stage[i].is_serial ? tf::PipeType::SERIAL
						 : tf::PipeType::PARALLEL,
			    stage_body{ &s, i });
	}

	explicit line(int workers)
	    : executor(executor_of(workers)),
	      pipeline(STREAM_TOKENS, stage(0), stage(1), stage(2), stage(3))
	{
		flow.composed_of(pipeline);
	}

	void run() override
	{
		pipeline.reset();
		executor.run(flow).wait();
	}
};

static int peer_answer(struct question *q)
{
	return answer_flow<loops, line>(q);
}

int main()
{
	return peer_loop();
}
