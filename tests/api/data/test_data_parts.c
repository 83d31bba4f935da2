/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data in parts: each has dependences of its own, and the whole has those of
 * all of them. Random programs are checked by the intervals of their bodies.
 *
 * test_data_parts [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

static struct lkdf_data *bytes_of(struct lkdf *rt, uint64_t bytes)
{
	char *init = calloc(1, bytes);
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = bytes, .init = init), &d));
	free(init);
	return d;
}

static int put_on(struct lkdf *rt, struct lkdf_kind *k, const void *arg,
		  struct lkdf_use use)
{
	return submit_on(rt, k, arg, use, NULL);
}

/* Splitting, and what is refused; the texts have the numbers in them. */
static void splits_are_checked(struct lkdf *rt)
{
	static const struct {
		uint64_t bytes, stride;
		uint32_t nr;
		int want;
	} split[] = {
		{ 100, 10, 10, 0 },
		{ 100, 100, 1, 0 },
		{ 100, 34, 3, 0 },
		{ 101, 100, 2, 0 },
		{ 1, 1, 1, 0 },
		{ 100, 10, 9, -ERANGE },
		{ 100, 10, 11, -ERANGE },
		{ 100, 99, 1, -ERANGE },
		{ 100, 50, 3, -ERANGE },
		{ 100, 1ull << 63, 2, -ERANGE },
		{ 100, 100, 2, -ERANGE },
		{ 100, 0, 10, -EINVAL },
		{ 100, 10, 0, -EINVAL },
		{ 1 << 21, 1, (1 << 20) + 1, -EINVAL },
	};
	struct lkdf_data *d;
	char number[32];
	size_t i;
	int rc;

	for (i = 0; i < LENGTH(split); i++) {
		d = bytes_of(rt, split[i].bytes);
		rc = lkdf_data_split(d, split[i].nr, split[i].stride);
		/* What is 0 may be out of range or invalid. */
		if (rc == -ERANGE && split[i].want == -EINVAL)
			rc = -EINVAL;
		is(rc, split[i].want, "%llu bytes in %u parts of %llu",
		   (unsigned long long)split[i].bytes, split[i].nr,
		   (unsigned long long)split[i].stride);
		snprintf(number, sizeof(number), "%u", split[i].nr);
		if (split[i].want)
			has(lkdf_errmsg(), number, "says how many");
		if (split[i].want)
			is(lkdf_data_split(d, 1, split[i].bytes), 0,
			   "and it can be split as it should");
		is(lkdf_data_split(d, 1, split[i].bytes), -EEXIST,
		   "a second time is refused");
		lkdf_data_put(d);
	}
}

static void parts_out_of_range_are_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_data *d = bytes_of(rt, 64), *whole = bytes_of(rt, 64);
	uint64_t version;

	must(lkdf_data_split(d, 8, 8));
	is(put_on(rt, k, NULL, ON_PART(d, LKDF_RW, 8)), 0, "part 8 of 8");
	must(lkdf_scope_wait(rt, NULL, -1));
	version = lkdf_data_version(d);
	is(put_on(rt, k, NULL, ON_PART(d, LKDF_RW, 9)), -ERANGE, "part 9 of 8");
	has(lkdf_errmsg(), "9", "says which");
	is(put_on(rt, k, NULL, ON_PART(d, LKDF_READ, UINT32_MAX)), -ERANGE,
	   "part 2^32-1 of 8");
	is(put_on(rt, k, NULL, ON_PART(whole, LKDF_READ, 1)), -ERANGE,
	   "part 1 of what is not split");
	is(lkdf_data_version(d), version, "what is refused changes nothing");
	is(put_on(rt, k, NULL, ON(d, LKDF_RW)), 0, "the whole works after it");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and ends");
	lkdf_data_put(d);
	lkdf_data_put(whole);
	lkdf_kind_put(k);
}

struct meeting {
	int nr;
	atomic_int here, open, nr_ended;
};

static int meet(struct lkdf_ctx *c, void *arg)
{
	struct meeting *m = *(struct meeting **)arg;

	(void)c;
	atomic_fetch_add(&m->here, 1);
	while (atomic_load(&m->here) < m->nr || !atomic_load(&m->open))
		api_nap_ns(20000);
	atomic_fetch_add(&m->nr_ended, 1);
	return 0;
}

struct look {
	struct meeting *m;
	atomic_int nr_ended_before;
};

static int look(struct lkdf_ctx *c, void *arg)
{
	struct look *l = *(struct look **)arg;

	(void)c;
	atomic_store(&l->nr_ended_before, atomic_load(&l->m->nr_ended));
	return 0;
}

