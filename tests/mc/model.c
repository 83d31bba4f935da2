/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The memory model: RC11 without load buffering, with the seq_cst axiom of
 * C++20. Stores enter the modification order when they are executed; a load
 * picks any store that its thread's view, and the order of seq_cst events,
 * still allow. After Kang, Hur, Lahav, Vafeiadis, Dreyer 2017 (views) and
 * Lahav, Vafeiadis, Kang, Hur, Dreyer 2017 (RC11); no code of theirs.
 *
 * The seq_cst order is kept as a graph: per event the clock of the events
 * before it, transitively closed. A load that reads past a seq_cst store adds
 * an edge from itself to that store; it may do so unless the store is before
 * it already.
 */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

#define HASH_SIZE 2048
#define NO_THREAD 0xffff

static struct loc *hash[HASH_SIZE];

/* A scenario starts: no location is known. */
void model_start(void)
{
	int i;

	memset(hash, 0, sizeof(hash));
	mc.nr_locs = 0;
	for (i = 0; i < MC_THREADS; i++) {
		if (mc.threads[i].view)
			continue;
		mc.threads[i].view = calloc(
			1, sizeof(struct view) + MC_LOCS * sizeof(uint16_t));
		if (!mc.threads[i].view)
			abort();
	}
}

static uint64_t truncate_to(unsigned size, uint64_t v)
{
	return size < 8 ? v & ((UINT64_C(1) << size * 8) - 1) : v;
}

static struct msg *append(struct loc *l)
{
	if (l->nr == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->msg = realloc(l->msg, l->cap * sizeof(*l->msg));
		if (!l->msg)
			abort();
	}
	return &l->msg[l->nr++];
}

/* First touch in this execution: the memory holds what init() left. */
static void loc_reset(struct loc *l, unsigned size)
{
	l->exec = mc.exec;
	l->size = size;
	l->nr = 0;
	*append(l) = (struct msg){
		.value = heap_read(l->addr, size),
		.thread = NO_THREAD,
	};
	memset(&l->sc, 0, 5 * sizeof(l->sc));
}

static struct loc *loc_new(const volatile void *p)
{
	struct loc *l = &mc.locs[mc.nr_locs];
	int i;

	if (mc.nr_locs == MC_LOCS)
		mc_fail("checker: more than %d locations", MC_LOCS);
	l->id = mc.nr_locs++;
	l->addr = p;
	l->name = NULL;
	l->exec = 0;
	l->users = 0;
	l->is_written = false;
	for (i = 0; i < MC_THREADS; i++) {
		mc.threads[i].view->nr = mc.nr_locs;
		mc.threads[i].view->loc[l->id] = 0;
		mc.threads[i].read_at[l->id] = 0;
		mc.threads[i].fair[l->id] = 0;
	}
	return l;
}

static struct loc *loc_find(const volatile void *p)
{
	uint64_t h = (uint64_t)(uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15);
	unsigned i = h >> 53;

	while (hash[i] && hash[i]->addr != p)
		i = (i + 1) % HASH_SIZE;
	if (!hash[i])
		hash[i] = loc_new(p);
	return hash[i];
}

struct loc *model_loc(const volatile void *p, unsigned size)
{
	struct loc *l = loc_find(p);

	if (l->exec != mc.exec)
		loc_reset(l, size);
	if (l->size != size)
		mc_fail("%s: access of %u bytes, before of %u", report_name(l),
			size, l->size);
	return l;
}

void mc_name(const volatile void *p, const char *name)
{
	loc_find(p)->name = name;
}

uint64_t model_newest(struct loc *l)
{
	return l->msg[l->nr - 1].value;
}

/*
 * Do others have to do with it? If not, when it is accessed does not matter.
 * Learned as the search goes: it starts again whenever a location turns out to
 * be shared, so that the search that comes to its end has known it throughout.
 */
bool model_is_shared(struct loc *l, bool is_write)
{
	bool was = l->is_written && l->users & (l->users - 1), is;

	l->users |= 1u << index_of(mc.cur);
	l->is_written |= is_write;
	is = l->is_written && l->users & (l->users - 1);
	if (is && !was)
		explore_leave(RUN_AGAIN);
	return is;
}

static void point(struct loc *l, struct mc_site *s)
{
	if (model_is_shared(l, s->kind != MC_LOAD))
		explore_point(s->kind, l, s);
}

static void step_write(struct loc *l, struct mc_site *site)
{
	int self = index_of(mc.cur);

	race_check(l, &l->rd, true, site);
	l->awr.c[self] = mc.cur->view->hb.c[self];
}

/* The step of an atomic access; its thread has been chosen. */
static void step_begin(struct loc *l, struct mc_site *site, bool is_write)
{
	struct thread *t = mc.cur;
	uint16_t now = ++t->view->hb.c[index_of(t)];

	heap_check(l->addr);
	report_step(site->kind, l, site);
	race_check(l, &l->wr, true, site);
	l->ard.c[index_of(t)] = now;
	if (is_write)
		step_write(l, site);
}

