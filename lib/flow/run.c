/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/run.h"

#include "base/clock.h"
#include "base/err.h"
#include "flow/kind.h"
#include "flow/runtime.h"
#include "flow/task.h"

#include <errno.h>

#define NO_TASK UINT32_MAX
#define NO_SLOT UINT32_MAX

/* One burst of work of one worker. */
struct burst {
	struct worker *w;
	struct lkdf *rt;
	struct frame *f; /* whose tasks we run; gone once all are told */
	uint32_t slot; /* of f; NO_SLOT: none */
	uint32_t nr_decided; /* of f, not yet told */
	bool is_cancelled; /* f: its tasks are skipped */
	struct lkdf_ctx ctx;
};

/* What before() says. */
enum before {
	BEFORE_RUN,
	BEFORE_TIME, /* run it and say how long it took */
	BEFORE_TAKEN, /* it is somebody else's now, or decided */
};

void run_spill(struct worker *w, struct frame *f, uint32_t index, uint32_t skip)
{
	uint32_t entry = index << 1 | (skip ? 1 : 0);
	uint32_t head = a_load(&f->spill, relaxed);

	counter_add(w->executor->counters, COUNTER_OVERFLOWS, 1);
	do {
		if (f->spill_next)
			f->spill_next[index] = head;
		else
			a_store(&f->recs[index].pending, head, relaxed);
		/* [spill.push] the link before the head; pairs with
		 * [spill.take]. */
	} while (!a_cas(&f->spill, &head, entry, release, relaxed));
	if (head == NO_SPILL) {
		inbox_push(&w->node->inbox, &f->spill_link);
		park_notify(&w->sched->park);
	}
}

void run_push(struct worker *w, struct frame *f, uint32_t index, uint32_t skip)
{
	enum sched_class class = f->recs[index].flags & REC_CLASS;

	if (unlikely(!worker_push(w, class, item_make(f, index, skip))))
		run_spill(w, f, index, skip);
}

/* The entry below; before it is taken, for pending may be the link. */
static uint32_t spill_below(struct frame *f, uint32_t entry)
{
	uint32_t index = entry >> 1;

	return f->spill_next ? f->spill_next[index]
			     : a_load(&f->recs[index].pending, relaxed);
}

/*
 * Takes one entry; *below is what is left then. Whoever has spill_link is the
 * only one that takes, so a head that is still there has not been away, and
 * its link has not changed.
 */
static uint32_t take_spilled(struct frame *f, uint32_t *below)
{
	/* [spill.take] the links; pairs with [spill.push]. */
	uint32_t entry = a_load(&f->spill, acquire);

	do {
		*below = spill_below(f, entry);
		/* [spill.take] as above. */
	} while (!a_cas(&f->spill, &entry, *below, acquire, acquire));
	return entry;
}

/* What found no room in a deque, as much as there is room for now. */
static void run_spilled(struct worker *w, struct frame *f)
{
	uint32_t entry, index, below = 0, skip;
	bool has_room = true;

	while (has_room && below != NO_SPILL) {
		entry = take_spilled(f, &below);
		index = entry >> 1;
		skip = entry & 1 ? ITEM_SKIP : 0;
		if (!f->spill_next)
			rec_rearm(&f->recs[index],
				  graph_nr_in(f->graph, &f->recs[index],
					      index));
		has_room = worker_push(w, f->recs[index].flags & REC_CLASS,
				       item_make(f, index, skip));
		if (!has_room)
			run_spill(w, f, index, skip);
	}
	/* With the last entry the link went too, and maybe the frame. */
	if (below != NO_SPILL)
		inbox_push(&w->node->inbox, &f->spill_link);
}

/* The task is the last to arrive at r: ready, or to be skipped. */
static void arrived(struct worker *w, struct frame *f, uint32_t index,
		    enum arrival a)
{
	struct rec *r = &f->recs[index];

	if (a == ARRIVAL_EARLY)
		return;
	rec_rearm(r, graph_nr_in(f->graph, r, index));
	run_push(w, f, index, a == ARRIVAL_DEAD ? ITEM_SKIP : 0);
}

/* The instance of the next run may go, as far as we are concerned. */
static void pass_token(struct worker *w, struct frame *f, uint32_t index)
{
	struct lkdf_graph *g = f->graph;
	uint32_t to;

	if (f->repeats) {
		rec_arrive(&f->recs[index]);
		return;
	}
	to = (f->index + graph_width(g, f->recs[index].kind)) % g->nr_frames;
	arrived(w, &g->frames[to], index,
		rec_arrive(&g->frames[to].recs[index]));
}

void run_pass_tokens(struct worker *w, struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	struct rec *r;
	uint32_t i, to;

	for (i = 0; i < g->nr_tasks; i++) {
		r = &f->recs[i];
		if (!(r->flags & REC_TOKEN))
			continue;
		/* Our own arrival of the last repetition moves on. */
		a_add(&r->pending, 1, relaxed);
		to = (f->index + graph_width(g, r->kind)) % g->nr_frames;
		arrived(w, &g->frames[to], i,
			rec_arrive(&g->frames[to].recs[i]));
	}
}

