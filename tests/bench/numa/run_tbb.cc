/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* oneTBB as packaged: a flow_graph of continue_node, built before it runs. */
#include "tests/bench/numa/driver.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

#include <memory>
#include <vector>

using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

static std::unique_ptr<tbb::global_control> control;
static std::unique_ptr<tbb::flow::graph> graph;
static std::vector<std::unique_ptr<node>> nodes;

static int prepare(struct program *p)
{
	control.reset(new tbb::global_control(
		tbb::global_control::max_allowed_parallelism, PROGRAM_WORKERS));
	graph.reset(new tbb::flow::graph);
	for (uint32_t i = 0; i < p->nr_tasks; i++) {
		struct task *t = &p->task[i];

		nodes.emplace_back(new node(*graph, [t](message) {
			program_body(t, t->at);
			return message();
		}));
		for (uint32_t n = 0; n < t->nr_preds; n++)
			tbb::flow::make_edge(*nodes[t->pred[n]], *nodes[i]);
	}
	return 0;
}

static int run(struct program *p)
{
	for (uint32_t run = 0; run < p->nr_repeats; run++) {
		for (uint32_t i = 0; i < p->nr_tasks; i++)
			if (!p->task[i].nr_preds)
				nodes[i]->try_put(message());
		graph->wait_for_all();
	}
	return 0;
}

static void finish(void)
{
	nodes.clear();
	graph.reset();
	control.reset();
}

int main(int argc, char **argv)
{
	static const struct driver d = { "tbb", prepare, run, finish };

	return driver_main(&d, argc, argv);
}
