/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_graph_record(): what is refused and who tells, and how a recording
 * ends. What it is good for: test_record.c.
 */
#include "tests/api/using.h"

struct setup {
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_graph *g;
	struct lkdf_kind *adds;
	struct lkdf_data *d;
	struct lkdf_use use;
	struct lkdf_task task;
};

static void setup_init(struct setup *x, struct lkdf *rt)
{
	memset(x, 0, sizeof(*x));
	x->rt = rt;
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "taped"),
			       &x->s));
	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = "tape"),
			       &x->g));
	x->adds = api_kind(rt, "adds", add_one, 0, 0);
	x->d = number(rt, NULL, &(uint64_t){ 0 });
	x->use = ON(x->d, LKDF_RW);
	x->task = (struct lkdf_task){ .size = sizeof(x->task),
				      .kind = x->adds,
				      .use = &x->use,
				      .nr_use = 1 };
}

static void setup_fini(struct setup *x)
{
	is(lkdf_scope_wait(x->rt, NULL, -1), 0, "nothing is left");
	lkdf_graph_put(x->g);
	lkdf_scope_put(x->s);
	lkdf_kind_put(x->adds);
	lkdf_data_put(x->d);
}

static int submit(struct setup *x)
{
	return lkdf_submit(x->rt, x->s, &x->task, NULL);
}

static void record_is_refused(struct lkdf *rt)
{
	struct lkdf *other_rt = api_open_workers(1);
	struct lkdf_scope *other, *foreign;
	struct lkdf_graph *g;
	struct setup x;

	setup_init(&x, rt);
	g = api_graph(rt, 1);
	must(lkdf_scope_create(rt, NULL, &other));
	must(lkdf_scope_create(other_rt, NULL, &foreign));
	is(lkdf_graph_record(NULL, x.s), -EINVAL, "no graph");
	is(lkdf_graph_record(x.g, NULL), -EINVAL, "the root scope");
	has(lkdf_errmsg(), "root", "is told");
	is(lkdf_graph_record(x.g, foreign), -EINVAL,
	   "a scope of another runtime");
	is(lkdf_graph_record(x.g, x.s), 0, "a scope");
	is(lkdf_graph_record(x.g, x.s), -EBUSY, "twice");
	is(lkdf_graph_record(x.g, other), -EBUSY, "another scope");
	has(lkdf_errmsg(), "tape", "the graph is busy");
	is(lkdf_graph_record(g, x.s), -EBUSY, "another graph");
	has(lkdf_errmsg(), "taped", "the scope is busy");
	is(lkdf_graph_record(g, other), 0, "both others");
	is(submit(&x), 0, "number 0 is recorded");
	is(lkdf_graph_seal(x.g, NULL), 0, "in spite of all, seal");
	is(lkdf_graph_record(x.g, x.s), -EROFS, "a sealed graph");
	is(api_run(x.g, NULL, NULL), 0, "which runs");
	is(value_of(x.d), 1, "its task");
	lkdf_graph_put(g);
	lkdf_scope_put(other);
	lkdf_scope_put(foreign);
	setup_fini(&x);
	is(lkdf_close(other_rt), 0, "the other runtime closes");
}

static void a_refusal_is_told_by_seal(struct lkdf *rt, const char *what,
				      const struct lkdf_task *bad, int want)
{
	struct lkdf_diag why = { .size = sizeof(why) };
	struct setup x;

	setup_init(&x, rt);
	must(lkdf_graph_record(x.g, x.s));
	must(submit(&x));
	is(lkdf_submit(rt, x.s, bad, NULL), want, "recording %s", what);
	is(submit(&x) < 0, false, "a good one after it");
	is(lkdf_graph_seal(x.g, &why), want, "seal tells of %s", what);
	is(why.err, want, "the diagnosis, too");
	is(lkdf_graph_run(x.g, NULL, NULL, NULL), -EBADFD, "it cannot run");
	is(submit(&x), 0, "the scope runs what it gets");
	is(lkdf_scope_wait(rt, x.s, -1), 0, "it has ended");
	is(value_of(x.d), 1, "once");
	setup_fini(&x);
}

static void refusals_are_told_by_seal(struct lkdf *rt)
{
	struct lkdf_data *d = number(rt, NULL, &(uint64_t){ 0 });
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_kind *copies = api_kind(rt, "copies", api_nothing, 8, 0);
	struct lkdf_use mode = ON(d, 0), part = ON_PART(d, LKDF_READ, 2);
	struct lkdf_use late = ON(d, LKDF_COMMUTE | LKDF_REDUCE);
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .nr_use = 1 };

	t.use = &mode;
	a_refusal_is_told_by_seal(rt, "a use without a mode", &t, -EINVAL);
	t.use = &part;
	a_refusal_is_told_by_seal(rt, "a part there is not", &t, -ERANGE);
	t.use = &late;
	a_refusal_is_told_by_seal(rt, "two modes in one", &t, -EINVAL);
	t.use = NULL;
	t.nr_use = 0;
	t.kind = NULL;
	a_refusal_is_told_by_seal(rt, "no kind", &t, -EINVAL);
	t.kind = copies;
	a_refusal_is_told_by_seal(rt, "no argument", &t, -EINVAL);
	t.kind = k;
	t.prio = 99;
	a_refusal_is_told_by_seal(rt, "a wrong priority", &t, -EINVAL);
	a_refusal_is_told_by_seal(rt, "no task", NULL, -EINVAL);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(copies);
}

