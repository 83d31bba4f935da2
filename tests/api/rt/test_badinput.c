/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is wrong is refused with a reason, what is not built yet is called by
 * name, and the runtime works on after each.
 */
#include "tests/api/api.h"

static struct lkdf_kind *kind;
static struct lkdf *runtime;

static void still_works(const char *after)
{
	atomic_int nr = 0;

	is(api_call(runtime, kind, &nr), 0, "a task runs after: %s", after);
}

#define refused(rc, want, text, what)                    \
	do {                                             \
		is(rc, want, "%s is refused", what);     \
		has(lkdf_errmsg(), text, "by its name"); \
	} while (0)

static void sizes_are_checked(struct lkdf *rt)
{
	struct {
		struct lkdf_scope_attr a;
		uint32_t tail[4];
	} longer = { .a = { .size = sizeof(longer) } };
	struct lkdf_error small = { .size = 8 };
	struct lkdf_event e;
	struct lkdf_scope *s = NULL;

	refused(lkdf_scope_create(rt, &(struct lkdf_scope_attr){ 0 }, &s),
		-EINVAL, "size 0", "size 0");
	refused(lkdf_scope_create(rt, &(struct lkdf_scope_attr){ .size = 4 },
				  &s),
		-EINVAL, "size 4", "size 4");
	longer.tail[3] = 1;
	refused(lkdf_scope_create(rt, &longer.a, &s), -EINVAL, "unknown",
		"a tail that is not zero");
	ok(s == NULL, "out is untouched on failure");
	longer.tail[3] = 0;
	is(lkdf_scope_create(rt, &longer.a, &s), 0, "a zero tail is taken");
	lkdf_scope_put(s);
	is(lkdf_scope_create(rt, &(struct lkdf_scope_attr){ .size = 8 }, &s), 0,
	   "a short struct is filled with zero");
	refused(lkdf_scope_error(rt, s, &small), -EINVAL, "size 8",
		"an error struct without size");
	lkdf_scope_put(s);
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_signal(e, 0));
	is(lkdf_event_error(e, &small), -EINVAL, "the same for an event");
	lkdf_event_put(e);
	is(lkdf_submit(rt, NULL, &(struct lkdf_task){ .kind = kind }, NULL),
	   -EINVAL, "a task without size is refused");
	still_works("sizes");
}

/* A program may be older than the library: what it does not know is 0. */
static void short_tasks_are_taken(struct lkdf *rt)
{
	const struct lkdf_task *many[2];
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *counts = api_kind(rt, "counts", api_count, 0, 0);
	atomic_int nr = 0;
	struct lkdf_task t;

	memset(&t, 0xff, sizeof(t));
	t.size = offsetof(struct lkdf_task, use);
	t.flags = 0;
	t.kind = counts;
	t.arg = &nr;
	many[0] = many[1] = &t;
	is(lkdf_submit(rt, NULL, &t, NULL), 0, "a short task is submitted");
	is(lkdf_submit_many(rt, NULL, many, 2, NULL), 0, "two of them");
	is(lkdf_graph_add_task(g, &t), 0, "one is added to a graph");
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "the graph runs");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all have run");
	is(nr, 4, "each once");
	lkdf_graph_put(g);
	lkdf_kind_put(counts);
}

