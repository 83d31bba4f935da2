/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The body of every task in every runtime; an object of its own, made once,
 * of scalar code. Between its marks words outside of the arena are the body's.
 */
#include "tests/bench/numa/program.h"
#include "tests/vm/plugin/guest.h"

#include <sched.h>
#include <stdbool.h>
#include <time.h>

static void look_at_predecessors(const struct task *t)
{
	struct program *p = t->program;
	uint32_t i, nr = __atomic_load_n(&p->nr_runs[t->id], __ATOMIC_RELAXED);

	for (i = 0; i < t->nr_preds; i++)
		if (__atomic_load_n(&p->nr_runs[t->pred[i]],
				    __ATOMIC_ACQUIRE) <= nr)
			__atomic_fetch_add(&p->nr_too_early, 1,
					   __ATOMIC_RELAXED);
}

static void walk(const struct task *t, uint64_t *const *block)
{
	const struct span *s;
	uint64_t sum = t->id, *at;
	uint32_t i;

	for (s = t->span; s < t->span + t->nr_spans; s++) {
		at = block[s->use] + s->first;
		if (s->is_written)
			for (i = 0; i < s->nr_words; i += s->step)
				at[i] = sum + i;
		else
			for (i = 0; i < s->nr_words; i += s->step)
				sum += at[i];
		/* Another walk is not the same as this one. */
		__asm__ volatile("" ::"r"(sum) : "memory");
	}
}

static bool all_nodes_have_begun(const struct program *p)
{
	int i;

	for (i = 0; i < PROGRAM_NODES; i++)
		if (__atomic_load_n(&p->nr_done[i], __ATOMIC_RELAXED) <
		    p->nr_tasks / PROGRAM_NODES / 8)
			return false;
	return true;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1000000000ull * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}

static int node_here(void)
{
	return sched_getcpu() * PROGRAM_NODES / PROGRAM_WORKERS;
}

/* Opens when all nodes have run 1/8, shuts when the first has run 3/4. */
static void pass_gate(struct program *p)
{
	uint32_t shut = 0, open = 1;
	uint32_t nr = __atomic_add_fetch(&p->nr_done[node_here()], 1,
					 __ATOMIC_RELAXED);

	if (nr >= p->nr_tasks / PROGRAM_NODES * 3 / 4) {
		if (__atomic_compare_exchange_n(&p->gate, &open, 2, false,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			guest_mark(CONTROL_STOP);
	} else if (all_nodes_have_begun(p)) {
		if (__atomic_compare_exchange_n(&p->gate, &shut, 1, false,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			guest_mark(CONTROL_START);
	}
	if (__atomic_load_n(&p->gate, __ATOMIC_RELAXED) == 1)
		__atomic_fetch_add(&p->nr_tasks_counted, 1, __ATOMIC_RELAXED);
}

void program_body(struct task *t, uint64_t *const *at)
{
	struct program *p;
	uint64_t start = 0;
	uint32_t i;

	guest_mark(CONTROL_ENTER);
	p = t->program;
	if (p->is_timed)
		start = now();
	look_at_predecessors(t);
	for (i = 0; i < t->nr_walks; i++)
		walk(t, at);
	if (p->is_timed)
		__atomic_fetch_add(&p->time[node_here()], now() - start,
				   __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->nr_runs[t->id], 1, __ATOMIC_RELEASE);
	if (p->is_gated)
		pass_gate(p);
	guest_mark(CONTROL_LEAVE);
}
