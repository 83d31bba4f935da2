/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/claim.h"

#include <errno.h>
#include <lkdf/task.h>
#include <string.h>

/* ---- all vars of a claim ---------------------------------------------- */

static void lock_all(struct claim *c)
{
	struct domain *d = NULL;
	struct use *u;

	for (u = c->first; u; u = u->after) {
		if (u->domain != d)
			lock_take(&u->domain->lock);
		d = u->domain;
	}
}

static void unlock_all(struct claim *c)
{
	struct domain *d = NULL, *next;
	struct use *u;

	check(c->first);
	for (u = c->first; u; u = u->after) {
		next = u->domain;
		if (d && next != d)
			lock_give(&d->lock);
		d = next;
	}
	lock_give(&d->lock);
}

static struct use *reads_nothing(struct claim *c)
{
	struct use *u;

	for (u = c->first; u; u = u->after)
		if (u->flags & USE_READS && u->turn != TURN_REDUCE &&
		    !(u->flags & USE_WEAK) && !u->var->is_written &&
		    !var_is_written(u->domain, u->var))
			return u;
	return NULL;
}

/* The parent's that covers it; NULL: a task without a parent. */
static inline struct use *use_above(const struct use *u)
{
	return var_is_plain(u->var) ? NULL : plain_load(&u->domain->above);
}

/* ---- leaving, and what it lets in -------------------------------------- */

static void leave_var(struct use *u, struct news *n)
{
	struct domain *d = u->domain;
	struct var *v = u->var;

	if (use_takes_token(u))
		token_give(u->var, n);
	/* [var.leave] what it did; pairs with [var.idle], [var.close]. */
	if (likely(a_sub(&v->active, 1, acq_rel) != 1))
		return;
	lock_take(&d->lock);
	var_advance(v, n);
	lock_give(&d->lock);
}

/* The children are gone, and the parent has given it on. */
static void leave_late(struct use *u, struct news *n);

/* A child has left what its parent sees, or the parent has let go. */
static void put_below(struct use *u, struct news *n)
{
	/* [domain.put] what the children did; pairs with itself. */
	if (a_sub(&u->below->nr_uses, 1, acq_rel) == 1)
		leave_late(u, n);
}

static void leave_use(struct use *u, struct news *n)
{
	/* A user that has left the var may find that the data is gone. */
	struct use *above = use_above(u);
	struct use *whole = use_whole(u);

	leave_var(u, n);
	/* [part.put] all parts before the whole; pairs with itself. */
	if (whole && a_sub(&whole->nr_parts, 1, acq_rel) == 1)
		leave_var(whole, n);
	if (above)
		put_below(above, n);
}

static void put_claim(struct claim *c, uint32_t nr)
{
	check(nr && a_load(&c->nr_in, relaxed) >= nr);
	/* [claim.put] all uses of it before the free; pairs with itself. If no
	 * other is in, none comes. */
	if (a_load(&c->nr_in, acquire) == nr ||
	    a_sub(&c->nr_in, nr, acq_rel) == nr)
		c->ops->free(c);
}

/* True: it has left; false: it will when it is granted. */
static bool leave_granted(struct use *u, int error)
{
	bool is_granted;

	if (!(u->flags & USE_WEAK))
		return true;
	lock_take(&u->domain->lock);
	is_granted = u->is_granted;
	u->has_left = !is_granted;
	u->fails |= error != 0;
	lock_give(&u->domain->lock);
	return is_granted;
}

static void leave_late(struct use *u, struct news *n)
{
	struct claim *c = use_claim(u);
	struct failure *failure = NULL;
	int error = 0;

	if (!leave_granted(u, 0))
		return;
	if (u->below) {
		domain_combine(u->below);
		error = var_error(u->below, &u->below->whole, &failure);
	}
	if (!error && u->fails) {
		error = c->error;
		failure = c->failure;
	}
	use_publish(u, error, failure);
	leave_use(u, n);
	put_claim(c, 1);
}

/* True: it has left now. False: it leaves later, by itself. */
static bool use_finish(struct use *u, int error, struct failure *failure,
		       struct news *n)
{
	check(error <= 0 && u->domain);
	if (u->below) {
		u->fails = error != 0;
		/* [domain.put] as above. */
		if (a_sub(&u->below->nr_uses, 1, acq_rel) != 1)
			return false;
	}
	if (!leave_granted(u, error))
		return false;
	if (u->below)
		domain_combine(u->below);
	/* A weak parent has written what its children have. */
	if (u->below && u->flags & USE_WEAK && !error)
		error = var_error(u->below, &u->below->whole, &failure);
	use_publish(u, error, failure);
	leave_use(u, n);
	return true;
}

/* Its children were kept out until now. */
static void open_below(struct use *u, struct news *n)
{
	struct var *v = &u->below->whole;

	/* [var.leave] as above. */
	if (a_sub(&v->active, 1, acq_rel) == 1) {
		lock_take(&u->below->lock);
		var_advance(v, n);
		lock_give(&u->below->lock);
	}
	put_below(u, n);
}

static void left_before(struct use *u, struct news *n)
{
	struct claim *c = use_claim(u);

	use_publish(u, u->fails ? c->error : 0, u->fails ? c->failure : NULL);
	leave_use(u, n);
	put_claim(c, 1);
}

