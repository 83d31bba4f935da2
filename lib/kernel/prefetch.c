/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "kernel/prefetch.h"

#include "base/err.h"
#include "data/data.h"
#include "kernel/kernel.h"
#include "task/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int make_kind(struct lkdf *rt, struct lkdf_kind **out)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "lkdf.prefetch",
		.flags = LKDF_ALWAYS,
	};
	struct kernel *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return -ENOMEM;
	k->rt = rt;
	k->is_prefetch = true;
	snprintf(k->name, sizeof(k->name), "%s", a.name);
	rc = kind_create_sort(rt, &kernel_kinds, &a, out);
	if (rc)
		free(k);
	else
		(*out)->kernel = k;
	return rc;
}

/* The kind of our tasks, made by whoever needs it first. */
static struct lkdf_kind *find_kind(struct lkdf *rt)
{
	_Atomic(struct lkdf_kind *) *at = &rt->devices->prefetch_kind;
	/* [prefetch.find] pairs with [prefetch.kind]. */
	struct lkdf_kind *k = a_load(at, acquire), *mine;

	if (k || make_kind(rt, &mine))
		return k;
	/* [prefetch.kind] all of it; pairs with [prefetch.find]. */
	if (a_cas(at, &k, mine, acq_rel, acquire))
		return mine;
	kind_put(mine);
	return k;
}

int prefetch_submit(struct lkdf_data *d, const struct lkdf_place *p,
		    struct lkdf_event *done)
{
	uint32_t parts = d->domain.nr_parts, i;
	uint32_t nr = parts && parts <= LKDF_MAX_USES ? parts : 1;
	struct lkdf_use *use = calloc(nr, sizeof(*use));
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = find_kind(d->rt),
		.place = (struct lkdf_place *)(uintptr_t)p,
		.use = use,
		.nr_use = nr,
	};
	int rc;

	if (!use || !t.kind) {
		free(use);
		return err(-ENOMEM, "prefetch: no memory");
	}
	for (i = 0; i < nr; i++)
		use[i] = (struct lkdf_use){ d, LKDF_READ, nr > 1 ? i + 1 : 0 };
	rc = task_submit(d->rt, d->rt->root, &t, done);
	free(use);
	return rc;
}

void prefetch_close(struct lkdf *rt)
{
	kind_put(a_load(&rt->devices->prefetch_kind, relaxed));
	a_store(&rt->devices->prefetch_kind, NULL, relaxed);
}

void prefetch_abandon(struct lkdf *rt)
{
	struct lkdf_kind *k = a_load(&rt->devices->prefetch_kind, relaxed);

	if (!k)
		return;
	k->next_dead = rt->dead_kinds;
	rt->dead_kinds = k;
}
