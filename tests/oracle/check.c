/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the library left against what the model expects; after a cancel, what
 * was left against itself: all that ran has run rightly, all that did not is
 * counted.
 */
#include "tests/oracle/world.h"

#include <errno.h>
#include <sched.h>

struct place {
	struct world *w;
	uint32_t call, rep;
};

static bool has_run(const struct place *at, uint32_t node)
{
	struct cell *cell = cell_of(at->w, at->call, at->rep, node);

	return atomic_load(&cell->state) == CELL_ENDED;
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* When the last of a task's bodies and signals was over. */
static uint32_t end_of(const struct place *at, uint32_t task)
{
	const struct node *n = &at->w->p->node[task];
	struct cell *cell = cell_of(at->w, at->call, at->rep, task);
	uint32_t end = max_u32(cell->end, cell->signal_end), i;

	for (i = n->below; i < n->below + n->nr_below; i++) {
		cell = cell_of(at->w, at->call, at->rep, i);
		end = max_u32(end, max_u32(cell->end, cell->signal_end));
	}
	return end;
}

static void check_order(const struct place *at)
{
	const struct program *p = at->w->p;
	uint32_t i, from, to;

	for (i = 0; i < p->nr_edges; i++) {
		from = p->edge[2 * i];
		to = p->edge[2 * i + 1];
		if (!has_run(at, to))
			continue;
		if (!has_run(at, from))
			wrong(at->w, "call %u rep %u: %u ran, %u before it not",
			      at->call, at->rep, to, from);
		if (end_of(at, from) >=
		    cell_of(at->w, at->call, at->rep, to)->start)
			wrong(at->w,
			      "call %u rep %u: %u began before %u was complete",
			      at->call, at->rep, to, from);
	}
}

/* The value that follows from what the others really left. */
static uint64_t value_from_cells(const struct place *at, uint32_t node)
{
	struct world *w = at->w;
	const struct node *n = &w->p->node[node];
	bool fails = node_fails(n, at->call, at->rep);
	struct cell *cell = cell_of(w, at->call, at->rep, node);
	uint32_t i, from, first, end;
	uint64_t in = 0, waited;

	for (i = 0; node < w->p->nr_tasks &&
		    i < w->p->pred_at[node + 1] - w->p->pred_at[node];
	     i++) {
		from = w->p->pred[w->p->pred_at[node] + i];
		first = w->p->node[from].below;
		end = first + w->p->node[from].nr_below;
		in += cells_sum(w, at->call, at->rep, from, from + 1);
		in += cells_sum(w, at->call, at->rep, first, end);
	}
	model_waited(w->p, node, fails, &first, &end);
	waited = cells_sum(w, at->call, at->rep, first, end);
	if (model_goes_on(n, fails))
		waited += cell->extra;
	return model_value(w->p, node, at->call, at->rep, in, waited);
}

static void check_cell(const struct place *at, uint32_t node, bool is_free)
{
	const struct call *c = &at->w->p->call[at->call];
	uint32_t i = at->rep * call_nr_cells(at->w->p, c) + node - c->first;
	const struct result *r = &at->w->run[at->call].expect.result[i];
	struct cell *cell = cell_of(at->w, at->call, at->rep, node);
	uint32_t state = atomic_load(&cell->state);

	if (state == CELL_STARTED)
		wrong(at->w, "call %u rep %u: node %u has not ended", at->call,
		      at->rep, node);
	if (is_free) {
		if (state == CELL_ENDED &&
		    cell->value != value_from_cells(at, node))
			wrong(at->w, "call %u rep %u: node %u: value %#llx",
			      at->call, at->rep, node,
			      (unsigned long long)cell->value);
		return;
	}
	if ((state == CELL_ENDED) != r->has_run)
		wrong(at->w, "call %u rep %u: node %u has%s run", at->call,
		      at->rep, node, r->has_run ? " not" : "");
	else if (cell->value != r->value || cell->extra != r->extra)
		wrong(at->w,
		      "call %u rep %u: node %u: value %#llx extra %#llx, "
		      "expected %#llx and %#llx",
		      at->call, at->rep, node, (unsigned long long)cell->value,
		      (unsigned long long)cell->extra,
		      (unsigned long long)r->value,
		      (unsigned long long)r->extra);
}

static bool is_free(const struct world *w, uint32_t phase)
{
	return w->p->cancels && !phase;
}

static void check_run(struct world *w, uint32_t i)
{
	const struct call *c = &w->p->call[i];
	struct place at = { w, i, 0 };
	uint32_t node;

	for (; at.rep < c->times; at.rep++) {
		for (node = c->first; node < c->first + call_nr_cells(w->p, c);
		     node++) {
			check_cell(&at, node, is_free(w, c->phase));
		}
		if (!c->is_submit)
			check_order(&at);
	}
	if (!c->is_submit && !is_free(w, c->phase) && !w->run[i].start_rc &&
	    w->run[i].rep != (w->run[i].expect.errors || c->times == 1
				      ? w->run[i].expect.nr_reps - 1
				      : c->times - 1u))
		wrong(w, "call %u: %u repetitions", i, w->run[i].rep + 1);
}

void check_phase(struct world *w, uint32_t phase)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_calls; i++) {
		if (w->p->call[i].phase == phase)
			check_run(w, i);
	}
	for (i = 0; i < w->p->nr_tasks; i++) {
		if (atomic_load(&w->nr_active[i]))
			wrong(w, "task %u is still active", i);
	}
	for (i = 0; i < w->p->nr_limits; i++) {
		if (atomic_load(&w->limit_used[i]))
			wrong(w, "limit %u is still used", i);
	}
}

