/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Plain accesses and freed memory: whatever does not happen before is a race.*/
#include "checker.h"

#include <string.h>

/* Some access in clock by another thread does not happen before us. */
void race_check(struct loc *l, const struct clock *before, bool is_plain,
		struct mc_site *site)
{
	struct step *step;
	unsigned i = mc.nr_steps;
	int u;

	for (u = 0; u < mc.sc->nr_threads; u++)
		if (u != index_of(mc.cur) &&
		    before->c[u] > mc.cur->view->hb.c[u])
			break;
	if (u == mc.sc->nr_threads)
		return;
	while (i-- > 0) {
		step = &mc.steps[i];
		if (step->thread != u || step->loc != l || !step->site)
			continue;
		if ((step->kind >= MC_PLAIN_LOAD) == is_plain)
			mc_fail("data race on %s: %s:%d and %s:%d",
				report_name(l), step->site->file,
				step->site->line, site ? site->file : "free",
				site ? site->line : 0);
	}
	mc_fail("data race on %s with thread %d", report_name(l), u);
}

/* For the printed steps only. */
static uint64_t value_of(const volatile void *p, unsigned size)
{
	uint64_t v = 0;

	if (size <= sizeof(v))
		memcpy(&v, (const void *)(uintptr_t)p, size);
	return v;
}

static void plain_step(const volatile void *p, unsigned size, bool is_write,
		       struct mc_site *s)
{
	struct loc *l = model_loc(p, size);
	int self = index_of(mc.cur);
	uint16_t now = ++mc.cur->view->hb.c[self];
	struct step *step = report_step(s->kind, l, s);

	race_check(l, &l->wr, true, s);
	race_check(l, &l->awr, false, s);
	if (!is_write) {
		l->rd.c[self] = now;
		step->value = value_of(p, size);
		step->has_value = size <= 8;
		return;
	}
	race_check(l, &l->rd, true, s);
	race_check(l, &l->ard, false, s);
	l->wr.c[self] = now;
	mc.cur->changes++;
	mc.changes++;
}

void *mc_plain_load(const volatile void *p, unsigned size, struct mc_site *s)
{
	heap_check(p);
	if (mc.cur)
		plain_step(p, size, false, s);
	return (void *)(uintptr_t)p;
}

void *mc_plain_store(volatile void *p, unsigned size, struct mc_site *s)
{
	static uint64_t sink[64];

	heap_check(p);
	if (s->is_dropped && mc.cur && size <= sizeof(sink))
		return sink;
	if (mc.cur)
		plain_step(p, size, true, s);
	return (void *)(uintptr_t)p;
}

/* A free is a plain write to all of the block. */
void race_free(struct loc *l)
{
	int self = index_of(mc.cur);

	if (l->exec != mc.exec)
		return;
	report_step(MC_FREE, l, NULL);
	race_check(l, &l->wr, true, NULL);
	race_check(l, &l->rd, true, NULL);
	race_check(l, &l->awr, false, NULL);
	race_check(l, &l->ard, false, NULL);
	l->wr.c[self] = ++mc.cur->view->hb.c[self];
}
