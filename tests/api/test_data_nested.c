/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children that use data: what their parent's uses cover, their order among
 * themselves and with whoever comes behind the parent, weak parents, and what
 * is given on early. Random trees are compared with an interpreter that runs
 * each parent and then its children.
 *
 * test_data_nested [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/world.h"

#define ON(d, m)                         \
	(struct lkdf_use)                \
	{                                \
		.data = (d), .mode = (m) \
	}
#define ON_PART(d, m, p)                              \
	(struct lkdf_use)                             \
	{                                             \
		.data = (d), .mode = (m), .part = (p) \
	}

static struct lkdf_data *words(struct lkdf *rt, const char *name, uint32_t nr)
{
	uint64_t *init = calloc(nr, sizeof(*init));
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = nr * sizeof(*init),
				   .init = init, .name = name),
			      &d));
	free(init);
	return d;
}

static int submit_on(struct lkdf *rt, struct lkdf_kind *k, const void *arg,
		     struct lkdf_use use, struct lkdf_event *done)
{
	return lkdf_submit(rt, NULL,
			   ATTR(lkdf_task, .kind = k, .arg = arg, .use = &use,
				.nr_use = 1),
			   done);
}

static int spawn_on(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg,
		    struct lkdf_use use)
{
	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = k, .arg = arg,
				    .use = &use, .nr_use = 1),
			       NULL);
}

static uint64_t value_of(struct lkdf_data *d)
{
	uint64_t value;
	void *at;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	value = *(uint64_t *)at;
	must(lkdf_data_release(d));
	return value;
}

/*
 * What is covered
 */

struct cover {
	struct lkdf_use child;
	struct lkdf_kind *nothing;
	int rc;
	char text[256];
};

static int ask_cover(struct lkdf_ctx *c, void *arg)
{
	struct cover *cover = *(struct cover **)arg;

	cover->rc = spawn_on(c, cover->nothing, NULL, cover->child);
	snprintf(cover->text, sizeof(cover->text), "%s", lkdf_errmsg());
	return 0;
}

