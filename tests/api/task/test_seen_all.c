/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several children fail. Each of their errors is given to the program by one
 * call, or is one line of the log: never both, never twice, never neither.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8

struct family {
	struct lkdf *rt;
	struct lkdf_kind *fails, *parent, *group;
	struct lkdf_event event[MOST];
	struct lkdf_graph *g;
	struct lkdf_scope *scope;
	int nr; /* children that fail */
	int nr_given; /* calls that have told one of them */
	bool later; /* the body looks at events behind its join */
};

/* The log is called from any thread. */
static atomic_int lines[MOST], other_lines;

static void count_line(void *u, int level, const char *text)
{
	const char *at = strstr(text, "child ");

	(void)u;
	if (level != LKDF_LOG_ERROR)
		return;
	if (at && at[6] >= '0' && at[6] < '0' + MOST)
		atomic_fetch_add(&lines[at[6] - '0'], 1);
	else
		atomic_fetch_add(&other_lines, 1);
}

static atomic_int nr_failed;

static int fail(struct lkdf_ctx *c, void *arg)
{
	atomic_fetch_add(&nr_failed, 1);
	return lkdf_fail(c, -EPROTO, "child %d", (int)(intptr_t)arg);
}

static void spawn_failing(struct lkdf_ctx *c, struct family *f)
{
	intptr_t i;

	for (i = 0; i < f->nr; i++)
		must(lkdf_spawn(c, f->fails, (void *)i));
}

static void spawn_with_events(struct lkdf_ctx *c, struct family *f)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = f->fails };
	intptr_t i;

	for (i = 0; i < f->nr; i++) {
		t.arg = (void *)i;
		must(lkdf_spawn_task(c, &t, &f->event[i]));
	}
}

static int given(struct family *f, int rc)
{
	f->nr_given += rc == -EPROTO;
	return rc;
}

/* ---- bodies ------------------------------------------------------------- */

static int join(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	spawn_failing(c, f);
	given(f, lkdf_join(c));
	return lkdf_join(c);
}

/* One text counts the others, which are the same. */
static int join_alike(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	char more[32];
	int i;

	for (i = 0; i < f->nr; i++)
		must(lkdf_spawn(c, f->fails, NULL));
	given(f, lkdf_join(c));
	snprintf(more, sizeof(more), "child 0 (and %d more)", f->nr - 1);
	f->nr_given += strstr(lkdf_errmsg(), more) ? f->nr - 1 : 0;
	return lkdf_join(c);
}

static int leave(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	if (lkdf_input_error(c, 0)) {
		given(f, lkdf_input_error(c, 0));
		return 0;
	}
	spawn_failing(c, f);
	return lkdf_then(c, leave, (struct lkdf_event){ 0 });
}

static int look_away(struct lkdf_ctx *c, void *arg)
{
	spawn_failing(c, arg);
	return 0;
}

static int fail_as_well(struct lkdf_ctx *c, void *arg)
{
	spawn_failing(c, arg);
	return lkdf_fail(c, -EPROTO, "the parent itself");
}

/* The event of one tells of it, and a join of another. */
static int join_others(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int i;

	given(f, lkdf_input_error(c, 0));
	given(f, lkdf_join(c));
	for (i = 0; i < f->nr - 1; i++)
		lkdf_event_put(f->event[i]);
	return 0;
}

static int look_at_last(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	spawn_with_events(c, f);
	return lkdf_then(c, join_others, f->event[f->nr - 1]);
}

static int was_told_all(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	f->nr_given += lkdf_input_error(c, 0) == -EPROTO ? f->nr : 0;
	return lkdf_join(c);
}

static int look_at_all(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	spawn_with_events(c, f);
	return lkdf_then_all(c, was_told_all, f->event, (unsigned)f->nr);
}

/* The join gives one of them; their events give them all, or none. */
static int join_then_look(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct family *f = arg;
	int i;

	spawn_with_events(c, f);
	f->nr_given = lkdf_join(c) == -EPROTO;
	for (i = 0; i < f->nr; i++) {
		if (f->later && !lkdf_event_error(f->event[i], &e))
			f->nr_given += i > 0;
		lkdf_event_put(f->event[i]);
	}
	return 0;
}

/* The event gives the last one, whatever the first join leaves. */
static int keep_then_look(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct family *f = arg;
	int i;

	spawn_with_events(c, f);
	must(lkdf_join_keep(c));
	f->nr_given += !lkdf_event_error(f->event[f->nr - 1], &e);
	given(f, lkdf_join(c));
	for (i = 0; i < f->nr; i++)
		lkdf_event_put(f->event[i]);
	return lkdf_join_keep(c);
}

static void fill_group(struct lkdf_group *g, struct family *f)
{
	intptr_t i;

	for (i = 0; i < f->nr; i++)
		must(lkdf_group_spawn(g, f->fails, (void *)i));
}

