/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_ptrs() says of each use what lkdf_ptr() says: in graphs and submitted
 * tasks, of few uses and of many, of uses that there are not, and after one was
 * given on. Behind the room it writes nothing.
 */
#include "tests/api/using.h"

#define MAX_ASKED 40
#define RUNS 40 /* a kind is known to be short by then */

/* Of one program; bodies count what is wrong. */
struct asked {
	unsigned nr, nr_asked;
	bool gives_on; /* use 0 */
	atomic_int nr_ran, nr_wrong;
};

static char beyond; /* where no call may write */

static void look(struct lkdf_ctx *c, struct asked *a)
{
	void *room[MAX_ASKED + 1];
	void *const *at;
	unsigned i, nr;

	for (nr = 0; nr <= a->nr_asked; nr++) {
		room[nr] = &beyond;
		at = lkdf_ptrs(c, nr, room);
		for (i = 0; i < nr; i++)
			if (at[i] != lkdf_ptr(c, i))
				atomic_fetch_add(&a->nr_wrong, 1);
		if (room[nr] != &beyond)
			atomic_fetch_add(&a->nr_wrong, 1);
	}
}

static int ask(struct lkdf_ctx *c, void *arg)
{
	struct asked *a = *(struct asked **)arg;
	int rc = 0;

	atomic_fetch_add(&a->nr_ran, 1);
	look(c, a);
	if (a->gives_on) {
		rc = lkdf_use_end(c, 0, false);
		look(c, a);
		if (lkdf_ptr(c, 0))
			atomic_fetch_add(&a->nr_wrong, 1);
	}
	return rc;
}

/* Makes what others read, by the array alone. */
static int make(struct lkdf_ctx *c, void *arg)
{
	struct asked *a = *(struct asked **)arg;
	void *room[MAX_ASKED];
	void *const *at = lkdf_ptrs(c, a->nr, room);
	unsigned i;

	for (i = 0; i < a->nr; i++)
		*(uint64_t *)at[i] = i;
	return 0;
}

static int verify(struct lkdf_ctx *c, void *arg)
{
	struct asked *a = *(struct asked **)arg;
	void *room[MAX_ASKED];
	void *const *at = lkdf_ptrs(c, a->nr, room);
	unsigned i;

	for (i = 0; i < a->nr; i++)
		if (*(uint64_t *)at[i] != i)
			atomic_fetch_add(&a->nr_wrong, 1);
	return ask(c, arg);
}

static void in_a_graph(struct lkdf *rt, unsigned nr, uint64_t flags, bool gives)
{
	struct asked asked = { nr, nr + 3, .gives_on = gives }, *a = &asked;
	struct lkdf_kind *makes, *reads;
	struct lkdf_use use[MAX_ASKED];
	struct lkdf_graph *g = api_graph(rt, 1);
	unsigned i;

	makes = api_kind(rt, "makes", make, sizeof(a), 0);
	reads = api_kind(rt, "verifies", verify, sizeof(a), 0);
	for (i = 0; i < nr; i++)
		use[i] = ON(DATA(rt, .bytes = 8, .flags = flags), LKDF_WRITE);
	must(lkdf_graph_add(g, makes, &a, use, nr));
	for (i = 0; i < nr; i++)
		use[i].mode = LKDF_READ;
	must(lkdf_graph_add(g, reads, &a, use, nr));
	must(lkdf_graph_add(g, reads, &a, use, nr));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = RUNS)), 0,
	   "graph: %u uses%s%s", nr, flags ? ", once" : "",
	   gives ? ", one given on" : "");
	is(asked.nr_ran, 2 * RUNS, "graph: all ran");
	is(asked.nr_wrong, 0, "graph: each as lkdf_ptr() says");
	lkdf_graph_put(g);
	for (i = 0; i < nr; i++)
		lkdf_data_put(use[i].data);
	lkdf_kind_put(makes);
	lkdf_kind_put(reads);
}

/* Use 1 is WEAK and has no bytes, as those that there are not. */
static void submitted(struct lkdf *rt, unsigned nr, bool gives)
{
	struct asked asked = { nr, nr + 3, .gives_on = gives }, *a = &asked;
	struct lkdf_kind *k = api_kind(rt, "asks", ask, sizeof(a), 0);
	struct lkdf_use use[MAX_ASKED];
	struct lkdf_event done;
	unsigned i;

	for (i = 0; i < nr; i++)
		use[i] = ON(zeros(rt, NULL, 1),
			    i == 1 ? LKDF_RW | LKDF_WEAK : LKDF_RW);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &a, .use = use,
			      .nr_use = nr),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "submitted: %u uses%s", nr,
	   gives ? ", one given on" : "");
	is(asked.nr_wrong, 0, "submitted: each as lkdf_ptr() says");
	for (i = 0; i < nr; i++)
		lkdf_data_put(use[i].data);
	lkdf_kind_put(k);
}

int main(void)
{
	static const unsigned nr[] = { 1, 2, 5, 16, 17, 30 };
	struct lkdf *rt;
	int workers;
	size_t i;

	tap_start(120);
	for (workers = 1; workers <= 2; workers++) {
		rt = api_open_workers(workers);
		for (i = 0; i < LENGTH(nr); i++) {
			in_a_graph(rt, nr[i], LKDF_DATA_ONCE, false);
			in_a_graph(rt, nr[i], 0, false);
			in_a_graph(rt, nr[i], 0, true);
			submitted(rt, nr[i], false);
			submitted(rt, nr[i], true);
		}
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
