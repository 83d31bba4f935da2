/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The n-th allocation of loops and reductions fails, for n = 1, 2, .. until
 * none is left: an error before anything has run twice or a way around it, and
 * all works afterwards.
 */
#include "tests/api/loop.h"
#include "tests/faults/inject.h"

#define MAX_FAULTS 2000
#define NR 20000

struct world {
	struct lkdf *rt;
	struct notes *notes;
	struct lkdf_kind *in_body;
};

static int do_for(struct world *w)
{
	return lkdf_for(w->rt, (struct lkdf_range){ 0, NR, 3 }, note, w->notes);
}

static int do_auto(struct world *w)
{
	return lkdf_for(w->rt, (struct lkdf_range){ 0, NR, 0 }, note, w->notes);
}

static int do_static(struct world *w)
{
	return lkdf_for_with(w->rt, ATTR(lkdf_for_attr, .range = { 0, NR, 100 },
					 .fn = note, .u = w->notes,
					 .schedule = LKDF_SCHEDULE_STATIC));
}

static int loop_in_body(struct lkdf_ctx *c, void *arg)
{
	struct world *w = arg;

	return lkdf_for_in(c, ATTR(lkdf_for_attr, .range = { 0, NR, 2 },
				   .fn = note, .u = w->notes));
}

static int do_in_body(struct world *w)
{
	struct lkdf_event done;
	int rc;

	rc = lkdf_submit(w->rt, NULL,
			 ATTR(lkdf_task, .kind = w->in_body, .arg = w), &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	/* The body's error is told to its scope as well. */
	lkdf_scope_wait(w->rt, NULL, -1);
	return rc;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	note(begin, end, u);
	*(uint64_t *)acc += end - begin;
	return 0;
}

static int join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static int do_reduce(struct world *w)
{
	uint64_t sum = 0;
	int rc;

	rc = lkdf_reduce(w->rt, ATTR(lkdf_reduce_attr, .range = { 0, NR, 7 },
				     .fn = add, .join = join, .u = w->notes,
				     .acc = &sum, .acc_bytes = sizeof(sum)));
	return rc || sum == NR ? rc : -EPROTO;
}

/* Some iterations ran twice, or with success not all. */
static int is_wrong(const struct world *w, int rc)
{
	uint64_t i;
	int n;

	for (i = 0; i < NR; i++) {
		n = atomic_load(&w->notes->seen[i]);
		if (n > 1 || (!rc && !n))
			return 1;
	}
	return atomic_load(&w->notes->nr_bad) != 0;
}

static void world_init(struct world *w, const char *options)
{
	w->rt = api_open(options);
	w->notes = notes_create(0, NR, 0);
	w->in_body = api_kind(w->rt, "in_body", loop_in_body, 0, 0);
}

static int world_fini(struct world *w)
{
	lkdf_kind_put(w->in_body);
	free(w->notes);
	return lkdf_close(w->rt) != 0;
}

/* A fresh runtime for each fault, as what has memory needs no more. */
static void every_fault_is_clean(const char *options, const char *what,
				 int (*fn)(struct world *w))
{
	int n, rc, nr_errors = 0, bad = 0, broken = 0;
	struct world w;

	for (n = 1; n < MAX_FAULTS; n++) {
		world_init(&w, options);
		inject(n);
		rc = fn(&w);
		if (!inject_came())
			n = MAX_FAULTS;
		inject(0);
		nr_errors += rc != 0;
		bad += (rc && rc != -ENOMEM && rc != -EAGAIN) ||
		       is_wrong(&w, rc);
		free(w.notes);
		w.notes = notes_create(0, NR, 0);
		rc = fn(&w);
		broken += rc || is_wrong(&w, 0);
		broken += world_fini(&w);
	}
	ok(n > MAX_FAULTS, "%s: %s: all faults came (%d gave an error)",
	   options, what, nr_errors);
	is(bad, 0, "-ENOMEM or -EAGAIN or a way around, and nothing twice");
	is(broken, 0, "all worked afterwards");
}

int main(void)
{
	static const char *const options[] = {
		"workers=2",
		"topology=numa:2 core:1,workers=2",
		"serial=yes",
	};
	unsigned i;

	tap_start(120);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP faults cannot be injected here\n");
		return 0;
	}
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		every_fault_is_clean(options[i], "for", do_for);
		every_fault_is_clean(options[i], "without a grain", do_auto);
		every_fault_is_clean(options[i], "static", do_static);
		every_fault_is_clean(options[i], "in a body", do_in_body);
		every_fault_is_clean(options[i], "reduce", do_reduce);
	}
	return tap_end();
}