static int wait_for_group(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;

	must(lkdf_group_create(c, &g, NULL));
	fill_group(g, f);
	given(f, lkdf_group_wait(g));
	lkdf_group_put(g);
	return lkdf_join(c);
}

static int put_group(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g;

	must(lkdf_group_create(c, &g, NULL));
	fill_group(g, arg);
	lkdf_group_put(g);
	return lkdf_join(c);
}

static int group_has_fired(struct lkdf_ctx *c, void *arg)
{
	given(arg, lkdf_input_error(c, 0));
	return lkdf_join(c);
}

static int leave_for_group(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g;
	struct lkdf_event e;

	must(lkdf_group_create(c, &g, NULL));
	fill_group(g, arg);
	must(lkdf_group_event(g, &e));
	return lkdf_then(c, group_has_fired, e);
}

/* Each of them has one, and so has the body. */
static int join_groups(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g[MOST];
	struct family *f = arg;
	int i;

	must(lkdf_spawn(c, f->fails, NULL));
	for (i = 1; i < f->nr; i++) {
		must(lkdf_group_create(c, &g[i], NULL));
		must(lkdf_group_spawn(g[i], f->fails, (void *)(intptr_t)i));
	}
	given(f, lkdf_join(c));
	for (i = 1; i < f->nr; i++)
		lkdf_group_put(g[i]);
	return lkdf_join(c);
}

/* Its child ends with the first error of its own children. */
static int join_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	must(lkdf_spawn(c, f->parent, f));
	given(f, lkdf_join(c));
	return lkdf_join(c);
}

static int block(uint64_t begin, uint64_t end, void *u)
{
	struct family *f = u;
	uint64_t i;

	for (i = begin; i < end; i++)
		must(lkdf_spawn(lkdf_current(NULL), f->fails,
				(void *)(intptr_t)i));
	return 0;
}

static int loop_by(struct lkdf_ctx *c, struct family *f, uint64_t grain)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, (uint64_t)f->nr, grain },
		.fn = block,
		.u = f,
	};

	given(f, lkdf_for_in(c, &a));
	return lkdf_join(c);
}

static int loop(struct lkdf_ctx *c, void *arg)
{
	return loop_by(c, arg, 4);
}

/* Others may have failed by the time that one stops the loop. */
static int loop_of_blocks(struct lkdf_ctx *c, void *arg)
{
	return loop_by(c, arg, 1);
}

static void spawn_runs(struct lkdf_ctx *c, struct family *f)
{
	struct lkdf_graph *g;
	intptr_t i;

	for (i = 0; i < f->nr; i++) {
		g = api_graph(f->rt, 1);
		must(lkdf_graph_add(g, f->fails, (void *)i, NULL, 0));
		must(lkdf_graph_seal(g, NULL));
		must(lkdf_spawn_graph(c, g, NULL));
		lkdf_graph_put(g);
	}
}

static int join_runs(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	spawn_runs(c, f);
	given(f, lkdf_join(c));
	return lkdf_join(c);
}

static int look_away_from_runs(struct lkdf_ctx *c, void *arg)
{
	spawn_runs(c, arg);
	return 0;
}

/* Cancelled children have no error of their own. */
static int cancel(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	must(lkdf_scope_cancel(f->rt, f->scope, -ECANCELED));
	spawn_failing(c, f);
	(void)lkdf_join(c);
	return 0;
}

/* ------------------------------------------------------------------------- */

enum giver {
	BODY, /* the task ends well */
	END, /* its end tells one */
	NOBODY, /* and of its own error */
	RUN,
	GANG,
};

static const struct sort {
	const char *name;
	lkdf_fn fn;
	enum giver giver;
	bool later;
	int nr_given[2]; /* of two and of three that fail */
} sorts[] = {
	{ "a join", join, BODY, .nr_given = { 1, 1 } },
	{ "a join of equal errors", join_alike, BODY, .nr_given = { 2, 3 } },
	{ "a body that leaves", leave, BODY, .nr_given = { 1, 1 } },
	{ "a body that does not look", look_away, END, .nr_given = { 1, 1 } },
	{ "one that fails itself", fail_as_well, NOBODY, .nr_given = { 0, 0 } },
	{ "an event, then a join", look_at_last, BODY, .nr_given = { 2, 2 } },
	{ "all events", look_at_all, BODY, .nr_given = { 2, 3 } },
	{ "a join, then no event", join_then_look, BODY, .nr_given = { 1, 1 } },
	{ "a join, then all events", join_then_look, BODY, .later = true,
	  .nr_given = { 2, 3 } },
	{ "one, then an event", keep_then_look, BODY, .nr_given = { 2, 2 } },
	{ "a group", wait_for_group, BODY, .nr_given = { 1, 1 } },
	{ "a group that nobody waits for", put_group, BODY,
	  .nr_given = { 0, 0 } },
	{ "the event of a group", leave_for_group, BODY, .nr_given = { 1, 1 } },
	{ "groups and a child", join_groups, BODY, .nr_given = { 1, 1 } },
	{ "a child's children", join_child, BODY, .nr_given = { 1, 1 } },
	{ "a loop", loop, BODY, .nr_given = { 1, 1 } },
	{ "a task of a graph", look_away, RUN, .nr_given = { 1, 1 } },
	{ "blocks of a loop", loop_of_blocks, BODY, .nr_given = { 1, 1 } },
	{ "runs of graphs", join_runs, BODY, .nr_given = { 1, 1 } },
	{ "runs that nobody looks at", look_away_from_runs, END,
	  .nr_given = { 1, 1 } },
	{ "a gang", NULL, GANG, .nr_given = { 1, 1 } },
	{ "a cancel", cancel, BODY, .nr_given = { 0, 0 } },
};