static void sc_closure(struct clock *out, const struct clock *in)
{
	int u;

	*out = *in;
	for (u = 0; u < mc.sc->nr_threads; u++)
		if (in->c[u])
			clock_join(out, &mc.events[u][in->c[u]]);
}

/* A new event after those in before; its number. */
static uint16_t sc_add(struct thread *t, struct loc *l,
		       const struct clock *before)
{
	int self = index_of(t);
	struct clock *e;

	if (t->nr_sc == MC_SC_EVENTS)
		mc_fail("checker: too many seq_cst accesses");
	e = &mc.events[self][++t->nr_sc];
	*e = *before;
	e->c[self] = (uint16_t)t->nr_sc;
	t->view->sc.c[self] = (uint16_t)t->nr_sc;
	l->sc.c[self] = (uint16_t)t->nr_sc;
	return (uint16_t)t->nr_sc;
}

/* The event r read past the store m: r is before m and all after m. */
static void sc_read_before(const struct clock *r, const struct msg *m)
{
	struct clock from = *r;
	unsigned k;
	int u;

	for (u = 0; u < mc.sc->nr_threads; u++)
		for (k = 1; k <= mc.threads[u].nr_sc; k++)
			if (mc.events[u][k].c[m->thread] >= m->sc)
				clock_join(&mc.events[u][k], &from);
}

static void view_join(struct view *to, const struct view *from)
{
	unsigned i;

	clock_join(&to->hb, &from->hb);
	clock_join(&to->sc, &from->sc);
	for (i = 0; i < from->nr; i++)
		if (to->loc[i] < from->loc[i])
			to->loc[i] = from->loc[i];
}

static struct view *view_copy(const struct view *v)
{
	size_t size = sizeof(*v) + v->nr * sizeof(v->loc[0]);

	return memcpy(heap_scratch(size), v, size);
}

/* The oldest store that a load of this order may read. */
static unsigned oldest(struct thread *t, struct loc *l, enum mc_order order)
{
	unsigned floor = t->view->loc[l->id], i;
	struct clock before;
	struct msg *m;

	if (floor < t->fair[l->id])
		floor = t->fair[l->id];
	if (!(order & 4))
		return floor;
	sc_closure(&before, &t->view->sc);
	for (i = l->nr - 1; i > floor; i--) {
		m = &l->msg[i];
		if (m->sc && m->sc <= before.c[m->thread])
			return i;
	}
	return floor;
}

static void read_sc(struct thread *t, struct loc *l, unsigned idx)
{
	struct msg *m = &l->msg[idx];
	struct clock before;
	uint16_t k;
	unsigned i;

	sc_closure(&before, &t->view->sc);
	if (m->sc)
		clock_join(&before, &mc.events[m->thread][m->sc]);
	k = sc_add(t, l, &before);
	for (i = idx + 1; i < l->nr; i++)
		if (l->msg[i].sc)
			sc_read_before(&mc.events[index_of(t)][k], &l->msg[i]);
}

/* For mc_pause(): this round depends on l. */
static void note_read(struct thread *t, struct loc *l)
{
	if (t->read_at[l->id] != t->pauses)
		t->nr_at[l->id] = (uint16_t)l->nr;
	t->read_at[l->id] = t->pauses;
}

static uint64_t read_at(struct thread *t, struct loc *l, unsigned idx,
			enum mc_order order)
{
	struct msg *m = &l->msg[idx];
	struct step *step = &mc.steps[mc.nr_steps - 1];

	step->value = m->value;
	step->has_value = 1;
	step->stale = (uint16_t)(l->nr - 1 - idx);
	if (idx + 1 < l->nr) {
		t->is_stale = true;
		mc.stale++;
	}
	note_read(t, l);
	t->view->loc[l->id] = (uint16_t)idx;
	if (order & 4)
		read_sc(t, l, idx);
	if ((order & MC_ACQUIRE) && m->rel)
		view_join(t->view, m->rel);
	return m->value;
}

/* The store becomes the newest; from is the store an RMW has read. */
static void write_new(struct thread *t, struct loc *l, uint64_t v,
		      const struct msg *from, enum mc_order order)
{
	struct view *rel = from ? from->rel : NULL;
	struct clock before;
	struct msg *m;

	if (v != model_newest(l)) {
		t->changes++;
		mc.changes++;
	}
	m = append(l);
	*m = (struct msg){ .value = v, .thread = (uint16_t)index_of(t) };
	t->view->loc[l->id] = (uint16_t)(l->nr - 1);
	m->rel = rel;
	if (order & MC_RELEASE) {
		m->rel = view_copy(t->view);
		if (rel)
			view_join(m->rel, rel);
	}
	if (order & 4) {
		sc_closure(&before, &l->sc);
		clock_join(&before, &t->view->sc);
		sc_closure(&before, &before);
		m->sc = sc_add(t, l, &before);
	}
	heap_write((volatile void *)(uintptr_t)l->addr, l->size, v);
}

