/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_sort() against sorting by counting, with random sizes; comparisons that
 * contradict themselves; cancels.
 */
#include "tests/api/random.h"

#define GUARD 64

/* An array at an address that no type likes, between guards. */
struct array {
	unsigned char *memory, *want, *base;
	uint64_t nr, bytes;
	_Atomic(uint64_t) nr_outside; /* addresses that are no element's */
};

static int by_first_byte(const void *a, const void *b, void *u)
{
	(void)u;
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static struct array *array_create(uint64_t nr, uint64_t bytes, unsigned shift)
{
	struct array *x = calloc(1, sizeof(*x));
	uint64_t i;

	x->nr = nr;
	x->bytes = bytes;
	x->memory = malloc(nr * bytes + 2 * GUARD + shift);
	x->want = malloc(nr * bytes + 1);
	memset(x->memory, 0xa5, nr * bytes + 2 * GUARD + shift);
	x->base = x->memory + GUARD + shift;
	for (i = 0; i < nr * bytes; i++)
		x->base[i] = (unsigned char)below(256);
	memcpy(x->want, x->base, nr * bytes);
	return x;
}

static void array_destroy(struct array *x)
{
	free(x->memory);
	free(x->want);
	free(x);
}

/* By counting, which is stable. */
static void sort_plainly(struct array *x)
{
	unsigned char *from = malloc(x->nr * x->bytes + 1);
	uint64_t i, at[257] = { 0 };

	memcpy(from, x->want, x->nr * x->bytes);
	for (i = 0; i < x->nr; i++)
		at[from[i * x->bytes] + 1]++;
	for (i = 0; i < 256; i++)
		at[i + 1] += at[i];
	for (i = 0; i < x->nr; i++)
		memcpy(x->want + at[from[i * x->bytes]]++ * x->bytes,
		       from + i * x->bytes, x->bytes);
	free(from);
}

static bool guards_are_whole(const struct array *x)
{
	const unsigned char *end = x->base + x->nr * x->bytes;
	int i;

	for (i = 0; i < GUARD; i++)
		if (x->base[-1 - i] != 0xa5 || end[i] != 0xa5)
			return false;
	return true;
}

static int call_sort(struct lkdf *rt, const struct array *x,
		     lkdf_compare compare, struct lkdf_scope *s, void *u)
{
	return lkdf_sort(rt, ATTR(lkdf_sort_attr, .base = x->base, .nr = x->nr,
				  .bytes = x->bytes, .compare = compare, .u = u,
				  .scope = s));
}

static bool sorts(struct lkdf *rt, uint64_t nr, uint64_t bytes, unsigned shift)
{
	struct array *x = array_create(nr, bytes, shift);
	bool good;

	sort_plainly(x);
	good = !call_sort(rt, x, by_first_byte, NULL, NULL) &&
	       !memcmp(x->base, x->want, nr * bytes) && guards_are_whole(x);
	if (!good)
		printf("# %llu elements of %llu bytes, shifted by %u\n",
		       (unsigned long long)nr, (unsigned long long)bytes,
		       shift);
	array_destroy(x);
	return good;
}

static void arrays_are_sorted(struct lkdf *rt, const char *options)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 7, 8, 12, 16, 24, 100 };
	uint64_t nr, bytes;
	int i, bad = 0;

	for (i = 0; i < 20; i++)
		bad += !sorts(rt, (uint64_t)i, 8, 0);
	for (i = 0; i < 12; i++) {
		bytes = sizes[below(sizeof(sizes) / sizeof(sizes[0]))];
		nr = below(i % 3 ? 5000 : 20000);
		bad += !sorts(rt, nr, bytes, (unsigned)below(8));
	}
	is(bad, 0, "%s: arrays are sorted, and equal elements keep their order",
	   options);
}

/* Elements in any order, all of them. */
static bool has_all(struct array *x)
{
	struct array y = { .want = malloc(x->nr * x->bytes + 1),
			   .nr = x->nr * x->bytes,
			   .bytes = 1 };
	bool good;

	/* With elements of one byte each order of them sorts alike. */
	memcpy(y.want, x->base, y.nr);
	sort_plainly(&y);
	sort_plainly(x);
	good = !memcmp(x->want, y.want, y.nr);
	free(y.want);
	return good && guards_are_whole(x);
}

static int at_random(const void *a, const void *b, void *u)
{
	struct array *x = u;
	uint64_t i = atomic_fetch_add(&x->nr_outside, 1) * 0x9e3779b97f4a7c15u;

	(void)a;
	(void)b;
	return (int)(i >> 62) - 1;
}

static int always_less(const void *a, const void *b, void *u)
{
	(void)a;
	(void)b;
	(void)u;
	return -1;
}

static int always_more(const void *a, const void *b, void *u)
{
	return -always_less(a, b, u);
}

/* Stone, paper and scissors. */
static int in_a_circle(const void *a, const void *b, void *u)
{
	int x = *(const unsigned char *)a % 3,
	    y = *(const unsigned char *)b % 3;

	(void)u;
	return x == y ? 0 : (x + 1) % 3 == y ? -1 : 1;
}

static void comparisons_may_contradict_themselves(struct lkdf *rt,
						  const char *options)
{
	static const lkdf_compare wrong[] = { at_random, always_less,
					      always_more, in_a_circle };
	struct array *x;
	int i, bad = 0;

	for (i = 0; i < 8; i++) {
		x = array_create(below(10000), 1, (unsigned)below(3));
		bad += call_sort(rt, x, wrong[i % 4], NULL, x) != 0;
		bad += !has_all(x);
		array_destroy(x);
	}
	is(bad, 0, "%s: wrong comparisons leave all elements there", options);
}

struct cancelling {
	struct lkdf *rt;
	struct lkdf_scope *s;
	atomic_int after; /* so many more calls */
};

static int compare_and_cancel(const void *a, const void *b, void *u)
{
	struct cancelling *c = u;

	if (atomic_fetch_sub(&c->after, 1) == 1)
		lkdf_scope_cancel(c->rt, c->s, -ESTALE);
	return by_first_byte(a, b, NULL);
}

/* Wherever the cancel comes. */
static void a_cancelled_sort_keeps_the_elements(struct lkdf *rt,
						const char *options)
{
	int i, rc, bad = 0, nr_cancelled = 0;
	struct cancelling c;
	struct array *x;

	for (i = 0; i < 16; i++) {
		x = array_create(9000, 1, 0);
		c.rt = rt;
		c.s = scope_create(rt, "sort");
		/* The first: before the call. */
		atomic_init(&c.after, i ? 1 + (int)below(9000 * 16) : 0);
		if (!i)
			lkdf_scope_cancel(rt, c.s, -ESTALE);
		rc = call_sort(rt, x, compare_and_cancel, c.s, &c);
		nr_cancelled += rc < 0;
		bad += rc > 0 || !has_all(x);
		bad += !rc && memcmp(x->base, x->want, x->nr) != 0;
		lkdf_scope_put(c.s);
		array_destroy(x);
	}
	is(bad, 0, "%s: a cancelled sort keeps the elements", options);
	ok(nr_cancelled > 0, "%d of 16 were cancelled", nr_cancelled);
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	seed_set();
	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		arrays_are_sorted(rt, machines[i]);
		comparisons_may_contradict_themselves(rt, machines[i]);
		a_cancelled_sort_keeps_the_elements(rt, machines[i]);
		is(lkdf_close(rt), 0, "%s: the runtime closes", machines[i]);
	}
	return tap_end();
}
