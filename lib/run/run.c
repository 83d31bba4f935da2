/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/run.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "core/signals.h"
#include "core/threads.h"
#include "data/data.h"
#include "data/facts.h"
#include "graph/control.h"
#include "mechanism/due/due.h"
#include "mechanism/gate/gate.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/quota/quota.h"
#include "run/enter.h"
#include "run/mode.h"
#include "run/own_task.h"
#include "run/resolve.h"
#include "run/slots.h"
#include "run/sources.h"
#include "sched/current.h"
#include "sched/tick.h"
#include "task/descend.h"
#include "task/kind.h"
#include "task/narrowing.h"
#include "task/task.h"
#include "task/tick.h"
#include "task/urgent.h"

#include <errno.h>

/* A task of a frame and what follows it. Returns as run_item(). */
static inline uint64_t run_tasks(struct burst *b, uint64_t item)
{
	if (likely(!(item & ITEM_SKIP)))
		return b->f->mode->run(b, item_index(item));
	burst_dead(b, item_index(item));
	return 0;
}

/* Returns an item that was taken and is to be run next, or 0. */
static uint64_t run_item(struct burst *b, uint64_t item)
{
	struct executor *ex = b->ctx.ex;
	struct lkdf_ctx *outer;

	if (b->slot != item_slot(item))
		enter_frame(b, slots_frame(b->rt, item_slot(item)));
	outer = current_set(ex, &b->ctx);
	item = run_tasks(b, item);
	current_restore(ex, outer);
	return item;
}

static __attribute__((noinline)) void look_around(struct worker *w,
						  struct lkdf_kind *k)
{
	if (worker_has_clock(w))
		worker_look(w, !(a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT));
	if (worker_has_request(w) && worker_has_private(w))
		worker_offer(w, false, 0);
}

/* A task that is private; NULL: it may be something else. */
static inline const struct task *task_at(const struct deque *d, uint32_t at)
{
	uint64_t item = deque_at(d, at);

	if (item & ITEM_OF_FRAME || LINK_TYPE(item) != LINK_TASK)
		return NULL;
	return task_of(link_of_item(item));
}

/*
 * A task that was submitted lies in the caches of others, if in any. So while a
 * task runs, what those behind it need comes: first the task, then its claim,
 * then its data.
 */
static inline void expect_tasks(struct worker *w)
{
	struct deque *d = &w->deque[CLASS_NORMAL];
	const struct task *t;
	uint32_t head;

	if (deque_head(d) - d->split < 3 || !deque_hold(d, &head))
		return;
	/* Some may have been made public before. */
	if (likely(head - d->split >= 3)) {
		t = task_at(d, head - 3);
		if (t)
			stock_expect(t);
		t = task_at(d, head - 2);
		if (t && t->link.flags & TASK_HAS_DATA)
			claim_expect(t->claim);
		t = task_at(d, head - 1);
		if (t && t->link.flags & TASK_HAS_DATA)
			claim_expect_data(t->claim);
	}
	deque_raise(d, head);
}

/* A run begins, or goes on. Returns the item to run next, or 0. */
static uint64_t start_frame(struct burst *b, struct frame *f)
{
	if (!f->mode)
		sources_begin(b->w, f);
	return f->mode->start(b, f);
}

static void call_link(struct executor *ex, struct link *link)
{
	struct link_call *call = container_of(link, struct link_call, link);

	call->run(ex, call);
}

/* Returns an item that is to be run next, or 0. */
static uint64_t run_link(struct burst *b, uint64_t item)
{
	struct link *link = link_of_item(item);

	burst_leave_frame(b);
	switch ((enum link_type)LINK_TYPE(item)) {
	case LINK_TASK:
		holdoff_end(b->w);
		if (unlikely(a_load(&b->w->attn, relaxed) & ~ATTN_LOOK))
			look_around(b->w, task_of(link)->kind);
		expect_tasks(b->w);
		task_run(b->w->executor, task_of(link));
		break;
	case LINK_TASK_DONE:
		own_task_resolve(b->w, task_of(link));
		break;
	case LINK_FRAME_START:
		return start_frame(b, container_of(link, struct frame, start));
	case LINK_FRAME_READY:
	case LINK_FRAME_PLANNED:
		resolve_listed(b->w,
			       container_of(link, struct ready_list, link));
		break;
	case LINK_CALL:
		call_link(b->w->executor, link);
		break;
	}
	return 0;
}

/* Tasks that it completes may end runs. */
static void look_at_completions(struct burst *b, uint64_t item)
{
	burst_leave_frame(b);
	completion_look(b->w, item);
}

static bool pick_item(struct worker *w, uint64_t *item)
{
	if (worker_should_look(w)) {
		holdoff_look(w);
		signals_look(w);
		quota_look(w);
		if (unlikely(quota_must_leave(w)))
			return false;
		worker_take_home(w);
		if (gate_look(w, item) || worker_pop_old(w, item))
			return true;
	}
	return worker_pop(w, item);
}

/* Where nothing is left the frame is told: its run ends and the next begins. */
static inline bool pick_next(struct burst *b, uint64_t *item)
{
	if (pick_item(b->w, item))
		return true;
	if (b->nr_resolved) {
		burst_leave_frame(b);
		if (pick_item(b->w, item))
			return true;
	}
	return gate_next(b->w, item);
}

