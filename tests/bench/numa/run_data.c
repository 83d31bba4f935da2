/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf with data: one sealed graph, whose tasks name the blocks they use and
 * nothing else: no order, no place, no memory. What the library makes of that
 * is what is measured. PLACES=blind in the environment: with the option
 * placement=no; PLACES=stay: with far_steals=no; PLACES=still:
 * with rehome=no.
 *
 * The blocks are the library's own, so its allocator is made to map where the
 * counter looks: this program's mmap() is the one that the library calls.
 */
#include "tests/bench/numa/driver.h"
#include "tests/vm/plugin/guest.h"

#include <lkdf/lkdf.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The least that the allocator maps for blocks, and its largest alignment. */
#define MAP_MIN ((size_t)2 << 20)
#define MAP_ALIGN ((size_t)4 << 20)
#define PAGE 4096

static struct {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct lkdf_data **data;
	uint32_t nr_data;
	size_t block_bytes; /* of what is mapped on its own, too */
} job;

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	bool is_heap = size >= MAP_MIN && flags & MAP_NORESERVE;

	if (!at && (is_heap || size == job.block_bytes) &&
	    flags & MAP_ANONYMOUS && !(flags & MAP_STACK)) {
		at = guest_heap(size, is_heap ? MAP_ALIGN : PAGE);
		return at ? at : MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

static int complain(const char *what)
{
	fprintf(stderr, "lkdf: %s: %s\n", what, lkdf_errmsg());
	return -1;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	struct task *t = arg;
	uint64_t *at[TASK_MAX_USES];
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++)
		at[i] = lkdf_ptr(c, i);
	program_body(t, at);
	return 0;
}

static int add(struct task *t)
{
	struct lkdf_use use[TASK_MAX_USES] = { { 0 } };
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		use[i].data = job.data[t->use[i].block];
		use[i].mode = (t->use[i].is_read ? LKDF_READ : 0) |
			      (t->use[i].is_written ? LKDF_WRITE : 0);
	}
	return lkdf_graph_add(job.graph, job.kind, t, use, t->nr_uses) < 0
		       ? complain("add")
		       : 0;
}

static int make_data(struct program *p)
{
	struct lkdf_data_attr a = {
		.size = sizeof(a),
		.flags = p->is_fresh ? LKDF_DATA_ONCE : 0,
		.bytes = 8ull * p->block_words,
	};

	job.block_bytes = a.bytes;
	job.data = calloc(p->nr_blocks, sizeof(*job.data));
	if (!job.data)
		return -1;
	for (; job.nr_data < p->nr_blocks; job.nr_data++)
		if (lkdf_data_create(job.rt, &a, &job.data[job.nr_data]))
			return complain("data");
	return 0;
}

static const struct arm {
	const char *places, *name, *options;
} arms[] = {
	{ "data", "lkdf-data", NULL },
	{ "stay", "lkdf-stay", "far_steals=no" },
	{ "still", "lkdf-still", "rehome=no" },
	{ "blind", "lkdf-blind", "placement=no" },
};

/* The first one where nothing else is said. */
static const struct arm *arm_of_environment(void)
{
	const char *places = getenv("PLACES");
	const struct arm *a = &arms[sizeof(arms) / sizeof(arms[0]) - 1];

	while (a > arms && (!places || strcmp(places, a->places)))
		a--;
	return a;
}

static int prepare(struct program *p)
{
	struct lkdf_kind_attr kind = { .size = sizeof(kind),
				       .flags = LKDF_SHARED,
				       .name = "body",
				       .fn = body };
	struct lkdf_graph_attr graph = { .size = sizeof(graph),
					 .hint_tasks = p->nr_tasks };
	uint32_t i;

	if (lkdf_open(arm_of_environment()->options, &job.rt))
		return complain("open");
	if (lkdf_kind_create(job.rt, &kind, &job.kind) ||
	    lkdf_graph_create(job.rt, &graph, &job.graph))
		return complain("create");
	if (make_data(p))
		return -1;
	for (i = 0; i < p->nr_tasks; i++)
		if (add(&p->task[i]))
			return -1;
	return lkdf_graph_seal(job.graph, NULL) ? complain("seal") : 0;
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
	uint32_t i;

	lkdf_graph_put(job.graph);
	for (i = 0; i < job.nr_data; i++)
		lkdf_data_put(job.data[i]);
	free(job.data);
	lkdf_kind_put(job.kind);
	lkdf_close(job.rt);
}

int main(int argc, char **argv)
{
	struct driver d = { arm_of_environment()->name, prepare, run, finish };

	return driver_main(&d, argc, argv);
}
