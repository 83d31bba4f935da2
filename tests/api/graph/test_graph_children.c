/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of a sealed graph have children that use data: what the task's uses
 * cover, who waits for the children, the bytes of LKDF_DATA_ONCE of each run,
 * and what children fail to write. Random trees: test_graph_trees.c.
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

static const struct {
	uint32_t mode, part;
	bool is_other;
	uint32_t child_mode, child_part;
	int want;
	const char *text;
} cases[] = {
	{ LKDF_READ, 0, false, LKDF_READ, 0, 0, NULL },
	{ LKDF_READ, 0, false, LKDF_RW, 0, -EACCES, "covered" },
	{ LKDF_READ, 0, false, LKDF_COMMUTE, 0, -EACCES, "covered" },
	{ LKDF_READ, 0, false, LKDF_READ, 2, 0, NULL },
	{ LKDF_READ, 0, false, LKDF_RW, 2, -EACCES, "part 2 of covered" },
	{ LKDF_RW, 0, false, LKDF_RW | LKDF_WEAK, 0, 0, NULL },
	{ LKDF_RW, 0, false, LKDF_WRITE, 3, 0, NULL },
	{ LKDF_RW, 0, false, LKDF_RW, 5, -ERANGE, "5" },
	{ LKDF_RW, 0, true, LKDF_READ, 0, -EACCES, "other" },
	{ LKDF_RW, 2, false, LKDF_RW, 2, 0, NULL },
	{ LKDF_RW, 2, false, LKDF_READ, 1, -EACCES, "part 1 of covered" },
	{ LKDF_RW, 2, false, LKDF_READ, 0, -EACCES, "covered" },
	{ LKDF_COMMUTE, 0, false, LKDF_RW, 1, 0, NULL },
	{ LKDF_REDUCE, 0, false, LKDF_READ, 0, -EACCES, "0x1 of covered" },
	{ LKDF_REDUCE, 0, false, LKDF_REDUCE, 1, 0, NULL },
	{ LKDF_RW | LKDF_WEAK, 0, false, LKDF_RW, 0, 0, NULL },
	{ LKDF_READ | LKDF_WEAK, 0, false, LKDF_RW, 0, -EACCES, "covered" },
};

static void run_case(struct lkdf *rt, struct lkdf_kind *k, struct cover *cover,
		     struct lkdf_data *const d[2], size_t i)
{
	struct lkdf_graph *g = api_graph(rt, 1);

	cover->child = ON_PART(d[cases[i].is_other], cases[i].child_mode,
			       cases[i].child_part);
	must(add_on(g, k, &cover, ON_PART(d[0], cases[i].mode, cases[i].part)));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	is(cover->rc, cases[i].want, "mode %#x of %u: mode %#x of %s.%u",
	   cases[i].mode, cases[i].part, cases[i].child_mode,
	   cases[i].is_other ? "another" : "it", cases[i].child_part);
	if (cases[i].text)
		has(cover->text, cases[i].text, "is refused by name");
	lkdf_graph_put(g);
}

