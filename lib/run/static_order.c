/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/static_order.h"

#include "base/options.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "run/frame.h"

#define NONE UINT32_MAX

/* ---- which graphs ------------------------------------------------------- */

static bool has_plain_data(const struct lkdf_graph *g)
{
	const struct access_table *w = g->accesses;

	return !w || (!w->has_maybe && !w->has_moves && !w->nr_tokens);
}

static bool is_plain_kind(const struct lkdf_kind *k)
{
	return (!k->is_ours || k->is_empty) && !k->inner[AROUND_TOKENS] &&
	       !k->inner[AROUND_MOVE] && !k->inner[AROUND_HOME] &&
	       !(a_load(&k->slow, relaxed) & SLOW_GENERAL);
}

static bool are_plain_tasks(const struct lkdf_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++)
		if (g->recs[i].flags != CLASS_NORMAL ||
		    !is_plain_kind(g->recs[i].kind))
			return false;
	return true;
}

void static_order_init(struct lkdf_graph *g)
{
	struct static_state *s = &g->order;
	uint32_t first = (uint32_t)g->rt->options->static_runs;

	s->is_possible = first && !g->rt->sched.is_serial && g->nr_tasks > 1 &&
			 !g->homes && !g->planned && !g->has_tokens &&
			 !g->control && has_plain_data(g) && are_plain_tasks(g);
	/* Runs on one worker of several have been counted: solo.h. */
	a_store(&s->remaining, g->rt->sched.nr_workers == 1 ? first - 1 : 0,
		relaxed);
}

/* ---- which task follows which ------------------------------------------- */

struct maker {
	const struct lkdf_graph *g;
	struct static_order *o;
	uint32_t *pending, *stack; /* by index; while tasks are put in order */
	uint32_t *cell_of, *readers; /* by var: that are still to come */
	uint32_t *free_in; /* by block: the next one that is free */
	uint32_t free[NR_SIZES]; /* by class: the first one */
	uint64_t nr_bytes; /* of all blocks */
};

/* As the run loop: the first that is ready follows, the others wait. */
static void put_in_order(struct maker *m)
{
	const struct lkdf_graph *g = m->g;
	uint32_t nr = 0, depth = 0, i, nr_succ, next, index;
	const uint32_t *succ;

	for (i = 0; i < g->nr_recs; i++)
		m->pending[i] = graph_nr_in(g, &g->recs[i], i);
	for (i = g->nr_sources; i-- > 0;)
		m->stack[depth++] = g->sources[i];
	while (depth) {
		next = m->stack[--depth];
		while (next != NO_TASK) {
			index = next;
			next = NO_TASK;
			m->o->step[nr++].index = index;
			succ = graph_succ(g, &g->recs[index], &nr_succ);
			for (i = 0; i < nr_succ; i++) {
				if (--m->pending[succ[i]])
					continue;
				if (next == NO_TASK)
					next = succ[i];
				else
					m->stack[depth++] = succ[i];
			}
		}
	}
}

/* ---- which bytes each use has ------------------------------------------- */

static uint32_t take_block(struct maker *m, uint8_t class)
{
	struct static_order *o = m->o;
	uint32_t block = m->free[class];

	if (block != NONE) {
		m->free[class] = m->free_in[block];
		return block;
	}
	m->nr_bytes += m->g->rt->heap->class[class].size;
	o->class[o->nr_blocks] = class;
	return o->nr_blocks++;
}

static void give_block(struct maker *m, uint32_t block)
{
	uint8_t class = m->o->class[block];

	m->free_in[block] = m->free[class];
	m->free[class] = block;
}

/* Marked, until it is known how many blocks there are. */
#define OF_VAR (1u << 31)

static uint32_t cell_of_var(struct maker *m, uint32_t var)
{
	struct static_order *o = m->o;

	if (m->cell_of[var] == NONE) {
		o->var[o->nr_cells] = var;
		m->cell_of[var] = o->nr_cells++ | OF_VAR;
	}
	return m->cell_of[var];
}