static void arrive_dead(struct worker *w, struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index];

	if (r->nr_in == 1)
		run_push(w, f, index, ITEM_SKIP);
	else
		arrived(w, f, index, rec_arrive_dead(r));
}

static void arrive_live(struct worker *w, struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index];

	if (r->nr_in == 1)
		run_push(w, f, index, 0);
	else
		arrived(w, f, index, rec_arrive(r));
}

/* Without the count: the caller tells the frame. */
static void decide(struct worker *w, struct frame *f, uint32_t index, bool live)
{
	const uint32_t *succ;
	uint32_t nr, i;

	succ = graph_succ(f->graph, &f->recs[index], &nr);
	for (i = 0; i < nr; i++) {
		if (live)
			arrive_live(w, f, succ[i]);
		else
			arrive_dead(w, f, succ[i]);
	}
	if (f->recs[index].flags & REC_TOKEN)
		pass_token(w, f, index);
}

void run_decide(struct worker *w, struct frame *f, uint32_t index, bool live)
{
	decide(w, f, index, live);
	frame_decided(w, f, 1);
}

/* Tells the frame before we turn to something else. */
static void flush(struct burst *b)
{
	uint32_t nr = b->nr_decided;

	if (!nr)
		return;
	b->nr_decided = 0;
	frame_decided(b->w, b->f, nr);
}

static void enter_frame(struct burst *b, struct frame *f)
{
	flush(b);
	b->f = f;
	b->slot = f->slot;
	b->ctx.frame = f;
	b->is_cancelled = frame_cancelled(f) != 0;
}

static void count_task(struct burst *b, uint64_t nr)
{
	counter_add(b->w->executor->counters, COUNTER_TASKS, nr);
}

/* An input failed, or the run is cancelled. */
static void skip_task(struct burst *b, uint32_t index, bool is_cancelled)
{
	struct frame *f = b->f;

	if (is_cancelled)
		a_add(&f->nr_cancelled, 1, relaxed);
	else
		a_add(&f->nr_skipped, 1, relaxed);
	decide(b->w, f, index, false);
	b->nr_decided++;
}

/* The kind needs a task of its own; without memory the task fails. */
static void start_general(struct burst *b, uint32_t index)
{
	struct task *t = task_create_for(b->w->executor, b->f, index);

	if (t) {
		task_start(b->rt, b->w->executor, t);
		return;
	}
	frame_fail(b->f, index, -ENOMEM, "no memory for its task", b->w->id);
	decide(b->w, b->f, index, false);
	b->nr_decided++;
}

/* Everything that is not the plain case; once per task at most. */
static enum before before(struct burst *b, uint32_t index)
{
	struct lkdf_kind *k = b->f->recs[index].kind;
	uint32_t slow = a_load(&k->slow, relaxed);
	struct worker *w = b->w;

	if (a_load(&w->attn, relaxed) & ATTN_LOOK) {
		/* [run.look] pairs with sched_look(). */
		a_and(&w->attn, ~ATTN_LOOK, seq_cst);
		b->is_cancelled = frame_cancelled(b->f) != 0;
	}
	if (b->is_cancelled) {
		skip_task(b, index, true);
		return BEFORE_TAKEN;
	}
	if (slow & SLOW_GENERAL) {
		start_general(b, index);
		return BEFORE_TAKEN;
	}
	if (slow || worker_has_private(w))
		worker_offer(w, !slow, a_load(&k->body_ticks, relaxed));
	return slow ? BEFORE_TIME : BEFORE_RUN;
}

/* Error, children, continuation. True: decided and live, go on as usual. */
static bool after(struct burst *b, uint32_t index, int rc)
{
	struct lkdf_ctx *c = &b->ctx;
	bool has_why = c->has_why;

	c->after = 0;
	c->has_why = false;
	if (c->task) {
		c->has_why = has_why;
		if (task_after(c, rc) == TASK_COMPLETE)
			task_finish_of_frame(b->w, c->task);
		c->task = NULL;
		c->has_why = false;
		return false;
	}
	if (rc >= 0)
		return true;
	frame_fail(b->f, index, rc, has_why ? err_text() : NULL, b->w->id);
	decide(b->w, b->f, index, false);
	b->nr_decided++;
	return false;
}

