/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a call does not know is refused by name before anything has changed:
 * timeouts, flags, modes, and fields that must be 0.
 */
#include "tests/api/using.h"

#define refused(rc, text, what)                          \
	do {                                             \
		is(rc, -EINVAL, "%s is refused", what);  \
		has(lkdf_errmsg(), text, "by its name"); \
	} while (0)

#define UNKNOWN (1u << 30)

static const uint64_t zero;

static int add_up(void *acc, const void *x, uint64_t bytes)
{
	(void)bytes;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static void a_timeout_is_a_time_or_for_ever(struct lkdf *rt)
{
	static const int64_t bad[] = { -2, -1000000000, INT64_MIN };
	struct lkdf_data *d =
		DATA(rt, .bytes = 8, .init = &zero, .reduce = add_up);
	struct lkdf_scope *s = NULL;
	struct lkdf_event e, any;
	unsigned which, i;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_any(rt, &e, 1, &any));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		refused(lkdf_event_wait(e, bad[i]), "timeout_ns -",
			"a wait for an event");
		refused(lkdf_event_which(any, bad[i], &which), "timeout_ns -",
			"a wait for one of several");
		refused(lkdf_scope_wait(rt, s, bad[i]), "timeout_ns -",
			"a wait for a scope");
		refused(lkdf_data_acquire(d, LKDF_RW, bad[i], NULL),
			"timeout_ns -", "an acquisition");
	}
	is(lkdf_event_wait(e, 0), 1, "the event is as it was");
	is(lkdf_data_release(d), -EPERM, "nothing was acquired");
	must(lkdf_event_signal(e, 0));
	is(lkdf_event_wait(any, -1), 0, "-1 waits for ever");
	is(lkdf_event_wait(e, INT64_MAX), 0, "the largest time is a time");
	lkdf_scope_put(s);
	lkdf_data_put(d);
}

static void flags_are_known(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1), *no_graph = NULL;
	struct lkdf_scope *no_scope = NULL;
	struct lkdf_data *no_data = NULL;
	struct lkdf_kind *no_kind = NULL;
	struct lkdf *no_rt = NULL;
	struct lkdf_event e;

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	refused(lkdf_open_with(ATTR(lkdf_open_attr, .flags = UNKNOWN), &no_rt),
		"0x40000000", "open");
	refused(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .flags = UNKNOWN),
				  &no_scope),
		"0x40000000", "a scope");
	refused(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .flags = UNKNOWN),
				  &no_graph),
		"0x40000000", "a graph");
	refused(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = UNKNOWN), NULL),
		"0x40000000", "a run");
	refused(lkdf_kind_create(rt,
				 ATTR(lkdf_kind_attr, .name = "k",
				      .fn = api_nothing, .flags = UNKNOWN),
				 &no_kind),
		"0x40000000", "a kind");
	refused(lkdf_data_create(
			rt, ATTR(lkdf_data_attr, .bytes = 8, .flags = UNKNOWN),
			&no_data),
		"0x40000000", "a data");
	refused(lkdf_submit(rt, NULL,
			    ATTR(lkdf_task, .kind = k, .flags = UNKNOWN), NULL),
		"0x40000000", "a task");
	refused(lkdf_event_create(rt, 1, UNKNOWN, &e), "0x40000000",
		"an event");
	is(api_run(g, NULL, NULL), 0, "the graph runs");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void flags_of_operations_are_known(struct lkdf *rt)
{
	struct lkdf_kind *k = NULL;
	struct lkdf_io io = { .size = sizeof(io), .op = LKDF_IO_FSYNC };

	must(lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "io"), &k));
	io.flags = UNKNOWN;
	refused(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io),
			    NULL),
		"0x40000000", "an operation");
	io.flags = 0;
	io.from = UNKNOWN;
	refused(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io),
			    NULL),
		"0x40000000", "where it comes from");
	io.from = 1;
	refused(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io),
			    NULL),
		"0x1", "a port");
	lkdf_kind_put(k);
}