/* Before a task's body. False: not so simple. */
static bool give_cells(struct maker *m, const struct transient_use *u,
		       uint32_t nr, uint32_t *cell)
{
	const struct access_table *w = m->g->accesses;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (!(u[i].flags & TRANSIENT_MAKES))
			continue;
		m->cell_of[u[i].var] = take_block(m, u[i].class);
		m->readers[u[i].var] = u[i].nr_readers;
	}
	for (i = 0; i < nr; i++) {
		if (!access_var(w, u[i].var)->is_transient)
			cell_of_var(m, u[i].var);
		cell[i] = m->cell_of[u[i].var];
		if (cell[i] == NONE)
			return false;
	}
	return true;
}

/* After it. */
static void take_cells(struct maker *m, const struct transient_use *u,
		       uint32_t nr)
{
	uint32_t i, var;

	for (i = 0; i < nr; i++) {
		var = u[i].var;
		if (!(u[i].flags & TRANSIENT_ENDS))
			continue;
		if (m->readers[var] && --m->readers[var])
			continue;
		give_block(m, m->cell_of[var]);
		m->cell_of[var] = NONE;
	}
}

/* Its uses are looked up by values_ptr(), and all of them last. */
static bool all_last(const struct access_table *w, uint32_t index)
{
	const struct access_use *u, *end;

	for (u = access_uses(w, index, &end); u < end; u++)
		if (access_var(w, u->var)->is_transient ||
		    u->mode & LKDF_REDUCE)
			return false;
	return true;
}

static bool give_bytes(struct maker *m)
{
	const struct access_table *w = m->g->accesses;
	struct static_order *o = m->o;
	const struct transient_task *t;
	uint32_t i, nr = 0;

	for (i = 0; i < o->nr_steps; i++) {
		t = &w->transient_task[o->step[i].index];
		o->step[i].first = nr;
		if (!t->nr && !all_last(w, o->step[i].index))
			return false;
		if (!give_cells(m, w->transient + t->first, t->nr,
				o->cell + nr))
			return false;
		take_cells(m, w->transient + t->first, t->nr);
		nr += t->nr;
	}
	o->step[i].first = nr;
	for (i = 0; i < nr; i++)
		if (o->cell[i] & OF_VAR)
			o->cell[i] = (o->cell[i] & ~OF_VAR) + o->nr_blocks;
	o->nr_cells += o->nr_blocks;
	return m->nr_bytes <= STATIC_MAX_BYTES;
}

/* ---- the whole ---------------------------------------------------------- */

static size_t nr_vars(const struct lkdf_graph *g)
{
	return g->accesses ? g->accesses->vars.nr : 0;
}

static size_t max_uses(const struct lkdf_graph *g)
{
	return g->accesses ? g->accesses->uses.nr : 0;
}

static void free_order(const struct lkdf_graph *g, struct static_order *o)
{
	size_t vars = nr_vars(g);

	region_free(o->step, (o->nr_steps + 1ul) * sizeof(*o->step));
	region_free(o->cell, max_uses(g) * sizeof(*o->cell));
	region_free(o->class, vars * sizeof(*o->class));
	region_free(o->var, vars * sizeof(*o->var));
	region_free(o->frame, g->nr_frames * sizeof(*o->frame));
	region_free((void *)o->bytes,
		    (size_t)g->nr_frames * o->nr_cells * sizeof(*o->bytes));
	region_free(o, sizeof(*o));
}

static void free_maker(struct maker *m)
{
	size_t vars = nr_vars(m->g), recs = m->g->nr_recs;

	region_free(m->pending, recs * sizeof(*m->pending));
	region_free(m->stack, recs * sizeof(*m->stack));
	region_free(m->cell_of, vars * sizeof(*m->cell_of));
	region_free(m->readers, vars * sizeof(*m->readers));
	region_free(m->free_in, vars * sizeof(*m->free_in));
}

static bool make_bytes(struct maker *m)
{
	size_t vars = nr_vars(m->g), uses = max_uses(m->g), i;
	struct static_order *o = m->o;

	/* There are never more blocks than vars. */
	o->cell = region_alloc(uses * sizeof(*o->cell));
	o->class = region_alloc(vars * sizeof(*o->class));
	o->var = region_alloc(vars * sizeof(*o->var));
	m->cell_of = region_alloc(vars * sizeof(*m->cell_of));
	m->readers = region_alloc(vars * sizeof(*m->readers));
	m->free_in = region_alloc(vars * sizeof(*m->free_in));
	if (uses && (!o->cell || !o->class || !o->var || !m->cell_of ||
		     !m->readers || !m->free_in))
		return false;
	for (i = 0; i < NR_SIZES; i++)
		m->free[i] = NONE;
	for (i = 0; i < vars; i++)
		m->cell_of[i] = NONE;
	return give_bytes(m);
}

