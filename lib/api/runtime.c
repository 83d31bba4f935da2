/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/runtime.h>

#include "api/border.h"
#include "api/config.h"
#include "api/fixes.h"
#include "api/hooks.h"
#include "core/threads.h"
#include "data/data.h"
#include "data/facts.h"
#include "data/place.h"
#include "io/event_poll.h"
#include "io/io_ring.h"
#include "offload/devices.h"
#include "offload/foreign.h"
#include "offload/own_kind.h"
#include "rt/ask.h"
#include "rt/open.h"
#include "task/fn_kind.h"
#include "task/kind.h"
#include "task/move.h"
#include "task/parallel_for.h"
#include "topo/topo.h"
#include "trace/announce.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

unsigned lkdf_version(void)
{
	return LKDF_VERSION_NUMBER;
}

const char *lkdf_errmsg(void)
{
	return err_text();
}

static int open_topo(struct lkdf *rt, const struct options *o)
{
	struct topo_attr a = {
		.synthetic = o->topology,
		.cpus = o->cpus,
		.without_hwloc = o->raised,
		.asks_hwloc = config_tells_hwloc(),
		.keeps = true,
	};

	return topo_open(&a, &rt->topo);
}

/* Everything below log and options; undone on failure. */
static int start_runtime(struct lkdf *rt)
{
	const struct options *o = rt->options;
	int rc;

	if (o->left_alone[0])
		log_text(&rt->log, LKDF_LOG_ERROR,
			 "open: %s and all LKDF_ variables are ignored: %s",
			 o->left_alone, o->raised);
	rc = open_topo(rt, o);
	if (rc)
		return rc;
	if (!strncmp(rt->topo->source, TOPO_PLAIN, strlen(TOPO_PLAIN)))
		log_text(&rt->log, LKDF_LOG_INFO, "topo: %s", rt->topo->source);
	rc = hooks_open(&rt->hooks, o->hooks);
	if (rc)
		goto undo_topo;
	rc = runtime_open(rt);
	if (rc)
		goto undo_hooks;
	ask_open(rt);
	trace_announce(&rt->trace, o->socket);
	return 0;
undo_hooks:
	hooks_close(&rt->hooks, false);
undo_topo:
	topo_close(rt->topo);
	return rc;
}

static struct lkdf *allocate_runtime(void)
{
	struct lkdf *rt = aligned_alloc(CACHE_LINE, sizeof(*rt));

	if (!rt)
		return NULL;
	memset(rt, 0, sizeof(*rt));
	rt->options = calloc(1, sizeof(*rt->options));
	if (!rt->options) {
		free(rt);
		return NULL;
	}
	return rt;
}

int lkdf_open_with(const struct lkdf_open_attr *attr, struct lkdf **out)
{
	struct lkdf_open_attr a;
	struct lkdf *rt;
	int rc;

	if (!attr || !out)
		return err(-EINVAL, "open: attributes or out is NULL");
	rc = border_copy(attr, &a, sizeof(a), "lkdf_open_attr");
	if (rc)
		return rc;
	rc = border_flags("open", a.flags, 0);
	if (!rc)
		rc = border_may_wait("lkdf_open");
	if (rc)
		return rc;
	rt = allocate_runtime();
	if (!rt)
		return err(-ENOMEM, "open: no memory");
	rc = config_read(a.options, rt->options);
	rt->log.fn = a.log;
	rt->log.u = a.u;
	rt->log.errors = &rt->told;
	rt->log.level = config_log_level(rt->options, a.log != NULL);
	if (!rc)
		rc = threads_set(rt, &a);
	if (!rc)
		rc = fixes_read(rt->options->fix, &rt->fixes);
	if (!rc)
		rc = start_runtime(rt);
	if (rc) {
		free(rt->fixes);
		free(rt->options);
		free(rt);
		return rc;
	}
	*out = rt;
	return 0;
}

int lkdf_open(const char *options, struct lkdf **out)
{
	struct lkdf_open_attr a = { .size = sizeof(a), .options = options };

	return lkdf_open_with(&a, out);
}

/*
 * How many tasks and runs live. A thread that has acquired the data of a task
 * knows that the task has ended, though it may be about to leave its scope: the
 * call waits until each of those has left.
 */
