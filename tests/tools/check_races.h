/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What programs of pairs of bodies share: NAME 0 has the race of that name,
 * NAME 1 gives the order that was missing; without arguments the names are
 * listed.
 */
#ifndef TESTS_TOOLS_CHECK_RACES_H
#define TESTS_TOOLS_CHECK_RACES_H

#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

static struct lkdf *rt;
static bool is_right;
static int shared, sink;

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "check_races: %s\n", lkdf_errmsg());
	exit(3);
}

static struct lkdf_kind *kind(const char *name, lkdf_fn fn, uint32_t flags)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .flags = flags),
			      &k));
	return k;
}

static int writes(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	shared = 7;
	return 0;
}

static int reads(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	sink = shared;
	return 0;
}

static int rests(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void run(struct lkdf_graph *g, uint64_t times)
{
	struct lkdf_event done;

	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times), &done));
	must(lkdf_event_wait(done, -1));
	lkdf_graph_put(g);
}

static struct lkdf_graph *graph(uint32_t inflight)
{
	struct lkdf_graph *g;

	must(lkdf_graph_create(
		rt, ATTR(lkdf_graph_attr, .name = "g", .inflight = inflight),
		&g));
	return g;
}

static void submit(struct lkdf_task *t, struct lkdf_event *done)
{
	t->size = sizeof(*t);
	must(lkdf_submit(rt, NULL, t, done));
}

static void wait_all(void)
{
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* ---- the program -------------------------------------------------------- */

struct row {
	const char *name;
	void (*fn)(void);
};

static int check_main(const struct row *rows, size_t nr, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (argc < 3) {
			puts(rows[i].name);
			continue;
		}
		if (strcmp(argv[1], rows[i].name))
			continue;
		is_right = argv[2][0] == '1';
		must(lkdf_open(NULL, &rt));
		rows[i].fn();
		return sink == INT32_MAX;
	}
	return argc < 3 ? 0 : 2;
}

#endif
