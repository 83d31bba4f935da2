/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/run.h"

#include "base/err.h"
#include "flow/data.h"
#include "flow/deadline.h"
#include "flow/decide.h"
#include "flow/facts.h"
#include "flow/inner.h"
#include "flow/io_chain.h"
#include "flow/io_ring.h"
#include "flow/kind.h"
#include "flow/planned.h"
#include "flow/runtime.h"
#include "flow/sources.h"
#include "flow/task.h"
#include "sched/tick.h"

#include <errno.h>

#define NO_SLOT UINT32_MAX

enum hindered {
	HINDERED_ALL = 1, /* cancelled */
	HINDERED_SOME = 2, /* those whose data is not there */
};

/* One burst of work of one worker. */
struct burst {
	struct worker *w;
	struct lkdf *rt;
	struct frame *f; /* whose tasks we run; gone once all are told */
	struct rec *recs; /* f's */
	const struct lkdf_graph *graph; /* f's */
	uint32_t slot; /* of f; NO_SLOT: none */
	uint32_t nr_decided; /* of f, not yet told */
	uint8_t hindered; /* f: some of its tasks, or all, are skipped */
	/* Records of f that are at home on this node: first and how many. */
	uint32_t home_first, nr_home;
	struct lkdf_ctx ctx;
};

/* What before() says. */
enum before {
	BEFORE_RUN,
	BEFORE_TIME, /* run it and say how long it took */
	BEFORE_TAKEN, /* it is somebody else's now, or decided */
};

/* Tells the frame before we turn to something else. */
static void flush(struct burst *b)
{
	uint32_t nr = b->nr_decided;

	if (!nr)
		return;
	b->nr_decided = 0;
	frame_decided(b->w, b->f, nr);
}

/*
 * A task's body may take long: the frame is told first, so its run may end and
 * what we know of it is stale. A link may also belong to the frame's next run.
 */
static void leave_frame(struct burst *b)
{
	flush(b);
	b->slot = NO_SLOT;
}

static void enter_placed(struct burst *b, struct frame *f)
{
	const uint32_t *starts = f->graph->starts;
	int node = b->w->executor->node;

	b->home_first = starts[home_make(node, false)];
	b->nr_home = starts[home_make(node, true) + 1] - b->home_first;
	/* Where bytes have moved, see planned_home(). */
	if (unlikely(planned_has_moved(f->graph)))
		b->nr_home = 0;
	if (unlikely(b->w->sched->is_serial)) {
		b->home_first = 0;
		b->nr_home = UINT32_MAX;
	}
}

static uint8_t hindered(const struct frame *f)
{
	return (frame_cancelled(f) ? HINDERED_ALL : 0) |
	       (f->values.is_poisoned ? HINDERED_SOME : 0);
}

static void enter_frame(struct burst *b, struct frame *f)
{
	flush(b);
	b->f = f;
	b->recs = f->recs;
	b->graph = f->graph;
	b->slot = f->slot;
	b->ctx.frame = f;
	b->hindered = hindered(f);
	if (unlikely(f->placed))
		enter_placed(b, f);
}

static void count_task(struct burst *b, uint64_t nr)
{
	counter_add(b->w->executor->counters, COUNTER_TASKS, nr);
}

/* An input failed, or the run is cancelled. */
static void skip_task(struct burst *b, uint32_t index, bool is_cancelled)
{
	struct frame *f = b->f;
	bool counts = is_cancelled || !f->recs[index].kind->is_ours;

	counter_add(b->w->executor->counters,
		    is_cancelled ? COUNTER_CANCELLED : COUNTER_SKIPPED, counts);
	a_add(is_cancelled ? &f->nr_cancelled : &f->nr_skipped, counts,
	      relaxed);
	decide_task(b->w, f, index, false);
	b->nr_decided++;
}

/* A task of its own, with its tokens. NULL: it waits for them, or failed. */
static struct task *create_task(struct burst *b, uint32_t index)
{
	struct executor *ex = b->w->executor;
	struct task *t = task_create_for(ex, b->f, index);
	int rc = t ? inner_enter(ex, t) : -ENOMEM;

