/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The short forms: structs for one call, no event, a function without a kind,
 * the version.
 */
#include "tests/api/heard.h"

#define NR 1000

static atomic_int nr_sums;

static int sum(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	atomic_fetch_add(&nr_sums, 1);
	return 0;
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, -EDOM, "%s", (const char *)arg);
}

static void structs_for_one_call(struct lkdf *rt)
{
	const struct lkdf_task *t = LKDF_TASK(.prio = LKDF_HIGH);
	struct lkdf_event done = LKDF_EVENT_NONE;
	struct lkdf_kind *k = NULL;
	struct lkdf_graph *g = NULL;
	atomic_int nr = 0;

	is(t->size, sizeof(*t), "LKDF_TASK has its size");
	is(t->prio, LKDF_HIGH, "and what is given");
	ok(!t->kind && !t->arg && !t->pad, "and 0");
	is(lkdf_kind_create(rt, LKDF_KIND(.name = "sum", .fn = sum), &k), 0,
	   "LKDF_KIND makes a kind");
	ok(!done.slot && !done.gen, "LKDF_EVENT_NONE is none");
	lkdf_event_put(LKDF_EVENT_NONE);
	is(lkdf_event_wait(LKDF_EVENT_NONE, 0), -EINVAL, "nobody waits for it");
	is(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &nr), &done), 0,
	   "LKDF_TASK is a task");
	is(lkdf_event_wait(done, -1), 0, "which runs");
	is(lkdf_graph_create(rt, LKDF_ATTR(lkdf_graph_attr, .name = "sums"),
			     &g),
	   0, "LKDF_ATTR is for all others");
	is(nr, 1, "the task has run once");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void functions_are_submitted(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;
	struct lkdf_scope *s;
	atomic_int nr = 0;
	int i, bad = 0;

	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < NR; i++)
		bad += lkdf_submit_fn(rt, s, i % 2 ? "odd" : "even", sum, &nr,
				      NULL) != 0;
	is(bad, 0, "a function is submitted under two names");
	is(lkdf_scope_wait(rt, s, -1), 0, "and runs");
	is(nr, NR, "each time");
	is(lkdf_submit_fn(rt, s, "gauge", fail, "too high", &done), 0,
	   "one that fails");
	is(lkdf_event_wait(done, -1), -EDOM, "has an event");
	lkdf_scope_wait(rt, s, -1);
	must(lkdf_scope_error(rt, s, &e));
	has(e.task, "gauge", "and its name");
	has(e.why, "too high", "and its reason");
	lkdf_scope_put(s);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which the root does not");
	is(lkdf_submit_fn(rt, NULL, NULL, sum, &nr, NULL), -EINVAL, "no name");
	is(lkdf_submit_fn(rt, NULL, "", sum, &nr, NULL), -EINVAL,
	   "an empty name");
	is(lkdf_submit_fn(rt, NULL, "x", NULL, &nr, NULL), -EINVAL,
	   "no function");
	is(lkdf_submit_fn(NULL, NULL, "x", sum, &nr, NULL), -EINVAL,
	   "no runtime");
}

struct racer {
	struct lkdf *rt;
	atomic_int nr;
	int bad;
};

/* All threads ask for the same new kinds. */
static void *race(void *arg)
{
	struct racer *r = arg;
	char name[16];
	int i;

	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		r->bad += lkdf_submit_fn(r->rt, NULL, name, sum, &r->nr,
					 NULL) != 0;
	}
	return NULL;
}

static void threads_share_its_kinds(struct lkdf *rt)
{
	struct racer r[4] = {
		{ .rt = rt }, { .rt = rt }, { .rt = rt }, { .rt = rt }
	};
	pthread_t id[4];
	int i, nr = 0;

	for (i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, race, &r[i]);
	for (i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "4 threads submit 1000 functions");
	for (i = 0; i < 4; i++)
		nr += r[i].nr - r[i].bad;
	is(nr, 4 * NR, "each has run");
}

int main(void)
{
	struct lkdf *rt;
	int i, bad = 0;

	tap_start(60);
	is(lkdf_version(), LKDF_VERSION_NUMBER, "library and header agree");
	rt = open_heard("workers=2");
	structs_for_one_call(rt);
	functions_are_submitted(rt);
	threads_share_its_kinds(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	for (i = 0; i < said.nr; i++)
		bad += strstr(said.text[i], "put") != NULL;
	is(bad, 0, "its kinds are the runtime's");
	return tap_end();
}
