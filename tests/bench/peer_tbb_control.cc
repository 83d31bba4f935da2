/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * oneTBB as packaged: loops and branches by flow_graph, whose bodies put the
 * message that chooses; streams by parallel_pipeline, and those that are fed by
 * flow_graph with a limiter_node. The questions of peer_control.h.
 */
#include "tests/bench/peer_control.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <vector>

using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

/* Of one number of workers at a time. */
struct arena {
	tbb::global_control control;
	tbb::task_arena tasks;

	explicit arena(int workers)
	    : control(tbb::global_control::max_allowed_parallelism,
		      (size_t)workers),
	      tasks(workers)
	{
	}
};

static tbb::task_arena &arena_of(int workers)
{
	static std::unique_ptr<arena> now;
	static int nr;

	if (nr != workers) {
		nr = workers;
		now.reset();
		now.reset(new arena(workers));
	}
	return now->tasks;
}

struct loops : contest {
	tbb::task_arena &tasks;
	struct control &of = the_control;
	std::unique_ptr<tbb::flow::graph> graph;
	std::vector<std::unique_ptr<node>> nodes;

	explicit loops(int workers) : tasks(arena_of(workers))
	{
		tasks.execute([&] { build(); });
	}

	~loops() override
	{
		tasks.execute([&] {
			nodes.clear();
			graph.reset();
		});
	}

	void build()
	{
		uint32_t i, last = of.nr_steps - 1;

		graph.reset(new tbb::flow::graph);
		for (i = 0; i <= last; i++)
			nodes.emplace_back(new node(*graph, [this, i](message) {
				control_do(&of.step[i]);
				choose(i);
				return message();
			}));
		if (of.shape == CONTROL_LOOP)
			tbb::flow::make_edge(*nodes[0], *nodes[1]);
		for (i = 1; of.shape == CONTROL_FORK && i < last; i++) {
			tbb::flow::make_edge(*nodes[0], *nodes[i]);
			tbb::flow::make_edge(*nodes[i], *nodes[last]);
		}
	}

	void put(uint32_t i)
	{
		nodes[i]->try_put(message());
	}

	void choose(uint32_t i)
	{
		bool is_last = control_is_last(&of, i);

		if (control_is_choice(&of, i))
			put(1 + control_arm(&of.step[0]));
		else if (control_is_arm(&of, i))
			put(of.nr_steps - 1);
		else if (is_last && control_again(&of.step[i]))
			put(0);
	}

	void run() override
	{
		uint64_t i, times = of.shape == CONTROL_RUNS ? of.nr : 1;

		tasks.execute([&] {
			for (i = 0; i < times; i++) {
				put(0);
				graph->wait_for_all();
			}
		});
	}
};

static tbb::filter_mode mode_of(const struct stream &s, unsigned i)
{
	return s.stage[i].is_serial ? tbb::filter_mode::serial_in_order
				    : tbb::filter_mode::parallel;
}

struct line : contest {
	using middle = tbb::filter<uint64_t, uint64_t>;

	tbb::task_arena &tasks;
	struct stream &of = the_stream;
	tbb::filter<void, void> filters;

	explicit line(int workers)
	    : tasks(arena_of(workers)),
	      filters(source() & stage(1) & stage(2) & sink())
	{
	}

	tbb::filter<void, uint64_t> source()
	{
		struct stream *s = &of;

		return tbb::make_filter<void, uint64_t>(
			mode_of(of, 0), [s](tbb::flow_control &control) {
				uint64_t token = s->stage[0].calls;

				if (token == s->nr)
					control.stop();
				else
					stream_do(s, 0, token);
				return token;
			});
	}

	middle stage(unsigned i)
	{
		struct stream *s = &of;

		return tbb::make_filter<uint64_t, uint64_t>(
			mode_of(of, i), [s, i](uint64_t token) {
				stream_do(s, i, token);
				return token;
			});
	}

	tbb::filter<uint64_t, void> sink()
	{
		struct stream *s = &of;

		return tbb::make_filter<uint64_t, void>(
			mode_of(of, 3),
			[s](uint64_t token) { stream_do(s, 3, token); });
	}

	void run() override
	{
		tasks.execute([&] {
			tbb::parallel_pipeline(STREAM_TOKENS, filters);
		});
	}
};

/* The limiter lets as many messages by as lkdf has waves. */
struct fed : contest {
	using source_node = tbb::flow::input_node<struct packet>;
	using stage_node =
		tbb::flow::function_node<struct packet, struct packet>;
	using sink_node = tbb::flow::function_node<struct packet, message>;

	tbb::task_arena &tasks;
	struct stream &of = the_stream;
	std::unique_ptr<tbb::flow::graph> graph;
	std::unique_ptr<source_node> source;
	std::unique_ptr<tbb::flow::limiter_node<struct packet>> limiter;
	std::unique_ptr<stage_node> first, second;
	std::unique_ptr<sink_node> sink;

	explicit fed(int workers) : tasks(arena_of(workers))
	{
		tasks.execute([&] { build(); });
	}

	~fed() override
	{
		tasks.execute([&] {
			sink.reset();
			second.reset();
			first.reset();
			limiter.reset();
			source.reset();
			graph.reset();
		});
	}

	std::unique_ptr<stage_node> stage(unsigned i)
	{
		struct stream *s = &of;
		size_t beside = s->stage[i].is_serial ? tbb::flow::serial
						      : tbb::flow::unlimited;

		return std::make_unique<stage_node>(
			*graph, beside, [s, i](struct packet m) {
				return stream_pass(s, i, m);
			});
	}

	void build()
	{
		struct stream *s = &of;

		graph = std::make_unique<tbb::flow::graph>();
		source = std::make_unique<source_node>(
			*graph, [s](tbb::flow_control &control) {
				struct packet m = { s->stage[0].calls, 0 };

				if (m.token == s->nr)
					control.stop();
				else
					m = stream_pass(s, 0, m);
				return m;
			});
		limiter = std::make_unique<
			tbb::flow::limiter_node<struct packet>>(*graph,
								STREAM_TOKENS);
		first = stage(1);
		second = stage(2);
		sink = std::make_unique<sink_node>(*graph, tbb::flow::serial,
						   [s](struct packet m) {
							   stream_pass(s, 3, m);
							   return message();
						   });
		tbb::flow::make_edge(*source, *limiter);
		tbb::flow::make_edge(*limiter, *first);
		tbb::flow::make_edge(*first, *second);
		tbb::flow::make_edge(*second, *sink);
		tbb::flow::make_edge(*sink, limiter->decrementer());
	}

	void run() override
	{
		tasks.execute([&] {
			graph->reset();
			source->activate();
			graph->wait_for_all();
		});
	}
};

static int peer_answer(struct question *q)
{
	return answer_flow<loops, line, fed>(q);
}

int main()
{
	return peer_loop();
}
