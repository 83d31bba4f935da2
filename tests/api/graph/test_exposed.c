/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body whose kind is known to be short waits for another task that is ready:
 * of its graph, of its own children, or submitted beside it. That task may lie
 * private on its own worker, under a body that does not end before it has run,
 * and nobody may be awake. It starts on another worker all the same, whichever
 * of the tasks it is. Also with more workers than CPUs, and where all have
 * slept for so long that none comes back by itself.
 */
#include "tests/api/using.h"

#define NR_TASKS 60
#define NR_ROWS 6
#define NR_CHILDREN 6
#define NR_SHORT 200 /* bodies, so that the kinds are known */
#define NR_ROUNDS 12
#define FOR_GOOD_NS 1200000000 /* after that nobody watches any more */
#define NOBODY (-1)

static struct {
	struct lkdf *rt;
	struct lkdf_kind *kind, *parent;
	atomic_int waits, ends; /* tasks; NOBODY: none waits in this run */
	atomic_int has_begun, nr_met, nr_missed, nr_ran, parent_began;
	int prio; /* of children */
} all;

static void wait_for_the_other(void)
{
	int64_t end = api_now_ns() + PATIENCE_NS;

	while (!atomic_load(&all.has_begun) && api_now_ns() < end)
		;
	atomic_fetch_add(
		atomic_load(&all.has_begun) ? &all.nr_met : &all.nr_missed, 1);
}

static int body(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;

	(void)c;
	atomic_fetch_add(&all.nr_ran, 1);
	if (task == atomic_load(&all.ends))
		atomic_store(&all.has_begun, 1);
	if (task == atomic_load(&all.waits))
		wait_for_the_other();
	return 0;
}

/* Its children are tasks 0 and on; it waits for one of them itself. */
static int parent(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	atomic_store(&all.parent_began, 1);
	for (i = 0; i < NR_CHILDREN; i++) {
		if (!all.prio)
			must(lkdf_spawn(c, all.kind, &i));
		else
			must(lkdf_spawn_task(c,
					     ATTR(lkdf_task, .kind = all.kind,
						  .arg = &i, .prio = all.prio),
					     NULL));
	}
	if (atomic_load(&all.ends) != NOBODY)
		wait_for_the_other();
	return 0;
}

static void start(const char *options)
{
	all.rt = api_open(options);
	all.kind = api_kind(all.rt, "body", body, sizeof(int), 0);
	all.parent = api_kind(all.rt, "parent", parent, 0, 0);
	all.prio = 0;
	atomic_store(&all.nr_met, 0);
	atomic_store(&all.nr_missed, 0);
	atomic_store(&all.waits, NOBODY);
	atomic_store(&all.ends, NOBODY);
}

static void end(void)
{
	lkdf_kind_put(all.parent);
	lkdf_kind_put(all.kind);
	is(lkdf_close(all.rt), 0, "and the runtime closes");
}

static void expect(int waits, int ends)
{
	atomic_store(&all.waits, waits);
	atomic_store(&all.ends, ends);
	atomic_store(&all.has_begun, 0);
}

/* False: once was enough. */
static bool go_on(void)
{
	return !atomic_load(&all.nr_missed);
}

static void all_met(int nr, const char *what, const char *options)
{
	is(atomic_load(&all.nr_met), nr, "%s, %s: met each time", what,
	   options);
	is(atomic_load(&all.nr_missed), 0, "never in vain");
}

/* Rows that do not know of each other. */
static struct lkdf_graph *rows(void)
{
	struct lkdf_graph *g = api_graph(all.rt, 1);
	int t;

