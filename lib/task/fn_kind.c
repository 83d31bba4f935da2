/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/fn_kind.h"

#include "base/err.h"
#include "core/runtime.h"
#include "task/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fn_kind {
	/* Set before it is in the table, constant afterwards. */
	struct fn_kind *next;
	lkdf_fn fn;
	struct lkdf_kind *kind; /* whose name may be cut */
	char name[];
};

static _Atomic(struct fn_kind *) *bucket_of(struct lkdf *rt, lkdf_fn fn)
{
	return &rt->fn_kinds[((uintptr_t)fn / 16 * 0x9e3779b1u >> 8) %
			     FN_KINDS];
}

static struct lkdf_kind *find_in_bucket(_Atomic(struct fn_kind *) *bucket,
					const char *name, lkdf_fn fn)
{
	struct fn_kind *k;

	/* [fn_kind.find] its fields; pairs with [fn_kind.add]. */
	for (k = a_load(bucket, acquire); k; k = k->next)
		if (k->fn == fn && !strcmp(k->name, name))
			return k->kind;
	return NULL;
}

static int create_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		       struct fn_kind **out)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = name,
		.fn = fn,
	};
	struct fn_kind *k = malloc(sizeof(*k) + strlen(name) + 1);
	int rc;

	if (!k)
		return err(-ENOMEM, "submit: no memory for \"%s\"", name);
	k->fn = fn;
	strcpy(k->name, name);
	rc = kind_create(rt, &a, &k->kind);
	if (rc) {
		free(k);
		return rc;
	}
	gate_force(k->kind);
	*out = k;
	return 0;
}

int fn_kind_find(struct lkdf *rt, const char *name, lkdf_fn fn,
		 struct lkdf_kind **out)
{
	_Atomic(struct fn_kind *) *bucket = bucket_of(rt, fn);
	struct fn_kind *new = NULL;
	int rc;

	*out = find_in_bucket(bucket, name, fn);
	if (likely(*out != NULL))
		return 0;
	rc = create_kind(rt, name, fn, &new);
	if (rc)
		return rc;
	pthread_mutex_lock(&rt->lock);
	*out = find_in_bucket(bucket, name, fn);
	if (!*out) {
		*out = new->kind;
		new->next = a_load(bucket, relaxed);
		/* [fn_kind.add] pairs with [fn_kind.find]. */
		a_store(bucket, new, release);
		new = NULL;
	}
	pthread_mutex_unlock(&rt->lock);
	if (new) {
		kind_put(new->kind);
		free(new);
	}
	return 0;
}

void fn_kind_close(struct lkdf *rt)
{
	struct fn_kind *k, *next;
	int i;

	for (i = 0; i < FN_KINDS; i++) {
		k = a_load(&rt->fn_kinds[i], relaxed);
		a_store(&rt->fn_kinds[i], NULL, relaxed);
		for (; k; k = next) {
			next = k->next;
			kind_put(k->kind);
			free(k);
		}
	}
}