static void an_event_is_refused(struct lkdf *rt)
{
	static const struct lkdf_event none;
	struct lkdf_event done = none;
	struct setup x;

	setup_init(&x, rt);
	must(lkdf_graph_record(x.g, x.s));
	is(lkdf_submit(rt, x.s, &x.task, &done), -EINVAL,
	   "done while it is recorded");
	has(lkdf_errmsg(), "taped", "is told");
	is(memcmp(&done, &none, sizeof(done)), 0, "done is as it was");
	is(lkdf_submit_many(rt, x.s,
			    (const struct lkdf_task *[]){ &x.task, &x.task }, 2,
			    NULL),
	   -EINVAL, "a list while it is recorded");
	has(lkdf_errmsg(), "taped", "is told, too");
	is(lkdf_scope_wait(rt, x.s, -1), 0, "nothing runs");
	is(lkdf_data_version(x.d), 1, "nothing has run");
	setup_fini(&x);
}

/* Without seal: the scope is as before. */
static void put_ends_a_recording(struct lkdf *rt)
{
	struct lkdf_event done;
	struct setup x;
	int i;

	setup_init(&x, rt);
	must(lkdf_graph_record(x.g, x.s));
	for (i = 0; i < 10; i++)
		must(submit(&x));
	lkdf_graph_put(x.g);
	is(lkdf_data_version(x.d), 1, "nothing has run");
	is(lkdf_submit(rt, x.s, &x.task, &done), 0, "a put graph records not");
	is(lkdf_event_wait(done, -1), 0, "the task runs");
	is(value_of(x.d), 1, "that one alone");
	x.g = api_graph(rt, 1);
	is(lkdf_graph_record(x.g, x.s), 0, "another graph may record");
	is(submit(&x), 0, "from 0 on");
	/* The scope goes first, the graph has nobody to record then. */
	lkdf_scope_put(x.s);
	lkdf_graph_put(x.g);
	x.g = NULL;
	x.s = NULL;
	setup_fini(&x);
}

/* The scope is put before seal, and one scope is recorded by two in turn. */
static void scopes_and_graphs_change(struct lkdf *rt)
{
	struct lkdf_graph *second;
	struct setup x;
	int i;

	setup_init(&x, rt);
	second = api_graph(rt, 1);
	must(lkdf_graph_record(x.g, x.s));
	for (i = 0; i < 10; i++)
		is(submit(&x), i, "task %d", i);
	is(lkdf_graph_seal(x.g, NULL), 0, "seal");
	must(submit(&x));
	is(lkdf_scope_wait(rt, x.s, -1), 0, "after it the scope runs");
	is(value_of(x.d), 1, "what it gets");
	is(lkdf_graph_record(second, x.s), 0, "another graph may record");
	is(submit(&x), 0, "from 0 on");
	is(submit(&x), 1, "counting up");
	lkdf_scope_put(x.s);
	x.s = NULL;
	is(lkdf_graph_seal(second, NULL), 0, "seal after the scope was put");
	is(api_run(x.g, NULL, NULL), 0, "the first runs");
	is(value_of(x.d), 11, "its ten");
	is(api_run(second, NULL, NULL), 0, "the second");
	is(value_of(x.d), 13, "its two");
	lkdf_graph_put(second);
	setup_fini(&x);
}

/* Tasks that are added and recorded are numbered and ordered together. */
static void recorded_tasks_are_the_graphs(struct lkdf *rt)
{
	struct setup x;

	setup_init(&x, rt);
	is(lkdf_graph_add(x.g, x.adds, NULL, &x.use, 1), 0, "added before");
	must(lkdf_graph_record(x.g, x.s));
	is(submit(&x), 1, "recorded");
	is(lkdf_graph_add(x.g, x.adds, NULL, &x.use, 1), 2, "added between");
	is(submit(&x), 3, "recorded");
	is(lkdf_graph_label(x.g, 1, "mine"), 0, "a recorded one has a label");
	is(lkdf_graph_order(x.g, 0, 3), 0, "and an order");
	must(lkdf_graph_seal(x.g, NULL));
	is(api_run(x.g, x.s, NULL), 0, "it runs in the scope it recorded");
	is(value_of(x.d), 4, "all four");
	setup_fini(&x);
}

static void tasks_before_the_recording_go_on(struct lkdf *rt)
{
	struct gate gate = { 0 };
	struct lkdf_kind *gates;
	struct setup x;

	setup_init(&x, rt);
	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	must(lkdf_submit(rt, x.s,
			 ATTR(lkdf_task, .kind = gates, .arg = &gate,
			      .use = &x.use, .nr_use = 1),
			 NULL));
	must(submit(&x));
	api_until(&gate.entered);
	is(lkdf_graph_record(x.g, x.s), 0, "a scope with tasks is recorded");
	is(submit(&x), 0, "from 0 on");
	is(lkdf_scope_wait(rt, x.s, 0), 1, "its tasks live");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, x.s, -1), 0, "and end");
	is(value_of(x.d), 1, "the one of two that was not recorded");
	must(lkdf_graph_seal(x.g, NULL));
	is(api_run(x.g, NULL, NULL), 0, "the other");
	is(value_of(x.d), 2, "runs with the graph");
	setup_fini(&x);
	lkdf_kind_put(gates);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=4",
					       "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		record_is_refused(rt);
		an_event_is_refused(rt);
		put_ends_a_recording(rt);
		scopes_and_graphs_change(rt);
		recorded_tasks_are_the_graphs(rt);
		/* Here a body waits for this thread. */
		if (strcmp(options[i], "serial=yes"))
			tasks_before_the_recording_go_on(rt);
		refusals_are_told_by_seal(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