static void a_parent_covers_its_children(struct lkdf *rt)
{
	enum {
		X,
		Y
	};
	static const struct {
		uint32_t mode, part, child_data, child_mode, child_part;
		int want;
	} cases[] = {
		{ LKDF_READ, 0, X, LKDF_READ, 0, 0 },
		{ LKDF_READ, 0, X, LKDF_WRITE, 0, -EACCES },
		{ LKDF_READ, 0, X, LKDF_RW, 0, -EACCES },
		{ LKDF_READ, 0, X, LKDF_COMMUTE, 0, -EACCES },
		{ LKDF_READ, 0, X, LKDF_READ, 2, 0 },
		{ LKDF_READ, 0, X, LKDF_RW, 2, -EACCES },
		{ LKDF_RW, 0, X, LKDF_READ, 0, 0 },
		{ LKDF_RW, 0, X, LKDF_WRITE, 0, 0 },
		{ LKDF_RW, 0, X, LKDF_RW, 0, 0 },
		{ LKDF_RW, 0, X, LKDF_RW | LKDF_WEAK, 0, 0 },
		{ LKDF_RW, 0, X, LKDF_RW, 3, 0 },
		{ LKDF_RW, 0, X, LKDF_RW, 5, -ERANGE },
		{ LKDF_RW, 0, Y, LKDF_READ, 0, -EACCES },
		{ LKDF_WRITE, 0, X, LKDF_WRITE, 0, 0 },
		{ LKDF_RW, 2, X, LKDF_RW, 2, 0 },
		{ LKDF_RW, 2, X, LKDF_READ, 2, 0 },
		{ LKDF_RW, 2, X, LKDF_READ, 1, -EACCES },
		{ LKDF_RW, 2, X, LKDF_READ, 0, -EACCES },
		{ LKDF_READ | LKDF_WEAK, 0, X, LKDF_READ, 0, 0 },
		{ LKDF_READ | LKDF_WEAK, 0, X, LKDF_RW, 0, -EACCES },
		{ LKDF_RW | LKDF_WEAK, 0, X, LKDF_RW, 0, 0 },
		{ LKDF_RW | LKDF_WEAK, 0, X, LKDF_RW | LKDF_WEAK, 4, 0 },
		{ LKDF_RW | LKDF_WEAK, 1, X, LKDF_RW, 2, -EACCES },
	};
	struct lkdf_data *d[] = { words(rt, "covered", 4),
				  words(rt, "uncovered", 4) };
	struct cover cover_ = { .rc = 1 }, *cover = &cover_;
	struct lkdf_kind *k;
	size_t i;

	must(lkdf_data_split(d[X], 4, 8));
	k = api_kind(rt, "parent", ask_cover, sizeof(cover), 0);
	cover->nothing = api_kind(rt, "nothing", api_nothing, 0, 0);
	for (i = 0; i < LENGTH(cases); i++) {
		cover->child =
			ON_PART(d[cases[i].child_data], cases[i].child_mode,
				cases[i].child_part);
		must(submit_on(rt, k, &cover,
			       ON_PART(d[X], cases[i].mode, cases[i].part),
			       NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
		is(cover->rc, cases[i].want,
		   "%s%s of %u: the child's %s of %s.%u",
		   cases[i].mode & LKDF_WEAK ? "weak " : "",
		   mode_name(cases[i].mode), cases[i].part,
		   mode_name(cases[i].child_mode),
		   cases[i].child_data ? "another" : "it", cases[i].child_part);
		if (cases[i].want == -EACCES)
			has(cover->text,
			    cases[i].child_data ? "uncovered" : "covered",
			    "is refused by name");
	}
	cover->child = ON(d[X], LKDF_READ);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &cover),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(cover->rc, -EACCES, "a parent without uses covers none");
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
	lkdf_kind_put(cover->nothing);
}

/*
 * Order
 */

struct family {
	struct lkdf_kind *child, *grandchild;
	struct lkdf_data *d;
	atomic_int nr_wrong;
	struct gate gate;
	atomic_int parent_started, next_started, child_started;
	int rc[4];
};

struct turn {
	struct family *f;
	uint64_t nr;
};

/* Its number is what it finds. */
static int take_turn(struct lkdf_ctx *c, void *arg)
{
	struct turn *t = arg;
	uint64_t *v = lkdf_ptr(c, 0);

	if (*v != t->nr)
		atomic_fetch_add(&t->f->nr_wrong, 1);
	*v = t->nr + 1;
	return 0;
}

static int have_children(struct lkdf_ctx *c, void *arg)
{
	struct family *f = ((struct turn *)arg)->f;
	struct turn t = *(struct turn *)arg;
	uint64_t end = t.nr + 100, *v = lkdf_ptr(c, 0);

	if (*v != t.nr)
		atomic_fetch_add(&f->nr_wrong, 1);
	for (; t.nr < end; t.nr++)
		must(spawn_on(c, f->child, &t, ON(f->d, LKDF_RW)));
	return 0;
}

static void children_go_in_order_before_the_next(struct lkdf *rt)
{
	struct family f = { .nr_wrong = 0 };
	struct turn t = { .f = &f };
	struct lkdf_kind *k;
	int i;

	f.d = words(rt, NULL, 1);
	f.child = api_kind(rt, "child", take_turn, sizeof(t), 0);
	k = api_kind(rt, "parent", have_children, sizeof(t), 0);
	for (i = 0; i < 20; i++) {
		must(submit_on(rt, k, &t, ON(f.d, LKDF_RW), NULL));
		t.nr += 100;
		must(submit_on(rt, f.child, &t, ON(f.d, LKDF_RW), NULL));
		t.nr++;
	}
	is(value_of(f.d), 2020, "20 parents, their children and 20 tasks");
	is(f.nr_wrong, 0, "each has found what came before it");
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
}

static int join_children(struct lkdf_ctx *c, void *arg)
{
	struct family *f = ((struct turn *)arg)->f;
	struct turn t = *(struct turn *)arg;
	uint64_t *v = lkdf_ptr(c, 0), i;

	for (i = 0; i < 10; i++, t.nr++)
		must(spawn_on(c, f->child, &t, ON(f->d, LKDF_RW)));
	must(lkdf_join(c));
	if (lkdf_ptr(c, 0) != v || *v != t.nr)
		atomic_fetch_add(&f->nr_wrong, 1);
	*v = t.nr + 1;
	t.nr++;
	for (i = 0; i < 10; i++, t.nr++)
		must(spawn_on(c, f->child, &t, ON(f->d, LKDF_RW)));
	return 0;
}

static void a_join_sees_what_children_write(struct lkdf *rt)
{
	struct family f = { .nr_wrong = 0 };
	struct turn t = { .f = &f };
	struct lkdf_kind *k;
	int i;

	f.d = words(rt, NULL, 1);
	f.child = api_kind(rt, "child", take_turn, sizeof(t), 0);
	k = api_kind(rt, "parent", join_children, sizeof(t), 0);
	for (i = 0; i < 20; i++, t.nr += 21)
		must(submit_on(rt, k, &t, ON(f.d, LKDF_RW), NULL));
	is(value_of(f.d), 420, "20 parents that join in between");
	is(f.nr_wrong, 0, "each has found what came before it");
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
}

static int child_at_gate(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	gate_pass(&f->gate);
	*(uint64_t *)lkdf_ptr(c, 0) += 7;
	return 0;
}

static int one_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	atomic_store(&f->parent_started, 1);
	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return 0;
}

