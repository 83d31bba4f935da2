/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/facts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/options.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "core/seen.h"
#include "core/signals.h"
#include "mechanism/quota/quota.h"
#include "mem/heap.h"
#include "sched/notify.h"
#include "topo/topo.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdlib.h>

int facts_open(struct lkdf *rt)
{
	struct board_attr attr = {
		.wish = (enum board_wish)rt->options->signal,
		.min_bytes = (uint64_t)rt->options->signal_kib << 10,
		.nr_nodes = rt->topo->nr_nodes,
		.os_node = rt->heap->os_node,
	};

	rt->board = calloc(1, sizeof(*rt->board));
	if (!rt->board)
		return err(-ENOMEM, "signal: no memory for the board");
	if (rt->heap->is_bound)
		return board_open(&attr, rt->board);
	board_off(rt->board, rt->topo->nr_nodes > 1 ? "a made-up machine"
						    : "one node only");
	return 0;
}

void facts_close(struct lkdf *rt, bool is_child)
{
	listen_stop(&rt->listener, is_child);
	if (rt->board)
		board_close(rt->board, is_child);
	free(rt->board);
	rt->board = NULL;
}

const char *facts_tier(const struct lkdf *rt)
{
	const struct board *b = rt->board;

	if (!b->source)
		return b->why;
	if (b->source->tier == BOARD_T2)
		return "T2, /dev/lkdf";
	return b->news.nr && b->news.is_live(b->news.u)
		       ? "T1, samples by move_pages when lkdf probe tells"
		       : "T0, samples by move_pages";
}

const char *facts_why(const struct lkdf *rt)
{
	return rt->board->why;
}

/* ---- waking for it ------------------------------------------------------- */

/* Pages have moved: who looks for work looks at them too, see facts_idle(). */
static void wake_one(void *u)
{
	struct lkdf *rt = u;
	int i;

	if (notify_has_spinner(&rt->sched))
		return;
	for (i = 0; i < rt->sched.nr_nodes; i++)
		if (park_notify(&rt->sched.nodes[i].park))
			return;
}

/* With the first range. In serial mode no worker sleeps. */
static void start_listening(struct lkdf *rt)
{
	int fd = rt->sched.is_serial ? -1 : board_fd(rt->board);

	if (fd >= 0)
		listen_start(&rt->listener, fd, wake_one, rt);
}

void facts_quiet(struct lkdf *rt)
{
	listen_stop(&rt->listener, false);
}

/* ---- what is watched ---------------------------------------------------- */

void facts_watch(struct lkdf_data *d, void *p, bool is_there)
{
	int id = board_add(d->rt->board, p, d->bytes, is_there);

	if (id >= 0)
		start_listening(d->rt);
	/* [data.watch] its slot; pairs with [data.facts]. */
	a_store(&d->watch, id + 1, release);
}

void facts_forget(struct lkdf_data *d)
{
	int id = a_load(&d->watch, relaxed) - 1;
	int node;

	if (id < 0)
		return;
	node = facts_node(d, 0);
	/* The heap's next one shall find its own node's pages there. */
	if (node >= 0 && node != a_load(&d->node, relaxed))
		a_store(&d->has_strays, true, relaxed);
	a_store(&d->watch, 0, relaxed);
	if (d->rt->board)
		board_del(d->rt->board, id);
}

/* ---- where they are ----------------------------------------------------- */

/* False: they are not watched, or there are none. */
static bool find_span(const struct lkdf_data *d, uint32_t part, int *id,
		      struct board_span *s)
{
	const char *at;

	/* [data.facts] pairs with [data.watch]. */
	*id = a_load(&d->watch, acquire) - 1;
	/* [data.look] pairs with [data.at]. */
	at = *id < 0 ? NULL : a_load(&d->domain.at, acquire);
	if (likely(!at) || !d->rt->board)
		return false;
	*s = board_span(d->rt->board, *id, at + data_offset(d, part),
			data_size(d, part));
	return s->nr;
}

int facts_node(const struct lkdf_data *d, uint32_t part)
{
	struct board_span s;
	int id;

	if (!find_span(d, part, &id, &s))
		return -1;
	return board_most(d->rt->board, s);
}

int facts_fact(const struct lkdf_data *d, uint32_t part)
{
	struct board_span s;
	int id, node;

	if (!find_span(d, part, &id, &s))
		return -1;
	node = board_fact(d->rt->board, id, s);
	return node == BOARD_SPREAD ? d->rt->topo->nr_nodes : node;
}

