/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf without data: one sealed graph. PLACES=strict in the environment binds
 * each task to the node that owns its block; otherwise all tasks are left free.
 */
#include "tests/bench/numa/driver.h"

#include <lkdf/lkdf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<lkdf/place.h>)
#include <lkdf/place.h>
#define HAS_PLACES 1
#else
#define HAS_PLACES 0
#endif

static struct {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	int is_strict;
} job;

static int complain(const char *what)
{
	fprintf(stderr, "lkdf: %s: %s\n", what, lkdf_errmsg());
	return -1;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	struct task *t = arg;

	(void)c;
	program_body(t, t->at);
	return 0;
}

static int add(struct task *t)
{
	struct lkdf_task attr = { .size = sizeof(attr),
				  .kind = job.kind,
				  .arg = t };

#if HAS_PLACES
	if (job.is_strict) {
		attr.place = lkdf_place_node(job.rt, task_node(t));
		attr.flags = LKDF_PINNED;
		if (!attr.place)
			return complain("place");
	}
#endif
	return lkdf_graph_add_task(job.graph, &attr) < 0 ? complain("add") : 0;
}

static int build(struct program *p)
{
	uint32_t i, n;

	for (i = 0; i < p->nr_tasks; i++)
		if (add(&p->task[i]))
			return -1;
	for (i = 0; i < p->nr_tasks; i++)
		for (n = 0; n < p->task[i].nr_preds; n++)
			if (lkdf_graph_order(job.graph,
					     (int32_t)p->task[i].pred[n],
					     (int32_t)i))
				return complain("order");
	return lkdf_graph_seal(job.graph, NULL) ? complain("seal") : 0;
}

static int prepare(struct program *p)
{
	struct lkdf_kind_attr kind = { .size = sizeof(kind),
				       .flags = LKDF_SHARED,
				       .name = "body",
				       .fn = body };
	struct lkdf_graph_attr graph = { .size = sizeof(graph),
					 .hint_tasks = p->nr_tasks };

	if (lkdf_open(NULL, &job.rt))
		return complain("open");
	if (lkdf_kind_create(job.rt, &kind, &job.kind) ||
	    lkdf_graph_create(job.rt, &graph, &job.graph))
		return complain("create");
	return build(p);
}

static int run(struct program *p)
{
	struct lkdf_run times = { .size = sizeof(times),
				  .times = p->nr_repeats };
	struct lkdf_event done;

	if (lkdf_graph_run(job.graph, NULL, &times, &done) ||
	    lkdf_event_wait(done, -1))
		return complain("run");
	return 0;
}

static void finish(void)
{
	lkdf_graph_put(job.graph);
	lkdf_kind_put(job.kind);
	lkdf_close(job.rt);
	job.graph = NULL;
	job.kind = NULL;
	job.rt = NULL;
}

int main(int argc, char **argv)
{
	const char *places = getenv("PLACES");
	struct driver d = { "lkdf-free", prepare, run, finish };

	job.is_strict = places && !strcmp(places, "strict");
	if (job.is_strict) {
		d.name = "lkdf-strict";
		if (!HAS_PLACES) {
			printf("lkdf-strict: absent, built without places\n");
			return 0;
		}
	}
	return driver_main(&d, argc, argv);
}