static void a_task_covers_its_children(struct lkdf *rt)
{
	struct cover cover_ = { .rc = 1 }, *cover = &cover_;
	uint64_t init[4] = { 0 };
	struct lkdf_data *d[2];
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	size_t i;

	d[0] = DATA(rt, .bytes = 32, .init = init, .name = "covered",
		    .reduce = add_words, .neutral = no_words);
	d[1] = zeros(rt, "other", 4);
	must(lkdf_data_split(d[0], 4, 8));
	k = api_kind(rt, "parent", ask_cover, sizeof(cover), 0);
	cover->nothing = api_kind(rt, "nothing", api_nothing, 0, 0);
	for (i = 0; i < LENGTH(cases); i++)
		run_case(rt, k, cover, d, i);
	g = api_graph(rt, 1);
	cover->child = ON(d[0], LKDF_READ);
	must(lkdf_graph_add(g, k, &cover, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	is(cover->rc, -EACCES, "a task without uses covers none");
	has(cover->text, "parent", "its kind is named");
	lkdf_graph_put(g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
	lkdf_kind_put(cover->nothing);
}

static void the_next_waits_for_children(struct lkdf *rt, uint32_t mode,
					uint32_t flags)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	struct lkdf_kind *parent, *next, *counts;
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_event done;
	atomic_int nr = 0;

	f->d = zeros(rt, NULL, 1);
	parent = api_kind(rt, "parent", one_child, sizeof(f), flags);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	f->child =
		api_kind(rt, "child", child_at_gate, sizeof(f), LKDF_BLOCKING);
	must(add_on(g, parent, &f, ON(f->d, mode)));
	must(add_on(g, next, &f, ON(f->d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	api_until(&f->gate.entered);
	must(api_call(rt, counts, &nr));
	is(f->next_started, 0, "the next waits for a child");
	is(lkdf_event_wait(done, 0), 1, "and so does the run");
	atomic_store(&f->gate.open, 1);
	is(lkdf_event_wait(done, -1), 0, "then it goes and sees its effect");
	is(value_of(f->d), 7, "it is seen outside, too");
	is(lkdf_data_version(f->d), 2, "and is one write");
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(parent);
	lkdf_kind_put(next);
	lkdf_kind_put(counts);
	lkdf_kind_put(f->child);
}

/*
 * Bytes of a run
 */

struct once {
	struct lkdf_data *d;
	struct lkdf_kind *writes, *looks, *passes;
	atomic_int nr_wrong, nr_looked, rc;
	bool is_weak;
	char text[256];
};

struct look {
	struct once *o;
	uint64_t want;
};

static int write_once(struct lkdf_ctx *c, void *arg)
{
	const struct look *l = arg;
	uint64_t *v = lkdf_ptr(c, 0);

	*v = l->want;
	return 0;
}

static int look_once(struct lkdf_ctx *c, void *arg)
{
	const struct look *l = arg;
	const uint64_t *v = lkdf_ptr(c, 0);

	atomic_fetch_add(&l->o->nr_wrong, !v || *v != l->want);
	atomic_fetch_add(&l->o->nr_looked, 1);
	return 0;
}

/* A child with a child. */
static int pass_once(struct lkdf_ctx *c, void *arg)
{
	struct look l = *(const struct look *)arg;

	look_once(c, arg);
	return spawn_on(c, l.o->looks, &l, ON(l.o->d, LKDF_READ));
}

static int produce(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	struct look l = { o, lkdf_seq(c) * 2 + 1 };

	atomic_fetch_add(&o->nr_wrong, !lkdf_ptr(c, 0) != o->is_weak);
	must(spawn_on(c, o->writes, &l, ON(o->d, LKDF_WRITE)));
	return spawn_on(c, o->passes, &l, ON(o->d, LKDF_READ));
}

static int consume(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	struct look l = { o, lkdf_seq(c) * 2 + 1 };
	int i;

	for (i = 0; i < 3; i++)
		must(spawn_on(c, o->passes, &l, ON(o->d, LKDF_READ)));
	return 0;
}

/* Runs overlap, and each has bytes of its own. */
static void children_have_the_bytes_of_their_run(struct lkdf *rt, bool is_weak,
						 uint32_t flags)
{
	struct once once = { .is_weak = is_weak }, *o = &once;
	uint32_t weak = is_weak ? LKDF_WEAK : 0;
	struct lkdf_graph *g = api_graph(rt, 4);
	struct lkdf_kind *produces, *consumes;
	int i;

	o->d = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE | flags);
	produces = api_kind(rt, "produces", produce, sizeof(o), 0);
	consumes = api_kind(rt, "consumes", consume, sizeof(o), 0);
	o->writes = api_kind(rt, "writes", write_once, sizeof(struct look), 0);
	o->looks = api_kind(rt, "looks", look_once, sizeof(struct look), 0);
	o->passes = api_kind(rt, "passes", pass_once, sizeof(struct look), 0);
	must(add_on(g, consumes, &o, ON(o->d, LKDF_READ | weak)));
	must(add_on(g, consumes, &o, ON(o->d, LKDF_READ)));
	must(add_on(g, produces, &o, ON(o->d, LKDF_WRITE | weak)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 50; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 50), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "100 runs, 4 at a time%s%s",
	   is_weak ? ", weak" : "", flags ? ", kept" : "");
	is(o->nr_wrong, 0, "children have the bytes of their run");
	is(o->nr_looked, 100 * (2 + 2 * 6), "all have looked");
	lkdf_graph_put(g);
	lkdf_data_put(o->d);
	lkdf_kind_put(produces);
	lkdf_kind_put(consumes);
	lkdf_kind_put(o->writes);
	lkdf_kind_put(o->looks);
	lkdf_kind_put(o->passes);
}

static int ask_reduce(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 1;
	o->rc = spawn_on(c, o->looks, &(struct look){ o, 1 },
			 ON(o->d, LKDF_REDUCE));
	snprintf(o->text, sizeof(o->text), "%s", lkdf_errmsg());
	return 0;
}

static void bytes_of_a_run_are_not_reduced(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct once once = { .rc = 1 }, *o = &once;
	struct lkdf_kind *k;

	o->d = DATA(rt, .bytes = 8, .name = "wave", .reduce = add_words,
		    .neutral = no_words, .flags = LKDF_DATA_ONCE);
	k = api_kind(rt, "asks", ask_reduce, sizeof(o), 0);
	o->looks = api_kind(rt, "looks", look_once, sizeof(struct look), 0);
	must(add_on(g, k, &o, ON(o->d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a producer asks for a reducing child");
	is(o->rc, -EINVAL, "it is refused");
	has(o->text, "wave", "by name");
	has(o->text, "LKDF_DATA_ONCE", "with the reason");
	lkdf_graph_put(g);
	lkdf_data_put(o->d);
	lkdf_kind_put(k);
	lkdf_kind_put(o->looks);
}

/*
 * Failure
 */

static int fail_below(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->child, NULL, ON_PART(f->d, LKDF_WRITE, 2));
	return f->rc[1] ? lkdf_join(c) : 0;
}

static int join_in_vain(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	f->rc[0] = spawn_on(c, f->child, NULL, ON_PART(f->d, LKDF_WRITE, 2));
	f->rc[2] = lkdf_join(c);
	return 0;
}

static struct lkdf_graph *graph_of_two(struct lkdf *rt, struct family *f,
				       struct lkdf_kind *first, uint32_t mode,
				       struct lkdf_kind *next)
{
	struct lkdf_graph *g = api_graph(rt, 1);

	must(add_on(g, first, &f, ON(f->d, mode)));
	must(add_on(g, next, &f, ON_PART(f->d, LKDF_READ, 1)));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* Of the whole: what the task should have written is all of it. */
static void errors_of_children_poison(struct lkdf *rt, uint32_t mode,
				      bool joins)
{
	struct family family = { .rc = { 1, joins } }, *f = &family;
	struct lkdf_kind *k, *next, *counts;
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_graph *g;
	atomic_int nr = 0;

	f->d = zeros(rt, NULL, 2);
	must(lkdf_data_split(f->d, 2, 8));
	f->child = api_kind(rt, "child", fail_child, 0, 0);
	k = api_kind(rt, "parent", fail_below, sizeof(f), 0);
	next = api_kind(rt, "next", note_next, sizeof(f), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	g = graph_of_two(rt, f, k, mode, next);
	is(api_run(g, NULL, NULL), -EIO, "a child of a task of mode %#x fails",
	   mode);
	is(f->next_started, 0, "the next is skipped");
	lkdf_scope_error(rt, NULL, &e);
	if (!joins)
		has(e.why, "the child fails", "the run says why");
	is(lkdf_data_acquire(f->d, LKDF_READ, -1, NULL), -EIO,
	   "outside the data is bad");
	must(submit_on(rt, counts, &nr, ON(f->d, LKDF_WRITE), NULL));
	is(lkdf_data_acquire(f->d, LKDF_READ, -1, NULL), 0, "a WRITE heals");
	lkdf_data_release(f->d);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
	lkdf_kind_put(counts);
	lkdf_kind_put(f->child);
}

/* A body that looks at the error may write itself; a weak one does not. */
static void an_error_that_was_looked_at(struct lkdf *rt, uint32_t mode)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	bool is_weak = mode & LKDF_WEAK;
	struct lkdf_kind *k, *reads;
	struct lkdf_graph *g;
	atomic_int nr = 0;
	int want = is_weak ? -EIO : 0;

	f->d = zeros(rt, NULL, 2);
	must(lkdf_data_split(f->d, 2, 8));
	f->child = api_kind(rt, "child", fail_child, 0, 0);
	k = api_kind(rt, "joins", join_in_vain, sizeof(f), 0);
	g = api_graph(rt, 1);
	must(add_on(g, k, &f, ON(f->d, mode)));
	reads = api_kind(rt, "reads", api_count, 0, 0);
	must(add_on(g, reads, &nr, ON(f->d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), want, "a %s task looks at a child's error",
	   is_weak ? "weak" : "strong");
	is(f->rc[2], -EIO, "it has it from join");
	is(nr, !is_weak, "the next %s", is_weak ? "is skipped" : "runs");
	is(lkdf_data_acquire(f->d, LKDF_READ, -1, NULL), want, "outside, too");
	if (!want)
		lkdf_data_release(f->d);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(reads);
	lkdf_kind_put(f->child);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	a_task_covers_its_children(rt);
	children_have_the_bytes_of_their_run(rt, false, 0);
	children_have_the_bytes_of_their_run(rt, true, 0);
	children_have_the_bytes_of_their_run(rt, false, LKDF_DATA_KEEP);
	bytes_of_a_run_are_not_reduced(rt);
	errors_of_children_poison(rt, LKDF_RW, false);
	errors_of_children_poison(rt, LKDF_RW, true);
	errors_of_children_poison(rt, LKDF_RW | LKDF_WEAK, false);
	an_error_that_was_looked_at(rt, LKDF_RW);
	an_error_that_was_looked_at(rt, LKDF_RW | LKDF_WEAK);
	/* Here bodies wait for this thread, or for each other. */
	if (strcmp(options, "serial=yes")) {
		the_next_waits_for_children(rt, LKDF_RW, 0);
		the_next_waits_for_children(rt, LKDF_COMMUTE, 0);
		the_next_waits_for_children(rt, LKDF_RW | LKDF_WEAK, 0);
		the_next_waits_for_children(rt, LKDF_RW, LKDF_BLOCKING);
	}
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