static bool may_be_stale(void)
{
	return mc.bound < 0 || !mc.sc->stale || mc.stale < mc.sc->stale;
}

uint64_t mc_load(const volatile void *p, unsigned size, struct mc_site *s)
{
	struct thread *t = mc.cur;
	unsigned floor, newest, back = 0;
	struct loc *l;

	heap_check(p);
	if (!t)
		return heap_read(p, size);
	l = model_loc(p, size);
	point(l, s);
	step_begin(l, s, false);
	newest = l->nr - 1;
	floor = oldest(t, l, s->order);
	if (newest > floor && may_be_stale())
		back = explore_choose(newest - floor + 1);
	return read_at(t, l, newest - back, s->order);
}

void mc_store(volatile void *p, unsigned size, uint64_t v, struct mc_site *s)
{
	struct thread *t = mc.cur;
	struct loc *l;

	heap_check(p);
	v = truncate_to(size, v);
	if (!t) {
		heap_write(p, size, v);
		return;
	}
	if (s->is_dropped)
		return;
	l = model_loc(p, size);
	point(l, s);
	step_begin(l, s, true);
	mc.steps[mc.nr_steps - 1].value = v;
	mc.steps[mc.nr_steps - 1].has_value = 1;
	write_new(t, l, v, NULL, s->order);
}

static uint64_t combine(enum mc_kind kind, uint64_t old, uint64_t v)
{
	switch (kind) {
	case MC_ADD:
		return old + v;
	case MC_SUB:
		return old - v;
	case MC_OR:
		return old | v;
	case MC_AND:
		return old & v;
	default:
		return v;
	}
}

/* Reads the newest store and replaces it; the value read. */
static uint64_t replace(struct thread *t, struct loc *l, uint64_t v,
			struct mc_site *s)
{
	struct msg from = l->msg[l->nr - 1];

	v = truncate_to(l->size, combine(s->kind, from.value, v));
	mc.steps[mc.nr_steps - 1].old = from.value;
	mc.steps[mc.nr_steps - 1].value = v;
	mc.steps[mc.nr_steps - 1].has_value = 2;
	note_read(t, l);
	if ((s->order & MC_ACQUIRE) && from.rel)
		view_join(t->view, from.rel);
	write_new(t, l, v, &from, s->order);
	return from.value;
}

uint64_t mc_rmw(volatile void *p, unsigned size, uint64_t v, struct mc_site *s)
{
	struct thread *t = mc.cur;
	struct loc *l;
	uint64_t old;

	heap_check(p);
	if (!t) {
		old = heap_read(p, size);
		heap_write(p, size, combine(s->kind, old, v));
		return old;
	}
	l = model_loc(p, size);
	point(l, s);
	step_begin(l, s, true);
	return replace(t, l, v, s);
}

/*
 * Which store a compare-and-swap reads: the newest, or (it then fails) an older
 * one that holds another value.
 */
static unsigned cas_choose(struct thread *t, struct loc *l, uint64_t expect,
			   enum mc_order fail)
{
	unsigned floor = oldest(t, l, fail), newest = l->nr - 1;
	unsigned nr = 1, i, pick;

	for (i = floor; i < newest; i++)
		nr += l->msg[i].value != expect;
	pick = nr > 1 && may_be_stale() ? explore_choose(nr) : 0;
	for (i = newest; pick > 0; pick--)
		do
			i--;
		while (l->msg[i].value == expect);
	return i;
}

bool mc_cas(volatile void *p, void *old, unsigned size, uint64_t v,
	    struct mc_site *s)
{
	uint64_t expect = heap_read(old, size);
	struct thread *t = mc.cur;
	struct loc *l;
	unsigned idx;

	heap_check(p);
	v = truncate_to(size, v);
	if (!t) {
		heap_write(old, size, heap_read(p, size));
		if (heap_read(old, size) == expect)
			heap_write(p, size, v);
		return heap_read(old, size) == expect;
	}
	l = model_loc(p, size);
	point(l, s);
	step_begin(l, s, false);
	idx = s->is_blind ? l->nr - 1 : cas_choose(t, l, expect, s->fail);
	if (s->is_blind || l->msg[idx].value == expect) {
		step_write(l, s);
		replace(t, l, v, s);
		return true;
	}
	heap_write(old, size, read_at(t, l, idx, s->fail));
	return false;
}

/* The kernel compared the word: this thread cannot read older any more. */
void model_coherent_read(struct loc *l)
{
	mc.cur->view->loc[l->id] = (uint16_t)(l->nr - 1);
}