static void null_is_refused(struct lkdf *rt)
{
	struct lkdf_graph *g;
	struct lkdf_kind *k;

	is(lkdf_open_with(NULL, &rt), -EINVAL, "open without attributes");
	is(lkdf_open("workers=1", NULL), -EINVAL, "open without out");
	is(lkdf_close(NULL), 0, "closing nothing is nothing");
	is(lkdf_kind_create(NULL, NULL, &k), -EINVAL, "kind without runtime");
	is(lkdf_kind_create(rt, NULL, &k), -EINVAL, "kind without attributes");
	is(lkdf_kind_create(rt, ATTR(lkdf_kind_attr, .fn = api_nothing), &k),
	   -EINVAL, "kind without name");
	is(lkdf_kind_create(rt, ATTR(lkdf_kind_attr, .name = "n"), &k), -EINVAL,
	   "kind without fn");
	is(lkdf_graph_create(rt, NULL, NULL), -EINVAL, "graph without out");
	is(lkdf_graph_add(NULL, kind, NULL, NULL, 0), -EINVAL,
	   "add without graph");
	must(lkdf_graph_create(rt, NULL, &g));
	is(lkdf_graph_add(g, NULL, NULL, NULL, 0), -EINVAL, "add without kind");
	is(lkdf_graph_seal(g, NULL), -EINVAL, "seal tells the first refusal");
	has(lkdf_errmsg(), "kind is NULL", "in its words");
	lkdf_graph_put(g);
	is(lkdf_graph_seal(NULL, NULL), -EINVAL, "seal without graph");
	is(lkdf_graph_run(NULL, NULL, NULL, NULL), -EINVAL,
	   "run without graph");
	is(lkdf_graph_dump(NULL, 1, "dot"), -EINVAL, "dump without graph");
	is(lkdf_graph_set(NULL, 0, NULL), -EINVAL, "set without graph");
	is(lkdf_submit(rt, NULL, NULL, NULL), -EINVAL, "submit without task");
	is(lkdf_submit(NULL, NULL, NULL, NULL), -EINVAL,
	   "submit without runtime");
	is(lkdf_scope_wait(NULL, NULL, 0), -EINVAL, "wait without runtime");
	is(lkdf_scope_error(rt, NULL, NULL), -EINVAL, "error without out");
	is(lkdf_limit_create(rt, 0, NULL), -EINVAL, "limit without out");
	is(lkdf_event_create(rt, 1, 0, NULL), -EINVAL, "event without out");
	is(lkdf_event_signal((struct lkdf_event){ 0 }, 0), -EINVAL,
	   "signal of no event");
	is(lkdf_event_wait((struct lkdf_event){ 0 }, 0), -EINVAL,
	   "wait for no event");
	lkdf_event_put((struct lkdf_event){ 0 });
	lkdf_graph_put(NULL);
	lkdf_kind_put(NULL);
	lkdf_scope_put(NULL);
	lkdf_limit_put(NULL);
	still_works("NULL");
}

static int make_kind(struct lkdf *rt, struct lkdf_kind_attr a)
{
	struct lkdf_kind *k;
	int rc;

	a.size = sizeof(a);
	a.name = "unbuilt";
	a.fn = api_nothing;
	rc = lkdf_kind_create(rt, &a, &k);
	if (!rc)
		lkdf_kind_put(k);
	return rc;
}

#define K(...) make_kind(rt, (struct lkdf_kind_attr){ __VA_ARGS__ })
#define T(...)                                                              \
	lkdf_submit(rt, NULL,                                               \
		    ATTR(lkdf_task, .kind = kind, .arg = &nr, __VA_ARGS__), \
		    NULL)

static void kinds_not_built_are_called_by_name(struct lkdf *rt)
{
	refused(K(.nr_cpus = 1), -EINVAL, "nr_cpus", "CPUs without TEAM");
	/* Bits that had a name before there were streams and channels. */
	refused(K(.flags = 1 << 1), -EINVAL, "0x2", "an unknown flag");
	refused(K(.flags = 1 << 3), -EINVAL, "0x8", "another");
	refused(K(.flags = 1 << 7), -EINVAL, "0x80", "a third");
	refused(K(.nr_in = 1), -EINVAL, "in_size", "a port without a size");
	refused(K(.nr_impl = 1), -EINVAL, "impl", "an implementation");
	refused(K(.flags = 1 << 20), -EINVAL, "0x100000", "an unknown flag");
	refused(K(.prio = 9), -EINVAL, "prio 9", "a wild priority");
	refused(K(.prio = -1), -EINVAL, "prio -1", "a negative priority");
	refused(K(.arg_size = (1 << 20) + 1), -EINVAL, "arg_size",
		"a large argument");
	refused(K(.scratch_size = (1u << 30) + 1), -EINVAL, "scratch_size",
		"a large scratch");
	refused(K(.width = 2), -EINVAL, "width", "width without SHARED");
	refused(K(.nr_limit = 5), -EINVAL, "limits", "a fifth limit");
	refused(K(.nr_limit = 1), -EINVAL, "limit", "a limit that is NULL");
	still_works("kinds");
}