/*
 * The claim waits for one thing less. We hold no lock: whoever is let in may
 * free the domain.
 */
static void arrive_at(struct use *u, struct news *n)
{
	struct claim *c = use_claim(u);

	check(a_load(&c->pending, relaxed) > 0);
	/* [claim.last] what all before it did; pairs with itself. */
	if (a_sub(&c->pending, 1, acq_rel) != 1)
		return;
	c->last = (uint16_t)(u - c->use + 1);
	news_ready(n, c);
}

static void deliver_claim(struct executor *ex, struct news *n)
{
	struct claim *c;
	struct use *u;
	struct var *v;

	for (;;) {
		if ((u = n->granted)) {
			n->granted = u->next;
			arrive_at(u, n);
		} else if ((u = n->opened)) {
			n->opened = u->next;
			open_below(u, n);
		} else if ((u = n->early)) {
			n->early = u->next;
			left_before(u, n);
		} else if ((v = n->combine)) {
			n->combine = v->next_combine;
			var_combine(ex, v);
		} else if ((c = n->ready)) {
			n->ready = c->next;
			c->failure = NULL;
			if (!c->has_commute || claim_take_tokens(c, n))
				c->ops->ready(ex, c);
		} else {
			return;
		}
	}
}

/* Uses of parts, for the hidden ones. */
static void count_parts(struct claim *c)
{
	uint32_t nr_parts = 0;
	struct use *u;

	for (u = c->first; u; u = u->after) {
		nr_parts = u->whole ? nr_parts + 1 : 0;
		if (u->whole)
			a_store(&c->use[u->whole].nr_parts, nr_parts, relaxed);
	}
}

int claim_enter(struct executor *ex, struct claim *c, struct use **why)
{
	uint32_t nr = c->nr_queued, nr_granted = 1;
	struct news n = { 0 };
	struct use *u;

	check(claim_sane(c));
	if (c->nr_all > c->nr)
		count_parts(c);
	c->error = 0;
	c->failure = NULL;
	a_store(&c->nr_in, nr - (c->nr_all - c->nr) + 1, relaxed);
	a_store(&c->pending, nr + 1, relaxed);
	lock_all(c);
	*why = c->is_expected ? NULL : reads_nothing(c);
	if (*why) {
		unlock_all(c);
		return -ENODATA;
	}
	for (u = c->first; u; u = u->after) {
		if (u->flags & USE_WRITES)
			u->var->is_written = true;
		if (use_above(u) && !(u->flags & USE_HIDDEN))
			a_add(&u->domain->nr_uses, 1, relaxed);
		if (var_enter(u->var, u, &n) || u->flags & USE_WEAK)
			nr_granted++;
	}
	unlock_all(c);
	/* [claim.last] as above: while we count, it is not ready. Nobody else
	 * counts if all were granted at once. */
	if (nr_granted > nr)
		nr = 0;
	else
		nr = a_sub(&c->pending, nr_granted, acq_rel) - nr_granted;
	if (!nr && c->has_commute && !claim_take_tokens(c, &n))
		nr = 1;
	deliver_claim(ex, &n);
	return nr ? 0 : 1;
}

void claim_give_token(struct executor *ex, struct var *v)
{
	struct news n = { 0 };

	token_give(v, &n);
	deliver_claim(ex, &n);
}

bool claim_take(struct executor *ex, struct claim *c)
{
	struct news n = { 0 };
	bool is_ours;

	check(claim_sane(c));
	/* False: another thread may have freed it by now. */
	is_ours = claim_take_tokens(c, &n);
	deliver_claim(ex, &n);
	return is_ours;
}

void use_leave(struct executor *ex, struct use *u, int error,
	       struct failure *failure)
{
	struct news n = { 0 };
	struct claim *c = use_claim(u);

	check(error <= 0);
	u->is_given = true;
	if (use_finish(u, error, failure, &n))
		put_claim(c, 1);
	deliver_claim(ex, &n);
}

void claim_leave(struct executor *ex, struct claim *c, int error,
		 struct failure *failure)
{
	struct use *u, *after;
	struct news n = { 0 };
	uint32_t nr = 1;

	check(claim_sane(c));
	check(error <= 0);
	if (error) {
		c->error = error;
		c->failure = var_failure_get(failure);
	}
	for (u = c->first; u; u = after) {
		after = u->after;
		if (!u->is_given && !(u->flags & USE_HIDDEN) &&
		    use_finish(u, error, failure, &n))
			nr++;
	}
	put_claim(c, nr);
	deliver_claim(ex, &n);
}

/* As a use that leaves: somebody waits, so OPEN is not there. */
static void end_combine(struct var *v, struct news *n)
{
	lock_assert_held(&v->domain->lock);
	if (a_sub(&v->active, 1, relaxed) == 1)
		var_advance(v, n);
}

void var_combined(struct executor *ex, struct var *v)
{
	struct domain *d = v->domain;
	struct news n = { 0 };
	uint8_t who;

	lock_take(&d->lock);
	reduction_forget(v->reduction);
	who = v->combining;
	v->combining = 0;
	if (who & COMBINE_OWN)
		end_combine(v, &n);
	if (who & COMBINE_WHOLE)
		end_combine(&d->whole, &n);
	lock_give(&d->lock);
	deliver_claim(ex, &n);
}
