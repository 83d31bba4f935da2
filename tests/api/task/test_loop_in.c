/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops in bodies, submitted, spawned, of graphs and of the blocking
 * pool; and from many threads at once.
 */
#include "tests/api/loop.h"

#include <pthread.h>

static int loop_in_body(struct lkdf_ctx *c, void *arg)
{
	struct notes *n = arg;

	return lkdf_for_in(c, ATTR(lkdf_for_attr, .fn = note, .u = n,
				   .range = { n->begin, n->end, n->grain }));
}

static void loops_in_bodies_run(const char *options, uint32_t flags)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "outer", loop_in_body, 0, flags);
	struct notes *n[20];
	int i, bad = 0;

	for (i = 0; i < 20; i++) {
		n[i] = notes_create((uint64_t)i, 997u * (uint64_t)i,
				    (uint64_t)i % 5);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = n[i]),
				 NULL));
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: 20 bodies with loops",
	   options);
	for (i = 0; i < 20; i++) {
		bad += mistakes(n[i]);
		free(n[i]);
	}
	is(bad, 0, "each iteration once");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int nest(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, 100, 1 },
		.fn = count_block,
		.u = arg,
	};
	int rc;

	rc = lkdf_for_in(c, &a);
	a.schedule = LKDF_SCHEDULE_STATIC;
	if (!rc)
		rc = lkdf_for_in(c, &a);
	a.schedule = LKDF_SCHEDULE_NODES;
	a.range.grain = 0;
	return rc ? rc : lkdf_for_in(c, &a);
}

static int spawn_nests(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = arg;
	static atomic_ullong nr;
	int i, rc = 0;

	atomic_store(&nr, 0);
	for (i = 0; i < 30 && !rc; i++)
		rc = lkdf_spawn(c, k, &nr);
	if (!rc)
		rc = lkdf_join(c);
	return rc ? rc : atomic_load(&nr) == 9000 ? 0 : -EPROTO;
}

static void children_have_loops_too(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "nest", nest, 0, 0);
	struct lkdf_kind *outer = api_kind(rt, "nests", spawn_nests, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	is(api_call(rt, outer, k), 0, "%s: 90 loops in 30 children", options);
	must(lkdf_graph_add(g, outer, k, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "and in a graph");
	lkdf_graph_put(g);
	lkdf_kind_put(outer);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int fail_at_400(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	return begin <= 400 && end > 400 ? -EIO : 0;
}

static int fail_in_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, 1000, 1 },
		.fn = fail_at_400,
		.scope = arg,
	};
	int rc;

	if (lkdf_for_in(c, &a) != -EINVAL)
		return -EPROTO;
	a.scope = NULL;
	rc = lkdf_for_in(c, &a);
	return rc == -EIO ? 7 : -EPROTO;
}

static void errors_in_bodies_are_the_bodys(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_scope *s;
	struct lkdf_kind *k = api_kind(rt, "fails", fail_in_body, 0, 0);

	must(lkdf_scope_create(rt, NULL, &s));
	is(api_call(rt, k, s), 0, "a body that handles a loop's error is well");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int weak_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, 1000, 1 },
		.fn = count_block,
		.u = arg,
	};

	return lkdf_for_in(c, &a);
}

static void a_body_that_cannot_join_is_told(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *k = api_kind(rt, "weak", weak_body, 0, 0);
	atomic_ullong nr = 0;
	struct lkdf_event done;
	struct lkdf_data *d;

	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 64), &d));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &nr, .nr_use = 1,
			      .use = &(struct lkdf_use){ .data = d,
							 .mode = LKDF_WRITE |
								 LKDF_WEAK }),
			 &done));
	is(lkdf_event_wait(done, -1), -EDEADLK, "a task with WEAK uses");
	is(atomic_load(&nr), 0, "its loop has not begun");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static struct lkdf *shared_rt;

static void *loops_of_a_thread(void *arg)
{
	uint64_t i, id = (uint64_t)(uintptr_t)arg;
	intptr_t bad = 0;

	for (i = 0; i < 20; i++)
		bad += mistakes_of(shared_rt, id, 200 * i + id, i % 4 * id);
	return (void *)bad;
}

static void many_threads_have_loops(const char *options)
{
	pthread_t thread[8];
	void *bad, *all = NULL;
	int i;

	shared_rt = api_open(options);
	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, loops_of_a_thread,
			       (void *)(uintptr_t)i);
	for (i = 0; i < 8; i++) {
		pthread_join(thread[i], &bad);
		all = (void *)((uintptr_t)all + (uintptr_t)bad);
	}
	ok(!all, "%s: 8 threads with 20 loops each", options);
	must(lkdf_close(shared_rt));
}

int main(void)
{
	unsigned i;

	tap_start(120);
	for (i = 0; i < NR_MACHINES; i++) {
		loops_in_bodies_run(machines[i], 0);
		children_have_loops_too(machines[i]);
		many_threads_have_loops(machines[i]);
	}
	loops_in_bodies_run("workers=2", LKDF_BLOCKING);
	errors_in_bodies_are_the_bodys();
	a_body_that_cannot_join_is_told();
	return tap_end();
}
