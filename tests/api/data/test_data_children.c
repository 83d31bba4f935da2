/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children that use data: what they fail to write, what they commute below
 * their parents, and what a parent gives on early.
 */
#include "tests/api/family.h"

static void errors_of_children_poison(struct lkdf *rt, uint32_t mode)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *next, *heals;
	atomic_int nr = 0;
	struct lkdf_event done;

	f->d = zeros(rt, NULL, 1);
	f->child = api_kind(rt, "child", fail_child, 0, 0);
	k = api_kind(rt, "parent", one_child, sizeof(f), 0);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	heals = api_kind(rt, "heals", api_count, 0, 0);
	must(submit_on(rt, k, &f, ON(f->d, mode), NULL));
	must(submit_on(rt, next, &f, ON(f->d, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), -EIO, "a child of a %s parent fails",
	   mode & LKDF_WEAK ? "weak" : "strong");
	is(f->next_started, 0, "the next is skipped");
	must(submit_on(rt, heals, &nr, ON(f->d, LKDF_WRITE), NULL));
	must(submit_on(rt, heals, &nr, ON(f->d, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), 0, "a WRITE heals");
	is(nr, 2, "and readers run");
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the scope has the error");
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
	lkdf_kind_put(heals);
	lkdf_kind_put(f->child);
}

/* What the parent has written is good, whatever was there before it. */
static int write_then_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return 0;
}

static int two_children(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->grandchild, &(uint64_t){ 7 },
			    ON(f->d, LKDF_WRITE));
	f->rc[1] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return 0;
}

static int set_value(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) = *(uint64_t *)arg;
	return 0;
}

static void children_do_not_see_old_poison(struct lkdf *rt, lkdf_fn body,
					   uint32_t mode)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *fails;
	struct lkdf_event done;

	f->d = zeros(rt, NULL, 1);
	fails = api_kind(rt, "fails", fail_child, 0, 0);
	f->child = api_kind(rt, "child", note_child, sizeof(f), 0);
	f->grandchild = api_kind(rt, "sets", set_value, sizeof(uint64_t), 0);
	k = api_kind(rt, "parent", body, sizeof(f), 0);
	must(submit_on(rt, fails, NULL, ON(f->d, LKDF_WRITE), NULL));
	must(submit_on(rt, k, &f, ON(f->d, mode), &done));
	is(lkdf_event_wait(done, -1), 0,
	   "a %s parent of poisoned data, whose %s writes it first",
	   mode & LKDF_WEAK ? "weak" : "strong",
	   mode & LKDF_WEAK ? "child" : "body");
	is(f->child_started, 1, "its child reads the new value");
	is(lkdf_data_acquire(f->d, LKDF_READ, -1, NULL), 0,
	   "and so do the next");
	lkdf_data_release(f->d);
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the scope has the error");
	lkdf_data_put(f->d);
	lkdf_kind_put(fails);
	lkdf_kind_put(k);
	lkdf_kind_put(f->child);
	lkdf_kind_put(f->grandchild);
}

static int child_of_part(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;
	uint64_t seven = 7;

	f->rc[0] = spawn_on(c, f->grandchild, &seven,
			    ON_PART(f->d, LKDF_WRITE, f->part));
	f->rc[1] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return 0;
}

/* The first of two parts is poisoned; which one does the first child write? */
static void children_see_parts_as_they_are(struct lkdf *rt, uint32_t part)
{
	struct family family = { .part = part }, *f = &family;
	struct lkdf_kind *k, *fails;

	f->d = zeros(rt, NULL, 2);
	must(lkdf_data_split(f->d, 2, sizeof(uint64_t)));
	fails = api_kind(rt, "fails", fail_child, 0, 0);
	f->child = api_kind(rt, "child", note_child, sizeof(f), 0);
	f->grandchild = api_kind(rt, "sets", set_value, sizeof(uint64_t), 0);
	k = api_kind(rt, "parent", child_of_part, sizeof(f), 0);
	must(submit_on(rt, fails, NULL, ON_PART(f->d, LKDF_WRITE, 1), NULL));
	must(submit_on(rt, k, &f, ON(f->d, LKDF_RW | LKDF_WEAK), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "part 1 of 2 is poisoned");
	is(f->child_started, part == 1,
	   "a child reads the whole when part %u was written", part);
	lkdf_data_put(f->d);
	lkdf_kind_put(fails);
	lkdf_kind_put(k);
	lkdf_kind_put(f->child);
	lkdf_kind_put(f->grandchild);
}

static int observe_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[2] = lkdf_input_error(c, 0);
	return 0;
}