static void run_graph(struct family *f, struct lkdf_kind *k)
{
	struct lkdf_graph *g = api_graph(f->rt, 1);

	must(lkdf_graph_add(g, k, f, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	given(f, api_run(g, f->scope, NULL));
	lkdf_graph_put(g);
}

/* Each member has a child. */
static void member(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct family *f = u;

	if ((int)num < f->nr)
		must(lkdf_spawn(c, f->fails, (void *)(intptr_t)num));
}

static void run_gang(struct family *f)
{
	struct lkdf_gang *g;

	/* In serial mode there is none. */
	if (lkdf_gang_create(f->rt, &g)) {
		f->nr_given = 1;
		atomic_store(&nr_failed, 1);
		return;
	}
	given(f, lkdf_gang_run(g, (unsigned)lkdf_nr_workers(f->rt), member, f));
	lkdf_gang_put(g);
}

static void submit(struct family *f, struct lkdf_kind *k, const struct sort *s)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .arg = f };
	struct lkdf_event done;
	int rc;

	must(lkdf_submit(f->rt, f->scope, &t, &done));
	rc = lkdf_event_wait(done, -1);
	if (s->giver == END)
		given(f, rc);
	else
		is(rc, s->giver == NOBODY ? -EPROTO : 0, "it ends as it says");
}

static void count_lines(const struct family *f, const struct sort *s, int nr)
{
	int i, most = 0, sum = 0;

	for (i = 0; i < MOST; i++) {
		sum += atomic_load(&lines[i]);
		if (atomic_load(&lines[i]) > most)
			most = atomic_load(&lines[i]);
	}
	is(f->nr_given, s->nr_given[nr - 2], "so many errors are given");
	is(sum, atomic_load(&nr_failed) - f->nr_given, "the others are lines");
	ok(most <= 1, "each is one");
	is(atomic_load(&other_lines), 0, "there are no other lines");
}

static void tell_all(const char *options, const struct sort *s, int nr)
{
	struct family f = { .nr = nr, .later = s->later };
	struct lkdf_open_attr a = { .size = sizeof(a),
				    .options = options,
				    .log = count_line };
	struct lkdf_kind *k;
	int i;

	printf("# %s: %d children that fail: %s\n", options, nr, s->name);
	for (i = 0; i < MOST; i++)
		atomic_store(&lines[i], 0);
	atomic_store(&other_lines, 0);
	atomic_store(&nr_failed, 0);
	must(lkdf_open_with(&a, &f.rt));
	must(lkdf_scope_create(f.rt, NULL, &f.scope));
	f.fails = api_kind(f.rt, "fails", fail, 0, LKDF_SHARED);
	f.parent = api_kind(f.rt, "parent", look_away, 0, 0);
	k = s->fn ? api_kind(f.rt, "body", s->fn, 0, 0) : NULL;
	if (s->giver == RUN)
		run_graph(&f, k);
	else if (s->giver == GANG)
		run_gang(&f);
	else
		submit(&f, k, s);
	(void)lkdf_scope_wait(f.rt, f.scope, -1);
	lkdf_scope_put(f.scope);
	lkdf_kind_put(k);
	lkdf_kind_put(f.parent);
	lkdf_kind_put(f.fails);
	while (lkdf_close(f.rt) == -EBUSY)
		api_nap_ns(100000);
	count_lines(&f, s, nr);
}

int main(void)
{
	static const char *const options[] = { "serial=yes", "workers=1",
					       "workers=3" };
	size_t i, j;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(*options); i++)
		for (j = 0; j < sizeof(sorts) / sizeof(*sorts); j++) {
			tell_all(options[i], &sorts[j], 2);
			tell_all(options[i], &sorts[j], 3);
		}
	return tap_end();
}
