/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_graph_include(): in which order tasks of a graph and of its parts run,
 * their names, and what is refused. That a graph which includes another does
 * what that one does, loops and branches and all, is for tests/oracle/control.
 */
#include "tests/api/graph/part.h"

#include <sys/mman.h>

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

/* Its first argument is how often it goes round, or which branch it takes. */
static int choose(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return atomic_fetch_sub((atomic_int *)arg, 1) > 0;
}

static const char *dump(struct lkdf_graph *g)
{
	static char text[1 << 14];
	int fd = must(memfd_create("dump", MFD_CLOEXEC));
	ssize_t n;

	must(lkdf_graph_dump(g, fd, "dot"));
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[must((int)n)] = 0;
	close(fd);
	return text;
}

/* ---- order and names ---------------------------------------------------- */

static void all_of_it_is_one_task(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "whole"), *part;
	atomic_int at[2] = { 0 }, before = 0, after = 0;
	int first = add(g, k, &before), whole, last;

	part = a_part(rt, k, at);
	whole = must(lkdf_graph_include(g, part));
	is(whole, 1, "%s: the whole has the next number", options);
	last = add(g, k, &after);
	is(last, 5, "it takes two numbers more than it has tasks");
	must(lkdf_graph_order(g, whole, last));
	must(lkdf_graph_order(g, first, whole));
	has(dump(g), "\"part/one\"", "a label of the part");
	has(dump(g), "\"part/stamp#1\"", "and a task without one");
	is(lkdf_graph_seal(g, NULL), 0, "it is sealed");
	has(dump(g), "\"part/one\"", "they stay");
	is(api_run(g, NULL, NULL), 0, "it runs");
	ok(before == 1 && at[0] == 2 && at[1] == 3 && after == 4,
	   "what is before it, its tasks, what is after it");
	add(part, k, &after);
	is(lkdf_graph_seal(part, NULL), 0, "more is added to the part");
	is(api_run(part, NULL, NULL), 0, "and it runs, too");
	is(atomic_load(&clock_now), 7, "with its three tasks");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void parts_have_parts(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *middle = named(rt, "middle");
	atomic_int at[2] = { 0 };
	struct lkdf_graph *part = a_part(rt, k, at);
	int twice[2], i;

	for (i = 0; i < 2; i++)
		twice[i] = must(lkdf_graph_include(middle, part));
	must(lkdf_graph_order(middle, twice[0], twice[1]));
	is(must(lkdf_graph_include(g, middle)), 0, "%s: a part of parts",
	   options);
	has(dump(g), "\"middle/part/one\"", "names of both");
	has(dump(g), "\"middle/part/stamp#1\"", "also where there is no label");
	lkdf_graph_put(part);
	lkdf_graph_put(middle);
	is(lkdf_graph_seal(g, NULL), 0, "it is sealed without them");
	is(api_run(g, NULL, NULL), 0, "it runs");
	ok(at[0] == 3 && at[1] == 4, "each appearance ran, the later one last");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void none_is_a_part(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "empty");
	atomic_int before = 0, after = 0;
	int first = add(g, k, &before);
	int whole = must(lkdf_graph_include(g, part)), last = add(g, k, &after);

	must(lkdf_graph_order(g, first, whole));
	must(lkdf_graph_order(g, whole, last));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a graph without tasks is included");
	ok(before == 1 && after == 2, "and passes on what it is after");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* ---- branches and loops ------------------------------------------------- */

/* A loop of one task, then one of two arms, which lead to nothing. */
static struct lkdf_graph *a_program(struct lkdf *rt, struct lkdf_kind *k,
				    atomic_int *turns, atomic_int *arm)
{
	struct lkdf_kind *chooser = api_kind(rt, "choose", choose, 0, 0);
	struct lkdf_graph *part = named(rt, "program");
	int loop = add(part, chooser, turns);
	int left = add(part, k, &arm[0]), right = add(part, k, &arm[1]);
	int branch = add(part, chooser, &arm[2]);

	must(lkdf_graph_back(part, loop, 1, loop));
	must(lkdf_graph_branch(part, loop, 0, branch));
	must(lkdf_graph_branch(part, branch, 0, left));
	must(lkdf_graph_branch(part, branch, 1, right));
	lkdf_kind_put(chooser);
	return part;
}

static void what_was_not_chosen_ends_it(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part;
	atomic_int turns = 3, arm[3] = { 0, 0, 1 }, after = 0;
	int whole, last;

	part = a_program(rt, k, &turns, arm);
	whole = must(lkdf_graph_include(g, part));
	last = add(g, k, &after);
	must(lkdf_graph_order(g, whole, last));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "%s: a loop and a branch in a part",
	   options);
	is(atomic_load(&turns), -1, "it went round as often as it wanted");
	ok(!arm[0] && arm[1] == 1 && after == 2,
	   "one arm ran, and what is after the whole");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void a_branch_chooses_all_or_none(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_kind *chooser = api_kind(rt, "choose", choose, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part[2];
	atomic_int at[2][2] = { { 0 } }, which = 0, after[2] = { 0 };
	int head = add(g, chooser, &which), whole, last, i;

	for (i = 0; i < 2; i++) {
		part[i] = a_part(rt, k, at[i]);
		whole = must(lkdf_graph_include(g, part[i]));
		must(lkdf_graph_branch(g, head, (uint16_t)i, whole));
		last = add(g, k, &after[i]);
		must(lkdf_graph_order(g, whole, last));
		lkdf_graph_put(part[i]);
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "%s: one of two parts", options);
	ok(at[0][0] == 1 && at[0][1] == 2 && after[0] == 3, "all of one");
	ok(!at[1][0] && !at[1][1] && !after[1], "none of the other");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(g);
	lkdf_kind_put(chooser);
	lkdf_kind_put(k);
}

static void what_failed_is_passed_on(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "stamp", stamp, 0, 0);
	struct lkdf_kind *bad = api_kind(rt, "fail", fail, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	atomic_int at = 0, after = 0;
	struct lkdf_error e = { .size = sizeof(e) };
	long skipped;
	int whole;

	must(lkdf_scope_error(rt, NULL, &e));
	skipped = (long)e.nr_skipped;
	add(part, bad, NULL);
	add(part, k, &at);
	whole = must(lkdf_graph_include(g, part));
	must(lkdf_graph_order(g, whole, add(g, k, &after)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "%s: a task of a part fails",
	   options);
	ok(at == 1 && !after, "what is after the whole does not run");
	must(lkdf_scope_error(rt, NULL, &e));
	is((long)e.nr_skipped, skipped + 1, "which counts as the only one");
	has(e.task, "part/fail#0", "the error has the name in the part");
	atomic_store(&clock_now, 0);
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(bad);
	lkdf_kind_put(k);
}

/* ---- bad input ---------------------------------------------------------- */

static void refused(int rc, int want, const char *why)
{
	is(rc, want, "refused: %s", why);
	has(lkdf_errmsg(), why, "so it says");
}

static void wrong_parts_are_refused(struct lkdf *rt)
{
	struct lkdf *other = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	struct lkdf_graph *strange = named(other, "strange");
	struct lkdf_diag why = { .size = sizeof(why) };

	is(lkdf_graph_include(NULL, part), -EINVAL, "no graph");
	refused(lkdf_graph_include(part, part), -EINVAL,
		"include: graph part into itself; a body runs it again, see "
		"lkdf_spawn_graph()");
	refused(lkdf_graph_seal(part, &why), -EINVAL, "part into itself");
	refused(lkdf_graph_include(g, part), -EINVAL,
		"include: graph part: include: graph part into itself");
	lkdf_graph_put(g);
	lkdf_graph_put(part);
	g = named(rt, "g");
	refused(lkdf_graph_include(g, NULL), -EINVAL,
		"include: graph g: part is NULL");
	lkdf_graph_put(g);
	g = named(rt, "g");
	refused(lkdf_graph_include(g, strange), -EINVAL,
		"include: graph strange is of another runtime");
	lkdf_graph_put(g);
	g = named(rt, "g");
	part = named(rt, "part");
	add(part, k, NULL);
	must(lkdf_graph_seal(part, NULL));
	refused(lkdf_graph_include(g, part), -EROFS,
		"include: graph part is sealed; it is included while tasks may "
		"be added to it");
	refused(lkdf_graph_include(part, g), -EROFS,
		"include: graph part is sealed");
	lkdf_graph_put(g);
	lkdf_graph_put(part);
	lkdf_graph_put(strange);
	lkdf_kind_put(k);
	must(lkdf_close(other));
}

static void a_part_chooses_nothing(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	int whole;

	add(part, k, NULL);
	whole = must(lkdf_graph_include(g, part));
	refused(lkdf_graph_branch(g, whole, 1, add(g, k, NULL)), -EINVAL,
		"edge: graph g: task 0 is an included graph, which chooses no "
		"branch");
	refused(lkdf_graph_back(g, whole, 1, whole), -EINVAL,
		"edge: graph g: task 0 is an included graph");
	lkdf_graph_put(g);
	lkdf_graph_put(part);
	lkdf_kind_put(k);
}

/* Seal tells what is wrong in a part by its name, and of its limits. */
static void seal_names_the_part(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct lkdf_graph *g = named(rt, "g"), *part = named(rt, "part");
	int a = add(part, k, NULL), b = add(part, k, NULL);

	must(lkdf_graph_order(part, a, b));
	must(lkdf_graph_order(part, b, a));
	must(lkdf_graph_include(g, part));
	refused(lkdf_graph_seal(g, NULL), -ELOOP, "part/plain#");
	lkdf_graph_put(g);
	lkdf_graph_put(part);
	lkdf_kind_put(k);
}

static void all_of_it(struct lkdf *rt, const char *options)
{
	all_of_it_is_one_task(rt, options);
	parts_have_parts(rt, options);
	none_is_a_part(rt);
	what_was_not_chosen_ends_it(rt, options);
	a_branch_chooses_all_or_none(rt, options);
	what_failed_is_passed_on(rt, options);
	wrong_parts_are_refused(rt);
	a_part_chooses_nothing(rt);
	seal_names_the_part(rt);
}

int main(void)
{
	tap_start(120);
	api_each(all_of_it);
	return tap_end();
}
