/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() names a gate that keeps workers from bodies: its kinds, how many
 * workers may run them, and what lies behind it. With narrow=force there is one
 * whatever the bodies do.
 */
#include "tests/api/heard.h"
#include "tests/api/why.h"

static atomic_int may_go;

static int hold(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	while (!atomic_load(&may_go))
		api_nap_ns(SECOND / 1000);
	return 0;
}

static void a_gate_is_named(void)
{
	struct lkdf *rt = api_open("workers=2,narrow=force,final");
	struct lkdf_kind *k = api_kind(rt, "held", hold, 0, 0);
	const char *text;
	int i;

	for (i = 0; i < 4; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	text = why_says(rt, "text");
	has(text, "at most 1 of 2 workers run bodies of \"held\"",
	    "a gate and its kind");
	has(text, " lie behind the gate", "and what lies behind");
	text = why_says(rt, "json");
	has(text, "\"gates\":[{\"kinds\":\"\\\"held\\\"\",\"cap\":1,",
	    "the same as JSON");
	atomic_store(&may_go, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static struct lkdf_kind *child;
static atomic_int nr_held;

static int hold_child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_held, 1);
	while (!atomic_load(&may_go))
		api_nap_ns(SECOND / 1000);
	return 0;
}

/* Tasks with a deadline do not wait, so all workers run one. */
static void who_has_no_token_is_counted(void)
{
	struct lkdf *rt = api_open("workers=3,narrow=force,final");
	const char *text;
	int i;

	atomic_store(&may_go, 0);
	child = api_kind(rt, "late", hold_child, 0, 0);
	for (i = 0; i < 3; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = child,
				      .deadline_ns = 3600 * (int64_t)SECOND),
				 NULL));
	while (atomic_load(&nr_held) < 3)
		api_nap_ns(SECOND / 1000);
	text = why_says(rt, "text");
	has(text,
	    "at most 1 of 3 workers run bodies of \"late\"; 3 do, 0 lie behind "
	    "the gate; 2 of 3 bodies ran without a token (deadline 2)",
	    "workers that run a body are counted, with a token or without");
	text = why_says(rt, "json");
	has(text, "\"bodies\":3,\"passed\":2,\"passed_by\":\"deadline 2\"",
	    "the same as JSON");
	atomic_store(&may_go, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(stat_of(rt, "lkdf.narrow.bodies"), 3, "a counter has all bodies");
	is(stat_of(rt, "lkdf.narrow.passed"), 2, "and one those without");
	lkdf_kind_put(child);
	must(lkdf_close(rt));
}

static void without_one_there_is_no_line(void)
{
	struct lkdf *rt = api_open("workers=2,narrow=off,final");
	const char *text = why_says(rt, "text");

	ok(!strstr(text, "gate"), "no gate: no line");
	text = why_says(rt, "json");
	has(text, "\"gates\":[]", "and none in JSON");
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	a_gate_is_named();
	who_has_no_token_is_counted();
	without_one_there_is_no_line();
	return tap_end();
}