static int child_then(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return lkdf_then(c, observe_child, (struct lkdf_event){ 0 });
}

/* The parent looks at the child's error, but has written nothing itself. */
static void who_looks_at_an_error_heals_nothing(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_event done;
	struct lkdf_kind *k;

	f->d = zeros(rt, NULL, 1);
	f->child = api_kind(rt, "child", fail_child, 0, 0);
	k = api_kind(rt, "parent", child_then, sizeof(f), 0);
	must(submit_on(rt, k, &f, ON(f->d, LKDF_RW | LKDF_WEAK), &done));
	is(lkdf_event_wait(done, -1), 0,
	   "a weak parent looks at its child's error, and succeeds");
	is(f->rc[2], -EIO, "it is the child's");
	is(lkdf_data_acquire(f->d, LKDF_READ, -1, NULL), -EIO,
	   "what the child should have written is poisoned");
	lkdf_data_release(f->d);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(f->child);
}

struct alone {
	struct lkdf_kind *child;
	struct lkdf_data *d;
	uint32_t mode; /* of the children */
	atomic_int inside, nr_overlaps;
};

static int add_alone(struct lkdf_ctx *c, void *arg)
{
	struct alone *a = *(struct alone **)arg;
	uint64_t *v = lkdf_ptr(c, 0), was = *v;

	if (atomic_fetch_add(&a->inside, 1))
		atomic_fetch_add(&a->nr_overlaps, 1);
	api_nap_ns(20000);
	*v = was + 1;
	atomic_fetch_sub(&a->inside, 1);
	return 0;
}

static int three_alone(struct lkdf_ctx *c, void *arg)
{
	struct alone *a = *(struct alone **)arg;
	int i;

	for (i = 0; i < 3; i++)
		must(spawn_on(c, a->child, &a, ON(a->d, a->mode)));
	return 0;
}

