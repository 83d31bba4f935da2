/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_find() against a plain loop: the first hit or error, in random places;
 * blocks behind a hit; cancels.
 */
#include "tests/api/random.h"

#define NR_FIND 20000

struct search {
	unsigned char what[NR_FIND]; /* 1: a hit; 2: an error */
	_Atomic(uint64_t) nr_calls;
	struct lkdf *rt;
	struct lkdf_scope *s; /* that the first call cancels */
};

static int search(uint64_t begin, uint64_t end, uint64_t *at, void *u)
{
	struct search *f = u;

	if (!atomic_fetch_add(&f->nr_calls, 1) && f->s)
		lkdf_scope_cancel(f->rt, f->s, -ESTALE);
	for (; begin < end; begin++) {
		*at = begin;
		if (f->what[begin])
			return f->what[begin] == 1 ? 1 : -EXDEV;
	}
	return 0;
}

static int call_find(struct lkdf *rt, struct search *f, struct lkdf_range r,
		     uint64_t *at)
{
	return lkdf_find(rt,
			 ATTR(lkdf_find_attr, .range = r, .fn = search, .u = f,
			      .scope = f->s),
			 at);
}

/* What a plain loop gives. */
static bool finds(struct lkdf *rt, struct search *f, struct lkdf_range r)
{
	uint64_t at = 7, i = r.begin;
	int want, rc = call_find(rt, f, r, &at);

	while (i < r.end && !f->what[i])
		i++;
	want = i == r.end ? 0 : f->what[i] == 1 ? 1 : -EXDEV;
	return rc == want && at == (rc == 1 ? i : 7);
}

static void the_first_hit_is_found(struct lkdf *rt, const char *options)
{
	struct search *f = calloc(1, sizeof(*f));
	int i, j, bad = 0;
	struct lkdf_range r;

	for (i = 0; i < 20; i++) {
		memset(f->what, 0, sizeof(f->what));
		for (j = (int)below(6); j; j--)
			f->what[below(NR_FIND)] = 1 + (below(4) == 0);
		r.begin = below(10) * 1000;
		r.end = r.begin + below(NR_FIND - r.begin + 1);
		/* An error counts where a block begins: one by one. */
		r.grain = memchr(f->what, 2, sizeof(f->what)) ? 1 : below(300);
		if (r.grain == 1)
			r.end = r.begin + (r.end - r.begin) % 4000;
		bad += !finds(rt, f, r);
	}
	is(bad, 0, "%s: the first hit or error is found", options);
	free(f);
}

static void a_hit_ends_the_search(struct lkdf *rt, const char *options)
{
	struct search *f = calloc(1, sizeof(*f));
	struct lkdf_range r = { 0, 4000, 1 };
	uint64_t at = 0;

	f->what[100] = 1;
	is(call_find(rt, f, r, &at), 1, "%s: found", options);
	is(at, 100, "where it is");
	/* One thread goes through the range in order. */
	if (lkdf_nr_workers(rt) == 1)
		ok(atomic_load(&f->nr_calls) <= 103,
		   "no more than two blocks a thread behind the hit: %llu",
		   (unsigned long long)atomic_load(&f->nr_calls));
	free(f);
}

static int name_outside(uint64_t begin, uint64_t end, uint64_t *at, void *u)
{
	(void)begin;
	(void)u;
	*at = end;
	return 1;
}

static int at_five(uint64_t begin, uint64_t end, uint64_t *at, void *u)
{
	(void)end;
	(void)u;
	*at = begin + 5;
	return 1;
}

static void searches_end_early_and_wrongly(struct lkdf *rt, const char *options)
{
	struct lkdf_find_attr a = { .size = sizeof(a),
				    .range = { 0, 10, 0 },
				    .fn = name_outside };
	struct search *f = calloc(1, sizeof(*f));
	struct lkdf_range r = { 0, 4000, 1 };
	uint64_t at = 9;

	is(lkdf_find(rt, &a, &at), -ERANGE, "%s: a hit outside of its block",
	   options);
	has(lkdf_errmsg(), "lies in its block", "the text says what to do");
	a.fn = at_five;
	a.range = (struct lkdf_range){ 3, UINT64_MAX, 0 };
	is(lkdf_find(rt, &a, &at), 1, "a huge range");
	is(at, 8, "its first hit");
	is(lkdf_find(rt, &a, NULL), 1, "nobody asks where");
	f->rt = rt;
	f->s = scope_create(rt, "find");
	is(call_find(rt, f, r, &at), -ESTALE, "a cancel ends a search");
	lkdf_scope_put(f->s);
	free(f);
}

/* The body's scope is cancelled by what it calls. */
static int cancelled_inside(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_range r = { 0, 4000, 1 };
	struct search *f = arg;
	int rc;
	uint64_t at;

	rc = lkdf_find(lkdf_runtime(c),
		       ATTR(lkdf_find_attr, .range = r, .fn = search, .u = f),
		       &at);
	return rc == -ESTALE ? 0 : -EPROTO;
}

static void a_cancel_of_the_body_ends_it(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k =
		api_kind(rt, "inside", cancelled_inside, 0, LKDF_ALWAYS);
	struct search *f = calloc(1, sizeof(*f));
	struct lkdf_event done;

	f->rt = rt;
	f->s = scope_create(rt, "find");
	must(lkdf_submit(rt, f->s, ATTR(lkdf_task, .kind = k, .arg = f),
			 &done));
	is(lkdf_event_wait(done, -1), 0,
	   "%s: a search in a body ends with the body's scope", options);
	lkdf_scope_put(f->s);
	lkdf_kind_put(k);
	free(f);
}

static void scopes_are_of_the_runtime(void)
{
	struct lkdf *rt = api_open("workers=1"), *other = api_open("workers=1");
	struct search *f = calloc(1, sizeof(*f));
	struct lkdf_range r = { 0, 10, 0 };
	uint64_t at;

	f->s = scope_create(other, "find");
	is(call_find(rt, f, r, &at), -EINVAL, "a scope of another runtime");
	lkdf_scope_put(f->s);
	free(f);
	must(lkdf_close(other));
	must(lkdf_close(rt));
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	seed_set();
	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		the_first_hit_is_found(rt, machines[i]);
		a_hit_ends_the_search(rt, machines[i]);
		searches_end_early_and_wrongly(rt, machines[i]);
		a_cancel_of_the_body_ends_it(rt, machines[i]);
		is(lkdf_close(rt), 0, "%s: the runtime closes", machines[i]);
	}
	scopes_are_of_the_runtime();
	return tap_end();
}
