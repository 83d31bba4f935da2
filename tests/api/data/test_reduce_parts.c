/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a reduction begins from and what it ends with: the bytes of a whole of
 * which parts were written are neutral where nobody has written, to the last
 * one; the error of one of several copies is the reduction's.
 */
#include "tests/api/product.h"
#include "tests/api/using.h"

#define NR_PARTS 4
#define NR_MEET 3

static int times_five(struct lkdf_ctx *c, void *arg)
{
	uint64_t *v = lkdf_ptr(c, 0);
	int i;

	(void)arg;
	for (i = 0; i < NR_PARTS; i++)
		v[i] *= 5;
	return 0;
}

static int set_seven(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return 0;
}

/* written: 1 .. NR_PARTS, or 0: none. */
static void the_rest_is_neutral(struct lkdf *rt, uint32_t written)
{
	struct lkdf_kind *five = api_kind(rt, "five", times_five, 0, 0);
	struct lkdf_kind *seven = api_kind(rt, "seven", set_seven, 0, 0);
	struct lkdf_data *d = DATA(rt, .bytes = NR_PARTS * 8,
				   .reduce = multiply, .neutral = ones);
	void *bytes;
	uint32_t i;

	must(lkdf_data_split(d, NR_PARTS, 8));
	if (written)
		must(submit_on(rt, seven, NULL, ON_PART(d, LKDF_WRITE, written),
			       NULL));
	must(submit_on(rt, five, NULL, ON(d, LKDF_REDUCE), NULL));
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0; i < NR_PARTS; i++)
		is(((uint64_t *)bytes)[i], i + 1 == written ? 35 : 5,
		   "part %u, %u was written", i + 1, written);
	must(lkdf_data_release(d));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(d);
	lkdf_kind_put(five);
	lkdf_kind_put(seven);
}

/* ---- errors of copies ---------------------------------------------------- */

static atomic_int nr_here, nr_joined;
static int bad_copy;

static int meet(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	atomic_fetch_add(&nr_here, 1);
	while (atomic_load(&nr_here) < NR_MEET)
		api_nap_ns(50000);
	return 0;
}

static int join_but_one(void *acc, const void *x, uint64_t bytes)
{
	(void)acc;
	(void)x;
	(void)bytes;
	return atomic_fetch_add(&nr_joined, 1) == bad_copy ? -EXDEV : 0;
}

static int look(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	(void)c;
	return 0;
}

/* nr: so many have been combined when it fails. */
static void one_copy_fails(struct lkdf *rt, int nr)
{
	struct lkdf_kind *meets = api_kind(rt, "meets", meet, 0, LKDF_BLOCKING);
	struct lkdf_kind *looks = api_kind(rt, "looks", look, 0, 0);
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 0 },
				   .reduce = join_but_one);
	struct lkdf_event done;
	int i;

	atomic_store(&nr_here, 0);
	atomic_store(&nr_joined, 0);
	bad_copy = nr;
	for (i = 0; i < NR_MEET; i++)
		must(submit_on(rt, meets, NULL, ON(d, LKDF_REDUCE), NULL));
	must(submit_on(rt, looks, NULL, ON(d, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), -EXDEV, "copy %d of %d fails", nr + 1,
	   NR_MEET);
	is(nr_joined, nr + 1, "no other one is combined then");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_data_put(d);
	lkdf_kind_put(meets);
	lkdf_kind_put(looks);
}

int main(void)
{
	struct lkdf *rt;
	uint32_t i;

	tap_start(60);
	rt = api_open("workers=2");
	for (i = 0; i <= NR_PARTS; i++)
		the_rest_is_neutral(rt, i);
	for (i = 0; i < NR_MEET; i++)
		one_copy_fails(rt, (int)i);
	is(lkdf_close(rt), 0, "nothing is left");
	return tap_end();
}
