/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option fix: the object of that name has another number of tokens, tasks,
 * values, iterations or another priority; no other object has.
 */
#include "tests/api/rt/stderr.h"

#include <string.h>

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* May a body take so many tokens of a limit that is made with one? */
static int takes_tokens(struct lkdf *rt, const char *name, uint64_t tokens)
{
	struct lkdf_limit_use use = { .tokens = tokens };
	struct lkdf_kind *k = NULL;
	int rc;

	must(lkdf_limit_create_with(
		rt, ATTR(lkdf_limit_attr, .name = name, .tokens = 1),
		&use.limit));
	rc = lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "user",
				   .fn = nothing, .limit = &use, .nr_limit = 1),
			      &k);
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
	return rc;
}

static void a_limit_has_its_tokens(void)
{
	struct lkdf *rt = api_open("workers=1,fix=tokens=disk:4");

	is(takes_tokens(rt, "disk", 4), 0, "a limit of that name has four");
	is(takes_tokens(rt, "disk", 5), -EINVAL, "and no more");
	is(takes_tokens(rt, "disks", 4), -EINVAL, "another one has its own");
	is(takes_tokens(rt, NULL, 4), -EINVAL, "so has one without a name");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int values_of(struct lkdf *rt, const char *name)
{
	struct lkdf_channel *ch = NULL;
	int nr = 0;

	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .name = name,
				      .value_size = sizeof(nr), .depth = 2),
				 &ch));
	while (!lkdf_channel_send(ch, &nr, 0))
		nr++;
	lkdf_channel_put(ch);
	return nr;
}

static void a_channel_has_its_depth(void)
{
	struct lkdf *rt = api_open("workers=1,fix=\"depth=a:5,depth=b=c:d:1\"");

	is(values_of(rt, "a"), 5, "a channel holds five values");
	is(values_of(rt, "b=c:d"), 1, "a name may have the signs of the list");
	is(values_of(rt, "b"), 2,
	   "another one holds as many as it was made for");
	is(lkdf_close(rt), 0, "the runtime closes");
}

struct flood {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *kind;
	int nr;
};

/* Nobody else is there to run what it submits. */
static int submit_until_full(struct lkdf_ctx *c, void *arg)
{
	struct flood *f = *(struct flood **)arg;

	(void)c;
	while (f->nr < 100 &&
	       !lkdf_submit(f->rt, f->scope, ATTR(lkdf_task, .kind = f->kind),
			    NULL))
		f->nr++;
	return 0;
}

static int tasks_of(struct lkdf *rt, const char *name)
{
	struct flood f = { .rt = rt }, *arg = &f;
	struct lkdf_kind *k =
		api_kind(rt, "flood", submit_until_full, sizeof(arg), 0);

	f.kind = api_kind(rt, "drop", nothing, 0, 0);
	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .name = name, .max_tasks = 2),
		&f.scope));
	must(api_call(rt, k, &arg));
	must(lkdf_scope_wait(rt, f.scope, PATIENCE_NS));
	lkdf_scope_put(f.scope);
	lkdf_kind_put(f.kind);
	lkdf_kind_put(k);
	return f.nr;
}

static void a_scope_has_its_window(void)
{
	struct lkdf *rt = api_open("workers=1,fix=window=batch:7");

	is(tasks_of(rt, "batch"), 7, "seven tasks live in a scope");
	is(tasks_of(rt, "other"), 2, "in another one as many as it says");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int see_blocks(uint64_t begin, uint64_t end, void *u)
{
	_Atomic(uint64_t) *odd = u;

	if (begin % 25 || end - begin != 25)
		atomic_fetch_add(odd, 1);
	return 0;
}

/* How many blocks of it are not of 25 iterations. */
static uint64_t odd_blocks(struct lkdf *rt, const char *name)
{
	_Atomic(uint64_t) odd = 0;

	must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .name = name,
				    .range = { 0, 100, 10 }, .fn = see_blocks,
				    .u = &odd)));
	return odd;
}