static void what_is_reserved_is_zero(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	const struct lkdf_task *t =
		ATTR(lkdf_task, .kind = k, .pad = UINT32_MAX);
	struct lkdf_kind *no_kind = NULL;
	struct lkdf_graph *g = api_graph(rt, 1);

	refused(lkdf_submit(rt, NULL, t, NULL), "pad", "a task's pad");
	refused(lkdf_submit_many(rt, NULL, &t, 1, NULL), "pad", "one of many");
	refused(lkdf_graph_add_task(g, t), "pad", "one of a graph");
	refused(lkdf_kind_create(rt,
				 ATTR(lkdf_kind_attr, .name = "k",
				      .fn = api_nothing, .pad = 1),
				 &no_kind),
		"pad", "a kind's pad");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void modes_are_single(struct lkdf *rt)
{
	static const struct {
		uint32_t mode;
		const char *text;
	} bad[] = {
		{ LKDF_READ | LKDF_COMMUTE, "READ|COMMUTE" },
		{ LKDF_RW | LKDF_COMMUTE, "READ|WRITE|COMMUTE" },
		{ LKDF_WRITE | LKDF_REDUCE, "WRITE|REDUCE" },
		{ LKDF_READ | LKDF_REDUCE | LKDF_WEAK, "READ|REDUCE|WEAK" },
		{ LKDF_WRITE | LKDF_MAYBE, "WRITE|MAYBE" },
		{ LKDF_READ | LKDF_MAYBE, "READ|MAYBE" },
		{ LKDF_REDUCE | LKDF_MAYBE, "REDUCE|MAYBE" },
		{ LKDF_MAYBE, "MAYBE" },
		{ LKDF_WEAK, "WEAK" },
		{ 64, "0x40" },
	};
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_data *d =
		DATA(rt, .bytes = 8, .init = &zero, .reduce = add_up);
	struct lkdf_graph *g;
	struct lkdf_use use;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		use = ON(d, bad[i].mode);
		refused(lkdf_submit(rt, NULL,
				    ATTR(lkdf_task, .kind = k, .use = &use,
					 .nr_use = 1),
				    NULL),
			bad[i].text, bad[i].text);
		g = api_graph(rt, 1);
		refused(lkdf_graph_add(g, k, NULL, &use, 1), bad[i].text,
			"in a graph it");
		lkdf_graph_put(g);
	}
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void a_list_says_which(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	const struct lkdf_task *t[3] = { ATTR(lkdf_task, .kind = k), NULL };

	refused(lkdf_submit_many(rt, NULL, NULL, 3, NULL), "3 tasks is NULL",
		"no list");
	refused(lkdf_submit_many(rt, NULL, t, 0, NULL), "0 tasks",
		"an empty list");
	t[2] = ATTR(lkdf_task, .kind = NULL);
	refused(lkdf_submit_many(rt, NULL, t, 3, NULL), "task 1 of 3",
		"a task that is NULL");
	t[1] = t[0];
	refused(lkdf_submit_many(rt, NULL, t, 3, NULL), "task 2 of 3",
		"a task without a kind");
	lkdf_kind_put(k);
}

static int return_it(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return *(int *)arg;
}

static void no_errno_says_what_it_was(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "wild", return_it, 0, 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_graph *g = api_graph(rt, 1);
	static int wild = -70000;
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &wild),
			 NULL));
	is(lkdf_scope_wait(rt, s, -1), -ERANGE, "a value below -4095");
	must(lkdf_scope_error(rt, s, &e));
	has(e.why, "-70000", "is told");
	lkdf_scope_put(s);
	must(lkdf_graph_add(g, k, &wild, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_scope_create(rt, NULL, &s));
	is(api_run(g, s, NULL), -ERANGE, "one of a graph");
	must(lkdf_scope_error(rt, s, &e));
	has(e.why, "-70000", "is told, too");
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open_workers(2);
	a_timeout_is_a_time_or_for_ever(rt);
	flags_are_known(rt);
	flags_of_operations_are_known(rt);
	what_is_reserved_is_zero(rt);
	modes_are_single(rt);
	a_list_says_which(rt);
	no_errno_says_what_it_was(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
