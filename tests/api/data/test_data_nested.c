/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children that use data: what their parent's uses cover, their order among
 * themselves and with whoever comes behind the parent, and weak parents.
 */
#include "tests/api/family.h"

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

enum which {
	X,
	Y,
};

static const char *const names[] = { "", "READ", "WRITE", "RW", "COMMUTE" };

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

static void a_parent_covers_its_children(struct lkdf *rt)
{
	struct lkdf_data *d[] = { zeros(rt, "covered", 4),
				  zeros(rt, "uncovered", 4) };
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
		   names[cases[i].mode & 7], cases[i].part,
		   names[cases[i].child_mode & 7],
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

	f.d = zeros(rt, NULL, 1);
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

	f.d = zeros(rt, NULL, 1);
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

static void the_next_waits_for_children(struct lkdf *rt, uint32_t mode)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	struct lkdf_kind *parent, *next, *counts;
	struct lkdf_event done;
	atomic_int nr = 0;

	f->d = zeros(rt, NULL, 1);
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

/* All of them start while somebody else writes; the children wait. */
static void weak_parents_start_at_once(struct lkdf *rt)
{
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct turn t = { .f = f };
	struct lkdf_kind *gate, *parent;
	struct lkdf_event done;
	int i;

	f->d = zeros(rt, NULL, 1);
	gate = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	parent = api_kind(rt, "weak", weak_parent, sizeof(t), 0);
	f->child = api_kind(rt, "child", take_turn, sizeof(t), 0);
	must(submit_on(rt, gate, &f->gate, ON(f->d, LKDF_RW), NULL));
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

	f->d = zeros(rt, NULL, 1);
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

	f.d = zeros(rt, NULL, 1);
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

static void all_tests(struct lkdf *rt, const char *options)
{
	a_parent_covers_its_children(rt);
	children_go_in_order_before_the_next(rt);
	a_join_sees_what_children_write(rt);
	a_weak_parent_does_not_join(rt);
	a_body_submits_behind_itself(rt);
	/* Here bodies wait for this thread, or for each other. */
	if (strcmp(options, "serial=yes")) {
		the_next_waits_for_children(rt, LKDF_RW);
		the_next_waits_for_children(rt, LKDF_RW | LKDF_WEAK);
		weak_parents_start_at_once(rt);
	}
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
