/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "doctor/shared_cpus.h"

#include "stat/stats.h"
#include "stat/target.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPUs of the workers of one runtime that have one each. */
struct bound {
	int pid;
	cpu_set_t cpus;
};

struct found {
	struct bound *of;
	unsigned nr;
	bool is_full; /* no memory for more */
};

static void take_cpus(const struct stats *s, cpu_set_t *to)
{
	const struct lkdf_stats_block *b;
	uint32_t e;

	CPU_ZERO(to);
	for (e = 0; e < s->h.nr_executors; e++) {
		b = stats_block(s, e);
		if (b->start_seq && b->kind == LKDF_EXECUTOR_WORKER &&
		    b->cpu >= 0 && b->cpu < CPU_SETSIZE)
			CPU_SET(b->cpu, to);
	}
}

static void add_runtime(struct found *f, int pid, const struct stats *s)
{
	struct bound *of;

	if (f->is_full)
		return;
	of = realloc(f->of, (f->nr + 1) * sizeof(*of));
	if (!of) {
		f->is_full = true;
		return;
	}
	f->of = of;
	of[f->nr].pid = pid;
	take_cpus(s, &of[f->nr].cpus);
	f->nr++;
}

static void add_process(void *u, int pid, const char *name)
{
	struct stats stats[STATS_MAX];
	int nr = stats_find(pid, stats, STATS_MAX), i;

	(void)name;
	for (i = 0; i < nr; i++) {
		add_runtime(u, pid, &stats[i]);
		stats_unmap(&stats[i]);
	}
}

/* ---- text ---------------------------------------------------------------- */

static void add_text(char *to, const char *between, int number)
{
	size_t used = strlen(to);

	snprintf(to + used, SHARED_TEXT - used, "%s%d", used ? between : "",
		 number);
}

static void put_cpus(const cpu_set_t *set, char *to)
{
	int i, first;

	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, set))
			continue;
		first = i;
		while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, set))
			i++;
		add_text(to, ",", first);
		if (i > first)
			add_text(to, "-", i);
	}
}

/* ---- who shares ---------------------------------------------------------- */

/* Adds the CPUs that runtime i shares with another, one of them of pid. */
static bool shares_any(const struct found *f, unsigned i, int pid,
		       cpu_set_t *all)
{
	cpu_set_t both;
	bool has = false;
	unsigned j;

	for (j = 0; j < f->nr; j++) {
		if (j == i ||
		    (pid && f->of[i].pid != pid && f->of[j].pid != pid))
			continue;
		CPU_AND(&both, &f->of[i].cpus, &f->of[j].cpus);
		has |= CPU_COUNT(&both) > 0;
		CPU_OR(all, all, &both);
	}
	return has;
}

void shared_cpus_find(int pid, struct shared_cpus *to)
{
	struct found f = { .nr = 0 };
	int last = 0;
	cpu_set_t all;
	unsigned i;

	memset(to, 0, sizeof(*to));
	CPU_ZERO(&all);
	target_each(add_process, &f);
	for (i = 0; i < f.nr; i++) {
		if (!shares_any(&f, i, pid, &all) || f.of[i].pid == last)
			continue;
		/* Runtimes of one process are neighbours. */
		last = f.of[i].pid;
		add_text(to->pids, ", ", last);
	}
	put_cpus(&all, to->cpus);
	free(f.of);
}