static uint32_t nr_under_way(struct lkdf *rt)
{
	const struct executor *mine = runtime_executor(rt);
	uint32_t seen;
	int i;

	for (i = 0; i < rt->nr_executors; i++) {
		_Atomic(uint32_t) *nr = &rt->executors[i].nr_ends;

		/* [close.ends] pairs with [ends.left]. */
		seen = a_load(nr, acquire);
		while (seen & 1 && &rt->executors[i] != mine &&
		       a_load(nr, acquire) == seen)
			sched_yield();
	}
	return scope_live(rt->root);
}

/* 0; -EBUSY: somebody still uses it. */
static int check_idle(struct lkdf *rt)
{
	uint32_t nr = nr_under_way(rt);
	char text[2 * DATA_TEXT];

	if (nr && devices_hold(rt, text, sizeof(text)))
		return err(-EBUSY, "close: %u tasks or runs are alive: %s", nr,
			   text);
	if (nr)
		return err(-EBUSY, "close: %u tasks or runs are alive", nr);
	if (data_is_held(rt, text))
		return err(-EBUSY,
			   "close: a thread has acquired %s, or waits for it: "
			   "it calls lkdf_data_release() first",
			   text);
	return 0;
}

int lkdf_close(struct lkdf *rt)
{
	int rc;

	if (!rt)
		return 0;
	rc = border_may_wait("lkdf_close");
	if (rc)
		return rc;
	if (!a_load(rt->is_alive, relaxed)) {
		/* A thread that is not here may have its lock. */
		rt->log.errors = NULL;
		runtime_abandon(rt);
		hooks_close(&rt->hooks, true);
	} else {
		rc = check_idle(rt);
		if (rc)
			return rc;
		/* [caller.none] pairs with [caller.out]. */
		while (a_load(&rt->nr_callers, acquire))
			sched_yield();
		ask_close(rt);
		event_poll_close(rt);
		pollers_close(rt);
		foreign_close(rt);
		move_close(rt);
		own_kinds_close(rt);
		loop_close(rt);
		fn_kind_close(rt);
		kind_reap(rt);
		check(!rt->ask);
		fixes_tell(rt);
		runtime_close(rt);
		hooks_close(&rt->hooks, false);
	}
	topo_close(rt->topo);
	free(rt->fixes);
	free(rt->options);
	free(rt);
	return 0;
}

int lkdf_close_now(struct lkdf *rt)
{
	uint32_t nr;
	int rc = rt ? border_may_wait("lkdf_close_now") : 0;

	if (rc || !rt || !a_load(rt->is_alive, relaxed))
		return rc ? rc : lkdf_close(rt);
	nr = nr_under_way(rt);
	if (nr) {
		log_text(&rt->log, LKDF_LOG_ERROR,
			 "close: %u tasks or runs were under way: cancelled",
			 nr);
		lkdf_scope_cancel(rt, NULL, -ECANCELED);
		lkdf_scope_wait(rt, NULL, -1);
	}
	return lkdf_close(rt);
}

uint64_t lkdf_caps(const struct lkdf *rt)
{
	uint64_t caps = 0;

	if (rt->sched.is_pinned)
		caps |= LKDF_CAP_PINNED;
	if (topo_cpu_nodes(rt->topo) > 1)
		caps |= LKDF_CAP_NODES;
	if (rt->trace.fd >= 0)
		caps |= LKDF_CAP_TRACE;
	if (!place_unbound_text(rt))
		caps |= LKDF_CAP_BIND;
	if (!io_ring_error((struct lkdf *)(uintptr_t)rt))
		caps |= LKDF_CAP_URING;
	if (rt->board->source)
		caps |= LKDF_CAP_PAGES;
	if (rt->board->source && rt->board->source->tier == BOARD_T2)
		caps |= LKDF_CAP_KMOD;
	if (workers_have_probe(&rt->signals))
		caps |= LKDF_CAP_PROBE;
	return caps;
}

int lkdf_nr_workers(const struct lkdf *rt)
{
	return rt ? rt->nr_workers
		  : err(-EINVAL, "nr_workers: the runtime is NULL");
}

int lkdf_nr_executors(const struct lkdf *rt)
{
	return rt ? rt->nr_executors
		  : err(-EINVAL, "nr_executors: the runtime is NULL");
}
