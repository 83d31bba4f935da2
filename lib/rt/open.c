/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/open.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/membarrier.h"
#include "base/options.h"
#include "core/scratch.h"
#include "core/signals.h"
#include "core/threads.h"
#include "data/data.h"
#include "data/facts.h"
#include "data/place.h"
#include "io/event_poll.h"
#include "io/io_chain.h"
#include "io/io_ring.h"
#include "mechanism/rows.h"
#include "mem/region.h"
#include "offload/backend.h"
#include "offload/devices.h"
#include "offload/early.h"
#include "offload/own_kind.h"
#include "rt/ask.h"
#include "rt/check_part.h"
#include "rt/report.h"
#include "rt/seats.h"
#include "rt/stuck.h"
#include "rt/trace_part.h"
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
#include "task/urgent.h"
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
	struct urgent urgent;
};

static const struct completion_ops *const completions[] = {
	&io_completions,
	&device_completions,
	NULL,
};

static const struct seal_pass *const seal_passes[] = {
	&io_chain_pass,
	&early_pass,
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

static int map_executors(struct lkdf *rt)
{
	size_t nr = (size_t)rt->nr_executors + 1;

	rt->executors = region_map(nr * sizeof(*rt->executors));
	if (!rt->executors)
		return err(-ENOMEM, "runtime: no memory for %zu executors", nr);
	rt->outside = &rt->executors[rt->nr_executors];
	rt->outside->rt = rt;
	rt->outside->id = OUTSIDE_ID;
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
	a_store(&ex->kinds, ex->ring->kinds, relaxed);
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
	threads_enter(ex);
	foreign_threads(&rt->sched.foreign, 1);
	return ex;
}

static int open_blocking(struct lkdf *rt)
{
	struct blocking_attr attr = {
		.start = blocking_start,
		.u = rt,
		.max = rt->nr_blocking,
		.stack_kib = (int)rt->options->stack_kib,
	};

	return blocking_init(&rt->blocking, &attr);
}

static void stop_blocking(struct lkdf *rt)
{
	blocking_stop(&rt->blocking);
}

static void close_blocking(struct lkdf *rt)
{
	blocking_fini(&rt->blocking);
}

static void abandon_blocking(struct lkdf *rt)
{
	blocking_abandon(&rt->blocking);
}

static int start_workers(struct lkdf *rt)
{
	struct sched_setup attr = {
		.topo = rt->topo,
		.log = &rt->log,
		.ops = &run_ops,
		.executors = rt->executors,
		.init_executor = init_executor,
		.u = rt,
		.nr_workers = rt->nr_workers,
		.nr_regular = rt->nr_regular,
		.rows = mechanism_rows,
		.has_membarrier = rt->has_membarrier,
		.options = rt->options,
	};
	int rc;

	/* Short is what ends within the time that idle workers spin. */
	rt->spin_ticks =
		(uint32_t)((uint64_t)20000 * clock_ticks_per_1024ns() / 1024);
	rt->clock_ticks = clock_cost_ticks();
	rc = seats_take(rt, &attr);
	if (!rc)
		rc = sched_start(&rt->sched, &attr);
	free((int *)(uintptr_t)attr.cpu_index);
	return rc;
}

static void stop_workers(struct lkdf *rt)
{
	sched_stop(&rt->sched);
}

static void abandon_workers(struct lkdf *rt)
{
	sched_abandon(&rt->sched);
	seats_give(rt);
}

static void close_parts(struct lkdf *rt)
{
	if (!rt->parts)
		return;
	watch_fini(rt);
	scope_fini(rt->fds);
	scope_fini(rt->root);
	failure_tell_rest(&rt->log);
	free(rt->parts);
}

static int open_parts(struct lkdf *rt)
{
	struct runtime_parts *parts = aligned_alloc(CACHE_LINE, sizeof(*parts));

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
	rt->urgent = &parts->urgent;
	scope_init(rt->root, rt, NULL, "root");
	scope_init(rt->fds, rt, NULL, "descriptors");
	return watch_init(rt);
}

static int init_fields(struct lkdf *rt)
{
	int nr_regular = seats_count(rt);
	int nr_workers = seats_count_all(rt, nr_regular);

	if (nr_workers < 0)
		return nr_workers;
	rt->nr_regular = nr_regular;
	rt->completions = completions;
	rt->seal_passes = seal_passes;
	rt->stuck = stuck_tell;
	rt->nr_workers = nr_workers;
	rt->nr_blocking = (int)rt->options->blocking;
	rt->has_membarrier = nr_workers > 1 && membarrier_register();
	rt->nr_executors = nr_workers + rt->nr_blocking + LKDF_MAX_DEVICES +
			   urgent_threads(rt);
	pthread_mutex_init(&rt->lock, NULL);
	pthread_mutex_init(&rt->scope_lock, NULL);
	pthread_mutex_init(&rt->kick_lock, NULL);
	pthread_mutex_init(&rt->data_lock, NULL);
	list_init(&rt->all_data);
	list_init(&rt->handles);
	list_init(&rt->kinds);
	list_init(&rt->polled);
	pollers_init(&rt->pollers);
	return 0;
}

static void destroy_fields(struct lkdf *rt)
{
	graves_fini(&rt->graves);
	pthread_mutex_destroy(&rt->scope_lock);
	pthread_mutex_destroy(&rt->kick_lock);
	pthread_mutex_destroy(&rt->data_lock);
	pthread_mutex_destroy(&rt->lock);
}

static void unmap_executors(struct lkdf *rt)
{
	size_t nr = (size_t)rt->nr_executors + 1;
	int i;

	if (!rt->executors)
		return;
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
	slots_fini(rt);
}

static void unmark_alive(struct lkdf *rt)
{
	if (rt->is_alive)
		munmap((void *)rt->is_alive, PAGE);
}

static void close_facts(struct lkdf *rt)
{
	facts_close(rt, false);
}

static void abandon_facts(struct lkdf *rt)
{
	facts_close(rt, true);
}

static int init_devices(struct lkdf *rt)
{
	devices_init(rt);
	return 0;
}

static void close_devices(struct lkdf *rt)
{
	devices_fini(rt, false);
}

static void abandon_devices(struct lkdf *rt)
{
	devices_fini(rt, true);
}

static int open_io(struct lkdf *rt)
{
	return io_init(rt, (int)rt->options->io);
}

static void close_io(struct lkdf *rt)
{
	io_fini(rt);
	io_rings_fini(rt);
}

static void abandon_io(struct lkdf *rt)
{
	io_abandon(rt);
	io_rings_fini(rt);
}

static int open_tasks(struct lkdf *rt)
{
	event_shards_init(rt->event_shards);
	return 0;
}

/* The thread that left a scope last may have had it until its thread ended. */
static void close_tasks(struct lkdf *rt)
{
	after_close(rt);
	report_handles(rt);
	event_shards_close(rt->event_shards, false);
	report_events(rt);
	data_report_leaks(rt);
	place_report_leaks(rt);
}

static void abandon_tasks(struct lkdf *rt)
{
	loop_close(rt);
	fn_kind_close(rt);
	data_abandon(rt);
	move_abandon(rt);
	own_kinds_abandon(rt);
	event_poll_abandon(rt);
	event_shards_close(rt->event_shards, true);
	kind_abandon(rt);
}

static int open_backends(struct lkdf *rt)
{
	backend_open(rt);
	return 0;
}

/* A part has no threads, nothing to free: said, not left out. */
static void do_nothing(struct lkdf *rt)
{
	(void)rt;
}

/*
 * A runtime is its parts, each of which may use those above it. Open goes down
 * the rows. Close stops all threads down the rows, then frees memory up the
 * rows; so does an open that fails, with the row that failed. In a forked child
 * only the column abandon is left, up the rows.
 */
struct runtime_part {
	const char *name;
	int (*open)(struct lkdf *rt);
	/* Its threads end. Workers, the last ones, are woken by all others. */
	void (*stop)(struct lkdf *rt);
	/* No thread is left. The part may be open by half, or zeroed. */
	void (*fini)(struct lkdf *rt);
	/* Its threads are not here, and their locks may be taken. */
	void (*abandon)(struct lkdf *rt);
};

static const struct runtime_part parts[] = {
	{ "fields", init_fields, do_nothing, destroy_fields, destroy_fields },
	{ "rooms", open_parts, do_nothing, close_parts, close_parts },
	{ "mark", mark_alive, do_nothing, unmark_alive, unmark_alive },
	{ "places", place_open, do_nothing, place_close, place_close },
	{ "check", check_part_open, do_nothing, check_part_close,
	  check_part_close },
	{ "facts", facts_open, facts_quiet, close_facts, abandon_facts },
	{ "trace", trace_part_open, do_nothing, trace_part_close,
	  trace_part_abandon },
	{ "executors", map_executors, do_nothing, unmap_executors,
	  unmap_executors },
	{ "pools", init_pools, do_nothing, close_pools, close_pools },
	{ "tasks", open_tasks, do_nothing, close_tasks, abandon_tasks },
	{ "devices", init_devices, devices_stop, close_devices,
	  abandon_devices },
	/* Until its fini a worker may ask who polls to look again. */
	{ "io", open_io, io_stop, close_io, abandon_io },
	{ "watch", watch_start, watch_stop, do_nothing, do_nothing },
	{ "blocking", open_blocking, stop_blocking, close_blocking,
	  abandon_blocking },
	{ "urgent", urgent_open, urgent_stop, urgent_close, urgent_abandon },
	{ "workers", start_workers, stop_workers, seats_give, abandon_workers },
	{ "backends", open_backends, do_nothing, do_nothing, do_nothing },
};

__attribute__((unused)) static bool parts_are_whole(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!parts[i].open || !parts[i].stop || !parts[i].fini ||
		    !parts[i].abandon)
			return false;
	return true;
}

/* Rows below nr_stop have threads, rows below nr_fini memory. */
static void close_rows(struct lkdf *rt, size_t nr_stop, size_t nr_fini)
{
	size_t i;

	check(nr_stop <= ARRAY_SIZE(parts) && nr_fini <= ARRAY_SIZE(parts));
	for (i = 0; i < nr_stop; i++)
		parts[i].stop(rt);
	while (nr_fini)
		parts[--nr_fini].fini(rt);
}

int runtime_open(struct lkdf *rt)
{
	size_t i;
	int rc;

	check(parts_are_whole());
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		rc = parts[i].open(rt);
		/* Without fields there is nothing at all. */
		if (rc) {
			close_rows(rt, i, i ? i + 1 : 0);
			return rc;
		}
	}
	return 0;
}

void runtime_close(struct lkdf *rt)
{
	close_rows(rt, ARRAY_SIZE(parts), ARRAY_SIZE(parts));
}

void runtime_abandon(struct lkdf *rt)
{
	size_t i = ARRAY_SIZE(parts);

	/* The thread that held it at the fork is not here. */
	pthread_mutex_init(&rt->lock, NULL);
	ask_abandon(rt);
	pollers_abandon(rt);
	while (i)
		parts[--i].abandon(rt);
}