static int note_next(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	atomic_store(&f->next_started, 1);
	return *(uint64_t *)lkdf_ptr(c, 0) == 7 ? 0 : -EPROTO;
}

static void the_next_waits_for_children(struct lkdf *rt, uint32_t mode)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	struct lkdf_kind *parent, *next, *counts;
	struct lkdf_event done;
	atomic_int nr = 0;

	f->d = words(rt, NULL, 1);
	parent = api_kind(rt, "parent", one_child, sizeof(f), 0);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	f->child =
		api_kind(rt, "child", child_at_gate, sizeof(f), LKDF_BLOCKING);
	must(submit_on(rt, parent, &f, ON(f->d, mode), NULL));
	must(submit_on(rt, next, &f, ON(f->d, LKDF_READ), &done));
	api_until(&f->gate.entered);
	must(api_call(rt, counts, &nr));
	is(f->next_started, 0,
	   "the next use waits for the child of a %s parent",
	   mode & LKDF_WEAK ? "weak" : "strong");
	atomic_store(&f->gate.open, 1);
	is(lkdf_event_wait(done, -1), 0, "then it goes and sees its effect");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	lkdf_data_put(f->d);
	lkdf_kind_put(parent);
	lkdf_kind_put(next);
	lkdf_kind_put(counts);
	lkdf_kind_put(f->child);
}

/*
 * Weak parents
 */

static int weak_parent(struct lkdf_ctx *c, void *arg)
{
	struct turn *t = arg;
	struct turn child = { .f = t->f };
	uint64_t i;

	if (lkdf_ptr(c, 0))
		atomic_fetch_add(&t->f->nr_wrong, 1);
	for (i = 0; i < 10; i++) {
		child.nr = t->nr + i;
		must(spawn_on(c, t->f->child, &child, ON(t->f->d, LKDF_RW)));
	}
	atomic_fetch_add(&t->f->parent_started, 1);
	return 0;
}

static int pass_gate(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	gate_pass(&(*(struct family **)arg)->gate);
	return 0;
}

