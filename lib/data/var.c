/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/var.h"

#include "data/claim.h"

#include <errno.h>
#include <lkdf/task.h>
#include <stdlib.h>
#include <string.h>

void var_init(struct var *v, struct domain *d)
{
	memset(v, 0, sizeof(*v));
	v->domain = d;
	a_store(&v->node, -1, relaxed);
	a_store(&v->active, VAR_OPEN, relaxed);
}

void domain_init(struct domain *d, struct lkdf *rt, struct lkdf_data *data,
		 struct use *above)
{
	memset(d, 0, sizeof(*d));
	d->rt = rt;
	d->data = data;
	d->above = above;
	var_init(&d->whole, d);
	a_store(&d->nr_uses, 1, relaxed);
}

struct var *domain_var(struct domain *d, uint32_t part)
{
	/* The parent's part is all that its children see. */
	if (!part || (d->above && d->above->part == part))
		return &d->whole;
	return part <= d->nr_parts ? &d->parts[part - 1] : NULL;
}

/* Until it is opened. False: all have left, the parent is about to. */
static bool keep_below(struct domain *d)
{
	uint32_t nr = a_load(&d->nr_uses, relaxed);

	while (nr)
		if (a_cas(&d->nr_uses, &nr, nr + 1, relaxed, relaxed))
			return true;
	return false;
}

static void grant_use(struct use *u, struct news *n)
{
	lock_assert_held(&u->domain->lock);
	u->is_granted = true;
	if (!(u->flags & USE_WEAK)) {
		u->next = n->granted;
		n->granted = u;
	} else if (u->has_left) {
		u->next = n->early;
		n->early = u;
	} else if (u->below && keep_below(u->below)) {
		u->next = n->opened;
		n->opened = u;
	}
}

static void append_use(struct var *v, struct use *u)
{
	lock_assert_held(&v->domain->lock);
	check(u->domain == v->domain);
	u->next = NULL;
	if (var_first(v))
		v->last->next = u;
	else
		a_store(&v->first, u, relaxed);
	v->last = u;
}

/* Its group may have left copies. */
static bool must_combine(const struct var *v)
{
	return v->turn == TURN_REDUCE ||
	       (v->turn == TURN_PARTS && v->domain->has_reductions);
}

/*
 * Nobody looks before it. A use that waits for the whole may come before the
 * next of a part.
 */
static bool use_overwrites(const struct use *u)
{
	return u->turn == TURN_WRITE && !(u->flags & USE_READS) &&
	       (!u->whole || u[u->whole - u->stands_for].is_granted);
}

/* The next use overwrites them, or they are to be combined: 1. */
static uint32_t combine_one(struct var *v, enum combine_for who,
			    const struct use *next, struct news *n)
{
	/* A part's next may wait for it as well as the whole's. */
	if (v->combining) {
		v->combining |= who;
		return 1;
	}
	if (!reduction_is_touched(v->reduction))
		return 0;
	if (use_overwrites(next)) {
		reduction_forget(v->reduction);
		return 0;
	}
	v->combining = who;
	v->next_combine = n->combine;
	n->combine = v;
	return 1;
}

/* True: nobody is let in until var_combined(). */
static bool combine_copies(struct var *v, struct news *n)
{
	struct domain *d = v->domain;
	uint32_t nr = 0, i;
	struct var *part;

	lock_assert_held(&v->domain->lock);
	if (v->turn == TURN_REDUCE)
		nr = combine_one(v, COMBINE_OWN, var_first(v), n);
	for (i = 0; v->turn == TURN_PARTS && i < d->nr_parts; i++) {
		part = &d->parts[i];
		nr += combine_one(part, COMBINE_WHOLE, var_first(v), n);
		/* Copies to come are of children of whoever comes next. */
		if (a_load(&part->active, relaxed) == VAR_OPEN)
			part->turn = TURN_WRITE;
	}
	if (!nr)
		return false;
	v->turn = TURN_WRITE;
	a_store(&v->active, nr, relaxed);
	return true;
}

void domain_combine(struct domain *d)
{
	uint32_t i;

	if (likely(!d->has_reductions))
		return;
	if (reduction_is_touched(d->whole.reduction))
		var_combine_now(&d->whole);
	for (i = 0; i < d->nr_parts; i++)
		if (reduction_is_touched(d->parts[i].reduction))
			var_combine_now(&d->parts[i]);
}

/* The group has gone, and somebody waits. */
void var_advance(struct var *v, struct news *n)
{
	struct use *u = var_first(v), *next;
	uint32_t nr = 0;

	lock_assert_held(&v->domain->lock);
	if (must_combine(v) && combine_copies(v, n))
		return;
	v->turn = u->turn;
	for (next = u; next && next->turn == u->turn; next = next->next) {
		nr++;
		__builtin_prefetch(next->next);
		__builtin_prefetch(use_claim(next), 1);
		if (u->turn == TURN_WRITE) {
			next = next->next;
			break;
		}
	}
	a_store(&v->first, next, relaxed);
	/* Those let in may be gone before we have let in the last. */
	a_store(&v->active, nr + (next ? 0 : VAR_OPEN), relaxed);
	for (; nr; nr--, u = next) {
		next = u->next;
		grant_use(u, n);
	}
}

