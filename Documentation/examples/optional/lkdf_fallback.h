/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops of lkdf as plain loops, for a program that is built where lkdf is not
 * installed: the program has a copy of this file and includes it instead.
 */
#ifndef LKDF_FALLBACK_H
#define LKDF_FALLBACK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

struct lkdf;

struct lkdf_range {
	uint64_t begin, end, grain;
};

struct lkdf_call {
	int (*fn)(void *u);
	void *u;
};

struct lkdf_reduce_attr {
	uint32_t size, flags;
	struct lkdf_range range;
	int (*fn)(uint64_t begin, uint64_t end, void *acc, void *u);
	int (*join)(void *acc, const void *x, void *u);
	void *u;
	void *acc;
	uint64_t acc_bytes;
	void *scope; /* NULL */
	const char *name;
};

static inline int lkdf_default(struct lkdf **out)
{
	*out = NULL;
	return 0;
}

static inline int lkdf_default_put(struct lkdf *rt)
{
	(void)rt;
	return 0;
}

static inline int lkdf_nr_workers(const struct lkdf *rt)
{
	(void)rt;
	return 1;
}

static inline int lkdf_for(struct lkdf *rt, struct lkdf_range r,
			   int (*fn)(uint64_t begin, uint64_t end, void *u),
			   void *u)
{
	int rc;

	(void)rt;
	if (r.begin > r.end || !fn)
		return -EINVAL;
	rc = r.begin < r.end ? fn(r.begin, r.end, u) : 0;
	return rc < 0 ? rc : 0;
}

static inline int lkdf_reduce(struct lkdf *rt, const struct lkdf_reduce_attr *a)
{
	const struct lkdf_range *r = &a->range;
	int rc;

	(void)rt;
	if (r->begin > r->end || !a->fn || !a->acc)
		return -EINVAL;
	rc = r->begin < r->end ? a->fn(r->begin, r->end, a->acc, a->u) : 0;
	return rc < 0 ? rc : 0;
}

static inline int lkdf_invoke(struct lkdf *rt, const struct lkdf_call *v,
			      unsigned nr)
{
	int rc = 0;

	(void)rt;
	for (; nr && rc >= 0; nr--, v++)
		rc = v->fn(v->u);
	return rc < 0 ? rc : 0;
}

#endif