void check_run_error(struct world *w, uint32_t call, int rc)
{
	uint32_t errors = w->run[call].expect.errors;

	if (is_free(w, w->p->call[call].phase)) {
		if (rc && !model_bit(rc))
			wrong(w, "call %u ends with %d", call, rc);
		return;
	}
	if (rc ? !(model_bit(rc) & errors) : errors != 0)
		wrong(w, "call %u ends with %d, not of %#x", call, rc, errors);
}

static void check_counts(struct world *w, uint32_t call,
			 const struct lkdf_error *e)
{
	const struct expect *x = &w->run[call].expect;
	uint64_t seq = atomic_load(&w->run[call].seq[x->nr_reps - 1]);

	if (!e->err || is_free(w, w->p->call[call].phase))
		return;
	if (w->p->call[call].is_submit) {
		if (e->id != -1)
			wrong(w, "call %u: task %d failed", call, e->id);
		return;
	}
	if (e->nr_failed != x->nr_failed || e->nr_skipped != x->nr_skipped ||
	    e->nr_cancelled || e->seq + 1 != seq)
		wrong(w,
		      "call %u: failed %llu, skipped %llu, seq %llu; expected "
		      "%u, %u, %llu",
		      call, (unsigned long long)e->nr_failed,
		      (unsigned long long)e->nr_skipped,
		      (unsigned long long)e->seq, x->nr_failed, x->nr_skipped,
		      (unsigned long long)seq - 1);
	if (e->id < 0 || (uint32_t)e->id >= w->p->nr_tasks ||
	    !(x->result[(x->nr_reps - 1) * w->p->nr_nodes + (uint32_t)e->id]
		      .errors &
	      model_bit(e->err)))
		wrong(w, "call %u: task %d failed with %d", call, e->id,
		      e->err);
}

/* All has ended: the event has fired, or will at once. */
void check_run_event(struct world *w, uint32_t call)
{
	struct lkdf_error e = { .size = sizeof(e) };
	int rc;

	while ((rc = lkdf_event_error(w->run[call].done, &e)) == 1)
		sched_yield();
	if (rc)
		wrong(w, "call %u: event: %d %s", call, rc, lkdf_errmsg());
	check_counts(w, call, &e);
	w->run[call].error = e;
	rc = w->run[call].rc = lkdf_event_wait(w->run[call].done, 0);
	if (rc != e.err)
		wrong(w, "call %u: event says %d and %d", call, rc, e.err);
	check_run_error(w, call, rc);
}

/*
 * What a cancelled call has not run, and what it may have not run as well. A
 * body that ran counts as cancelled, too, if it passes on what its children
 * ended with: gave_up is how many may have done so.
 */
static void count_not_run(struct world *w, uint32_t i, uint64_t *sure,
			  uint64_t *maybe, uint64_t *gave_up)
{
	const struct call *c = &w->p->call[i];
	struct place at = { w, i, 0 };
	uint32_t node, child, nr_run;

	*maybe = 0;
	if (w->run[i].start_rc)
		return;
	for (; at.rep < c->times; at.rep++) {
		nr_run = 0;
		for (node = c->first; node < c->first + call_nr_cells(w->p, c);
		     node++) {
			const struct node *n = &w->p->node[node];

			if (!has_run(&at, node))
				continue;
			nr_run += c->is_submit ? node == c->first
					       : node < w->p->nr_tasks;
			*gave_up += n->nr_below != 0;
			for (child = n->below; child < n->below + n->nr_below;
			     child += 1 + w->p->node[child].nr_below)
				*sure += !has_run(&at, child);
		}
		if (c->is_submit)
			*sure += 1 - nr_run;
		else if (nr_run || !at.rep)
			*sure += w->p->nr_tasks - nr_run;
		else if (at.rep <= w->run[i].rep)
			*maybe = w->p->nr_tasks;
	}
}