	if (rc > 0 && unlikely(b->f->recs[index].flags & REC_FOLLOWS))
		io_chain_adopt(t);
	if (rc >= 0)
		return rc ? t : NULL;
	io_chain_forget(b->f, index);
	if (t)
		task_destroy(b->rt, ex, t);
	frame_fail(b->f, index, -ENOMEM, "no memory for its task", b->w->id);
	decide_task(b->w, b->f, index, false);
	b->nr_decided++;
	return NULL;
}

/* The kind needs a task of its own; without memory the task fails. */
static void start_general(struct burst *b, uint32_t index)
{
	struct task *t = create_task(b, index);

	if (t)
		task_start(b->rt, b->w->executor, t);
}

static bool is_hindered(const struct burst *b, uint32_t index)
{
	if (b->hindered & HINDERED_ALL)
		return !io_chain_is_ahead(b->f, index);
	return b->hindered && values_are_missing(b->f, index);
}

/* The same for run_one(): the body runs before this returns. */
static void start_one(struct burst *b, uint32_t index)
{
	struct task *t;

	if (is_hindered(b, index)) {
		skip_task(b, index, b->hindered & HINDERED_ALL);
		return;
	}
	t = create_task(b, index);
	if (t)
		task_run(b->w->executor, t);
}

/* Everything that is not the plain case; once per task at most. */
static enum before before(struct burst *b, uint32_t index)
{
	struct lkdf_kind *k = b->recs[index].kind;
	uint32_t slow = a_load(&k->slow, relaxed);
	bool is_short = !(slow & ~SLOW_TRACED);
	struct worker *w = b->w;

	if (a_load(&w->attn, relaxed) & ATTN_LOOK) {
		/* [run.look] the news; pairs with [sched.look]. */
		a_and(&w->attn, ~ATTN_LOOK, seq_cst);
		b->hindered = hindered(b->f);
	}
	if (b->hindered && is_hindered(b, index)) {
		skip_task(b, index, b->hindered & HINDERED_ALL);
		return BEFORE_TAKEN;
	}
	if (slow & SLOW_GENERAL) {
		start_general(b, index);
		return BEFORE_TAKEN;
	}
	if (!is_short || worker_has_private(w))
		worker_offer(w, is_short, a_load(&k->body_ticks, relaxed));
	return slow ? BEFORE_TIME : BEFORE_RUN;
}

/* Error, children, continuation. True: decided and live, go on as usual. */
static bool after(struct burst *b, uint32_t index, int rc)
{
	struct lkdf_ctx *c = &b->ctx;
	bool has_why = c->has_why;

	c->after = 0;
	c->has_why = false;
	c->has_spawned = false;
	if (c->put_off) {
		c->put_off = false;
		start_general(b, index);
		return false;
	}
	if (rc < 0 || c->task)
		count_task(b, 1);
	if (c->task) {
		c->has_why = has_why;
		if (task_after(c, rc) == TASK_COMPLETE)
			task_complete(b->w->executor, c->task);
		c->task = NULL;
		c->leaves = c->has_why = false;
		return false;
	}
	if (rc >= 0)
		return true;
	frame_fail(b->f, index, rc, has_why ? err_text() : NULL, b->w->id);
	decide_task(b->w, b->f, index, false);
	b->nr_decided++;
	return false;
}

/* Somebody who asks in vain is put off until there is something to share. */
static inline __attribute__((always_inline)) bool
needs_look(struct burst *b, struct lkdf_kind *k)
{
	uint32_t attn = a_load(&b->w->attn, relaxed);
	uint32_t slow = a_load(&k->slow, relaxed);

	if (likely(!(attn | slow | b->hindered)))
		return false;
	if (unlikely(attn & ATTN_CLOCK)) {
		attn = worker_look(b->w, !(slow & ~SLOW_TRACED));
		if (!(attn | slow | b->hindered))
			return false;
	}
	if (attn != ATTN_WANT || slow || b->hindered ||
	    worker_has_private(b->w))
		return true;
	worker_put_off(b->w);
	return false;
}