static void tasks_not_built_are_called_by_name(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_scope *s;
	struct lkdf_event e, none = { 0 };
	atomic_int nr;

	refused(T(.nr_use = 1), -EINVAL, "use is NULL", "uses that are NULL");
	refused(T(.nr_after = 1), -EINVAL, "after is NULL",
		"events that are NULL");
	refused(T(.nr_after = 1, .after = &none), -EINVAL, "event 0",
		"an event that is none");
	refused(T(.nr_after = LKDF_MAX_AFTER + 1, .after = &none), -E2BIG,
		"1025 events", "too many events");
	refused(T(.deadline_ns = -1), -EINVAL, "deadline_ns -1",
		"a deadline in the past");
	refused(T(.flags = 4), -EINVAL, "flags 0x4", "a task flag");
	refused(T(.prio = 7), -EINVAL, "prio 7", "a wild priority");
	refused(lkdf_event_create(rt, 2, LKDF_EVENT_PULSE, &e), -EINVAL,
		"PULSE", "a count of PULSE");
	refused(lkdf_event_create(rt, 1, 64, &e), -EINVAL, "0x40",
		"an unknown event flag");
	refused(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .flags = 1), &s),
		-EINVAL, "flags 0x1", "a scope's flags");
	refused(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .deadline_ns = -1),
				  &s),
		-EINVAL, "deadline_ns", "a scope's deadline in the past");
	must(lkdf_graph_add(g, kind, &nr, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	refused(lkdf_graph_run(g, NULL,
			       ATTR(lkdf_run, .flags = LKDF_RUN_STREAM), NULL),
		-EINVAL, "inflight 1", "a stream of one frame");
	refused(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = 64), NULL),
		-EINVAL, "0x40", "an unknown run flag");
	refused(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .deadline_ns = -5),
			       NULL),
		-EINVAL, "deadline_ns", "a run's deadline in the past");
	is(api_run(g, NULL, NULL), 0, "the graph runs nevertheless");
	lkdf_graph_put(g);
	still_works("tasks");
}

static void a_graph_is_checked(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 1), *broken = api_graph(rt, 1);
	atomic_int nr = 0, other = 0;
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *none;

	refused(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .inflight = 65),
				  &none),
		-EINVAL, "65", "inflight 65");
	must(lkdf_graph_add(g, kind, &nr, NULL, 0));
	refused(lkdf_graph_set(g, 0, &nr), -EBADFD, "not sealed",
		"set before seal");
	refused(lkdf_graph_run(g, NULL, NULL, NULL), -EBADFD, "not sealed",
		"run before seal");
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_graph_add(g, kind, &nr, NULL, 0), -EROFS, "add after seal");
	is(lkdf_graph_add_task(g, ATTR(lkdf_task, .kind = kind)), -EROFS,
	   "add_task after seal");
	is(lkdf_graph_order(g, 0, 0), -EROFS, "order after seal");
	refused(lkdf_graph_label(g, 0, "x"), -EROFS, "graph is sealed",
		"label after seal");
	is(lkdf_graph_seal(g, NULL), -EROFS, "seal after seal");
	is(lkdf_graph_set(g, 1, &nr), -EINVAL, "set of a task it has not");
	is(lkdf_graph_set(g, -1, &nr), -EINVAL, "set of task -1");
	is(lkdf_graph_dump(g, 1, "xml"), -EINVAL, "dump as xml");
	is(lkdf_graph_dump(g, -1, "dot"), -EBADF, "dump to no file");
	is(lkdf_graph_set(g, 0, &other), 0, "an argument is set");
	is(api_run(g, NULL, NULL), 0, "it runs");
	ok(other == 1 && nr == 0, "with the new argument");
	is(lkdf_graph_label(broken, 0, "x"), -EINVAL, "label without tasks");
	is(lkdf_graph_order(broken, 0, 1), -EINVAL, "order without tasks");
	is(lkdf_graph_seal(broken, &why), -EINVAL, "seal tells it again");
	has(why.text, "no task 0", "in the diagnosis");
	is(why.err, -EINVAL, "with its error");
	why.size = 4;
	is(lkdf_graph_seal(broken, &why), -EINVAL, "a diagnosis without size");
	lkdf_graph_put(broken);
	lkdf_graph_put(g);
	still_works("graphs");
}

