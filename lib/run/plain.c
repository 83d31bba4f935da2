/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The modes of graphs without branches: a chain of tasks and their arrivals at
 * the successors, with tokens, with transient bytes, or neither.
 */
#include "run/mode.h"

#include "core/item.h"
#include "run/chain.h"
#include "run/sources.h"

/* Live arrivals at all successors of r. Returns the one to run next. */
static inline __attribute__((always_inline)) uint32_t
fire_successors(struct burst *b, struct rec *recs, const struct rec *r)
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
				resolve_push(b->w, b->f, succ[i], ITEM_SKIP);
				continue;
			}
		}
		next = chain_take_or_push(b, m, succ[i], next);
	}
	return next;
}

/*
 * The hot loop: a task, its arrivals at the successors, one of them inline,
 * and when there is none the next of the same frame from our own deque.
 * Returns an item that is for somebody else, or 0.
 */
static inline __attribute__((always_inline)) uint64_t
run_chain(struct burst *b, uint32_t index, const int chain)
{
	const uint32_t plain_item = (uint32_t)item_make(b->f, 0, 0);
	struct rec *recs = b->recs, *r;
	struct worker *w = b->w;
	struct lkdf_ctx *c = &b->ctx;
	uint32_t nr_resolved = 0;
	struct lkdf_kind *k;
	enum before how;
	bool is_transient, is_away = false;
	uint64_t item = 0;
	int rc;

	for (;;) {
		r = &recs[index];
		k = r->kind;
		c->index = index;
		how = chain_look(b, k);
		if (unlikely(how == BEFORE_LOOK)) {
			how = chain_before(b, index);
			is_away = how == BEFORE_TAKEN;
			if (is_away)
				break;
		}
		rc = chain_call(b, r, how, chain, &is_transient);
		if (chain & CHAIN_TOKENS && unlikely(rc == LKDF_END) &&
		    burst_end_stream(b, index)) {
			is_away = true;
			break;
		}
		is_away = unlikely((rc | c->after) < 0) &&
			  !burst_after(b, index, rc);
		if (unlikely(is_away))
			break;
		if (is_transient)
			transient_called(c, &b->transient[c->index]);
		nr_resolved++;
		index = fire_successors(b, recs, r);
		if (chain & CHAIN_TOKENS && r->flags & REC_TOKEN) {
			resolve_pass_token(w, b->f, (uint32_t)(r - recs));
			if (worker_has_request(w) && index != NO_TASK)
				item = chain_keep_stage(b, (uint32_t)(r - recs),
							index);
			if (unlikely(item))
				break;
		}
		if (index != NO_TASK)
			continue;
		if (worker_should_look(w) ||
		    a_load(&w->other_classes, relaxed) ||
		    !deque_pop(&w->deque[CLASS_NORMAL], &item))
			break;
		w->looks.nr_picks++;
		index = item_index(item);
		if (unlikely((uint32_t)item != plain_item))
			break;
		item = 0;
	}
	b->nr_resolved += nr_resolved;
	burst_count(b, nr_resolved);
	/* Somebody else may resolve it and end the run. */
	if (is_away)
		burst_leave_frame(b);
	return item;
}

static HOT_LOOP uint64_t run_plain(struct burst *b, uint32_t index)
{
	return run_chain(b, index, 0);
}

static HOT_LOOP uint64_t run_tokens(struct burst *b, uint32_t index)
{
	return run_chain(b, index, CHAIN_TOKENS);
}

static HOT_LOOP uint64_t run_transient(struct burst *b, uint32_t index)
{
	return run_chain(b, index, CHAIN_TRANSIENT);
}

/* A worker without a cache has nobody to give it transient bytes quickly. */
uint64_t mode_run_transient(struct burst *b, uint32_t index)
{
	return likely(b->transient != NULL) ? run_transient(b, index)
					    : run_plain(b, index);
}

static bool has_tokens(struct worker *w, struct frame *f)
{
	(void)w;
	return f->graph->has_tokens;
}

static bool has_transient(struct worker *w, struct frame *f)
{
	(void)w;
	return f->values.transient_task != NULL;
}

static bool is_any(struct worker *w, struct frame *f)
{
	(void)w;
	(void)f;
	return true;
}

const struct run_mode tokens_mode = {
	.name = "tokens",
	.is_for = has_tokens,
	.run = run_tokens,
	.start = sources_take,
};

const struct run_mode transient_mode = {
	.name = "transient",
	.is_for = has_transient,
	.run = mode_run_transient,
	.start = sources_take,
};

const struct run_mode plain_mode = {
	.name = "plain",
	.is_for = is_any,
	.run = run_plain,
	.start = sources_take,
};
