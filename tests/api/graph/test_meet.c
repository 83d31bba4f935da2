/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * As many bodies as workers meet: submitted from a thread, each waits until
 * all are there. Nobody may lie where a worker that waits in its body alone
 * would find it (model.md, rule 6). Also with more workers than CPUs.
 */
#include "tests/api/using.h"

#define ROUNDS 50
#define NR_SHORT 40 /* bodies, so that the kind is known */
#define MAX_WORKERS 8

static int meet(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	gate_pass(arg);
	return 0;
}

/* With a data each, or NULL. Sees to it that a failure ends. */
static int all_meet(struct lkdf *rt, struct lkdf_kind *k, int nr,
		    struct lkdf_data **d)
{
	struct gate *gate = calloc(1, sizeof(*gate));
	int i, nr_met;

	for (i = 0; i < nr; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &gate,
				      .use = d ? &ON(d[i], LKDF_RW) : NULL,
				      .nr_use = d != NULL),
				 NULL));
	for (i = 0; i < 20000 && atomic_load(&gate->entered) < nr; i++)
		api_nap_ns(1000000);
	nr_met = atomic_load(&gate->entered);
	atomic_store(&gate->open, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	free(gate);
	return nr_met;
}

static int meet_gate(struct lkdf_ctx *c, void *arg)
{
	struct gate *gate = *(struct gate **)arg;

	return gate ? meet(c, gate) : 0;
}

static void workers_meet(int nr)
{
	char options[32];
	struct lkdf_kind *k;
	struct lkdf *rt;
	int i, nr_met = nr;

	snprintf(options, sizeof(options), "workers=%d", nr);
	for (i = 0; i < ROUNDS && nr_met == nr; i++) {
		rt = api_open(options);
		/* New each time: how long its bodies take is not known. */
		k = api_kind(rt, "meet", meet_gate, sizeof(void *), 0);
		nr_met = all_meet(rt, k, nr, NULL);
		lkdf_kind_put(k);
		must(lkdf_close(rt));
	}
	is(nr_met, nr, "%d bodies meet on %d workers", nr, nr);
}

static void never(void *arg)
{
	(void)arg;
}

/* One body after the other was short; then come those that wait. */
static void short_kinds_meet(int nr, bool has_uses, bool is_general)
{
	struct lkdf_data *d[MAX_WORKERS];
	struct lkdf_kind *k = NULL;
	struct gate *none = NULL;
	int i, nr_met = nr;
	char options[32];
	struct lkdf *rt;

	snprintf(options, sizeof(options), "workers=%d", nr);
	rt = api_open(options);
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "meet",
				   .fn = meet_gate, .arg_size = sizeof(none),
				   .on_cancel = is_general ? never : NULL),
			      &k));
	for (i = 0; i < nr; i++)
		d[i] = zeros(rt, NULL, 1);
	for (i = 0; i < NR_SHORT; i++)
		must(submit_on(rt, k, &none, ON(d[i % nr], LKDF_RW), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	for (i = 0; i < ROUNDS && nr_met == nr; i++)
		nr_met = all_meet(rt, k, nr, has_uses ? d : NULL);
	is(nr_met, nr, "%d bodies of a %sshort kind meet%s", nr,
	   is_general ? "general " : "", has_uses ? ", with uses" : "");
	for (i = 0; i < nr; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* How a body makes work that it then waits for. */
enum made {
	BY_SUBMIT,
	BY_SUBMIT_MANY,
	BY_SPAWN,
	BY_SPAWN_TASK,
	BY_SIGNAL,
	BY_USE_END,
	NR_MADE,
};

static const char *const made_names[NR_MADE] = {
	"submitted",	      "one of several",	    "spawned",
	"spawned and urgent", "let go by an event", "next to use a data"
};

struct maker {
	struct lkdf *rt;
	struct lkdf_kind *child;
	struct lkdf_data *data; /* the body's use of it ends early */
	struct lkdf_event event; /* the child waits for it */
	enum made how;
	atomic_int started, has_met, is_next_there;
};

static int child_starts(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_store(&(*(struct maker **)arg)->started, 1);
	return 0;
}

/* The next one that uses it has come, and waits. */
static void end_use(struct lkdf_ctx *c, struct maker *m)
{
	while (!atomic_load(&m->is_next_there))
		api_nap_ns(1000000);
	must(lkdf_use_end(c, 0, false));
}

static int make_and_wait(struct lkdf_ctx *c, void *arg)
{
	struct maker *m = *(struct maker **)arg;
	const struct lkdf_task *t =
		ATTR(lkdf_task, .kind = m->child, .arg = &m);
	int i;

	if (m->how == BY_SUBMIT)
		must(lkdf_submit(m->rt, NULL, t, NULL));
	else if (m->how == BY_SUBMIT_MANY)
		must(lkdf_submit_many(m->rt, NULL, &t, 1, NULL));
	else if (m->how == BY_SPAWN)
		must(lkdf_spawn(c, m->child, &m));
	else if (m->how == BY_SPAWN_TASK)
		must(lkdf_spawn_task(c,
				     ATTR(lkdf_task, .kind = m->child,
					  .arg = &m, .prio = LKDF_HIGH),
				     NULL));
	else if (m->how == BY_SIGNAL)
		must(lkdf_event_signal(m->event, 0));
	else
		end_use(c, m);
	for (i = 0; i < 20000 && !atomic_load(&m->started); i++)
		api_nap_ns(1000000);
	atomic_store(&m->has_met, atomic_load(&m->started));
	return 0;
}

/* A body that is not known to be short waits for what it has made. */
static void made_in_a_body(enum made how)
{
	struct maker m = { .how = how, .rt = api_open_workers(2) }, *arg = &m;
	struct lkdf_kind *k =
		api_kind(m.rt, "makes", make_and_wait, sizeof(arg), 0);

	m.data = zeros(m.rt, NULL, 1);
	m.child = api_kind(m.rt, "child", child_starts, sizeof(arg), 0);
	if (how == BY_SIGNAL) {
		must(lkdf_event_create(m.rt, 1, 0, &m.event));
		must(lkdf_submit(m.rt, NULL,
				 ATTR(lkdf_task, .kind = m.child, .arg = &arg,
				      .after = &m.event, .nr_after = 1),
				 NULL));
	}
	/* Workers sleep by then. */
	api_nap_ns(5000000);
	must(submit_on(m.rt, k, &arg, ON(m.data, LKDF_RW), NULL));
	if (how == BY_USE_END)
		must(submit_on(m.rt, m.child, &arg, ON(m.data, LKDF_RW), NULL));
	atomic_store(&m.is_next_there, 1);
	must(lkdf_scope_wait(m.rt, NULL, -1));
	ok(atomic_load(&m.has_met), "%s by a body: starts elsewhere",
	   made_names[how]);
	if (how == BY_SIGNAL)
		lkdf_event_put(m.event);
	lkdf_data_put(m.data);
	lkdf_kind_put(m.child);
	lkdf_kind_put(k);
	must(lkdf_close(m.rt));
}

int main(void)
{
	int nr, how;

	tap_start(100);
	workers_meet(2);
	workers_meet(3);
	workers_meet(4);
	workers_meet(8);
	for (nr = 2; nr <= MAX_WORKERS; nr *= 2)
		for (how = 0; how < 4; how++)
			short_kinds_meet(nr, how & 1, how & 2);
	for (how = 0; how < NR_MADE; how++)
		made_in_a_body((enum made)how);
	return tap_end();
}