static void a_loop_has_its_grain(void)
{
	struct lkdf *rt = api_open("workers=1,fix=grain=rows:25");

	is(odd_blocks(rt, "rows"), 0, "blocks of a loop have 25 iterations");
	is(odd_blocks(rt, "columns"), 10, "of another one ten");
	is(lkdf_close(rt), 0, "the runtime closes");
}

struct race {
	_Atomic(bool) goes;
	_Atomic(int) nr;
};

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct race *r = *(struct race **)arg;

	(void)c;
	while (!r->goes)
		usleep(100);
	return 0;
}

struct runner {
	struct race *race;
	int *place;
};

static int run_race(struct lkdf_ctx *c, void *arg)
{
	struct runner *r = arg;

	(void)c;
	*r->place = ++r->race->nr;
	return 0;
}

static void start_runner(struct lkdf *rt, const char *name, struct race *race,
			 int *place)
{
	struct runner r = { race, place };
	struct lkdf_kind *k = api_kind(rt, name, run_race, sizeof(r), 0);

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &r),
			 NULL));
	lkdf_kind_put(k);
}

static void a_kind_has_its_priority(void)
{
	struct lkdf *rt = api_open("workers=1,fix=priority=fast:high");
	struct race race = { .goes = false }, *arg = &race;
	struct lkdf_kind *k = api_kind(rt, "hold", hold, sizeof(arg), 0);
	int slow = 0, fast = 0;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &arg),
			 NULL));
	start_runner(rt, "slow", &race, &slow);
	start_runner(rt, "fast", &race, &fast);
	race.goes = true;
	must(lkdf_scope_wait(rt, NULL, PATIENCE_NS));
	is(fast, 1, "tasks of a kind come first");
	is(slow, 2, "before those of another one");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void what_no_object_gets_is_told(void)
{
	const char *text;
	struct lkdf *rt;

	stderr_keep();
	rt = api_open("workers=1,fix=\"depth=a:5,tokens=disk:4\"");
	values_of(rt, "a");
	must(lkdf_close(rt));
	text = stderr_text();
	is(nr_lines(text), 1, "a change that no object got is a line");
	has(text,
	    "lkdf: error: fix: tokens=disk:4: no limit of that name was made",
	    "with what would have had it");
}

static void is_refused(const char *fix, const char *why)
{
	char options[256], says[128];
	struct lkdf *rt = NULL;

	snprintf(options, sizeof(options), "workers=1,fix=\"%s\"", fix);
	snprintf(says, sizeof(says), "\"%s\" is refused", fix);
	is(lkdf_open(options, &rt), -EINVAL, "%s", says);
	has(lkdf_errmsg(), why, "and it is said what is expected");
}

static void other_texts_are_refused(void)
{
	is_refused("tokens", "expected tokens=NAME:N");
	is_refused("tokens=disk", "expected tokens=NAME:N");
	is_refused("tokens=:4", "expected tokens=NAME:N");
	is_refused("token=disk:4", "one of tokens, window, depth");
	is_refused("tokens=disk:0", "expected 1 .. 4294967295");
	is_refused("tokens=disk:-1", "expected 1 .. 4294967295");
	is_refused("tokens=disk:4294967296", "expected 1 .. 4294967295");
	is_refused("depth=pipe:1048577", "expected 1 .. 1048576");
	is_refused("grain=rows:many", "expected 1 .. 9223372036854775807");
	is_refused("priority=step:first", "idle, normal, high or urgent");
}

static void a_variable_is_obeyed_unless_final(void)
{
	struct lkdf *rt;

	setenv("LKDF_FIX", "depth=a:5", 1);
	rt = api_open("workers=1");
	is(values_of(rt, "a"), 5, "LKDF_FIX does so, too");
	must(lkdf_close(rt));
	rt = api_open("workers=1,final=yes");
	is(values_of(rt, "a"), 2, "but not in a program that says final");
	must(lkdf_close(rt));
	unsetenv("LKDF_FIX");
}

int main(void)
{
	tap_start(120);
	a_limit_has_its_tokens();
	a_channel_has_its_depth();
	a_scope_has_its_window();
	a_loop_has_its_grain();
	a_kind_has_its_priority();
	what_no_object_gets_is_told();
	other_texts_are_refused();
	a_variable_is_obeyed_unless_final();
	return tap_end();
}
