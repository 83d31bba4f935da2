/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/prefetch.h"

#include "base/err.h"
#include "data/data.h"
#include "offload/kernel.h"
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

int prefetch_submit(struct lkdf_data *d, const struct lkdf_place *p,
		    struct lkdf_event *done)
{
	uint32_t parts = d->domain.nr_parts, i;
	uint32_t nr = parts && parts <= LKDF_MAX_USES ? parts : 1;
	struct lkdf_use *use = calloc(nr, sizeof(*use));
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = own_kind_get(d->rt, OWN_PREFETCH, make_kind),
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
