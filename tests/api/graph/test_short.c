/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks with uses whose kinds are known to be short: they go a shorter way
 * than the first ones of a kind do, and must do the same.
 */
#include "tests/api/using.h"

#include <lkdf/event.h>

#define NR_BEFORE 40 /* bodies, so that the kind is known */

struct job {
	struct lkdf_data *d;
	struct lkdf_kind *child;
	struct gate gate;
	struct lkdf_event go;
	atomic_int next_started, was_early;
	void *before[2], *after[2];
	int rc;
};

/* Bodies without an argument do nothing. */
static struct lkdf_kind *short_kind(struct lkdf *rt, lkdf_fn fn)
{
	struct lkdf_kind *k = api_kind(rt, "short", fn, 0, 0);
	struct lkdf_data *d = zeros(rt, NULL, 1);
	int i;

	for (i = 0; i < NR_BEFORE; i++)
		must(submit_on(rt, k, NULL, ON(d, LKDF_RW), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(d);
	return k;
}

static int note_start(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	(void)c;
	if (j)
		atomic_store(&j->next_started, 1);
	return 0;
}

static int leave_a_child(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	return j ? lkdf_spawn(c, j->child, &j->gate) : 0;
}

static void a_weak_use_ends_with_the_body(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = short_kind(rt, leave_a_child);
	struct lkdf_kind *next = short_kind(rt, note_start);
	struct lkdf_event done;
	struct job j = { .d = zeros(rt, NULL, 1) };

	j.child = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	must(submit_on(rt, k, &j, ON(j.d, LKDF_RW | LKDF_WEAK), NULL));
	must(submit_on(rt, next, &j, ON(j.d, LKDF_RW), &done));
	is(lkdf_event_wait(done, PATIENCE_NS), 0,
	   "%s: a weak use is not the children's who do not use it", how);
	atomic_store(&j.gate.open, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(j.d);
	lkdf_kind_put(j.child);
	lkdf_kind_put(next);
	lkdf_kind_put(k);
}

static int look_back(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	(void)c;
	atomic_store(&j->was_early, atomic_load(&j->next_started));
	return 0;
}

static int go_on_later(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	return j ? lkdf_then(c, look_back, j->go) : 0;
}

static void a_body_that_goes_on_has_not_ended(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = short_kind(rt, go_on_later);
	struct lkdf_kind *next = short_kind(rt, note_start);
	struct job j = { .d = zeros(rt, NULL, 1) };

	must(lkdf_event_create(rt, 1, 0, &j.go));
	must(submit_on(rt, k, &j, ON(j.d, LKDF_RW | LKDF_WEAK), NULL));
	must(submit_on(rt, next, &j, ON(j.d, LKDF_RW), NULL));
	api_nap_ns(2000000);
	must(lkdf_event_signal(j.go, 0));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(j.was_early, 0, "%s: nobody comes before the second half", how);
	is(j.next_started, 1, "%s: but after it", how);
	lkdf_event_put(j.go);
	lkdf_data_put(j.d);
	lkdf_kind_put(next);
	lkdf_kind_put(k);
}

static int give_one(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;
	unsigned i;

	for (i = 0; j && i < 2; i++)
		j->before[i] = lkdf_ptr(c, i);
	if (j)
		j->rc = lkdf_use_end(c, 1, false);
	for (i = 0; j && i < 2; i++)
		j->after[i] = lkdf_ptr(c, i);
	return 0;
}

/* What one use gives on, the other one of the same data has not either. */
static void two_uses_of_one_are_one(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = short_kind(rt, give_one);
	struct job j = { .d = zeros(rt, NULL, 1) };
	struct lkdf_use use[] = { ON(j.d, LKDF_READ), ON(j.d, LKDF_WRITE) };

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &j, .use = use,
			      .nr_use = 2),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(j.before[0] && j.before[0] == j.before[1],
	   "%s: two uses of one data have its bytes", how);
	is(j.rc, 0, "%s: one is given on", how);
	ok(!j.after[0] && !j.after[1], "%s: then neither has them", how);
	lkdf_data_put(j.d);
	lkdf_kind_put(k);
}

static int fail_if_told(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return arg ? -EIO : 0;
}

static void errors_are_told(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = short_kind(rt, fail_if_told);
	struct lkdf_kind *next = short_kind(rt, note_start);
	struct job j = { .d = zeros(rt, NULL, 1) };

	must(submit_on(rt, k, &j, ON(j.d, LKDF_RW), NULL));
	must(submit_on(rt, next, &j, ON(j.d, LKDF_RW), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "%s: one fails", how);
	is(j.next_started, 0, "%s: who reads it is skipped", how);
	lkdf_data_put(j.d);
	lkdf_kind_put(next);
	lkdf_kind_put(k);
}

/* Arguments too long for the task itself: as many bytes as before. */
static uint64_t used(struct lkdf *rt)
{
	uint64_t v = 0;

	must(lkdf_stat(rt, "lkdf.node.0.memory.used", &v));
	return v;
}

struct long_arg {
	atomic_int *nr_wrong;
	unsigned char byte[200];
};

static int look_at_bytes(struct lkdf_ctx *c, void *arg)
{
	struct long_arg *a = arg;
	size_t i;

	(void)c;
	for (i = 1; i < sizeof(a->byte); i++)
		if (a->byte[i] != (unsigned char)(a->byte[0] + i))
			atomic_fetch_add(a->nr_wrong, 1);
	return 0;
}

static void long_arguments_come_back(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k =
		api_kind(rt, "long", look_at_bytes, sizeof(struct long_arg), 0);
	uint64_t before = used(rt);
	atomic_int nr_wrong = 0;
	struct long_arg a = { .nr_wrong = &nr_wrong };
	struct lkdf_scope *s = NULL;
	size_t i, t;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "long"), &s));
	for (t = 0; t < 300; t++) {
		for (i = 0; i < sizeof(a.byte); i++)
			a.byte[i] = (unsigned char)(t + i);
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &a),
				 NULL));
	}
	/* Some have not begun. */
	lkdf_scope_cancel(rt, s, -ECANCELED);
	lkdf_scope_wait(rt, s, -1);
	is(nr_wrong, 0, "%s: a long argument is copied", how);
	is(used(rt), before, "%s: and its memory comes back", how);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2",
					       "workers=4", "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(options); i++) {
		rt = api_open(options[i]);
		two_uses_of_one_are_one(rt, options[i]);
		errors_are_told(rt, options[i]);
		long_arguments_come_back(rt, options[i]);
		/* Here bodies wait for this thread. */
		if (strcmp(options[i], "serial=yes")) {
			a_weak_use_ends_with_the_body(rt, options[i]);
			a_body_that_goes_on_has_not_ended(rt, options[i]);
		}
		is(lkdf_close(rt), 0, "%s: closed", options[i]);
	}
	return tap_end();
}