/* Of a class of its own, or with a node of its own. Returns as below. */
static __attribute__((noinline)) uint32_t push_special(struct burst *b,
						       const struct rec *m,
						       uint32_t index,
						       uint32_t next)
{
	if (next == NO_TASK && (m->flags & REC_CLASS) == CLASS_NORMAL &&
	    index - b->home_first < b->nr_home)
		return index;
	decide_push(b->w, b->f, index, 0);
	return next;
}

/* A successor is ready: the first NORMAL one is next, others are pushed. */
static inline __attribute__((always_inline)) uint32_t
take_or_push(struct burst *b, const struct rec *m, uint32_t index,
	     uint32_t next)
{
	if (unlikely((m->flags & (REC_CLASS | REC_PLACED)) != CLASS_NORMAL))
		return push_special(b, m, index, next);
	if (next == NO_TASK)
		return index;
	if (unlikely(!worker_push(b->w, CLASS_NORMAL,
				  item_make(b->f, index, 0))))
		decide_spill(b->w, b->f, index, 0);
	return next;
}

/* Live arrivals at all successors of r. Returns the one to run next. */
static inline __attribute__((always_inline)) uint32_t
fire(struct burst *b, struct rec *recs, const struct rec *r)
{
	uint32_t next = NO_TASK, nr, i;
	const uint32_t *succ = graph_succ(b->graph, r, &nr);
	enum arrival a;
	struct rec *m;

	for (i = 0; i < nr; i++) {
		m = &recs[succ[i]];
		if (m->nr_in != 1) {
			a = rec_arrive(m);
			if (a == ARRIVAL_EARLY)
				continue;
			rec_rearm(m, graph_nr_in(b->graph, m, succ[i]));
			if (unlikely(a == ARRIVAL_DEAD)) {
				decide_push(b->w, b->f, succ[i], ITEM_SKIP);
				continue;
			}
		}
		next = take_or_push(b, m, succ[i], next);
	}
	return next;
}

/*
 * The hot loop: a task, its arrivals at the successors, one of them inline,
 * and when there is none the next of the same frame from our own deque.
 * has_tokens is constant where this is inlined. Returns an item that is for
 * somebody else, or 0.
 */
static inline __attribute__((always_inline)) uint64_t
run_chain(struct burst *b, uint32_t index, const bool has_tokens)
{
	const uint32_t plain_item = (uint32_t)item_make(b->f, 0, 0);
	struct rec *recs = b->recs, *r;
	struct worker *w = b->w;
	struct lkdf_ctx *c = &b->ctx;
	uint32_t nr_decided = 0;
	struct lkdf_kind *k;
	enum before how;
	bool is_away = false;
	uint64_t item = 0;
	int rc;

	for (;;) {
		r = &recs[index];
		k = r->kind;
		c->index = index;
		how = BEFORE_RUN;
		if (unlikely(needs_look(b, k))) {
			how = before(b, index);
			is_away = how == BEFORE_TAKEN;
			if (is_away)
				break;
		}
		rc = likely(how == BEFORE_RUN) ? k->fn(c, r->arg)
					       : kind_call_timed(k, c, r->arg);
		is_away = unlikely((rc | c->after) < 0) && !after(b, index, rc);
		if (unlikely(is_away))
			break;
		nr_decided++;
		index = fire(b, recs, r);
		if (has_tokens && r->flags & REC_TOKEN)
			decide_pass_token(w, b->f, (uint32_t)(r - recs));
		if (index != NO_TASK)
			continue;
		if (worker_should_look(w) || w->other_classes ||
		    !deque_pop(&w->deque[CLASS_NORMAL], &item))
			break;
		w->nr_picks++;
		index = item_index(item);
		if (unlikely((uint32_t)item != plain_item))
			break;
		item = 0;
	}
	b->nr_decided += nr_decided;
	count_task(b, nr_decided);
	/* Somebody else may decide it and end the run. */
	if (is_away)
		leave_frame(b);
	return item;
}

