/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/lend/lend.h"

#include "mechanism/due/due.h"
#include "mechanism/quota/quota.h"
#include "sched/help.h"
#include "trace/counters.h"

void lend_seat(struct sched *s)
{
	/* Told by [quota.stir]. */
	a_add(&quota_in(s)->nr_lent, 1, relaxed);
	quota_stir(quota_in(s));
}

/* Naps of a join double: before one of more than that it has rested so long. */
bool lend_begin(struct worker *w, int64_t nap_ns)
{
	struct sched *s = w->sched;

	if (s->nr_workers == s->nr_regular || nap_ns <= LEND_NS ||
	    due_is(&s->workers[s->nr_regular]))
		return false;
	counter_add(w->executor->counters, COUNTER_LENDS, 1);
	a_store(&lend_of(w)->has_lent, 1, relaxed);
	lend_seat(s);
	return true;
}

void lend_take_back(struct sched *s)
{
	/* [lend.a] before we look who sleeps; pairs with [lend.d]. */
	uint32_t nr = a_sub(&quota_in(s)->nr_lent, 1, seq_cst);

	check(nr);
	nr = (uint32_t)min_u64(nr - 1,
			       (uint64_t)(s->nr_workers - s->nr_regular));
	help_call(s, s->nr_regular + (int)nr,
		  s->nr_workers - s->nr_regular - (int)nr);
}

void lend_end(struct worker *w)
{
	a_store(&lend_of(w)->has_lent, 0, relaxed);
	lend_take_back(w->sched);
}

const struct mechanism lend_mechanism = {
	.name = "lend",
	.uses = "due quota",
	.needs = "quota",
	.of_worker = MECHANISM_DATA(struct lend_worker),
};