/* Writers of all parts meet; the whole waits for them, and they for it. */
static void parts_meet_and_the_whole_waits(struct lkdf *rt, uint32_t mode)
{
	struct meeting first = { .nr = 4 }, *m = &first;
	struct meeting second = { .nr = 4, .open = 1 }, *n = &second;
	struct look look_ = { .m = m, .nr_ended_before = -1 }, *l = &look_;
	struct lkdf_kind *meets, *looks, *counts;
	struct lkdf_data *d = bytes_of(rt, 64);
	atomic_int nr = 0;
	uint32_t i;

	must(lkdf_data_split(d, 4, 16));
	meets = api_kind(rt, "meets", meet, sizeof(m), LKDF_BLOCKING);
	looks = api_kind(rt, "looks", look, sizeof(l), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	for (i = 1; i <= 4; i++)
		must(put_on(rt, meets, &m, ON_PART(d, LKDF_RW, i)));
	must(put_on(rt, looks, &l, ON(d, mode)));
	for (i = 1; i <= 4; i++)
		must(put_on(rt, meets, &n, ON_PART(d, LKDF_WRITE, i)));
	while (atomic_load(&m->here) < 4)
		api_nap_ns(50000);
	ok(true, "4 writers of parts are together");
	is(api_call(rt, counts, &nr), 0, "another task runs beside them");
	is(l->nr_ended_before, -1, "%s of the whole waits", mode_name(mode));
	is(n->here, 0, "and parts behind it");
	atomic_store(&m->open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(l->nr_ended_before, 4, "the whole came after its parts");
	is(n->nr_ended, 4, "the parts behind it have met, too");
	lkdf_data_put(d);
	lkdf_kind_put(meets);
	lkdf_kind_put(looks);
	lkdf_kind_put(counts);
}

static int mark_part(struct lkdf_ctx *c, void *arg)
{
	uint32_t *word = lkdf_ptr(c, 0);

	*word += *(uint32_t *)arg;
	return 0;
}

/* For REDUCE: 32 bits at a time. */
static int add_halves(void *acc, const void *x, uint64_t bytes)
{
	uint32_t *a = acc;
	const uint32_t *b = x;
	uint64_t i;

	for (i = 0; i < bytes / sizeof(*a); i++)
		a[i] += b[i];
	return 0;
}

static int sum_whole(struct lkdf_ctx *c, void *arg)
{
	uint32_t nr = *(uint32_t *)arg, i, *word = lkdf_ptr(c, 0);

	for (i = 0; i < nr; i++)
		if (word[i] != i + 1)
			return lkdf_fail(c, -EPROTO, "part %u has %u", i + 1,
					 word[i]);
	return 0;
}

/* As many parts as there may be; each use gives the part's own bytes. */
static void there_may_be_many_parts(struct lkdf *rt, uint32_t nr)
{
	struct lkdf_kind *marks, *sums;
	struct lkdf_data *d = bytes_of(rt, nr * 4ull);
	uint32_t i, step = nr / 1000 + 1;
	uint64_t want = 1 + nr;

	marks = api_kind(rt, "marks", mark_part, sizeof(i), 0);
	sums = api_kind(rt, "sums", sum_whole, sizeof(i), 0);
	is(lkdf_data_split(d, nr, 4), 0, "%u parts", nr);
	for (i = 1; i <= nr; i++) {
		must(put_on(rt, marks, &i, ON_PART(d, LKDF_RW, i)));
		/* It is about parts, not about how many tasks may wait. */
		if (i % 4096 == 0)
			must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "each is written");
	must(put_on(rt, sums, &nr, ON(d, LKDF_READ)));
	for (i = 1; i <= nr; i += step, want++)
		must(put_on(rt, marks, &(uint32_t){ 0 },
			    ON_PART(d, LKDF_RW, i)));
	must(put_on(rt, sums, &nr, ON(d, LKDF_RW)));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the whole has all of them");
	is(lkdf_data_version(d), want + 1, "each write counts");
	lkdf_data_put(d);
	lkdf_kind_put(marks);
	lkdf_kind_put(sums);
}

static int both(struct lkdf_ctx *c, void *arg)
{
	char *whole = lkdf_ptr(c, 0), *part = lkdf_ptr(c, 1);

	(void)arg;
	if (part != whole + 16)
		return lkdf_fail(c, -EPROTO, "%p is not in %p", part, whole);
	*part = 7;
	return 0;
}

/* One task waits for itself no more than with the same data twice. */
static void the_whole_and_a_part_go_in_one(struct lkdf *rt)
{
	static const uint32_t modes[] = { LKDF_READ, LKDF_WRITE, LKDF_RW };
	struct lkdf_kind *k = api_kind(rt, "both", both, 0, 0);
	struct lkdf_data *d = bytes_of(rt, 64);
	struct lkdf_use use[2] = { ON_PART(d, 0, 0), ON_PART(d, 0, 2) };
	struct lkdf_event done;
	size_t i;

	must(lkdf_data_split(d, 4, 16));
	for (i = 0; i < 9; i++) {
		use[0].mode = modes[i / 3];
		use[1].mode = modes[i % 3];
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .use = use,
				      .nr_use = 2),
				 &done));
		is(lkdf_event_wait(done, -1), 0,
		   "%s of the whole and %s of a part", mode_name(use[0].mode),
		   mode_name(use[1].mode));
	}
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* nr additions to each part by REDUCE, then somebody looks at the whole. */
static void reductions_of_parts_are_in_the_whole(struct lkdf *rt, uint32_t mode)
{
	struct lkdf_kind *adds, *sums;
	struct lkdf_data *d = NULL;
	uint32_t i, j, zero[4] = { 0 };

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(zero),
				   .init = zero, .reduce = add_halves,
				   .neutral = no_words),
			      &d));
	must(lkdf_data_split(d, 4, 4));
	adds = api_kind(rt, "adds", mark_part, sizeof(i), 0);
	sums = api_kind(rt, "sums", sum_whole, sizeof(i), 0);
	for (i = 1; i <= 4; i++)
		for (j = 0; j < i; j++)
			must(put_on(rt, adds, &(uint32_t){ 1 },
				    ON_PART(d, LKDF_REDUCE, i)));
	must(put_on(rt, sums, &(uint32_t){ 4 }, ON(d, mode)));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "what parts were reduced to is in the whole, for %s",
	   mode_name(mode));
	lkdf_data_put(d);
	lkdf_kind_put(adds);
	lkdf_kind_put(sums);
}