static void options_are_checked(void)
{
	struct lkdf *rt = NULL;

	refused(lkdf_open("wrokers=2", &rt), -EINVAL, "wrokers", "a typo");
	has(lkdf_errmsg(), "\"workers\"", "with the nearest known one");
	refused(lkdf_open("workers=2,spin_u=3", &rt), -EINVAL, "spin_us",
		"an abbreviation");
	refused(lkdf_open("workers=-1", &rt), -EINVAL, "workers=-1",
		"a number out of range");
	refused(lkdf_open("workers=two", &rt), -EINVAL, "workers=two",
		"a word for a number");
	refused(lkdf_open("pin=maybe", &rt), -EINVAL, "pin=maybe", "maybe");
	refused(lkdf_open("workers", &rt), -EINVAL, "workers", "no value");
	refused(lkdf_open("log=loud", &rt), -EINVAL, "debug", "a wild level");
	refused(lkdf_open("cpus=99999", &rt), -EINVAL, "99999",
		"an impossible CPU");
	refused(lkdf_open("cpus=5-2", &rt), -EINVAL, "5-2", "a backward range");
	refused(lkdf_open("topology=numa:x", &rt), -EINVAL, "numa:x",
		"a made-up machine with a typo");
	refused(lkdf_open_with(ATTR(lkdf_open_attr, .flags = 1), &rt), -EINVAL,
		"flags 0x1", "an open flag");
	ok(rt == NULL, "out is untouched");
	still_works("options");
}

static int wait_in_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event *e = arg;
	struct lkdf *rt = NULL;

	if (lkdf_event_wait(*e, 0) != -EDEADLK)
		return -EPROTO;
	if (lkdf_scope_wait(lkdf_runtime(c), NULL, 0) != -EDEADLK)
		return -EPROTO;
	if (lkdf_close(lkdf_runtime(c)) != -EDEADLK)
		return -EPROTO;
	if (lkdf_open("workers=1", &rt) != -EDEADLK || rt)
		return -EPROTO;
	return strstr(lkdf_errmsg(), "lkdf_open") ? 0 : -EPROTO;
}

static void waiting_in_a_body_is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k, *blocking;
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	k = api_kind(rt, "waits", wait_in_body, 0, 0);
	blocking = api_kind(rt, "bwaits", wait_in_body, 0, LKDF_BLOCKING);
	is(api_call(rt, k, &e), 0, "a worker's body is refused to wait");
	is(api_call(rt, blocking, &e), 0, "a blocking body too");
	is(lkdf_event_signal(e, 0), 0, "the event is alive");
	is(lkdf_event_wait(e, -1), 0, "and can be waited for outside");
	lkdf_kind_put(k);
	lkdf_kind_put(blocking);
	still_works("waiting");
}

static void closing_with_live_work_is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k;
	struct gate gate = { 0 };

	k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	refused(lkdf_close(rt), -EBUSY, "1 task", "closing with a live task");
	still_works("closing");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the live task ends well");
	lkdf_kind_put(k);
}

static int return_wildly(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return *(int *)arg;
}

static void a_wild_return_value_is_an_error(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "wild", return_wildly, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	static int wild[] = { -4096, -(1 << 20), INT32_MIN };
	size_t i;
	int rc;

	must(lkdf_graph_add(g, k, &wild[1], NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++) {
		rc = api_call(rt, k, &wild[i]);
		ok(rc < 0 && rc >= -4095, "%d fails as an errno (%d)", wild[i],
		   rc);
	}
	rc = api_run(g, NULL, NULL);
	ok(rc < 0 && rc >= -4095, "in a graph too (%d)", rc);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &wild[2]),
			 NULL));
	rc = lkdf_scope_wait(rt, NULL, -1);
	ok(rc < 0 && rc >= -4095, "and in the scope (%d)", rc);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	still_works("wild values");
}

int main(void)
{
	tap_start(60);
	runtime = api_open_workers(2);
	kind = api_kind(runtime, "count", api_count, 0, 0);
	sizes_are_checked(runtime);
	short_tasks_are_taken(runtime);
	null_is_refused(runtime);
	kinds_not_built_are_called_by_name(runtime);
	tasks_not_built_are_called_by_name(runtime);
	a_graph_is_checked(runtime);
	options_are_checked();
	waiting_in_a_body_is_refused(runtime);
	closing_with_live_work_is_refused(runtime);
	a_wild_return_value_is_an_error(runtime);
	lkdf_kind_put(kind);
	is(lkdf_close(runtime), 0, "the runtime closes");
	return tap_end();
}
