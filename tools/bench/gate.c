/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A spinning thread per CPU reads the clock without a pause; a gap between two
 * readings is time in which somebody else had the CPU, a hypervisor's guest
 * included.
 */
#include "bench/gate.h"
#include "bench/bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 60000000
#define GAP_NS 10000
#define PAUSE_NS 100000000
#define MAX_CPUS 256

struct spin {
	pthread_t thread;
	int cpu;
	int64_t start_ns, lost_ns;
};

static void *spin_main(void *arg)
{
	struct spin *s = arg;
	int64_t now, last, end = s->start_ns + LOOK_NS;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(s->cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (last = bench_now_ns(); last < s->start_ns;)
		last = bench_now_ns();
	/* An arm that starts late has lost that time too. */
	if (last - s->start_ns > GAP_NS)
		s->lost_ns += last - s->start_ns;
	for (; last < end; last = now) {
		now = bench_now_ns();
		if (now - last > GAP_NS)
			s->lost_ns += now - last;
	}
	return NULL;
}

/* Share of the CPUs' time that this process got just now, 0 .. 1. */
static double look(void)
{
	struct spin *s = calloc(MAX_CPUS, sizeof(*s));
	int64_t lost = 0, start = bench_now_ns() + 2000000;
	int cpu, i, nr = 0;
	cpu_set_t set;

	if (!s || sched_getaffinity(0, sizeof(set), &set)) {
		free(s);
		return 0;
	}
	for (cpu = 0; cpu < CPU_SETSIZE && nr < MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		s[nr].cpu = cpu;
		s[nr].start_ns = start;
		if (!pthread_create(&s[nr].thread, NULL, spin_main, &s[nr]))
			nr++;
	}
	for (i = 0; i < nr; i++) {
		pthread_join(s[i].thread, NULL);
		lost += s[i].lost_ns;
	}
	free(s);
	return nr ? 1 - (double)lost / ((double)nr * LOOK_NS) : 0;
}

void gate_init(struct gate *g, int64_t patience_ns, int64_t budget_ns)
{
	cpu_set_t set;

	*g = (struct gate){ .need = 0.925,
			    .patience_ns = patience_ns,
			    .budget_ns = budget_ns };
	if (!sched_getaffinity(0, sizeof(set), &set))
		g->nr_cpus = CPU_COUNT(&set);
}

void gate_reset(struct gate *g)
{
	g->nr_rounds = 0;
	g->nr_good = 0;
}

bool gate_wait(struct gate *g)
{
	int64_t start = bench_now_ns(), spent = 0;
	bool is_good;

	for (;;) {
		g->last = look();
		is_good = g->last >= g->need;
		if (is_good || spent > g->patience_ns || spent > g->budget_ns)
			break;
		bench_sleep_ns(PAUSE_NS);
		spent = bench_now_ns() - start;
	}
	g->budget_ns -= spent;
	g->nr_rounds++;
	g->nr_good += is_good;
	return is_good;
}

bool gate_was_fair(const struct gate *g)
{
	return g->nr_good * 4 >= g->nr_rounds * 3;
}
