/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A claim before it enters: its uses in the order of their locks, those of the
 * same thing made one, and uses of the whole added before those of parts.
 */
#include "data/claim.h"

#include <errno.h>
#include <lkdf/task.h>
#include <string.h>

#define FEW 8 /* uses: most claims have no more */

/* By lock, then the whole before its parts: so a hidden use comes first. */
static bool comes_before(const struct use *a, const struct use *b)
{
	if (a->domain != b->domain)
		return (uintptr_t)a->domain < (uintptr_t)b->domain;
	return a->part < b->part;
}

/* Each goes behind those that come before it. */
static struct use *sort_few(struct claim *c)
{
	struct use *first = NULL, **at;
	unsigned i;

	for (i = 0; i < c->nr; i++) {
		at = &first;
		while (*at && !comes_before(&c->use[i], *at))
			at = &(*at)->after;
		c->use[i].after = *at;
		*at = &c->use[i];
	}
	return first;
}

/* A list merge sort. */
static struct use *merge_uses(struct use *a, struct use *b)
{
	struct use *first = NULL, **end = &first;

	while (a && b) {
		if (comes_before(b, a)) {
			*end = b;
			b = b->after;
		} else {
			*end = a;
			a = a->after;
		}
		end = &(*end)->after;
	}
	*end = a ? a : b;
	return first;
}

static struct use *sort_uses(struct use *u, unsigned nr)
{
	unsigned half = nr / 2;

	if (nr < 2) {
		u->after = NULL;
		return u;
	}
	return merge_uses(sort_uses(u, half), sort_uses(u + half, nr - half));
}

/*
 * COMMUTE of a task with a weak use goes in order: no token keeps the children
 * of two apart, and they may wait for somebody who waits for the token.
 */
static uint8_t turn_of(uint8_t mode, bool has_weak)
{
	if (likely(mode <= LKDF_RW))
		return mode & LKDF_WRITE ? TURN_WRITE : TURN_READ;
	if (mode & LKDF_REDUCE)
		return TURN_REDUCE;
	if (mode & LKDF_COMMUTE)
		return has_weak ? TURN_WRITE : TURN_COMMUTE;
	return mode & LKDF_WRITE ? TURN_WRITE : TURN_READ;
}

static inline void reset_use(struct claim *c, unsigned i, uint8_t turn)
{
	struct use *u = &c->use[i];

	u->turn = turn;
	u->stands_for = (uint16_t)i;
	u->copy = 0;
	u->is_given = u->is_untouched = false;
	u->is_granted = u->has_left = u->fails = false;
	u->below = NULL;
}

/* As if it had never entered. */
static void reset_prepared(struct claim *c)
{
	uint32_t modes = 0, flags = 0, turns = 0;
	struct use *u;
	unsigned i;

	for (i = 0; i < c->nr; i++)
		modes |= c->use[i].mode;
	for (i = 0; i < c->nr; i++) {
		u = &c->use[i];
		reset_use(c, i, turn_of(u->mode, modes & LKDF_WEAK));
		turns |= 1u << u->turn;
		flags |= u->flags;
	}
	c->nr_all = c->nr;
	c->nr_queued = 0;
	c->has_commute = turns & 1u << TURN_COMMUTE;
	c->has_weak = flags & USE_WEAK;
	c->is_expected = false;
}

/* u is of the same thing as main, which stands for both. */
static int absorb_use(struct use *main, struct use *u)
{
	if (main->turn != u->turn) {
		if (main->turn == TURN_REDUCE || u->turn == TURN_REDUCE)
			return -EINVAL;
		main->turn = TURN_WRITE;
	}
	if (!(u->flags & USE_WEAK))
		main->flags &= (uint8_t)~USE_WEAK;
	main->flags |= u->flags & (USE_READS | USE_WRITES);
	u->var = NULL;
	u->stands_for = main->stands_for;
	return 0;
}

/* The whole comes first, before uses of its parts; even for a weak one of
 * those. */
static struct use *add_hidden(struct claim *c, struct use *u)
{
	struct use *h = &c->use[c->nr_all++];

	memset(h, 0, sizeof(*h));
	h->domain = u->domain;
	h->var = &u->domain->whole;
	h->turn = TURN_PARTS;
	h->flags = USE_HIDDEN;
	h->stands_for = (uint16_t)(h - c->use);
	h->after = u;
	return h;
}

/* Once uses of the same thing are one. */
static bool is_weak_somewhere(const struct claim *c)
{
	const struct use *u;

	for (u = c->first; u; u = u->after)
		if (u->flags & USE_WEAK)
			return true;
	return false;
}

/* Are the uses one or two whole data that are read or written? */
static inline bool is_usual(const struct claim *c)
{
	const struct use *a = c->use, *b = &c->use[c->nr - 1];

	return c->nr <= 2 && (a == b || a->domain != b->domain) &&
	       !(a->part | b->part) && (a->mode | b->mode) <= LKDF_RW;
}

static inline void prepare_whole(struct claim *c, unsigned i)
{
	struct use *u = &c->use[i];

	reset_use(c, i, u->mode & LKDF_WRITE ? TURN_WRITE : TURN_READ);
	u->var = &u->domain->whole;
	u->whole = 0;
	u->after = NULL;
}

static void prepare_usual(struct claim *c)
{
	struct use *a = &c->use[0], *b = &c->use[1];

	prepare_whole(c, 0);
	c->first = a;
	if (c->nr == 2) {
		prepare_whole(c, 1);
		c->first = comes_before(b, a) ? b : a;
		c->first->after = c->first == a ? b : a;
	}
	c->nr_all = c->nr_queued = c->nr;
	c->has_commute = c->has_weak = c->is_expected = false;
}

int claim_prepare(struct claim *c)
{
	struct use *u, *main = NULL, *hidden = NULL, **at;
	int rc = 0;

	check(c->nr);
	check(c->ops);
	if (likely(c->nr && is_usual(c))) {
		prepare_usual(c);
		return 0;
	}
	reset_prepared(c);
	c->first = c->nr <= FEW ? sort_few(c) : sort_uses(c->use, c->nr);
	for (at = &c->first; (u = *at) && !rc;) {
		u->var = domain_var(u->domain, u->part);
		if (main && main->domain == u->domain &&
		    (main->var == u->var || !main->part)) {
			rc = absorb_use(main, u);
			*at = u->after;
			continue;
		}
		if (u->var != &u->domain->whole &&
		    (!hidden || hidden->domain != u->domain)) {
			hidden = add_hidden(c, u);
			*at = hidden;
			at = &hidden->after;
			c->nr_queued++;
		}
		u->whole = u->var != &u->domain->whole ? hidden->stands_for : 0;
		main = u;
		at = &u->after;
		c->nr_queued++;
	}
	if (unlikely(c->has_weak))
		c->has_weak = is_weak_somewhere(c);
	return rc;
}
