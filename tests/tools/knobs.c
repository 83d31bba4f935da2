/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * knobs tokens|window|priority|grain|workers: a program with one number that
 * lkdf try --fix changes. Its bodies sleep, so that they take as long on a
 * machine with other load.
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT_US 4000
#define LONG_US 40000
#define NR_TASKS 100

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "knobs: %s\n", lkdf_errmsg());
	exit(1);
}

static int nap(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	usleep(SHORT_US);
	return 0;
}

static int sleep_long(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	usleep(LONG_US);
	return 0;
}

/* The last quarter of the iterations takes five times as long. */
static int rows(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		usleep(begin < 60 ? 1000 : 5000);
	return 0;
}

static struct lkdf_kind *make_kind(struct lkdf *rt, const char *name,
				   lkdf_fn fn, const struct lkdf_limit_use *u)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = name,
		.fn = fn,
		.limit = u,
		.nr_limit = u != NULL,
	};
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt, &a, &k));
	return k;
}

static void submit(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
		   int nr)
{
	while (nr--)
		must(lkdf_submit(rt, s, LKDF_TASK(.kind = k), NULL));
}

/* All of them want the one token of a limit. */
static void run_tokens(struct lkdf *rt)
{
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind *k;

	must(lkdf_limit_create_with(rt, LKDF_LIMIT(.name = "disk", .tokens = 1),
				    &use.limit));
	k = make_kind(rt, "load", nap, &use);
	submit(rt, NULL, k, NR_TASKS);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
}

/* One task lives at a time. */
static void run_window(struct lkdf *rt)
{
	const struct lkdf_scope_attr a = { .size = sizeof(a),
					   .name = "batch",
					   .max_tasks = 1 };
	struct lkdf_kind *k = make_kind(rt, "load", nap, NULL);
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(rt, &a, &s));
	submit(rt, s, k, NR_TASKS);
	must(lkdf_scope_wait(rt, s, -1));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

/* A long task is submitted last, and begins early all the same. */
static void run_priority(struct lkdf *rt)
{
	struct lkdf_kind *small = make_kind(rt, "small", nap, NULL);
	struct lkdf_kind *large = make_kind(rt, "large", sleep_long, NULL);
	int i;

	for (i = 0; i < 5; i++) {
		submit(rt, NULL, small, 40);
		submit(rt, NULL, large, 1);
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	lkdf_kind_put(small);
	lkdf_kind_put(large);
}

/* As many blocks as workers, of which one is long. */
static void run_grain(struct lkdf *rt)
{
	const struct lkdf_for_attr a = { .size = sizeof(a),
					 .name = "rows",
					 .range = { 0, 80, 20 },
					 .fn = rows };
	int i;

	for (i = 0; i < 5; i++)
		must(lkdf_for_with(rt, &a));
}

static void run_workers(struct lkdf *rt)
{
	struct lkdf_kind *k = make_kind(rt, "small", nap, NULL);

	submit(rt, NULL, k, 2 * NR_TASKS);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
}

static const struct {
	const char *name;
	void (*run)(struct lkdf *rt);
} knobs[] = {
	{ "tokens", run_tokens },     { "window", run_window },
	{ "priority", run_priority }, { "grain", run_grain },
	{ "workers", run_workers },
};

int main(int argc, char **argv)
{
	struct lkdf *rt = NULL;
	size_t i;

	must(lkdf_open("workers=4", &rt));
	for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		if (argc == 2 && !strcmp(argv[1], knobs[i].name))
			knobs[i].run(rt);
	return lkdf_close(rt) != 0;
}
