/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_scan() against a plain loop, with random sizes, where the order of joins
 * counts; errors of each function.
 */
#include "tests/api/random.h"

/* f(x) = a x + b: the order of joins counts. */
struct affine {
	uint64_t a, b;
};

struct running {
	struct affine *x; /* each becomes all up to it */
	uint64_t begin;
	atomic_int nr_calls, fail_at; /* 0: never */
	int error;
};

static struct affine then(struct affine f, struct affine g)
{
	return (struct affine){ f.a * g.a, g.a * f.b + g.b };
}

static int fails(struct running *r)
{
	return atomic_fetch_add(&r->nr_calls, 1) + 1 == atomic_load(&r->fail_at)
		       ? r->error
		       : 0;
}

static int scan_add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	struct affine *sum = acc;
	struct running *r = u;

	for (; begin < end; begin++)
		*sum = then(*sum, r->x[begin - r->begin]);
	return fails(r);
}

static int scan_write(uint64_t begin, uint64_t end, void *acc, void *u)
{
	struct affine *sum = acc;
	struct running *r = u;

	for (; begin < end; begin++) {
		*sum = then(*sum, r->x[begin - r->begin]);
		r->x[begin - r->begin] = *sum;
	}
	return fails(r);
}

static int scan_join(void *acc, const void *x, void *u)
{
	struct affine *sum = acc;

	*sum = then(*sum, *(const struct affine *)x);
	return fails(u);
}

static struct lkdf_scan_attr scan_of(struct running *r, struct lkdf_range range,
				     struct affine *sum)
{
	return (struct lkdf_scan_attr){
		.size = sizeof(struct lkdf_scan_attr),
		.range = range,
		.fn = scan_add,
		.write = scan_write,
		.join = scan_join,
		.u = r,
		.acc = sum,
		.acc_bytes = sizeof(*sum),
	};
}

static bool scans(struct lkdf *rt, struct lkdf_range range)
{
	uint64_t i, nr = range.end - range.begin;
	struct running r = { .x = calloc(nr + 1, sizeof(*r.x)),
			     .begin = range.begin };
	struct affine *want = calloc(nr + 1, sizeof(*want));
	struct affine sum = { 1, 0 }, all = { 1, 0 };
	struct lkdf_scan_attr a = scan_of(&r, range, &sum);
	bool good;

	for (i = 0; i < nr; i++) {
		r.x[i] = (struct affine){ next_random() | 1, next_random() };
		all = then(all, r.x[i]);
		want[i] = all;
	}
	good = !lkdf_scan(rt, &a) && !memcmp(&sum, &all, sizeof(sum)) &&
	       !memcmp(r.x, want, nr * sizeof(*want));
	free(r.x);
	free(want);
	return good;
}

static void sums_run(struct lkdf *rt, const char *options)
{
	struct lkdf_range r = { 0, 0, 0 };
	int i, bad = 0;

	for (i = 0; i < 12; i++) {
		r.begin = below(100);
		r.end = r.begin + below(i < 4 ? 4 : 20000);
		r.grain = i % 2 ? 1 + below(500) : 0;
		bad += !scans(rt, r);
	}
	is(bad, 0, "%s: running sums are those of a plain loop", options);
}

static void errors_end_a_scan(struct lkdf *rt, const char *options)
{
	struct affine x[100] = { { 1, 1 } }, sum = { 1, 0 };
	struct running r = { .x = x, .error = -EXDEV };
	struct lkdf_scan_attr a =
		scan_of(&r, (struct lkdf_range){ 0, 100, 10 }, &sum);
	int i, bad = 0;

	/* Ten calls of each function. */
	for (i = 1; i <= 30; i++) {
		atomic_store(&r.nr_calls, 0);
		atomic_store(&r.fail_at, i);
		bad += lkdf_scan(rt, &a) != -EXDEV;
		bad += sum.a != 1 || sum.b != 0;
		bad += !strstr(lkdf_errmsg(), "scan: ");
	}
	is(bad, 0, "%s: an error of each function ends it, acc is untouched",
	   options);
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	seed_set();
	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		sums_run(rt, machines[i]);
		errors_end_a_scan(rt, machines[i]);
		is(lkdf_close(rt), 0, "%s: the runtime closes", machines[i]);
	}
	return tap_end();
}
