/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/lend/lend.h"

#include "mechanism/due/due.h"
#include "mechanism/quota/quota.h"
#include "sched/help.h"
#include "trace/counters.h"

/* Naps of a join double: before one of more than that it has rested so long. */
bool lend_begin(struct worker *w, int64_t nap_ns)
{
	struct sched *s = w->sched;

	if (s->nr_workers == s->nr_regular || nap_ns <= LEND_NS ||
	    due_is(&s->workers[s->nr_regular]))
		return false;
	counter_add(w->executor->counters, COUNTER_LENDS, 1);
	/* Told by [quota.stir]. */
	a_add(&s->quota.nr_lent, 1, relaxed);
	a_store(&w->joiner.has_lent, 1, relaxed);
	quota_stir(&s->quota);
	return true;
}

void lend_end(struct worker *w)
{
	struct sched *s = w->sched;
	/* [lend.a] before we look who sleeps; pairs with [lend.d]. */
	uint32_t nr = a_sub(&s->quota.nr_lent, 1, seq_cst);

	check(nr);
	a_store(&w->joiner.has_lent, 0, relaxed);
	nr = (uint32_t)min_u64(nr - 1,
			       (uint64_t)(s->nr_workers - s->nr_regular));
	help_call(s, s->nr_regular + (int)nr,
		  s->nr_workers - s->nr_regular - (int)nr);
}

const struct mechanism lend_mechanism = {
	.name = "lend",
	.uses = "due quota",
};
