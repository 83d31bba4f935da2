/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/topo_tell.h"

#include "base/err.h"
#include "base/text.h"
#include "core/runtime.h"
#include "mechanism/quota/quota.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdlib.h>

/* The row of topo of the CPU that each worker is bound to. */
static void place_workers(const struct lkdf *rt, const struct topo *t,
			  int *worker)
{
	int i, j;

	for (i = 0; i < rt->nr_workers; i++) {
		for (j = 0; j < t->nr_cpus; j++) {
			if (t->cpu[j].os_cpu == rt->sched.workers[i].cpu)
				worker[i] = j;
		}
	}
}

int topo_tell(struct lkdf *rt, bool is_json, struct text *f)
{
	int *worker = calloc((size_t)rt->nr_workers, sizeof(*worker));
	struct topo now = *rt->topo, *t = &now;
	uint32_t nr = a_load(&quota_in(&rt->sched)->nr_running, relaxed);
	bool is_pinned = rt->sched.is_pinned;
	char *text;
	int rc;

	topo_set_quota(t, a_load(&quota_in(&rt->sched)->milli, relaxed));
	if (!worker)
		return err(-ENOMEM, "describe: no memory");
	if (is_pinned)
		place_workers(rt, t, worker);
	rc = topo_describe(t, is_json ? "json" : "text",
			   is_pinned ? worker : NULL, rt->nr_workers, &text);
	free(worker);
	if (rc)
		return rc;
	text_put(f, "%s", text);
	free(text);
	if (!is_json && nr && (int)nr < rt->nr_workers)
		text_put(f, "%u of %d workers run: there are no more CPUs\n",
			 nr, rt->nr_workers);
	return 0;
}
