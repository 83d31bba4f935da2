/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/run.h"

#include <stdio.h>

int run_body(struct lkdf_ctx *c, void *arg)
{
	struct run *r = (struct run *)(uintptr_t)lkdf_run_arg(c) + lkdf_seq(c);
	int task = (int)(intptr_t)arg;
	int n = atomic_load(&r->calls[task]), rc;

	/* Where it waits it is called again, and that is no call. */
	rc = channels_exchange(r->channels, c, &r->exchange, r->p, task,
			       program_out(r->p, r->number, task, n));
	if (rc)
		return rc;
	atomic_fetch_add(&r->calls[task], 1);
	r->seen[task] = program_see(r->seen[task], n, lkdf_in(c, 0));
	variables_call(c, r->variables, r->child,
		       &(struct call){ r->p, r->number, task, n },
		       &r->seen[task]);
	if (!r->p->is_bare)
		*(uint64_t *)lkdf_out(c, 0) =
			program_out(r->p, r->number, task, n);

	return program_value(r->p, r->number, task, n);
}

bool run_compare_error(int run, int error, bool has_failed)
{
	if ((error != 0) == has_failed)
		return true;
	printf("# run %d: ends with %d, a task has%s failed\n", run, error,
	       has_failed ? "" : " not");
	return false;
}

bool run_compare(const struct program *p, const struct run *run,
		 const struct story *s)
{
	bool good = true;
	int t;

	for (t = 0; t < p->nr_tasks; t++) {
		if (run->calls[t] != s->calls[t])
			printf("# run %d: task %d called %d times, not %d\n",
			       run->number, t, run->calls[t], s->calls[t]);
		else if (run->seen[t] != s->seen[t])
			printf("# run %d: task %d has seen other values\n",
			       run->number, t);
		else
			continue;
		good = false;
	}
	return good;
}

int run_start(const struct program *p, struct lkdf_graph *g, struct run *run,
	      struct lkdf_event *done)
{
	struct lkdf_run attr = { .size = sizeof(attr), .arg = run };
	int i, rc = 0;

	if (p->is_stream) {
		attr.flags = LKDF_RUN_STREAM | LKDF_RUN_GO_ON;
		attr.times = (uint64_t)p->nr_runs;
		attr.max_waves = (uint32_t)p->max_waves;
	}
	for (i = 0; i < (p->is_stream || p->has_data ? 1 : p->nr_runs) && !rc;
	     i++)
		rc = lkdf_graph_run(g, NULL, &attr, &done[i]);
	return rc;
}