/* No deque has room for the item. */
static void overflow_item(struct worker *w, uint64_t item)
{
	resolve_push(w, slots_frame(w->executor->rt, item_slot(item)),
		     item_index(item), (uint32_t)item & ITEM_SKIP);
}

/* ---- before a member of a gang ------------------------------------------- */

static bool is_below_member(const struct task *t)
{
	do
		t = a_load(&t->parent, relaxed);
	while (t && !t->kind->is_member);
	return t != NULL;
}

/* A member; or a task that was bound to the worker before its member was. */
static bool precedes_member(const struct link *link, const void *u)
{
	const struct task *t = descend_task(link_item(link));

	(void)u;
	return t && (t->kind->is_member ||
		     (t->link.flags & TASK_PLACED && home_is_bound(t->home) &&
		      home_is_part(t->home) && !is_below_member(t)));
}

/* Calls and lists run no body, and spare threads run urgent tasks anyway. */
static bool may_precede(uint64_t item)
{
	const struct task *t = descend_task(item);

	if (item & ITEM_OF_FRAME)
		return false;
	if (!t)
		return LINK_TYPE(item) != LINK_FRAME_START;
	return t->link.flags & TASK_URGENT || precedes_member(&t->link, NULL);
}

/*
 * The worker is due, see due.h, and has come by an item that it does not run
 * before its member: it is for others, who may take it at once.
 */
static __attribute__((noinline)) bool leave_to_others(struct burst *b,
						      uint64_t item)
{
	struct worker *w = b->w;

	if (may_precede(item))
		return false;
	burst_leave_frame(b);
	gate_release(w);
	if (item & ITEM_OF_FRAME)
		overflow_item(w, item);
	else if (LINK_TYPE(item) == LINK_TASK)
		task_put_back(w->executor, task_of(link_of_item(item)));
	else
		runtime_push(b->rt, w->executor, link_of_item(item));
	worker_share_all(w);
	return true;
}

static void run_items(struct worker *w, uint64_t item)
{
	void *bytes[CTX_NR_BYTES];
	struct burst b = {
		.w = w,
		.rt = w->executor->rt,
		.slot = NO_SLOT,
		.ctx = { .ex = w->executor,
			 .owner = &own_task_ops,
			 .bytes = bytes },
	};

	if (unlikely(park_bell(&w->node->park) >= 0))
		completion_guard(w);
	do {
		if (completion_has_news(w))
			look_at_completions(&b, item);
		while (item) {
			if (due_is(w) && leave_to_others(&b, item))
				return;
			item = item & ITEM_OF_FRAME ? run_item(&b, item)
						    : run_link(&b, item);
		}
	} while (pick_next(&b, &item));
}

static void run_one(struct worker *w, uint64_t item)
{
	struct burst b = {
		.w = w,
		.rt = w->executor->rt,
		.slot = NO_SLOT,
		.ctx = { .ex = w->executor, .owner = &own_task_ops },
	};

	if (!(item & ITEM_OF_FRAME)) {
		item = run_link(&b, item);
		if (item)
			overflow_item(w, item);
	} else {
		/* A task of its own, so that no chain follows. */
		enter_frame(&b, slots_frame(b.rt, item_slot(item)));
		burst_run_one(&b, item_index(item), item & ITEM_SKIP);
	}
	burst_flush(&b);
}

static struct link *task_above(uint64_t item, void *rt)
{
	const struct frame *f = NULL;
	struct link *link;

	if (item & ITEM_OF_FRAME) {
		f = slots_frame(rt, item_slot(item));
	} else {
		link = link_of_item(item);
		if (LINK_TYPE(item) == LINK_FRAME_START)
			f = container_of(link, const struct frame, start);
		else if (LINK_TYPE(item) == LINK_FRAME_READY ||
			 LINK_TYPE(item) == LINK_FRAME_PLANNED)
			f = container_of(link, const struct ready_list, link)
				    ->frame;
		else if (LINK_TYPE(item) == LINK_TASK_DONE)
			f = task_of(link)->frame;
	}
	return f && f->parent ? &f->parent->link : NULL;
}

static uint64_t last_ticks(uint64_t item, void *rt)
{
	const struct lkdf_kind *k;
	const struct frame *f;

	if (item & ITEM_OF_FRAME) {
		f = slots_frame(rt, item_slot(item));
		check(frame_has(f, item_index(item)));
		k = f->recs[item_index(item)].kind;
	} else if (LINK_TYPE(item) == LINK_TASK) {
		k = task_of(link_of_item(item))->kind;
	} else {
		return 0;
	}
	return a_load(&k->body_ticks, relaxed);
}

/*
 * The first task of its own that a worker needs may come late: when another one
 * takes a run that it has in the static order. Its room is there by then, or is
 * asked for again.
 */
static void enter_worker(struct worker *w)
{
	signals_enter_worker(w);
	threads_enter(w->executor);
	magazine_fill(&w->executor->magazine[POOL_TASK]);
}

const struct sched_ops run_ops = {
	.start = enter_worker,
	.run = run_items,
	.run_one = run_one,
	.above = task_above,
	.body_ticks = last_ticks,
	.is_below = descend_may_be,
	.precedes = precedes_member,
	.overflow = overflow_item,
	.poll = facts_idle,
	.wait = completion_wait,
	.tick = task_tick,
	.window = narrowing_turn,
	.nap = completion_nap,
	.leave = completion_leave,
	.urgent = urgent_look,
	.stays = completion_stays,
	.away_ns = signals_away_ns,
};
