/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What tests of data share: makers of data and uses, and simple bodies. */
#ifndef TESTS_API_USING_H
#define TESTS_API_USING_H

#include "tests/api/api.h"

#include <lkdf/data.h>

#define LENGTH(a) (sizeof(a) / sizeof(*(a)))

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

#define DATA(rt, ...) make_data(rt, ATTR(lkdf_data_attr, __VA_ARGS__))

__attribute__((unused)) static struct lkdf_data *
make_data(struct lkdf *rt, const struct lkdf_data_attr *a)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt, a, &d));
	return d;
}

/* One number of 64 bits. */
__attribute__((unused)) static struct lkdf_data *
number(struct lkdf *rt, const char *name, const uint64_t *init)
{
	return DATA(rt, .bytes = sizeof(uint64_t), .init = init, .name = name);
}

/* nr of them, all 0. */
__attribute__((unused)) static struct lkdf_data *
zeros(struct lkdf *rt, const char *name, uint32_t nr)
{
	uint64_t *init = calloc(nr, sizeof(*init));
	struct lkdf_data *d;

	d = DATA(rt, .bytes = nr * sizeof(*init), .init = init, .name = name);
	free(init);
	return d;
}

__attribute__((unused)) static int
submit_on(struct lkdf *rt, struct lkdf_kind *k, const void *arg,
	  struct lkdf_use use, struct lkdf_event *done)
{
	return lkdf_submit(rt, NULL,
			   ATTR(lkdf_task, .kind = k, .arg = arg, .use = &use,
				.nr_use = 1),
			   done);
}

__attribute__((unused)) static int add_on(struct lkdf_graph *g,
					  struct lkdf_kind *k, const void *arg,
					  struct lkdf_use use)
{
	return lkdf_graph_add(g, k, arg, &use, 1);
}

/* The first number of a data, once all before have written. */
__attribute__((unused)) static uint64_t value_of(struct lkdf_data *d)
{
	uint64_t value;
	void *bytes;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	value = *(uint64_t *)bytes;
	must(lkdf_data_release(d));
	return value;
}

/* Body: one more. */
__attribute__((unused)) static int add_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return 0;
}

/* For LKDF_REDUCE: numbers of 64 bits are added. */
__attribute__((unused)) static int add_words(void *acc, const void *x,
					     uint64_t bytes)
{
	uint64_t *a = acc;
	const uint64_t *b = x;
	uint64_t i;

	for (i = 0; i < bytes / sizeof(*a); i++)
		a[i] += b[i];
	return 0;
}

__attribute__((unused)) static void no_words(void *acc, uint64_t bytes)
{
	memset(acc, 0, bytes);
}

#endif
