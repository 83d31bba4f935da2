/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Steps of one execution, and how a person reads them. */
#include "checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
	[MC_LOAD] = "load",
	[MC_STORE] = "store",
	[MC_XCHG] = "xchg",
	[MC_CAS] = "cas",
	[MC_ADD] = "add",
	[MC_SUB] = "sub",
	[MC_OR] = "or",
	[MC_AND] = "and",
	[MC_PAUSE] = "pause",
	[MC_PLAIN_LOAD] = "plain load",
	[MC_PLAIN_STORE] = "plain store",
	[MC_FUTEX_WAIT] = "futex wait",
	[MC_FUTEX_SLEEP] = "futex sleep",
	[MC_FUTEX_WAKE] = "futex wake",
	[MC_FREE] = "free",
	[MC_END] = "end",
};

static const char *const orders[] = {
	[MC_RELAXED] = "relaxed", [MC_ACQUIRE] = "acquire",
	[MC_RELEASE] = "release", [MC_ACQ_REL] = "acq_rel",
	[MC_SEQ_CST] = "seq_cst",
};

const char *report_kind(enum mc_kind k)
{
	return kinds[k];
}

const char *report_order(enum mc_order o)
{
	return orders[o];
}

const char *report_name(const struct loc *l)
{
	static char text[2][24];
	static unsigned which;

	if (l->name)
		return l->name;
	which = !which;
	snprintf(text[which], sizeof(text[0]), "%p", (const void *)l->addr);
	return text[which];
}

struct step *report_step(enum mc_kind kind, struct loc *l, struct mc_site *s)
{
	struct step *step = &mc.steps[mc.nr_steps];

	if (mc.nr_steps == MC_STEPS - 1)
		mc_fail("checker: more than %d steps", MC_STEPS);
	mc.nr_steps++;
	*step = (struct step){
		.thread = (uint8_t)(mc.cur - mc.threads),
		.kind = (uint8_t)kind,
		.loc = l,
		.site = s,
	};
	return step;
}

static void print_value(const struct step *s)
{
	if (s->has_value == 2)
		printf(" %#" PRIx64 " -> %#" PRIx64, s->old, s->value);
	else if (s->has_value)
		printf(" = %#" PRIx64, s->value);
	if (s->stale)
		printf(" (%u behind)", s->stale);
}

void report_steps(void)
{
	const struct step *s;
	unsigned i;

	for (i = 0; i < mc.nr_steps; i++) {
		s = &mc.steps[i];
		printf("#   %*s%u: %s", s->thread * 4, "", s->thread,
		       kinds[s->kind]);
		if (s->loc)
			printf(" %s", s->site && !s->loc->name
					      ? s->site->text
					      : report_name(s->loc));
		print_value(s);
		if (s->site && s->kind < MC_PAUSE)
			printf(" %s", orders[s->site->order]);
		if (s->site)
			printf("  %s %s:%d", s->site->func, s->site->file,
			       s->site->line);
		printf("\n");
	}
}

/* Who waits for what, for a deadlock's text. */
void report_waiters(char *text, size_t size)
{
	const struct thread *t;
	size_t used = 0;
	int i, n;

	text[0] = 0;
	for (i = 0; i < mc.sc->nr_threads; i++) {
		t = &mc.threads[i];
		if (t->op == MC_END || used >= size)
			continue;
		if (t->op == MC_PAUSE)
			n = snprintf(text + used, size - used,
				     "%s%d spins in %s:%d", used ? ", " : "", i,
				     t->site->func, t->site->line);
		else
			n = snprintf(text + used, size - used,
				     "%s%d sleeps on %s", used ? ", " : "", i,
				     report_name(t->loc));
		used += (size_t)n;
	}
}