/* All of them start while somebody else writes; the children wait. */
static void weak_parents_start_at_once(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct turn t = { .f = f };
	struct lkdf_kind *gate, *parent;
	struct lkdf_event done;
	int i;

	f->d = words(rt, NULL, 1);
	gate = api_kind(rt, "gate", pass_gate, sizeof(f), LKDF_BLOCKING);
	parent = api_kind(rt, "weak", weak_parent, sizeof(t), 0);
	f->child = api_kind(rt, "child", take_turn, sizeof(t), 0);
	must(submit_on(rt, gate, &f, ON(f->d, LKDF_RW), NULL));
	api_until(&f->gate.entered);
	for (i = 0; i < 5; i++) {
		must(submit_on(rt, parent, &t, ON(f->d, LKDF_RW | LKDF_WEAK),
			       &done));
		if (i < 4)
			lkdf_event_put(done);
		t.nr += 10;
		must(submit_on(rt, f->child, &t, ON(f->d, LKDF_RW), NULL));
		t.nr++;
	}
	while (atomic_load(&f->parent_started) < 5)
		api_nap_ns(50000);
	ok(true, "5 weak parents start while the data is written");
	is(lkdf_event_wait(done, 0), 1, "they are not complete");
	atomic_store(&f->gate.open, 1);
	is(lkdf_event_wait(done, -1), 0, "until their children are");
	is(value_of(f->d), 55, "all have run");
	is(f->nr_wrong, 0, "in the order of the parents");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	lkdf_data_put(f->d);
	lkdf_kind_put(gate);
	lkdf_kind_put(parent);
	lkdf_kind_put(f->child);
}

static int after_then(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[2] = lkdf_input_error(c, 0);
	f->rc[3] = atomic_load(&f->child_started);
	return 0;
}

static int note_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	atomic_store(&f->child_started, 1);
	return 0;
}

static int weak_join(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	f->rc[1] = lkdf_join(c);
	return lkdf_then(c, after_then, (struct lkdf_event){ 0 });
}

static void a_weak_parent_does_not_join(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k;
	struct lkdf_event done;

	f->d = words(rt, NULL, 1);
	f->child = api_kind(rt, "child", note_child, sizeof(f), 0);
	k = api_kind(rt, "weak", weak_join, sizeof(f), 0);
	must(submit_on(rt, k, &f, ON(f->d, LKDF_RW | LKDF_WEAK), &done));
	is(lkdf_event_wait(done, -1), 0, "a weak parent ends");
	is(f->rc[1], -EDEADLK, "join is refused");
	is(f->rc[2], 0, "then waits for the children");
	is(f->rc[3], 1, "who have run");
	is(value_of(f->d), 1, "and written");
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(f->child);
}

/* What a child fails to write is poison for whoever comes next. */
static int fail_child(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "the child fails");
}

static void errors_of_children_poison(struct lkdf *rt, uint32_t mode)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct lkdf_kind *k, *next, *heals;
	atomic_int nr = 0;
	struct lkdf_event done;

	f->d = words(rt, NULL, 1);
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

	f->d = words(rt, NULL, 1);
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

	f->d = words(rt, NULL, 1);
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

	a->d = words(rt, NULL, 1);
	a->child = api_kind(rt, "alone", add_alone, sizeof(a), LKDF_BLOCKING);
	k = api_kind(rt, "commutes", three_alone, sizeof(a), 0);
	for (i = 0; i < 20; i++)
		must(submit_on(rt, k, &a, ON(a->d, LKDF_COMMUTE | weak), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "20 %s parents commute, with children of mode %s",
	   weak ? "weak" : "strong", mode_name(mode));
	is(a->nr_overlaps, 0, "no two of these have overlapped");
	is(value_of(a->d), 60, "their sum is exact");
	lkdf_data_put(a->d);
	lkdf_kind_put(k);
	lkdf_kind_put(a->child);
}

static struct lkdf_data *sum_data(struct lkdf *rt)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(uint64_t),
				   .init = &(uint64_t){ 100 },
				   .reduce = add_words, .neutral = no_words),
			      &d));
	return d;
}

struct reducer {
	struct lkdf_kind *adds, *looks;
	struct lkdf_data *d;
	bool looks_inside, joins;
	atomic_int nr_wrong;
};

static int add_five(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 5;
	return 0;
}

static int expect_150(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;

	atomic_fetch_add(&r->nr_wrong, *(uint64_t *)lkdf_ptr(c, 0) != 150);
	return 0;
}

static int reduce_below(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;
	int i;

	for (i = 0; i < 10; i++)
		must(spawn_on(c, r->adds, NULL, ON(r->d, LKDF_REDUCE)));
	if (r->looks_inside)
		must(spawn_on(c, r->looks, &r, ON(r->d, LKDF_READ)));
	return r->joins ? lkdf_join(c) : 0;
}

