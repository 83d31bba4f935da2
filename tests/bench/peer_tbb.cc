/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * oneTBB as packaged: flow_graph with continue_node, task_group for fib, and
 * what its threads cost when idle. Besides the questions of peer_graph.h:
 * fib N WORKERS     ns, number of spawns
 * loop NR PASSES WORKERS   ns of all passes, wrong elements
 * idle WORKERS MS   ns of CPU time used in so many ms
 */
#include "tests/bench/loop.h"
#include "tests/bench/peer_graph.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <vector>

using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

/* One arena per number of workers, made once. */
static tbb::task_arena &arena_of(int workers)
{
	static std::unique_ptr<tbb::global_control> control;
	static std::unique_ptr<tbb::task_arena> arena;
	static int now;

	if (now != workers) {
		now = workers;
		arena.reset();
		control.reset(new tbb::global_control(
			tbb::global_control::max_allowed_parallelism,
			(size_t)workers));
		arena.reset(new tbb::task_arena(workers));
	}
	return *arena;
}

template <class Body> struct contest {
	tbb::task_arena &arena;
	std::unique_ptr<tbb::flow::graph> graph;
	std::vector<std::unique_ptr<node>> nodes;
	std::vector<node *> sources;

	contest(int workers, const struct shape &s) : arena(arena_of(workers))
	{
		arena.execute([&] { build(s); });
	}

	~contest()
	{
		arena.execute([&] {
			nodes.clear();
			graph.reset();
		});
	}

	void build(const struct shape &s)
	{
		graph.reset(new tbb::flow::graph);
		nodes.reserve(s.nr_tasks);
		for (uint32_t i = 0; i < s.nr_tasks; i++)
			nodes.emplace_back(new node(*graph, [i](message) {
				Body()(i);
				return message();
			}));
		for (uint32_t i = 0; i < s.nr_tasks; i++)
			for (uint32_t e = s.pred_at[i]; e < s.pred_at[i + 1];
			     e++)
				tbb::flow::make_edge(*nodes[s.pred[e]],
						     *nodes[i]);
		for (uint32_t i = 0; i < s.nr_tasks; i++)
			if (s.pred_at[i] == s.pred_at[i + 1])
				sources.push_back(nodes[i].get());
	}

	void run()
	{
		arena.execute([&] {
			for (node *n : sources)
				n->try_put(message());
			graph->wait_for_all();
		});
	}
};

/* Two spawns and a join per call, as everywhere in this suite. */
static long fib(int n)
{
	tbb::task_group group;
	long x, y;

	if (n < 2)
		return n;
	group.run([&x, n] { x = fib(n - 1); });
	group.run([&y, n] { y = fib(n - 2); });
	group.wait();
	return x + y;
}

static int answer_fib(struct question *q)
{
	int n = (int)peer_number(q, 1);
	int64_t start;

	arena_of((int)peer_number(q, 2)).execute([&] {
		start = peer_now_ns();
		q->out[1] = (double)fib(n);
		q->out[0] = (double)(peer_now_ns() - start);
	});
	return 2;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int answer_idle(struct question *q)
{
	struct timespec wait = { peer_number(q, 2) / 1000,
				 peer_number(q, 2) % 1000 * 1000000l };
	struct timespec settle = { 0, 200000000 };
	int64_t start;

	arena_of((int)peer_number(q, 1)).execute([&] { fib(16); });
	nanosleep(&settle, NULL);
	start = cpu_ns();
	nanosleep(&wait, NULL);
	q->out[0] = (double)(cpu_ns() - start);
	return 1;
}

static int answer_loop(struct question *q)
{
	uint64_t nr = peer_number(q, 1);
	uint32_t passes = peer_number(q, 2), k;
	std::vector<uint32_t> x(nr);
	int64_t start;

	arena_of((int)peer_number(q, 3)).execute([&] {
		start = peer_now_ns();
		for (k = 0; k < passes; k++)
			tbb::parallel_for(
				tbb::blocked_range<uint64_t>(0, nr),
				[&](const tbb::blocked_range<uint64_t> &r) {
					loop_block(x.data(), r.begin(),
						   r.end());
				});
		q->out[0] = (double)(peer_now_ns() - start);
	});
	q->out[1] = (double)loop_wrong(x.data(), nr, passes);
	return 2;
}

/* Threads come with the first tasks. */
struct runtime {
	tbb::global_control control;
	tbb::task_arena arena;

	explicit runtime(int workers)
	    : control(tbb::global_control::max_allowed_parallelism,
		      (size_t)workers),
	      arena(workers)
	{
		arena.initialize();
	}
};

static int peer_answer(struct question *q)
{
	if (peer_is(q, "open"))
		return answer_open<runtime>(q);
	if (peer_is(q, "fib"))
		return answer_fib(q);
	if (peer_is(q, "loop"))
		return answer_loop(q);
	if (peer_is(q, "idle"))
		return answer_idle(q);
	return answer_graphs<contest>(q);
}

int main()
{
	return peer_loop();
}