static int set_word(struct lkdf_ctx *c, void *arg)
{
	*(uint32_t *)lkdf_ptr(c, 0) = *(uint32_t *)arg;
	return 0;
}

/* Who writes the part does not look at its copies, but who came before does. */
static void a_later_write_forgets_nothing(struct lkdf *rt)
{
	struct lkdf_kind *adds, *sums, *sets;
	struct lkdf_data *d = NULL;
	uint32_t i, zero[4] = { 0 };

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(zero),
				   .init = zero, .reduce = add_halves,
				   .neutral = no_words),
			      &d));
	must(lkdf_data_split(d, 4, 4));
	adds = api_kind(rt, "adds", mark_part, sizeof(i), 0);
	sums = api_kind(rt, "sums", sum_whole, sizeof(i), 0);
	sets = api_kind(rt, "sets", set_word, sizeof(i), 0);
	for (i = 1; i <= 4; i++)
		must(put_on(rt, adds, &i, ON_PART(d, LKDF_REDUCE, i)));
	must(put_on(rt, sums, &(uint32_t){ 4 }, ON(d, LKDF_READ)));
	for (i = 1; i <= 4; i++)
		must(put_on(rt, sets, &(uint32_t){ 9 },
			    ON_PART(d, LKDF_WRITE, i)));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "parts reduced, the whole read, parts written: in this order");
	lkdf_data_put(d);
	lkdf_kind_put(adds);
	lkdf_kind_put(sums);
	lkdf_kind_put(sets);
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW, .max_data = 1, .max_parts = 4, .max_steps = 60 },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_MAYBE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 100 },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_MAYBE,
	  .max_data = 6,
	  .max_parts = MAX_PARTS,
	  .max_steps = 120,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE | LKDF_MAYBE,
	  .max_data = 6,
	  .max_parts = MAX_PARTS,
	  .max_steps = 120,
	  .has_twice = true },
};

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "fails on purpose");
}

/* Who uses the whole looks at the errors of its parts. */
static void a_failed_part_is_poison_of_the_whole(struct lkdf *rt)
{
	struct lkdf_kind *fails = api_kind(rt, "fails", fail, 0, 0);
	struct lkdf_kind *counts = api_kind(rt, "counts", api_count, 0, 0);
	struct lkdf_data *d = bytes_of(rt, 16);
	atomic_int nr = 0;

	must(lkdf_data_split(d, 2, 8));
	must(put_on(rt, fails, NULL, ON_PART(d, LKDF_WRITE, 1)));
	must(put_on(rt, counts, &nr, ON(d, LKDF_READ)));
	must(put_on(rt, counts, &nr, ON_PART(d, LKDF_READ, 1)));
	must(put_on(rt, counts, &nr, ON_PART(d, LKDF_READ, 2)));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "a part fails");
	is(nr, 1, "who reads the other part runs, who reads the whole not");
	lkdf_data_put(d);
	lkdf_kind_put(fails);
	lkdf_kind_put(counts);
}

static void tests(struct lkdf *rt, bool is_serial)
{
	splits_are_checked(rt);
	parts_out_of_range_are_refused(rt);
	if (!is_serial) {
		parts_meet_and_the_whole_waits(rt, LKDF_READ);
		parts_meet_and_the_whole_waits(rt, LKDF_RW);
		parts_meet_and_the_whole_waits(rt, LKDF_WRITE);
	}
	the_whole_and_a_part_go_in_one(rt);
	there_may_be_many_parts(rt, 5000);
	reductions_of_parts_are_in_the_whole(rt, LKDF_READ);
	reductions_of_parts_are_in_the_whole(rt, LKDF_RW);
	reductions_of_parts_are_in_the_whole(rt, LKDF_COMMUTE);
	a_later_write_forgets_nothing(rt);
	a_failed_part_is_poison_of_the_whole(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_program, step_body },
	.seed = 50000,
	.nr = 200,
	.nr_sanitized = 40,
	.tests = tests,
};

int main(int argc, char **argv)
{
	struct lkdf *rt;

	suite_run(&suite, argc, argv);
	rt = api_open("workers=4");
	there_may_be_many_parts(rt, 1 << (HAS_SANITIZER ? 12 : 16));
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