/* True: it may go at once. */
bool var_enter(struct var *v, struct use *u, struct news *n)
{
	uint32_t active;

	lock_assert_held(&v->domain->lock);
	if (var_first(v)) {
		append_use(v, u);
		return false;
	}
	/* [var.idle] what the last group did; pairs with [var.leave]. */
	active = a_load(&v->active, acquire);
	if (active == VAR_OPEN && !must_combine(v)) {
		v->turn = u->turn;
		a_store(&v->active, VAR_OPEN + 1, relaxed);
		u->is_granted = true;
		return true;
	}
	if (v->turn == u->turn && u->turn != TURN_WRITE) {
		/* [var.idle] as above, if they leave meanwhile. */
		a_add(&v->active, 1, acquire);
		u->is_granted = true;
		return true;
	}
	append_use(v, u);
	/* [var.close] pairs with [var.leave]: one of us sees 0. */
	if (a_sub(&v->active, VAR_OPEN, acq_rel) == VAR_OPEN)
		var_advance(v, n);
	return false;
}

bool var_is_written(struct domain *d, const struct var *v)
{
	uint32_t i;

	lock_assert_held(&d->lock);
	if (d->above || d->whole.is_written || v->is_written)
		return true;
	if (v != &d->whole || !d->nr_parts)
		return false;
	for (i = 0; i < d->nr_parts; i++)
		if (!d->parts[i].is_written)
			return false;
	d->whole.is_written = true;
	return true;
}

struct domain *use_below(struct use *u, size_t nr_parts)
{
	struct domain *d = u->below;
	uint32_t i;

	if (d)
		return d;
	d = calloc(1, sizeof(*d) + nr_parts * sizeof(*d->parts));
	if (!d)
		return NULL;
	domain_init(d, u->domain->rt, u->domain->data, u);
	d->bytes = u->domain->bytes;
	if (nr_parts) {
		d->nr_parts = (uint32_t)nr_parts;
		d->parts = (struct var *)(d + 1);
		for (i = 0; i < nr_parts; i++)
			var_init(&d->parts[i], d);
	}
	lock_take(&u->domain->lock);
	u->below = d;
	if (u->flags & USE_WEAK && !u->is_granted)
		a_add(&d->whole.active, 1, relaxed);
	lock_give(&u->domain->lock);
	return d;
}

/* ---- what is written, or should have been -------------------------------- */

void var_fail(struct var *v, int error, struct failure *failure)
{
	int32_t none = 0;

	check(error < 0);
	if (!a_cas(&v->error, &none, error, relaxed, relaxed))
		return;
	/* [var.fail] its text; pairs with [var.error]. */
	a_store(&v->failure, var_failure_get(failure), release);
	a_add(&v->domain->nr_poisoned, 1, relaxed);
}

static void heal_var(struct var *v)
{
	if (likely(!a_load(&v->error, relaxed)))
		return;
	var_failure_put(v->domain->rt, a_load(&v->failure, relaxed));
	a_store(&v->failure, NULL, relaxed);
	a_store(&v->error, 0, relaxed);
	a_sub(&v->domain->nr_poisoned, 1, relaxed);
}

static bool has_poisoned(const struct domain *d)
{
	return a_load(&d->nr_poisoned, relaxed) != 0;
}

/* A weak parent writes what its children do: nobody has written v. */
static bool is_as_before(const struct use *u, const struct var *v)
{
	struct domain *below = u->below;
	const struct var *child;

	if (likely(!(u->flags & USE_WEAK) || !(u->flags & USE_READS)))
		return false;
	if (!below)
		return true;
	child = &below->whole;
	if (v != u->var && below->nr_parts)
		child = &below->parts[v - u->domain->parts];
	return !var_has_value(below, child);
}

static void publish_var(const struct use *u, struct var *v, int error,
			struct failure *failure)
{
	check(error <= 0);
	if (error) {
		var_fail(v, error, failure);
	} else if (!is_as_before(u, v)) {
		heal_var(v);
		v->has_value = true;
	}
}

/*
 * Publishes the bytes that the use has written, or should have, before the next
 * may look.
 */
void use_publish(struct use *u, int error, struct failure *failure)
{
	struct domain *d = u->domain;
	struct var *v = u->var;
	bool by_parts;
	uint32_t i;

	if (!(u->flags & USE_WRITES) || u->flags & USE_HIDDEN)
		return;
	if (!error) {
		if (u->is_untouched)
			return;
		a_add(&d->version, 1, relaxed);
	}
	/* A reducer leaves a copy; whoever combines it has written. */
	if (!error && u->turn == TURN_REDUCE)
		return;
	if (v != &d->whole || !d->nr_parts) {
		publish_var(u, v, error, failure);
		return;
	}
	/* The state of the whole is that of its parts. */
	by_parts = error || is_as_before(u, v);
	if (!by_parts)
		v->has_value = true;
	for (i = 0; i < d->nr_parts && (by_parts || has_poisoned(d)); i++)
		publish_var(u, &d->parts[i], error, failure);
}

bool var_has_value(const struct domain *d, const struct var *v)
{
	uint32_t i;

	if (v->has_value || d->whole.has_value)
		return true;
	if (v != &d->whole)
		return false;
	for (i = 0; i < d->nr_parts && d->parts[i].has_value; i++)
		;
	return d->nr_parts && i == d->nr_parts;
}

int var_error(const struct domain *d, const struct var *v,
	      struct failure **failure)
{
	int error = a_load(&v->error, relaxed);
	uint32_t i;

	if (!error && v == &d->whole && d->nr_parts && has_poisoned(d)) {
		for (i = 0; !error && i < d->nr_parts; i++) {
			v = &d->parts[i];
			error = a_load(&v->error, relaxed);
		}
	}
	/* [var.error] pairs with [var.fail]: another reducer may fail now. */
	*failure = error ? a_load(&v->failure, acquire) : NULL;
	return error;
}
