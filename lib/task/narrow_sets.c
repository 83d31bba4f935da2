/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/narrow_sets.h"

#include "signal/windows.h"
#include "task/gate.h"

#include <string.h>

/* A set is forgotten after so many windows without a sign. */
#define FORGET 64

static uint8_t mark_of(const struct narrowing *n, const struct narrow_set *s)
{
	return (uint8_t)(1 + (s - n->set));
}

bool set_has(const struct narrowing *n, const struct narrow_set *s,
	     uint32_t name)
{
	return n->set_of[name] == mark_of(n, s);
}

static struct narrow_set *set_of(struct narrowing *n, uint32_t name)
{
	return n->set_of[name] ? &n->set[n->set_of[name] - 1] : NULL;
}

/* Kinds of one set are another's from now on, or nobody's. */
static void mark_anew(struct narrowing *n, uint8_t from, uint8_t to)
{
	uint32_t i;

	for (i = 0; i < MAX_NAMES; i++)
		if (n->set_of[i] == from)
			n->set_of[i] = to;
}

/* Under lock. A reader gets the first few. */
static void list_kind(struct narrow_set *s, uint32_t name)
{
	if (s->nr_kinds < NARROWED_KINDS)
		s->kind[s->nr_kinds] = name;
	s->nr_kinds++;
}

/* That of other kinds with the same word, or one of its own. NULL: no room. */
static struct narrow_set *set_for(struct narrowing *n, uint64_t word)
{
	struct narrow_set *s;

	for (s = n->set; word && s < n->set + n->nr_sets; s++)
		if (s->word == word)
			return s == n->trial ? NULL : s;
	if (n->nr_sets == NARROWED_SETS)
		return NULL;
	s = &n->set[n->nr_sets++];
	memset(s, 0, sizeof(*s));
	narrow_init(&s->narrow, n->nr_workers);
	s->cap = n->nr_workers;
	return s;
}

static struct narrow_set *add_kind(struct narrowing *n, uint32_t name,
				   const struct window_kind *share)
{
	struct narrow_set *s;

	lock_take(&n->lock);
	s = set_for(n, share ? share->word : 0);
	if (s) {
		list_kind(s, name);
		n->set_of[name] = mark_of(n, s);
		if (!s->source) {
			s->source = share ? LKDF_SIGNAL_BPF : LKDF_SIGNAL_SELF;
			s->word = share ? share->word : 0;
		}
	}
	lock_give(&n->lock);
	return s;
}

/* Without the runtime's lock: kinds of the gate have none from now on. */
static void spare_gate(struct narrowing *n, struct gate *g)
{
	if (!g)
		return;
	gate_drop(g);
	check(n->nr_spare < NARROWED_SETS);
	n->spare[n->nr_spare++] = g;
}

/* The last one takes its place. */
static void forget_set(struct narrowing *n, struct narrow_set *s)
{
	struct narrow_set *last = &n->set[n->nr_sets - 1];

	spare_gate(n, s->gate);
	mark_anew(n, mark_of(n, s), 0);
	mark_anew(n, mark_of(n, last), mark_of(n, s));
	lock_take(&n->lock);
	n->nr_sets--;
	if (n->trial == last)
		n->trial = s;
	*s = *last;
	lock_give(&n->lock);
}

/* ---- sets that become one ------------------------------------------------ */

/* It has lost on its own, and shows trouble all the same. */
static bool may_merge(const struct narrow_set *s)
{
	return s->has_lost && !s->word && s->is_stretched &&
	       s->narrow.phase == NARROW_WATCHES;
}

/* The second one's kinds are the first one's, which begins anew. */
static void merge_sets(struct narrowing *n, struct narrow_set *s,
		       struct narrow_set *from)
{
	uint32_t i, nr = from->nr_kinds;