static void check_cancelled(struct world *w, const struct lkdf_error *e)
{
	uint64_t sure = 0, gave_up = 0, maybe, steps[MAX_CALLS], got, least;
	uint32_t i, nr = 0, set;

	for (i = 0; i < w->p->nr_calls; i++) {
		if (w->p->call[i].phase)
			continue;
		count_not_run(w, i, &sure, &maybe, &gave_up);
		if (maybe)
			steps[nr++] = maybe;
	}
	got = e->nr_skipped + e->nr_cancelled;
	for (set = 0; set <= nr; set++) {
		/* All of one graph: the steps are alike. */
		least = sure + (set ? set * steps[0] : 0);
		if (got >= least && got <= least + gave_up)
			return;
	}
	wrong(w, "scope: %llu skipped, %llu cancelled, %llu did not run",
	      (unsigned long long)e->nr_skipped,
	      (unsigned long long)e->nr_cancelled, (unsigned long long)sure);
}

/*
 * The event of the call has told one of its errors. Others of its tasks may
 * have failed as well, which nobody has seen: the scope may tell of those.
 */
static bool has_told(const struct world *w, uint32_t call)
{
	return w->p->call[call].has_done && w->p->call[call].waits_at_once;
}

static bool has_more(const struct expect *x)
{
	return x->nr_failed + x->nr_failed_below + x->nr_skipped > 1;
}

void check_scope(struct world *w, uint32_t phase, int rc)
{
	uint64_t nr_failed = 0, nr_skipped = 0;
	struct lkdf_error e = { .size = sizeof(e) };
	uint32_t errors = 0, more = 0, i;

	if (lkdf_scope_error(w->rt, w->scope, &e))
		wrong(w, "scope error: %s", lkdf_errmsg());
	w->scope_error = e;
	if (is_free(w, phase)) {
		if (rc && !model_bit(rc))
			wrong(w, "scope ends with %d", rc);
		if (atomic_load(&w->is_cancelled) && !rc)
			wrong(w, "scope was cancelled and ends with 0");
		check_cancelled(w, &e);
		return;
	}
	for (i = 0; i < w->p->nr_calls; i++) {
		if (w->p->call[i].phase != phase)
			continue;
		if (!has_told(w, i))
			errors |= w->run[i].expect.errors;
		else if (has_more(&w->run[i].expect))
			more |= w->run[i].expect.errors;
		nr_failed += w->run[i].expect.nr_failed;
		nr_failed += w->run[i].expect.nr_failed_below;
		nr_skipped += w->run[i].expect.nr_skipped;
	}
	if (rc ? !(model_bit(rc) & (errors | more)) : errors != 0)
		wrong(w, "scope ends with %d, not of %#x", rc, errors);
	if (phase)
		return;
	if (e.nr_failed != nr_failed || e.nr_skipped != nr_skipped ||
	    e.nr_cancelled || (rc && e.err != rc))
		wrong(w,
		      "scope: failed %llu, skipped %llu, cancelled %llu, error "
		      "%d; expected %llu, %llu, 0, %d",
		      (unsigned long long)e.nr_failed,
		      (unsigned long long)e.nr_skipped,
		      (unsigned long long)e.nr_cancelled, e.err,
		      (unsigned long long)nr_failed,
		      (unsigned long long)nr_skipped, rc);
}

/* The graph's once, those of the others once for every time they were made. */
static void check_drops_below(struct world *w, const struct place *at,
			      uint32_t node)
{
	const struct node *n = &w->p->node[node];
	uint32_t i, nr, expected;

	if (!has_run(at, node))
		return;
	for (i = n->below; i < n->below + n->nr_below;
	     i += 1 + w->p->node[i].nr_below) {
		nr = atomic_load(&cell_of(w, at->call, at->rep, i)->nr_drops);
		expected = w->p->kind[w->p->node[i].kind].has_drop;
		if (nr != expected)
			wrong(w, "call %u rep %u: node %u: %u drops", at->call,
			      at->rep, i, nr);
	}
}

/* A submitted task itself, if the call made one. */
static void check_drop_of_root(struct world *w, uint32_t call)
{
	const struct call *c = &w->p->call[call];
	uint32_t nr, expected;

	nr = atomic_load(&cell_of(w, call, 0, c->first)->nr_drops);
	expected = !w->run[call].start_rc &&
		   w->p->kind[w->p->node[c->first].kind].has_drop;
	if (nr != expected)
		wrong(w, "call %u: %u drops of its task", call, nr);
}

void check_drops(struct world *w)
{
	struct place at = { .w = w };
	const struct call *c;
	uint32_t i;

	for (i = 0; i < w->p->nr_tasks; i++) {
		if (atomic_load(&w->nr_drops[i]) !=
		    w->p->kind[w->p->node[i].kind].has_drop)
			wrong(w, "task %u: %u drops", i,
			      atomic_load(&w->nr_drops[i]));
	}
	for (at.call = 0; at.call < w->p->nr_calls; at.call++) {
		c = &w->p->call[at.call];
		if (c->is_submit)
			check_drop_of_root(w, at.call);
		for (at.rep = 0; at.rep < c->times; at.rep++) {
			for (i = 0; i < call_nr_cells(w->p, c); i++)
				check_drops_below(w, &at, c->first + i);
		}
	}
}
