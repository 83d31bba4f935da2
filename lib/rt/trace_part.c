/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/trace_part.h"

#include "base/clock.h"
#include "base/options.h"
#include "core/runtime.h"
#include "core/signals.h"
#include "core/stock.h"
#include "mem/heap.h"
#include "task/narrowing.h"
#include "topo/topo.h"
#include "trace/drain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

/* Facts that do not change, for the reader of a file; "key=value" lines. */
static void write_facts(const struct lkdf *rt, char *to, size_t size)
{
	const struct options *o = rt->options;
	const struct topo *t = rt->topo;

	snprintf(to, size,
		 "program=%s\nworkers=%d\nblocking=%d\ncpus=%d\ncores=%d\n"
		 "nodes=%d\nquota.milli=%d\nsynthetic=%d\npin=%d\n"
		 "serial=%d\nspin.us=%d\nplacement=%d\nfar.steals=%d\n"
		 "rehome=%d\nsolo.runs=%d\nstatic.runs=%d\nio=%d\n",
		 program_invocation_short_name, rt->nr_workers, rt->nr_blocking,
		 t->nr_cpus, t->nr_cores, t->nr_nodes, t->quota_milli,
		 t->is_synthetic, (int)o->pin, (int)o->serial, (int)o->spin_us,
		 (int)o->placement, (int)o->far_steals, (int)o->rehome,
		 (int)o->solo_runs, (int)o->static_runs, (int)o->io);
}

/* A flight recorder has a file without being told one. */
static const char *trace_file(const struct options *o)
{
	return o->trace_last && !o->trace[0] ? "lkdf-last.%p.lkdf" : o->trace;
}

/* By the option's words. */
static int signal_number(const struct options *o)
{
	static const int numbers[] = { 0, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

	return numbers[o->trace_signal];
}

static int open_trace(struct lkdf *rt)
{
	char facts[1024];
	struct trace_attr trace = {
		.nr_executors = rt->nr_executors,
		.nr_nodes = rt->topo->nr_nodes,
		.ticks_per_1024ns = clock_ticks_per_1024ns(),
		.spin_ns = (uint32_t)rt->options->spin_us * 1000,
		.file = trace_file(rt->options),
		.last_ns = rt->options->trace_last * 1000000000,
		.last_signal = signal_number(rt->options),
		.is_optional = rt->options->trace_is_variable,
		.counts_kinds = rt->options->kinds,
		.facts = facts,
		.log = &rt->log,
	};

	write_facts(rt, facts, sizeof(facts));
	return trace_open(&rt->trace, &trace);
}

/* Other processes can see the memfd, and blocks with labels in it. */
static void open_listing(struct lkdf *rt)
{
	struct listing *l = &rt->heap->labels.listing;
	struct trace *t = &rt->trace;

	if (t->fd < 0)
		return;
	l->row = (void *)(t->labels + TRACE_LABELS * sizeof(uint64_t));
	l->nr = TRACE_LABELS;
	l->left_out = t->labels_left_out;
	l->address = (void *)t->labels;
}

int trace_part_open(struct lkdf *rt)
{
	int rc = open_trace(rt);

	if (rc)
		return rc;
	open_listing(rt);
	rc = signals_open(rt);
	return rc ? rc : narrowing_open(rt);
}

void trace_part_close(struct lkdf *rt)
{
	rt->heap->labels.listing.address = NULL;
	narrowing_close(rt);
	trace_close(&rt->trace);
	signals_close(rt);
}

void trace_part_abandon(struct lkdf *rt)
{
	trace_abandon(&rt->trace);
	trace_part_close(rt);
}

/* Under stocks_lock() a runtime that is there has its trace. In a forked child
 * the parent's are not alive: their files are the parent's to end. */
static struct trace_drain *claim_recording(void)
{
	struct trace_drain *d = NULL;
	struct list *all = stocks_lock(), *l;
	struct lkdf *rt;

	for (l = all->next; l != all && !d; l = l->next) {
		rt = container_of(l, struct lkdf, stocks.all);
		if (a_load(rt->is_alive, relaxed))
			d = trace_claim(&rt->trace);
	}
	stocks_unlock();
	return d;
}

/*
 * exit(3) with runtimes open, after all handlers of the program: their workers
 * may run on. The lock is not held while a recording ends, as its thread needs
 * the allocator, whose locks another thread may hold in fork().
 */
static __attribute__((destructor)) void end_recordings(void)
{
	struct trace_drain *d;

	while ((d = claim_recording()))
		drain_leave(d);
}
