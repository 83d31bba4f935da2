/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/open.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/membarrier.h"
#include "core/scratch.h"
#include "core/signals.h"
#include "data/data.h"
#include "data/facts.h"
#include "data/place.h"
#include "io/event_poll.h"
#include "io/io_ring.h"
#include "mem/heap.h"
#include "mem/region.h"
#include "offload/backend.h"
#include "offload/devices.h"
#include "offload/own_kind.h"
#include "rt/ask.h"
#include "rt/report.h"
#include "rt/seats.h"
#include "rt/watch.h"
#include "run/frame.h"
#include "run/run.h"
#include "run/slots.h"
#include "scope/event.h"
#include "scope/event_tap.h"
#include "scope/scope.h"
#include "task/after.h"
#include "task/fn_kind.h"
#include "task/kind.h"
#include "task/move.h"
#include "task/parallel_for.h"
#include "task/task.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

/* Parts that struct lkdf has as pointers, for the rooms below not to see it. */
struct runtime_parts {
	_Alignas(CACHE_LINE) struct lkdf_scope root;
	struct lkdf_scope fds;
	struct event_shard event_shards[EVENT_SHARDS];
	struct io_wait io_wait;
	struct io_rings io_rings;
	struct devices devices;
};

static const struct completion_ops *const completions[] = {
	&io_completions,
	&device_completions,
	NULL,
};

static const size_t object_size[NR_POOLS] = {
	[POOL_TASK] = round_up_const(sizeof(struct task), CACHE_LINE),
	[POOL_EVENT] = round_up_const(sizeof(struct event), CACHE_LINE),
};

/* A page that the kernel clears in a forked child. */
static int mark_alive(struct lkdf *rt)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return err(-ENOMEM, "runtime: no memory for a page");
	madvise(page, PAGE, MADV_WIPEONFORK);
	rt->is_alive = page;
	a_store(rt->is_alive, 1, relaxed);
	return 0;
}

static int init_pools(struct lkdf *rt)
{
	pool_init(&rt->pool[POOL_TASK], object_size[POOL_TASK], UINT64_MAX,
		  NULL);
	pool_init(&rt->pool[POOL_EVENT], object_size[POOL_EVENT],
		  (uint64_t)rt->options->events, NULL);
	return stocks_open(rt);
}

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