/* Children reduce; a sibling looks, or only whoever comes after the parent. */
static void children_reduce(struct lkdf *rt, uint32_t mode, bool looks_inside,
			    bool joins)
{
	struct reducer reducer = { .looks_inside = looks_inside,
				   .joins = joins };
	struct reducer *r = &reducer;
	struct lkdf_kind *k;

	r->d = sum_data(rt);
	r->adds = api_kind(rt, "adds", add_five, 0, 0);
	r->looks = api_kind(rt, "looks", expect_150, sizeof(r), 0);
	k = api_kind(rt, "parent", reduce_below, sizeof(r), 0);
	must(submit_on(rt, k, &r, ON(r->d, mode), NULL));
	must(submit_on(rt, r->looks, &r, ON(r->d, LKDF_READ), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "children of a %s parent with %s reduce%s%s",
	   mode & LKDF_WEAK ? "weak" : "strong", mode_name(mode),
	   looks_inside ? ", a sibling looks" : "", joins ? ", it joins" : "");
	is(r->nr_wrong, 0, "whoever looks sees the sum");
	is(value_of(r->d), 150, "the sum stays");
	lkdf_data_put(r->d);
	lkdf_kind_put(r->adds);
	lkdf_kind_put(r->looks);
	lkdf_kind_put(k);
}

static void children_reduce_in_all_ways(struct lkdf *rt)
{
	children_reduce(rt, LKDF_REDUCE, false, false);
	children_reduce(rt, LKDF_REDUCE | LKDF_WEAK, false, false);
	children_reduce(rt, LKDF_RW, true, false);
	children_reduce(rt, LKDF_RW | LKDF_WEAK, true, false);
	children_reduce(rt, LKDF_RW, false, false);
	children_reduce(rt, LKDF_RW | LKDF_WEAK, false, false);
}

/* What is combined must not wait for the worker that waits in the join. */
static void reductions_are_combined_in_a_join(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	children_reduce(rt, LKDF_RW, false, true);
	children_reduce(rt, LKDF_RW, true, true);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/*
 * Given on early
 */

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

	f->d = words(rt, NULL, 1);
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

	f->d = words(rt, NULL, 2);
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

	f->d = words(rt, NULL, 1);
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

static int submit_behind(struct lkdf_ctx *c, void *arg)
{
	struct turn t = *(struct turn *)arg;

	t.nr++;
	must(submit_on(lkdf_runtime(c), t.f->child, &t, ON(t.f->d, LKDF_RW),
		       NULL));
	return take_turn(c, arg);
}

/* What a body submits is no child of it: it comes behind it. */
static void a_body_submits_behind_itself(struct lkdf *rt)
{
	struct family f = { .nr_wrong = 0 };
	struct turn t = { .f = &f };
	struct lkdf_kind *k;

	f.d = words(rt, NULL, 1);
	f.child = api_kind(rt, "behind", take_turn, sizeof(t), 0);
	k = api_kind(rt, "submits", submit_behind, sizeof(t), 0);
	for (; t.nr < 200; t.nr += 2) {
		must(submit_on(rt, k, &t, ON(f.d, LKDF_RW), NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(value_of(f.d), 200, "100 bodies and what they have submitted");
	is(f.nr_wrong, 0, "each behind its body");
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
}

/*
 * Random trees. The steps of a program are in the order parent, children;
 * each has the number of steps below it.
 */

enum ending {
	END_PLAIN,
	END_JOIN,
	END_THEN,
	END_GIVES_ON,
	NR_ENDINGS
};

struct tree {
	uint32_t nr_below[MAX_STEPS], kept;
	uint8_t ending[MAX_STEPS];
};

static struct tree tree;

/* A use that one of the parent's covers. */
static struct op covered_op(const struct program *p, struct rng *r,
			    const struct op *above)
{
	static const uint8_t modes[] = { LKDF_READ, LKDF_RW, LKDF_RW,
					 LKDF_WRITE };
	struct op op = { .data = above->data, .part = above->part };
	uint32_t nr_parts = p->shape[op.data].nr_parts;

	if (!op.part && nr_parts > 1 && rng_one_in(r, 2))
		op.part = (uint8_t)rng_range(r, 1, nr_parts);
	op.mode = modes[rng_range(r, 0, 3)];
	if (!(above->mode & LKDF_WRITE))
		op.mode = LKDF_READ;
	if (!(above->mode & LKDF_READ))
		op.mode = LKDF_WRITE;
	return op;
}

static void choose_ops(struct program *p, struct rng *r, struct step *s,
		       const struct step *above)
{
	uint32_t nr = rng_range(r, above ? 1 : 0, 4), d;
	struct op any = { .mode = LKDF_RW };

	while (nr--) {
		any.data = (uint8_t)rng_range(r, 0, p->nr_data - 1);
		if (above && !above->nr)
			return;
		if (above)
			any = above->op[rng_range(r, 0, above->nr - 1)];
		d = any.data;
		if (!step_has(s, d))
			s->op[s->nr++] = covered_op(p, r, &any);
	}
}

static bool make_weak(struct rng *r, struct step *s)
{
	bool is_weak = false;
	uint32_t i;

	for (i = 0; i < s->nr; i++) {
		if (s->op[i].mode == LKDF_WRITE || rng_one_in(r, 2))
			continue;
		s->op[i].mode |= LKDF_WEAK;
		is_weak = true;
	}
	return is_weak;
}

static void make_node(struct program *p, struct rng *r,
		      const struct step *above, int depth)
{
	uint32_t nr = p->nr_steps++, nr_children = 0;
	struct step *s = &p->step[nr];
	bool is_weak = false;

	choose_ops(p, r, s, above);
	if (depth < 4 && !rng_one_in(r, 3))
		nr_children = rng_range(r, 1, 4);
	if (nr_children)
		is_weak = make_weak(r, s);
	while (nr_children-- && p->nr_steps < MAX_STEPS - MAX_DATA)
		make_node(p, r, s, depth + 1);
	tree.nr_below[nr] = p->nr_steps - nr - 1;
	do {
		tree.ending[nr] = (uint8_t)rng_range(r, 0, NR_ENDINGS - 1);
	} while (is_weak && tree.ending[nr] == END_JOIN);
}

static void make_trees(struct program *p, uint64_t seed)
{
	static const struct choice c = { .max_parts = 4 };
	struct rng rng = { seed }, *r = &rng;
	uint32_t nr, i;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->nr_data = rng_range(r, 1, 5);
	for (i = 0; i < p->nr_data; i++) {
		make_shape(&p->shape[i], &c, r);
		p->shape[i].has_init = true;
	}
	nr = rng_range(r, 1, 12);
	while (nr-- && p->nr_steps < MAX_STEPS - MAX_DATA - 32)
		make_node(p, r, NULL, 0);
}

static int spawn_steps(struct lkdf_ctx *c, const struct job *parent)
{
	uint32_t end = parent->step + 1 + tree.nr_below[parent->step];
	struct job j = { parent->w, parent->step + 1 };
	struct lkdf_use use[MAX_OPS];
	int rc = 0;

	for (; j.step < end && !rc; j.step += 1 + tree.nr_below[j.step]) {
		uses_of(j.w, &j.w->p->step[j.step], use);
		rc = lkdf_spawn_task(c,
				     ATTR(lkdf_task, .kind = j.w->kind,
					  .arg = &j, .use = use,
					  .nr_use = j.w->p->step[j.step].nr),
				     NULL);
		if (rc)
			wrong(j.w, "step %u: spawn: %d %s", j.step, rc,
			      lkdf_errmsg());
	}
	return rc;
}

/* All below it have run. */
static void look_below(const struct job *j)
{
	uint32_t i;

	for (i = 1; i <= tree.nr_below[j->step]; i++)
		if (!j->w->mark[j->step + i].nr_ran)
			wrong(j->w, "step %u goes on before step %u", j->step,
			      j->step + i);
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	look_below(j);
	return lkdf_input_error(c, 0);
}

static int tree_body(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;
	uint32_t i;
	int rc;

	step_run(c, j);
	rc = spawn_steps(c, j);
	if (rc)
		return rc;
	switch (tree.ending[j->step]) {
	case END_JOIN:
		rc = lkdf_join(c);
		look_below(j);
		return rc;
	case END_THEN:
		return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
	case END_GIVES_ON:
		for (i = 0; i < j->w->p->step[j->step].nr; i++)
			must(lkdf_use_end(c, i, false));
	}
	return 0;
}

static int run_trees(struct lkdf *rt, struct lkdf_kind *k, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct world *w;
	uint32_t i;
	int nr;

	seed_now = seed;
	make_trees(&p, seed);
	state_run(&st, &p);
	w = world_create(rt, &p, k);
	for (i = 0; i < p.nr_steps; i += 1 + tree.nr_below[i])
		world_submit(w, i, NULL, NULL);
	if (seed % 2)
		world_check_data(w, &st);
	if (lkdf_scope_wait(rt, NULL, -1))
		wrong(w, "scope: %s", lkdf_errmsg());
	nr = world_check(w, &st, false);
	if (nr)
		for (i = 0; i < p.nr_steps; i++)
			printf("# step %u: %u below, ending %u\n", i,
			       tree.nr_below[i], tree.ending[i]);
	world_destroy(w);
	return nr;
}

static void trees_run_as_if_in_order(struct lkdf *rt, const char *options,
				     uint64_t seed, int nr)
{
	struct lkdf_kind *k =
		api_kind(rt, "node", tree_body, sizeof(struct job), 0);
	int i, nr_wrong = 0;

	for (i = 0; i < nr && nr_wrong < 3; i++)
		nr_wrong += run_trees(rt, k, seed + (uint64_t)i) != 0;
	is(nr_wrong, 0, "%s: trees, seeds %llu to %llu", options,
	   (unsigned long long)seed, (unsigned long long)seed + nr - 1);
	lkdf_kind_put(k);
}

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"workers=1", "workers=2",  "workers=4",
		"workers=8", "serial=yes",
	};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
	int nr = argc > 2 ? atoi(argv[2]) : HAS_SANITIZER ? 100 : 600;
	struct lkdf *rt;
	size_t i;

	tap_start(argc > 2 ? 3600 : 240);
	say_seed_in_time();
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		a_parent_covers_its_children(rt);
		children_go_in_order_before_the_next(rt);
		a_join_sees_what_children_write(rt);
		a_weak_parent_does_not_join(rt);
		errors_of_children_poison(rt, LKDF_RW);
		errors_of_children_poison(rt, LKDF_RW | LKDF_WEAK);
		a_body_submits_behind_itself(rt);
		children_do_not_see_old_poison(rt, write_then_child,
					       LKDF_WRITE);
		children_do_not_see_old_poison(rt, two_children,
					       LKDF_RW | LKDF_WEAK);
		who_looks_at_an_error_heals_nothing(rt);
		children_of_commuters_never_overlap(rt, LKDF_COMMUTE, 0);
		children_of_commuters_never_overlap(rt, LKDF_COMMUTE,
						    LKDF_WEAK);
		children_of_commuters_never_overlap(rt, LKDF_RW, LKDF_WEAK);
		/* Here bodies wait for this thread, or for each other. */
		if (strcmp(options[i], "serial=yes")) {
			the_next_waits_for_children(rt, LKDF_RW);
			the_next_waits_for_children(rt, LKDF_RW | LKDF_WEAK);
			weak_parents_start_at_once(rt);
			a_use_is_given_on_early(rt);
			a_part_is_given_on_early(rt, 1);
			a_part_is_given_on_early(rt, 0);
			what_is_given_on_waits_for_children(rt);
		}
		trees_run_as_if_in_order(rt, options[i], seed, nr);
		children_reduce_in_all_ways(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
		seed += (uint64_t)nr;
	}
	for (i = 0; i < LENGTH(options); i++)
		reductions_are_combined_in_a_join(options[i]);
	return tap_end();
}