bool facts_see(struct seen *s, const struct lkdf_data *d, uint32_t part)
{
	int16_t node[BOARD_LOOKS];
	struct board_span span;
	unsigned nr, i;
	int id;

	if (!find_span(d, part, &id, &span))
		return false;
	/* Not more often than a pass may be. */
	if (unlikely(board_is_stale(d->rt->board, span)))
		board_pass(d->rt->board, BOARD_NOW);
	nr = board_nodes(d->rt->board, span, node);
	for (i = 0; i < nr; i++)
		seen_add(s, facts_home(d->rt, node[i]),
			 data_size(d, part) / nr);
	return nr != 0;
}

int facts_home(const struct lkdf *rt, int node)
{
	int best = node, nr = rt->topo->nr_nodes, i;

	if (likely(sched_has_worker(&rt->sched, node)))
		return node;
	for (i = 0; i < nr; i++)
		if (sched_has_worker(&rt->sched, i) &&
		    (best == node ||
		     topo_distance(rt->topo, i, node) <
			     topo_distance(rt->topo, best, node)))
			best = i;
	return best;
}

enum lkdf_signal_source facts_source(const struct lkdf *rt)
{
	return rt->board->source->tier == BOARD_T2 ? LKDF_SIGNAL_KMOD
						   : LKDF_SIGNAL_PROC;
}

static void count_fact(struct executor *ex, const struct lkdf_data *d,
		       enum counter c)
{
	if (ex)
		counter_add(ex->counters, c, 1);
	else
		trace_count_outside(trace_outside(&d->rt->trace), c, 1);
}

static void tell_home(struct executor *ex, struct lkdf_data *d, int node)
{
	a_store(&d->told, node + 1, relaxed);
	if (ex)
		trace_event(ex->ring, EVENT_SIGNAL_HOME, facts_source(d->rt),
			    (uint64_t)node);
	else
		trace_event_outside(trace_outside(&d->rt->trace),
				    EVENT_SIGNAL_HOME, facts_source(d->rt),
				    (uint64_t)node);
}

void facts_placed(struct executor *ex, struct lkdf_data *d, int node)
{
	count_fact(ex, d, COUNTER_PLACED);
	if (unlikely(a_load(&d->told, relaxed) != node + 1))
		tell_home(ex, d, node);
}

void facts_followed(struct executor *ex, struct lkdf_data *d, int node)
{
	count_fact(ex, d, COUNTER_FOLLOWED);
	tell_home(ex, d, node);
}

static struct lkdf_fact fact_of(const struct board *b, uint64_t value,
				int64_t at, int64_t now)
{
	bool is_told = b->source->tier == BOARD_T2;

	return (struct lkdf_fact){
		.value = value,
		.age_ns = is_told || at > now ? 0 : (uint64_t)(now - at),
		.source = is_told ? LKDF_SIGNAL_KMOD : LKDF_SIGNAL_PROC,
	};
}

/* Workers read it for themselves: so many of them run, see
 * mechanism/quota/quota.h. */
static void tell_quota(const struct lkdf *rt, int64_t now,
		       struct lkdf_facts *out)
{
	const struct quota *q = quota_in(&rt->sched);
	int64_t at = a_load(&q->read_ns, relaxed);

	if (!rt->signals.has_self || !at)
		return;
	out->quota_milli = (struct lkdf_fact){
		.value = (uint64_t)a_load(&q->milli, relaxed),
		.age_ns = now > at ? (uint64_t)(now - at) : 0,
		.source = LKDF_SIGNAL_SELF,
	};
}

void facts_tell(const struct lkdf *rt, int executor, struct lkdf_facts *out)
{
	const struct board *b = rt->board;
	int64_t now = clock_now_ns();
	struct board_sum sum;
	int node = -1;

	tell_quota(rt, now, out);
	if (!b->source || executor >= rt->nr_workers)
		return;
	if (executor >= 0)
		node = rt->executors[executor].node;
	board_read(b, node, &sum);
	if (!sum.at_ns)
		return;
	out->node_bytes = fact_of(b, sum.bytes, sum.at_ns, now);
	out->unsettled_bytes = fact_of(b, sum.unsettled, sum.at_ns, now);
	if (executor < 0)
		out->nr_moves = fact_of(b, board_changes(b), sum.at_ns, now);
}

/* ---- looking ------------------------------------------------------------ */

bool facts_idle(struct worker *w)
{
	struct lkdf *rt = w->executor->rt;
	bool has_polled;

	board_pass(rt->board, BOARD_IDLE);
	signals_look(w);
	has_polled = pollers_look(rt, &rt->pollers);
	return completion_poll(w) || has_polled;
}