static int timed_call(struct lkdf_kind *k, struct lkdf_ctx *c, void *arg)
{
	uint64_t start = clock_ticks();
	int rc = k->fn(c, arg);

	kind_sample(k, clock_ticks() - start);
	return rc;
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
	struct deque *d = &b->w->deque[CLASS_NORMAL];
	const uint32_t plain_item = (uint32_t)item_make(b->f, 0, 0);
	uint64_t item = 0;
	struct worker *w = b->w;
	struct frame *f = b->f;
	struct rec *recs = f->recs, *r, *m;
	struct lkdf_graph *g = f->graph;
	struct lkdf_ctx *c = &b->ctx;
	uint32_t next, nr, i, nr_run = 0;
	struct lkdf_kind *k;
	const uint32_t *succ;
	enum before how;
	enum arrival a;
	int rc;

	for (;; index = next) {
		r = &recs[index];
		k = r->kind;
		c->index = index;
		how = BEFORE_RUN;
		if (unlikely(a_load(&w->attn, relaxed) |
			     a_load(&k->slow, relaxed) | b->is_cancelled)) {
			how = before(b, index);
			if (how == BEFORE_TAKEN)
				break;
		}
		rc = likely(how == BEFORE_RUN) ? k->fn(c, r->arg)
					       : timed_call(k, c, r->arg);
		nr_run++;
		if (unlikely((rc | c->after) < 0) && !after(b, index, rc))
			break;
		b->nr_decided++;
		next = NO_TASK;
		succ = graph_succ(g, r, &nr);
		for (i = 0; i < nr; i++) {
			m = &recs[succ[i]];
			if (m->nr_in != 1) {
				a = rec_arrive(m);
				if (a == ARRIVAL_EARLY)
					continue;
				rec_rearm(m, graph_nr_in(g, m, succ[i]));
				if (unlikely(a == ARRIVAL_DEAD)) {
					run_push(w, f, succ[i], ITEM_SKIP);
					continue;
				}
			}
			if (next == NO_TASK &&
			    likely((m->flags & REC_CLASS) == CLASS_NORMAL))
				next = succ[i];
			else
				run_push(w, f, succ[i], 0);
		}
		if (has_tokens && r->flags & REC_TOKEN)
			pass_token(w, f, index);
		if (next != NO_TASK)
			continue;
		if (worker_should_look(w) || w->other_classes ||
		    !deque_pop(d, &item))
			break;
		w->nr_picks++;
		next = item_index(item);
		if (unlikely((uint32_t)item != plain_item))
			break;
		item = 0;
	}
	count_task(b, nr_run);
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
		skip_task(b, index, b->is_cancelled);
	else if (unlikely(b->f->graph->has_tokens))
		return run_tokens(b, index);
	else
		return run_plain(b, index);
	return 0;
}

static void start_source(struct worker *w, struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index];
	enum arrival a;

	if (!(r->flags & REC_TOKEN)) {
		run_push(w, f, index, 0);
		return;
	}
	a = rec_arrive(r);
	/* Early: whoever brings the token runs it, maybe by now. */
	if (a != ARRIVAL_EARLY)
		arrived(w, f, index, a);
}

/*
 * Takes the next sources of a frame. While there are more, start stays an item
 * in our deque, so that others take from it too: one holder at a time.
 */
static void run_sources(struct burst *b, struct frame *f)
{
	const struct lkdf_graph *g = f->graph;
	uint32_t first = f->next_source, end;
	struct worker *w = b->w;

	end = (uint32_t)min_u64(first + SOURCE_CHUNK, g->nr_sources);
	f->next_source = end;
	if (end < g->nr_sources &&
	    !worker_push(w, CLASS_NORMAL, (uint64_t)(uintptr_t)&f->start))
		inbox_push(&w->node->inbox, &f->start);
	/* With the last of them the frame and its graph may go. */
	while (end > first)
		start_source(w, f, g->sources[--end]);
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

static void run_link(struct burst *b, struct link *link)
{
	leave_frame(b);
	switch ((enum link_type)link->type) {
	case LINK_TASK:
		task_run(b->w->executor, task_of(link));
		break;
	case LINK_TASK_DONE:
		task_finish_of_frame(b->w, task_of(link));
		break;
	case LINK_FRAME_START:
		run_sources(b, container_of(link, struct frame, start));
		break;
	case LINK_FRAME_SPILL:
		run_spilled(b->w, container_of(link, struct frame, spill_link));
		break;
	}
}

static void run(struct worker *w, uint64_t item)
{
	struct burst b = {
		.w = w,
		.rt = w->executor->rt,
		.slot = NO_SLOT,
		.ctx.ex = w->executor,
	};

	do {
		while (item & ITEM_OF_FRAME)
			item = run_item(&b, item);
		if (item)
			run_link(&b, (struct link *)(uintptr_t)item);
		if (worker_should_look(w))
			worker_take_inbox(w, w->node);
	} while (worker_pop(w, &item));
	flush(&b);
}

static enum sched_class class_of(struct link *link)
{
	return link->type == LINK_TASK ? (enum sched_class)task_of(link)->class
				       : CLASS_NORMAL;
}

const struct sched_ops run_ops = {
	.run = run,
	.class_of = class_of,
};

void run_start_frame(struct lkdf *rt, struct worker *w, struct frame *f)
{
	f->next_source = 0;
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	if (w && worker_push(w, CLASS_NORMAL, (uint64_t)(uintptr_t)&f->start))
		return;
	runtime_push(rt, NULL, &f->start);
}
