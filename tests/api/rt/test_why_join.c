/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body that waits in a join while others run its children, and nothing below
 * it is left to run: lkdf_why() says so of this body, and of no other.
 */
#include "tests/api/why.h"

static struct lkdf_kind *kind_of_child;
static atomic_int has_begun, may_end;

static int child(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&has_begun, 1);
	api_until(&may_end);
	return 0;
}

/* Its child begins elsewhere before it joins. */
static int parent(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn(c, kind_of_child, NULL));
	api_until(&has_begun);
	return lkdf_join(c);
}

/* Does the line of that body say so? -1: it has none. */
static int rests(const char *text, const char *kind)
{
	const char *end, *part;
	char begin[64];

	snprintf(begin, sizeof(begin), "a body of \"%s\"", kind);
	text = strstr(text, begin);
	if (!text)
		return -1;
	end = strchr(text, '\n');
	part = strstr(text, "rests in a join");
	return part && part < end;
}

int main(void)
{
	struct lkdf_kind *k;
	struct lkdf_event done;
	struct lkdf *rt;
	const char *text;

	tap_start(60);
	rt = api_open("workers=2,stall=1000");
	kind_of_child = api_kind(rt, "child", child, 0, 0);
	k = api_kind(rt, "parent", parent, 0, 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &done));
	text = why_until(rt, ", and rests in a join\n");
	is(rests(text, "parent"), 1, "the parent does");
	is(rests(text, "child"), 0, "its child does not");
	atomic_store(&may_end, 1);
	is(lkdf_event_wait(done, -1), 0, "all of it ends");
	lkdf_kind_put(k);
	lkdf_kind_put(kind_of_child);
	must(lkdf_close(rt));
	return tap_end();
}