static bool make_frames(const struct lkdf_graph *g, struct static_order *o)
{
	uint32_t i;

	o->frame = region_alloc(g->nr_frames * sizeof(*o->frame));
	o->bytes = region_alloc((size_t)g->nr_frames * o->nr_cells *
				sizeof(*o->bytes));
	if (!o->frame || (o->nr_cells && !o->bytes))
		return false;
	for (i = 0; i < g->nr_frames; i++)
		o->frame[i].bytes = o->bytes + (size_t)i * o->nr_cells;
	return true;
}

static bool fill_order(struct maker *m)
{
	const struct lkdf_graph *g = m->g;

	m->pending = region_alloc(g->nr_recs * sizeof(*m->pending));
	m->stack = region_alloc(g->nr_recs * sizeof(*m->stack));
	m->o->nr_steps = g->nr_recs;
	m->o->step = region_alloc((g->nr_recs + 1ul) * sizeof(*m->o->step));
	if (!m->pending || !m->stack || !m->o->step)
		return false;
	put_in_order(m);
	return (!g->accesses || make_bytes(m)) && make_frames(g, m->o);
}

static struct static_order *make_order(const struct lkdf_graph *g)
{
	struct maker m = { .g = g };
	bool is_made;

	m.o = region_alloc(sizeof(*m.o));
	if (!m.o)
		return NULL;
	is_made = fill_order(&m);
	free_maker(&m);
	if (!is_made)
		free_order(g, m.o);
	return is_made ? m.o : NULL;
}

static void *new_block(struct heap *h, int node, unsigned class)
{
	struct heap_want w = { heap_near_memory(h, node), h->class[class].size,
			       HEAP_ALIGN, false };
	bool is_zero;
	int error;

	return heap_alloc_slow(h, heap_thread_cache(h), &w, &is_zero, &error);
}

void static_order_fill(const struct static_order *o, struct heap *h,
		       struct static_frame *s, int node)
{
	bool is_far = s->node != node;
	uint32_t i;
	void *p;

	s->node = node;
	s->is_full = true;
	for (i = 0; i < o->nr_blocks && s->is_full; i++) {
		p = a_load(&s->bytes[i], relaxed);
		if (p && is_far) {
			heap_free(h, heap_thread_cache(h), p);
			p = NULL;
		}
		if (!p)
			p = new_block(h, node, o->class[i]);
		a_store(&s->bytes[i], p, relaxed);
		s->is_full = p != NULL;
	}
}

/* Blocks of all frames, so that no later run takes memory. */
static void fill_frames(const struct lkdf_graph *g,
			const struct static_order *o, int node)
{
	uint32_t i;

	for (i = 0; i < g->nr_frames; i++)
		static_order_fill(o, g->rt->heap, &o->frame[i], node);
}

void static_order_make(struct lkdf_graph *g, int node)
{
	struct static_state *s = &g->order;
	struct static_order *o;

	pthread_mutex_lock(&g->lock);
	if (!a_load(&s->is_tried, relaxed)) {
		a_store(&s->is_tried, true, relaxed);
		o = make_order(g);
		if (o)
			fill_frames(g, o, node);
		/* [static.made] its contents; pairs with [static.look]. */
		a_store(&s->order, o, release);
	}
	pthread_mutex_unlock(&g->lock);
}

void static_order_free(struct lkdf_graph *g)
{
	struct static_order *o = a_load(&g->order.order, relaxed);
	struct heap *h = g->rt->heap;
	uint32_t i, k;
	void *p;

	if (!o)
		return;
	for (i = 0; i < g->nr_frames; i++)
		for (k = 0; k < o->nr_blocks; k++) {
			p = a_load(&o->frame[i].bytes[k], relaxed);
			if (p)
				heap_free(h, heap_thread_cache(h), p);
		}
	free_order(g, o);
}