static __attribute__((noinline)) uint64_t run_plain(struct burst *b,
						    uint32_t index)
{
	return run_chain(b, index, false);
}

static __attribute__((noinline)) uint64_t run_tokens(struct burst *b,
						     uint32_t index)
{
	return run_chain(b, index, true);
}

/* Returns an item that was taken and is to be run next, or 0. */
static uint64_t run_item(struct burst *b, uint64_t item)
{
	uint32_t index = item_index(item);

	if (b->slot != item_slot(item))
		enter_frame(b, runtime_frame(b->rt, item_slot(item)));
	if (unlikely(item & ITEM_SKIP))
		skip_task(b, index, b->hindered & HINDERED_ALL);
	else if (unlikely(b->graph->has_tokens))
		return run_tokens(b, index);
	else
		return run_plain(b, index);
	return 0;
}

static __attribute__((noinline)) void look_around(struct worker *w,
						  struct lkdf_kind *k)
{
	if (worker_has_clock(w))
		worker_look(w, !(a_load(&k->slow, relaxed) & ~SLOW_TRACED));
	if (worker_is_wanted(w) && worker_has_private(w))
		worker_offer(w, false, 0);
}

static void run_link(struct burst *b, uint64_t item)
{
	struct link *link = link_of_item(item);

	leave_frame(b);
	switch ((enum link_type)LINK_TYPE(item)) {
	case LINK_TASK:
		if (unlikely(a_load(&b->w->attn, relaxed) & ~ATTN_LOOK))
			look_around(b->w, task_of(link)->kind);
		task_run(b->w->executor, task_of(link));
		break;
	case LINK_TASK_DONE:
		task_finish_of_frame(b->w, task_of(link));
		break;
	case LINK_FRAME_START:
		sources_take(b->w, container_of(link, struct frame, start));
		break;
	case LINK_FRAME_READY:
	case LINK_FRAME_PLANNED:
		decide_listed(b->w,
			      container_of(link, struct ready_list, link));
		break;
	case LINK_COMBINE:
		reduction_run(b->w->executor, link);
		break;
	}
}

/* What it completes may end runs. */
static void look_at_ring(struct burst *b, uint64_t item)
{
	leave_frame(b);
	io_ring_look(b->w->io, io_is_item(b->rt, item));
}

static bool pick(struct worker *w, uint64_t *item)
{
	if (worker_should_look(w)) {
		worker_take_home(w);
		if (worker_pop_old(w, item))
			return true;
	}
	return worker_pop(w, item);
}

static void run(struct worker *w, uint64_t item)
{
	void *bytes[CTX_NR_BYTES];
	struct burst b = {
		.w = w,
		.rt = w->executor->rt,
		.slot = NO_SLOT,
		.ctx = { .ex = w->executor, .bytes = bytes },
	};

	io_ring_guard(w);
	do {
		if (unlikely(w->io && io_ring_has_news(w->io)))
			look_at_ring(&b, item);
		while (item & ITEM_OF_FRAME)
			item = run_item(&b, item);
		if (item)
			run_link(&b, item);
	} while (pick(w, &item));
	flush(&b);
}

void run_one(struct worker *w, uint64_t item)
{
	struct burst b = {
		.w = w,
		.rt = w->executor->rt,
		.slot = NO_SLOT,
		.ctx.ex = w->executor,
	};

	if (!(item & ITEM_OF_FRAME)) {
		run_link(&b, item);
	} else if (item & ITEM_SKIP) {
		run_item(&b, item);
	} else {
		/* A task of its own, so that no chain follows. */
		enter_frame(&b, runtime_frame(b.rt, item_slot(item)));
		start_one(&b, item_index(item));
	}
	flush(&b);
}

const struct sched_ops run_ops = {
	.run = run,
	.poll = facts_idle,
	.wait = io_serial,
	.tick = deadline_tick,
};