	for (t = 0; t < NR_TASKS; t++) {
		must(lkdf_graph_add(g, all.kind, &t, NULL, 0));
		if (t >= NR_ROWS)
			must(lkdf_graph_order(g, t - NR_ROWS, t));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/*
 * One waits for any one of another row: those before it in its own row do not
 * wait, and those before the other one do not either.
 */
static void in_a_graph(const char *options)
{
	struct lkdf_graph *g;
	int i, n;

	start(options);
	g = rows();
	for (i = 0; i < NR_ROUNDS && go_on(); i++) {
		expect(NOBODY, NOBODY);
		for (n = 0; n < NR_SHORT; n++)
			must(api_run(g, NULL, NULL));
		expect(7 * i % NR_TASKS, (7 * i + 1 + 5 * i) % NR_TASKS);
		if (all.ends % NR_ROWS == all.waits % NR_ROWS)
			atomic_fetch_xor(&all.ends, 1);
		must(api_run(g, NULL, NULL));
	}
	all_met(NR_ROUNDS, "rows of a graph", options);
	lkdf_graph_put(g);
	end();
}

static void among_children(const char *options, int prio)
{
	int i, n;

	start(options);
	all.prio = prio;
	for (i = 0; i < 2 * NR_CHILDREN && go_on(); i++) {
		expect(NOBODY, NOBODY);
		for (n = 0; n < NR_SHORT; n++)
			must(lkdf_submit(all.rt, NULL,
					 ATTR(lkdf_task, .kind = all.parent),
					 NULL));
		must(lkdf_scope_wait(all.rt, NULL, -1));
		expect(NOBODY, i % NR_CHILDREN);
		must(lkdf_submit(all.rt, NULL,
				 ATTR(lkdf_task, .kind = all.parent), NULL));
		must(lkdf_scope_wait(all.rt, NULL, -1));
	}
	all_met(2 * NR_CHILDREN, prio ? "urgent children" : "children",
		options);
	end();
}

static void submit(int nr)
{
	int t;

	for (t = 0; t < nr; t++)
		must(lkdf_submit(all.rt, NULL,
				 ATTR(lkdf_task, .kind = all.kind, .arg = &t),
				 NULL));
	must(lkdf_scope_wait(all.rt, NULL, -1));
}

/* At once, so that one worker may take them all. */
static void submit_many(int nr)
{
	const struct lkdf_task *list[NR_TASKS];
	struct lkdf_task task[NR_TASKS];
	int arg[NR_TASKS], t;

	for (t = 0; t < nr; t++) {
		arg[t] = t;
		task[t] = *ATTR(lkdf_task, .kind = all.kind, .arg = &arg[t]);
		list[t] = &task[t];
	}
	must(lkdf_submit_many(all.rt, NULL, list, (unsigned)nr, NULL));
	must(lkdf_scope_wait(all.rt, NULL, -1));
}

static void beside_it(const char *options, void (*submit_all)(int nr))
{
	int i, n;

	start(options);
	for (i = 0; i < NR_ROUNDS && go_on(); i++) {
		expect(NOBODY, NOBODY);
		for (n = 0; n < NR_SHORT; n += NR_TASKS)
			submit_all(NR_TASKS);
		expect(7 * i % NR_TASKS, (7 * i + 1 + 5 * i) % NR_TASKS);
		if (all.ends == all.waits)
			atomic_fetch_xor(&all.ends, 1);
		submit_all(NR_TASKS);
	}
	all_met(NR_ROUNDS, submit_all == submit ? "submitted" : "many at once",
		options);
	end();
}

/* Of a graph, a submission and a parent, nobody being awake nor to come. */
static void after_a_long_sleep(const char *options)
{
	struct lkdf_graph *g;
	int n;

	start(options);
	g = rows();
	for (n = 0; n < NR_SHORT; n++)
		must(api_run(g, NULL, NULL));
	submit(NR_SHORT);
	for (n = 0; n < NR_SHORT; n++)
		must(lkdf_submit(all.rt, NULL,
				 ATTR(lkdf_task, .kind = all.parent), NULL));
	must(lkdf_scope_wait(all.rt, NULL, -1));
	api_nap_ns(FOR_GOOD_NS);
	expect(0, 1);
	must(api_run(g, NULL, NULL));
	api_nap_ns(FOR_GOOD_NS);
	expect(3, 2);
	submit_many(NR_TASKS);
	api_nap_ns(FOR_GOOD_NS);
	expect(NOBODY, NR_CHILDREN - 1);
	must(lkdf_submit(all.rt, NULL, ATTR(lkdf_task, .kind = all.parent),
			 NULL));
	must(lkdf_scope_wait(all.rt, NULL, -1));
	api_nap_ns(FOR_GOOD_NS);
	expect(NOBODY, 0);
	all.prio = LKDF_URGENT;
	must(lkdf_submit(all.rt, NULL, ATTR(lkdf_task, .kind = all.parent),
			 NULL));
	must(lkdf_scope_wait(all.rt, NULL, -1));
	all_met(4, "after a long sleep", options);
	lkdf_graph_put(g);
	end();
}

/* Once its child has begun elsewhere it joins it, and runs what that spawns. */
static int join_parent(struct lkdf_ctx *c, void *arg)
{
	int64_t end = api_now_ns() + PATIENCE_NS;

	(void)arg;
	atomic_store(&all.parent_began, 0);
	must(lkdf_spawn(c, all.parent, NULL));
	while (!atomic_load(&all.parent_began) && api_now_ns() < end)
		;
	must(lkdf_join(c));
	return 0;
}

/* The other worker is in a join: nobody looks for work but for its children. */
static void beside_a_join(const char *options)
{
	struct lkdf_kind *joins;
	int i, n;

	start(options);
	joins = api_kind(all.rt, "joins", join_parent, 0, 0);
	for (i = 0; i < NR_CHILDREN && go_on(); i++) {
		expect(NOBODY, NOBODY);
		for (n = 0; n < NR_SHORT; n++)
			must(lkdf_submit(all.rt, NULL,
					 ATTR(lkdf_task, .kind = all.parent),
					 NULL));
		must(lkdf_scope_wait(all.rt, NULL, -1));
		expect(NOBODY, i);
		must(lkdf_submit(all.rt, NULL, ATTR(lkdf_task, .kind = joins),
				 NULL));
		must(lkdf_scope_wait(all.rt, NULL, -1));
	}
	all_met(NR_CHILDREN, "beside a join", options);
	lkdf_kind_put(joins);
	end();
}

int main(void)
{
	static const char *const options[] = {
		"workers=2,final",
		"workers=2,final,solo_runs=0",
		"workers=2,final,static_runs=0",
		"workers=4,final,solo_runs=0",
	};
	size_t i;

	tap_start(240);
	if (!api_has_membarrier()) {
		skip("bodies meet", "the kernel has no membarrier(2)");
		return tap_end();
	}
	for (i = 0; i < LENGTH(options); i++)
		in_a_graph(options[i]);
	beside_a_join("workers=2,final");
	for (i = 0; i < LENGTH(options); i += 3) {
		among_children(options[i], 0);
		among_children(options[i], LKDF_URGENT);
		beside_it(options[i], submit);
		beside_it(options[i], submit_many);
		after_a_long_sleep(options[i]);
	}
	return tap_end();
}