	spare_gate(n, from->gate);
	spare_gate(n, s->gate);
	mark_anew(n, mark_of(n, from), mark_of(n, s));
	lock_take(&n->lock);
	for (i = 0; i < nr && i < NARROWED_KINDS; i++)
		list_kind(s, from->kind[i]);
	s->nr_kinds += nr > NARROWED_KINDS ? nr - NARROWED_KINDS : 0;
	narrow_init(&s->narrow, n->nr_workers);
	s->has_lost = false;
	s->gate = from->gate = NULL;
	lock_give(&n->lock);
	forget_set(n, from);
}

static void merge_two(struct narrowing *n)
{
	struct narrow_set *s, *first = NULL;

	for (s = n->set; !n->trial && s < n->set + n->nr_sets; s++) {
		if (!may_merge(s))
			continue;
		if (first) {
			merge_sets(n, first, s);
			return;
		}
		first = s;
	}
}

/* ---- a window ------------------------------------------------------------ */

static const struct window_kind *share_of(const struct window *win,
					  uint32_t name)
{
	uint32_t i;

	for (i = 0; i < win->nr_kinds; i++)
		if (win->kind[i].name == name &&
		    win->kind[i].permille >= NARROW_QUIET)
			return &win->kind[i];
	return NULL;
}

static bool is_loud(const struct narrow_view *v, bool is_stretched,
		    const struct window_kind *share)
{
	if (share)
		return share->permille >= NARROW_LOUD || is_stretched;
	return is_stretched && !v->expects_words;
}

/* Under the runtime's lock. */
static void look_at_kind(struct narrowing *n, struct narrow_view *v,
			 struct lkdf_kind *k)
{
	const struct window_kind *share = share_of(v->win, k->trace_name);
	struct narrow_set *s = set_of(n, k->trace_name);
	bool is_stretched, asks = v->win->share.permille >= NARROW_LOUD;
	struct kind_count c;

	kind_count(k, &c);
	is_stretched = kind_is_stretched(k, &c, asks) &&
		       c.least_ticks >= n->least_ticks;
	if (!s && c.least_ticks >= n->least_ticks && !k->is_ours &&
	    is_loud(v, is_stretched, share))
		s = add_kind(n, k->trace_name, share);
	if (s && s->gate && !a_load(&k->gate, relaxed))
		gate_add_locked(s->gate, k);
	if (s) {
		s->is_stretched |= is_stretched;
		s->permille += share ? share->permille : 0;
	}
	if (n->counts)
		count_bodies(n, v, s, k, c.least_ticks);
	else
		count_learn(n, k);
}

void sets_look(struct narrowing *n, struct narrow_view *v)
{
	struct lkdf *rt = n->rt;
	struct list *l;
	struct narrow_set *s;

	n->turn++;
	for (s = n->set; s < n->set + n->nr_sets; s++) {
		s->is_stretched = false;
		s->permille = s->nr_bodies = 0;
	}
	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next)
		look_at_kind(n, v, container_of(l, struct lkdf_kind, all));
	pthread_mutex_unlock(&rt->lock);
}

/* All may run its kinds, and nothing that a trial has found is lost. */
static bool may_forget(const struct narrowing *n, const struct narrow_set *s)
{
	return s->age >= FORGET && s != n->trial && s->cap == n->nr_workers &&
	       s->narrow.phase == NARROW_WATCHES && !s->narrow.best &&
	       !narrow_is_off(&s->narrow);
}

void sets_age(struct narrowing *n)
{
	uint32_t active = n->nr_workers, nr_narrow = 0;
	struct narrow_set *s = n->set;

	merge_two(n);
	while (s < n->set + n->nr_sets) {
		s->age = s->is_stretched || s->permille ? 0 : s->age + 1;
		if (may_forget(n, s)) {
			forget_set(n, s);
			continue;
		}
		nr_narrow += s->cap < n->nr_workers;
		active = (uint32_t)min_u64(active, s->cap);
		s++;
	}
	a_store(&n->active, active, relaxed);
	a_store(&n->nr_narrow, nr_narrow, relaxed);
}