static int open_trace(struct lkdf *rt)
{
	char facts[1024];
	struct trace_attr trace = {
		.nr_executors = rt->nr_executors,
		.nr_nodes = rt->topo->nr_nodes,
		.ticks_per_1024ns = clock_ticks_per_1024ns(),
		.spin_ns = (uint32_t)rt->options->spin_us * 1000,
		.file = rt->options->trace,
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

static void close_trace(struct lkdf *rt)
{
	rt->heap->labels.listing.address = NULL;
	trace_close(&rt->trace);
}

static int map_executors(struct lkdf *rt)
{
	size_t nr = (size_t)rt->nr_executors;

	rt->executors = region_map(nr * sizeof(*rt->executors));
	if (!rt->executors)
		return err(-ENOMEM, "runtime: no memory for %zu executors", nr);
	return 0;
}

/* A worker's before it starts, a thread's of the blocking pool when it does. */
static void init_executor(void *u, int i)
{
	struct lkdf *rt = u;
	struct executor *ex = &rt->executors[i];
	int p;

	ex->rt = rt;
	ex->id = i;
	ex->ring = &rt->trace.rings[i];
	ex->counters = rt->trace.rings[i].counters;
	ex->noted = workers_kind_at(&rt->signals, i);
	for (p = 0; p < NR_POOLS; p++)
		magazine_init(&ex->magazine[p], &rt->pool[p]);
}

static void *blocking_start(void *u, int thread)
{
	struct lkdf *rt = u;
	struct executor *ex = &rt->executors[rt->nr_workers + thread];

	init_executor(rt, rt->nr_workers + thread);
	thread_adopt(&ex->record);
	ex->record.executor = ex;
	trace_start(ex->ring, LKDF_EXECUTOR_BLOCKING, -1, -1);
	signals_enter(ex);
	foreign_threads(&rt->sched.foreign, 1);
	return ex;
}

static int start_threads(struct lkdf *rt)
{
	struct blocking_attr blocking = {
		.start = blocking_start,
		.u = rt,
		.max = rt->nr_blocking,
		.stack_kib = (int)rt->options->stack_kib,
	};
	struct sched_attr sched = {
		.topo = rt->topo,
		.log = &rt->log,
		.ops = &run_ops,
		.executors = rt->executors,
		.init_executor = init_executor,
		.u = rt,
		.nr_workers = rt->nr_workers,
		.has_membarrier = rt->has_membarrier,
		.options = rt->options,
	};
	int rc;

	rc = watch_start(rt);
	if (rc)
		return rc;
	rc = blocking_init(&rt->blocking, &blocking);
	if (rc)
		goto undo_watch;
	/* Short is what ends within the time that idle workers spin. */
	rt->spin_ticks =
		(uint32_t)((uint64_t)20000 * clock_ticks_per_1024ns() / 1024);
	rc = seats_take(rt, &sched);
	if (!rc)
		rc = sched_start(&rt->sched, &sched);
	free((int *)(uintptr_t)sched.cpu_index);
	if (!rc)
		return 0;
	blocking_fini(&rt->blocking);
undo_watch:
	watch_stop(rt);
	return rc;
}

/* ---- up ----------------------------------------------------------------- */

static void close_parts(struct lkdf *rt)
{
	watch_fini(rt);
	scope_fini(rt->fds);
	scope_fini(rt->root);
	free(rt->parts);
}

static int open_parts(struct lkdf *rt)
{
	struct runtime_parts *parts = aligned_alloc(CACHE_LINE, sizeof(*parts));
	int rc;

	if (!parts)
		return err(-ENOMEM, "runtime: no memory");
	memset((void *)parts, 0, sizeof(*parts));
	rt->parts = parts;
	rt->root = &parts->root;
	rt->fds = &parts->fds;
	rt->event_shards = parts->event_shards;
	rt->io_wait = &parts->io_wait;
	rt->io_rings = &parts->io_rings;
	rt->devices = &parts->devices;
	event_shards_init(rt->event_shards);
	scope_init(rt->root, rt, NULL, "root");
	scope_init(rt->fds, rt, NULL, "descriptors");
	rc = watch_init(rt);
	if (rc)
		close_parts(rt);
	return rc;
}

static int count_workers(const struct lkdf *rt)
{
	const struct options *o = rt->options;
	int64_t nr = o->workers;

	if (o->serial)
		return 1;
	if (!nr)
		return topo_default_workers(rt->topo, o->reserve_workers != 0);
	if (o->workers_per_node)
		nr *= topo_cpu_nodes(rt->topo);
	return nr <= TOPO_MAX_WORKERS
		       ? (int)nr
		       : err(-EINVAL,
			     "open: %d workers on all nodes, at most %d",
			     (int)nr, TOPO_MAX_WORKERS);
}

static void init_fields(struct lkdf *rt, int nr_workers)
{
	rt->completions = completions;
	rt->nr_workers = nr_workers;
	rt->nr_blocking = (int)rt->options->blocking;
	rt->has_membarrier = nr_workers > 1 && membarrier_register();
	rt->nr_executors = nr_workers + rt->nr_blocking + LKDF_MAX_DEVICES;
	pthread_mutex_init(&rt->lock, NULL);
	pthread_mutex_init(&rt->scope_lock, NULL);
	pthread_mutex_init(&rt->kick_lock, NULL);
	pthread_mutex_init(&rt->data_lock, NULL);
	list_init(&rt->all_data);
	list_init(&rt->handles);
	list_init(&rt->kinds);
	list_init(&rt->polled);
}

static void destroy_locks(struct lkdf *rt)
{
	pthread_mutex_destroy(&rt->scope_lock);
	pthread_mutex_destroy(&rt->kick_lock);
	pthread_mutex_destroy(&rt->data_lock);
	pthread_mutex_destroy(&rt->lock);
}

static void unmap_executors(struct lkdf *rt)
{
	size_t nr = (size_t)rt->nr_executors;
	int i;

	for (i = 0; i < rt->nr_executors; i++)
		scratch_free(&rt->executors[i]);
	region_unmap(rt->executors, nr * sizeof(*rt->executors));
}

static void close_pools(struct lkdf *rt)
{
	int p;

	stocks_close(rt);
	for (p = 0; p < NR_POOLS; p++)
		pool_fini(&rt->pool[p]);
}

static void unmark_alive(struct lkdf *rt)
{
	munmap((void *)rt->is_alive, PAGE);
}

/* Executors, what they allocate from, and their threads. */
static int open_executors(struct lkdf *rt)
{
	int rc = map_executors(rt);

	if (rc)
		return rc;
	rc = init_pools(rt);
	if (!rc)
		rc = start_threads(rt);
	if (!rc) {
		backend_open(rt);
		return 0;
	}
	close_pools(rt);
	unmap_executors(rt);
	return rc;
}

int runtime_open(struct lkdf *rt)
{
	int rc = count_workers(rt);

	if (rc < 0)
		return rc;
	init_fields(rt, rc);
	rc = open_parts(rt);
	if (rc)
		goto undo_locks;
	devices_init(rt);
	rc = mark_alive(rt);
	if (rc)
		goto undo_parts;
	rc = io_init(rt, (int)rt->options->io);
	if (rc)
		goto undo_io;
	rc = place_open(rt);
	if (rc)
		goto undo_place;
	rc = facts_open(rt);
	if (rc)
		goto undo_facts;
	rc = open_trace(rt);
	if (rc)
		goto undo_trace;
	open_listing(rt);
	rc = signals_open(rt);
	if (!rc)
		rc = open_executors(rt);
	if (!rc)
		return 0;
undo_trace:
	/* First: the drain thread reads the signals. */
	close_trace(rt);
	workers_close(&rt->signals);
undo_facts:
	facts_close(rt, false);
undo_place:
	place_close(rt);
undo_io:
	io_stop(rt);
	io_fini(rt);
	io_rings_fini(rt);
	unmark_alive(rt);
undo_parts:
	devices_fini(rt, false);
	close_parts(rt);
undo_locks:
	destroy_locks(rt);
	return rc;
}

/* ---- down --------------------------------------------------------------- */

/* No thread is left. */
static void free_memory(struct lkdf *rt)
{
	close_pools(rt);
	slots_fini(rt);
	unmap_executors(rt);
	close_trace(rt);
	workers_close(&rt->signals);
	facts_close(rt, false);
	place_close(rt);
	close_parts(rt);
	graves_fini(&rt->graves);
	destroy_locks(rt);
	unmark_alive(rt);
}

void runtime_close(struct lkdf *rt)
{
	watch_stop(rt);
	/* First: their threads may still be about to wake a worker. */
	facts_quiet(rt);
	devices_stop(rt);
	io_stop(rt);
	blocking_stop(&rt->blocking);
	sched_stop(&rt->sched);
	seats_give(rt);
	blocking_fini(&rt->blocking);
	/* Until here a worker may ask who polls to look again. */
	io_fini(rt);
	io_rings_fini(rt);
	after_close(rt);
	devices_fini(rt, false);
	/*
	 * The thread that left a scope last may have had it until its thread
	 * ended.
	 */
	report_handles(rt);
	event_shards_close(rt->event_shards, false);
	report_events(rt);
	data_report_leaks(rt);
	place_report_leaks(rt);
	free_memory(rt);
}

void runtime_abandon(struct lkdf *rt)
{
	/* The thread that held it at the fork is not here. */
	pthread_mutex_init(&rt->lock, NULL);
	ask_abandon(rt);
	facts_close(rt, true);
	devices_fini(rt, true);
	io_abandon(rt);
	loop_close(rt);
	fn_kind_close(rt);
	sched_abandon(&rt->sched);
	io_rings_fini(rt);
	blocking_abandon(&rt->blocking);
	data_abandon(rt);
	move_abandon(rt);
	own_kinds_abandon(rt);
	event_poll_abandon(rt);
	event_shards_close(rt->event_shards, true);
	kind_abandon(rt);
	trace_abandon(&rt->trace);
	free_memory(rt);
}
