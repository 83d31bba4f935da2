/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * As many bodies as workers meet: submitted from a thread, each waits until
 * all are there. Nobody may lie where a worker that waits in its body alone
 * would find it (model.md, rule 6). Also with more workers than CPUs.
 */
#include "tests/api/api.h"

#define ROUNDS 50

static int meet(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	gate_pass(arg);
	return 0;
}

/* Sees to it that a failure ends. */
static int all_meet(struct lkdf *rt, struct lkdf_kind *k, int nr)
{
	struct gate *gate = calloc(1, sizeof(*gate));
	int i, nr_met;

	for (i = 0; i < nr; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &gate),
				 NULL));
	for (i = 0; i < 20000 && atomic_load(&gate->entered) < nr; i++)
		api_nap_ns(1000000);
	nr_met = atomic_load(&gate->entered);
	atomic_store(&gate->open, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	free(gate);
	return nr_met;
}

static int meet_gate(struct lkdf_ctx *c, void *arg)
{
	return meet(c, *(struct gate **)arg);
}

static void workers_meet(int nr)
{
	char options[32];
	struct lkdf_kind *k;
	struct lkdf *rt;
	int i, nr_met = nr;

	snprintf(options, sizeof(options), "workers=%d", nr);
	for (i = 0; i < ROUNDS && nr_met == nr; i++) {
		rt = api_open(options);
		/* New each time: how long its bodies take is not known. */
		k = api_kind(rt, "meet", meet_gate, sizeof(void *), 0);
		nr_met = all_meet(rt, k, nr);
		lkdf_kind_put(k);
		must(lkdf_close(rt));
	}
	is(nr_met, nr, "%d bodies meet on %d workers", nr, nr);
}

int main(void)
{
	alarm(100);
	workers_meet(2);
	workers_meet(3);
	workers_meet(4);
	workers_meet(8);
	return tap_end();
}