/* Weak parents that commute: their children do not overlap either. */
static void children_of_commuters_never_overlap(struct lkdf *rt, uint32_t mode,
						uint32_t weak)
{
	struct alone alone = { .mode = mode }, *a = &alone;
	struct lkdf_kind *k;
	int i;

	a->d = zeros(rt, NULL, 1);
	a->child = api_kind(rt, "alone", add_alone, sizeof(a), LKDF_BLOCKING);
	k = api_kind(rt, "commutes", three_alone, sizeof(a), 0);
	for (i = 0; i < 20; i++)
		must(submit_on(rt, k, &a, ON(a->d, LKDF_COMMUTE | weak), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "20 %s parents commute, with children of mode %s",
	   weak ? "weak" : "strong", mode == LKDF_RW ? "RW" : "COMMUTE");
	is(a->nr_overlaps, 0, "no two of these have overlapped");
	is(value_of(a->d), 60, "their sum is exact");
	lkdf_data_put(a->d);
	lkdf_kind_put(k);
	lkdf_kind_put(a->child);
}

static int give_on(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	f->rc[0] = lkdf_use_end(c, 1, false);
	f->rc[1] = lkdf_use_end(c, 0, false);
	f->rc[2] = lkdf_use_end(c, 0, false);
	f->rc[3] = lkdf_ptr(c, 0) != NULL;
	api_until(&f->next_started);
	return 0;
}

/* The parent ends only after the next has started. */
static void a_use_is_given_on_early(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *next;

	f->d = zeros(rt, NULL, 1);
	k = api_kind(rt, "gives", give_on, sizeof(f), LKDF_BLOCKING);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	must(submit_on(rt, k, &f, ON(f->d, LKDF_RW), NULL));
	must(submit_on(rt, next, &f, ON(f->d, LKDF_READ), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the next starts before the end");
	is(f->rc[0], -EINVAL, "there is no second use");
	is(f->rc[1], 0, "the first is given on");
	is(f->rc[2], -EALREADY, "once");
	is(f->rc[3], 0, "it has no bytes any more");
	is(lkdf_data_version(f->d), 2, "it was a write");
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
}

/* Long enough for a machine that is busy; a good library never waits so long.
 */
static bool comes_in_time(atomic_int *flag)
{
	int i;

	for (i = 0; i < 5000 && !atomic_load(flag); i++)
		api_nap_ns(1000000);
	return atomic_load(flag);
}

static int give_part_on(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	f->rc[0] = lkdf_use_end(c, 0, false);
	f->rc[1] = comes_in_time(&f->next_started);
	return 0;
}

/* The same for a part, where the whole is next. */
static void a_part_is_given_on_early(struct lkdf *rt, uint32_t next_part)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *next;

	f->d = zeros(rt, NULL, 2);
	must(lkdf_data_split(f->d, 2, 8));
	k = api_kind(rt, "gives", give_part_on, sizeof(f), LKDF_BLOCKING);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	must(submit_on(rt, k, &f, ON_PART(f->d, LKDF_RW, 1), NULL));
	must(submit_on(rt, next, &f, ON_PART(f->d, LKDF_READ, next_part),
		       NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "a part is given on");
	is(f->rc[0], 0, "while its body runs");
	is(f->rc[1], 1, "a use of %s starts before the end",
	   next_part ? "the part" : "the whole");
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
}

static int give_on_with_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	f->rc[1] = lkdf_use_end(c, 0, false);
	atomic_store(&f->parent_started, 1);
	api_until(&f->next_started);
	return 0;
}

/* Its child is still at the gate; the parent ends only after the next. */
static void what_is_given_on_waits_for_children(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *next, *counts;
	atomic_int nr = 0;

	f->d = zeros(rt, NULL, 1);
	k = api_kind(rt, "gives", give_on_with_child, sizeof(f), LKDF_BLOCKING);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	f->child =
		api_kind(rt, "child", child_at_gate, sizeof(f), LKDF_BLOCKING);
	must(submit_on(rt, k, &f, ON(f->d, LKDF_RW), NULL));
	must(submit_on(rt, next, &f, ON(f->d, LKDF_READ), NULL));
	api_until(&f->gate.entered);
	api_until(&f->parent_started);
	must(api_call(rt, counts, &nr));
	is(f->rc[1], 0, "a use is given on while a child has it");
	is(f->next_started, 0, "the next waits for the child");
	atomic_store(&f->gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "but not for the parent");
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
	lkdf_kind_put(counts);
	lkdf_kind_put(f->child);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	errors_of_children_poison(rt, LKDF_RW);
	errors_of_children_poison(rt, LKDF_RW | LKDF_WEAK);
	children_do_not_see_old_poison(rt, write_then_child, LKDF_WRITE);
	children_do_not_see_old_poison(rt, two_children, LKDF_RW | LKDF_WEAK);
	children_see_parts_as_they_are(rt, 1);
	children_see_parts_as_they_are(rt, 2);
	who_looks_at_an_error_heals_nothing(rt);
	children_of_commuters_never_overlap(rt, LKDF_COMMUTE, 0);
	children_of_commuters_never_overlap(rt, LKDF_COMMUTE, LKDF_WEAK);
	children_of_commuters_never_overlap(rt, LKDF_RW, LKDF_WEAK);
	/* Here bodies wait for this thread, or for each other. */
	if (strcmp(options, "serial=yes")) {
		a_use_is_given_on_early(rt);
		a_part_is_given_on_early(rt, 1);
		a_part_is_given_on_early(rt, 0);
		what_is_given_on_waits_for_children(rt);
	}
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
