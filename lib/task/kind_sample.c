/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Samples of bodies: how long bodies of a kind are, alone and beside others. A
 * sample is one copy's, and a question is about a kind with all its copies.
 */
#include "task/kind.h"

#include "core/runtime.h"
#include "topo/topo.h"

void kind_sample_again(struct lkdf_kind *k)
{
	if (a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT)
		return;
	a_store(&k->nr_short, 0, relaxed);
	a_store(&k->least_ticks, 0, relaxed);
	a_or(&k->slow, SLOW_SAMPLED, relaxed);
}

bool kind_is_short_alone(const struct lkdf_kind *k)
{
	uint32_t slow = a_load(&k->slow, relaxed);
	uint32_t least = a_load(&k->least_ticks, relaxed);

	if (slow & ~(SLOW_BUT_SHORT | SLOW_LONG))
		return false;
	/* The long samples may be those of bodies that waited for others. */
	return !(slow & SLOW_LONG) ||
	       (least && least < k->spin_ticks &&
		a_load(&k->nr_long_alone, relaxed) < LONG_ALONE);
}

void kind_doubt(struct lkdf_kind *k)
{
	if (!(a_load(&k->slow, relaxed) & SLOW_LONG) || !kind_is_short_alone(k))
		return;
	a_store(&k->nr_short, 0, relaxed);
	a_or(&k->slow, SLOW_DOUBTED, relaxed);
	a_and(&k->slow, ~SLOW_LONG, relaxed);
}

void kind_sample_alone(struct lkdf_kind *k, uint64_t body_ticks)
{
	if (body_ticks >= k->spin_ticks)
		a_add(&k->nr_long_alone, 1, relaxed);
	kind_sample(k, body_ticks);
}

/* A count that several workers write at once loses some: it is a guess. */
static void add_guess(_Atomic(uint32_t) *to)
{
	a_store(to, a_load(to, relaxed) + 1, relaxed);
}

/* Is a body longer than alone? Most must be: one may lose its CPU. */
static void vote_on(struct lkdf_kind *k, uint32_t ticks)
{
	uint32_t least = a_load(&k->least_ticks, relaxed);
	uint32_t alone = a_load(&k->alone_ticks, relaxed);

	if (!least || ticks < least)
		a_store(&k->least_ticks, ticks + !ticks, relaxed);
	alone = alone ? alone : least;
	add_guess(&k->nr_votes);
	if (alone && ticks - ticks / 3 >= alone)
		add_guess(&k->nr_stretched);
}

/* Several short bodies in a row, or a long one, say what the kind is. */
static void judge_body(struct lkdf_kind *k, uint64_t body_ticks)
{
	uint32_t slow = a_load(&k->slow, relaxed), nr;

	a_store(&k->body_ticks, (uint32_t)min_u64(body_ticks, UINT32_MAX),
		relaxed);
	if (body_ticks >= k->spin_ticks) {
		a_store(&k->nr_short, 0, relaxed);
		if ((slow & ~SLOW_STAYS) != SLOW_LONG) {
			a_or(&k->slow, SLOW_LONG, relaxed);
			a_and(&k->slow, SLOW_STAYS | SLOW_LONG, relaxed);
		}
		return;
	}
	nr = a_load(&k->nr_short, relaxed) + 1;
	a_store(&k->nr_short, nr, relaxed);
	if (nr >= (slow & SLOW_DOUBTED ? SAMPLES_DOUBTED : SAMPLES) &&
	    slow & ~SLOW_STAYS)
		a_and(&k->slow, SLOW_STAYS, relaxed);
}

void kind_sample(struct lkdf_kind *k, uint64_t body_ticks)
{
	/* A body of 2 ns, measured, would be one of 27. */
	body_ticks -= min_u64(body_ticks, k->clock_ticks);
	vote_on(k, (uint32_t)min_u64(body_ticks, UINT32_MAX));
	judge_body(k, body_ticks);
}

void kind_sample_spawner(struct lkdf_kind *k)
{
	judge_body(k, 0);
}

/* ---- a kind with its copies ---------------------------------------------- */

void kind_each_copy(struct lkdf_kind *k,
		    void (*fn)(struct lkdf_kind *k, void *u), void *u)
{
	struct lkdf_kind *p;
	int i;

	if (!k)
		return;
	fn(k, u);
	for (i = 0; k->copies && i < k->rt->topo->nr_nodes; i++)
		kind_each_copy(k->copies[i], fn, u);
	for (i = 0; i < NR_STEPS; i++)
		kind_each_copy(k->around[i], fn, u);
	for (p = k->on_parts; p; p = p->next_on_part)
		kind_each_copy(p, fn, u);
}

static void add_count(struct lkdf_kind *k, void *u)
{
	uint32_t least = a_load(&k->least_ticks, relaxed);
	struct kind_count *c = u;

	if (least && (!c->least_ticks || least < c->least_ticks))
		c->least_ticks = least;
	c->nr_votes += a_load(&k->nr_votes, relaxed);
	c->nr_stretched += a_load(&k->nr_stretched, relaxed);
	c->is_short &= !(a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT);
}

void kind_count(struct lkdf_kind *k, struct kind_count *out)
{
	*out = (struct kind_count){ .is_short = true };
	kind_each_copy(k, add_count, out);
}

/* Nothing that is known of the kind is forgotten. */
static void look_at_one(struct lkdf_kind *k, void *u)
{
	(void)u;
	if (a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT)
		return;
	a_store(&k->nr_short, 0, relaxed);
	a_or(&k->slow, SLOW_SAMPLED, relaxed);
}

/* A verdict of long ago is no sign of trouble now. */
static void wait_for_votes(struct lkdf_kind *k, const struct kind_count *c,
			   bool asks)
{
	struct stretch *s = &k->stretch;

	s->age++;
	if (s->age >= 4 * STRETCH_EVERY)
		s->is_stretched = false;
	if (c->is_short && (asks || s->age % STRETCH_EVERY == 0))
		kind_each_copy(k, look_at_one, NULL);
}

bool kind_is_stretched(struct lkdf_kind *k, const struct kind_count *c,
		       bool asks)
{
	uint32_t nr = c->nr_votes - k->stretch.votes;
	struct stretch *s = &k->stretch;

	if (nr < STRETCH_VOTES) {
		wait_for_votes(k, c, asks);
		return s->is_stretched;
	}
	s->is_stretched = c->nr_stretched - s->stretched >= nr - nr / 4;
	s->votes = c->nr_votes;
	s->stretched = c->nr_stretched;
	s->age = 0;
	return s->is_stretched;
}

uint64_t kind_alone_ticks(struct lkdf *rt, uint32_t trace_name)
{
	struct kind_count all = { .least_ticks = 0 };
	struct lkdf_kind *k;
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, struct lkdf_kind, all);
		if (k->trace_name == trace_name)
			kind_each_copy(k, add_count, &all);
	}
	pthread_mutex_unlock(&rt->lock);
	return all.least_ticks;
}
