/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of moving bytes share: one runtime, kinds that fill, check and
 * change all words of a data, and one use at a time on a node.
 */
#ifndef TESTS_API_DATA_MOVING_H
#define TESTS_API_DATA_MOVING_H

#include "tests/api/using.h"

#define BYTES 65536u
#define WORDS (BYTES / sizeof(uint64_t))

static struct lkdf *rt;
static struct lkdf_kind *fills, *checks, *bumps;

/* What a body finds. */
struct look {
	struct lkdf_ctx *c;
	char *at;
	uint64_t value; /* to fill, or found in all words */
	bool is_mixed;
};

__attribute__((unused)) static uint64_t all_words(const uint64_t *v,
						  uint64_t nr, bool *is_mixed)
{
	uint64_t i;

	for (i = 1; i < nr; i++)
		*is_mixed |= v[i] != v[0];
	return v[0];
}

__attribute__((unused)) static void fill_words(uint64_t *v, uint64_t nr,
					       uint64_t value)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		v[i] = value;
}

__attribute__((unused)) static int fill(struct lkdf_ctx *c, void *arg)
{
	struct look *l = arg;

	l->at = lkdf_ptr(c, 0);
	fill_words(lkdf_ptr(c, 0), WORDS, l->value);
	return 0;
}

__attribute__((unused)) static int check(struct lkdf_ctx *c, void *arg)
{
	struct look *l = arg;

	l->at = lkdf_ptr(c, 0);
	l->value = all_words(lkdf_ptr(c, 0), WORDS, &l->is_mixed);
	return 0;
}

/* Finds them, and adds one to each. */
__attribute__((unused)) static int bump(struct lkdf_ctx *c, void *arg)
{
	check(c, arg);
	fill_words(lkdf_ptr(c, 0), WORDS, ((struct look *)arg)->value + 1);
	return 0;
}

__attribute__((unused)) static uint64_t stat_of(const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(rt, name, &v));
	return v;
}

__attribute__((unused)) static uint64_t migrated(void)
{
	return stat_of("lkdf.data.migrated_bytes");
}

__attribute__((unused)) static uint64_t replicated(void)
{
	return stat_of("lkdf.data.replicated_bytes");
}

/* One use on a node, waited for. */
__attribute__((unused)) static struct look on(int node, struct lkdf_kind *k,
					      struct lkdf_data *d,
					      uint32_t mode, uint64_t value)
{
	struct look l = { .value = value };
	struct lkdf_use use = ON(d, mode);

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &l, .use = &use,
			      .nr_use = 1, .flags = LKDF_PINNED,
			      .place = lkdf_place_node(rt, node)),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	return l;
}

__attribute__((unused)) static struct look writes(int node, struct lkdf_data *d,
						  uint64_t value)
{
	return on(node, fills, d, LKDF_WRITE, value);
}

__attribute__((unused)) static struct look reads(int node, struct lkdf_data *d)
{
	return on(node, checks, d, LKDF_READ, 0);
}

__attribute__((unused)) static struct look changes(int node,
						   struct lkdf_data *d)
{
	return on(node, bumps, d, LKDF_RW, 0);
}

__attribute__((unused)) static void start(const char *options)
{
	rt = api_open(options);
	fills = api_kind(rt, "fills", fill, 0, 0);
	checks = api_kind(rt, "checks", check, 0, 0);
	bumps = api_kind(rt, "bumps", bump, 0, 0);
}

__attribute__((unused)) static void stop(void)
{
	lkdf_kind_put(fills);
	lkdf_kind_put(checks);
	lkdf_kind_put(bumps);
	must(lkdf_close(rt));
}

__attribute__((unused)) static void prefetch(struct lkdf_data *d, int node)
{
	struct lkdf_event done;

	must(lkdf_data_prefetch(d, lkdf_place_node(rt, node), &done));
	must(lkdf_event_wait(done, -1));
	must(lkdf_scope_wait(rt, NULL, -1));
}

#endif
