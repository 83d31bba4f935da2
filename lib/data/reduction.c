/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies for LKDF_REDUCE: one for each executor that has a body of the group,
 * made when the body asks. They are combined on a worker when somebody else
 * wants the bytes.
 */
#include "data/data.h"
#include "data/var_check.h"

#include "base/err.h"
#include "check/fiber.h"
#include "check/notes.h"
#include "core/runtime.h"
#include "mem/heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All copies are there: see var_combine(). */
static void run_call(struct executor *ex, struct link_call *call)
{
	struct var *v = container_of(call, struct reduction, call)->var;

	var_combine_now(v);
	var_combined(ex, v);
}

/* Under lock. */
static struct reduction *create_reduction(struct lkdf_data *d, uint32_t part)
{
	uint32_t nr = (uint32_t)d->rt->nr_executors;
	struct reduction *r;
	size_t size;

	lock_assert_held(&d->domain.lock);
	size = round_up(sizeof(*r) + nr * sizeof(r->copy[0]), CACHE_LINE);
	r = aligned_alloc(CACHE_LINE, size);
	if (!r)
		return NULL;
	memset(r, 0, size);
	r->call.link.type = LINK_CALL;
	r->call.link.class = CLASS_NORMAL;
	r->call.run = run_call;
	r->data = d;
	r->part = part;
	r->nr = nr;
	return r;
}

int reduction_prepare(struct lkdf_data *d, uint32_t part)
{
	struct var *v = domain_var(&d->domain, part);
	bool is_there;

	lock_take(&d->domain.lock);
	if (!v->reduction)
		v->reduction = create_reduction(d, part);
	is_there = v->reduction != NULL;
	d->domain.has_reductions |= is_there;
	lock_give(&d->domain.lock);
	if (is_there)
		return 0;
	return err(-ENOMEM, "reduce: no memory for the copies of \"%s\"",
		   d->name);
}

void reduction_free(struct reduction *r)
{
	struct heap *h;
	uint32_t i;

	if (!r)
		return;
	h = r->data->rt->heap;
	for (i = 0; i < r->nr; i++)
		if (r->copy[i].bytes)
			heap_free(h, heap_thread_cache(h), r->copy[i].bytes);
	free(r);
}

static void make_neutral(const struct lkdf_data *d, void *bytes, uint64_t size)
{
	if (d->neutral)
		d->neutral(bytes, size);
	else
		memset(bytes, 0, size);
}

void *reduction_copy(struct executor *ex, struct lkdf_data *d, uint32_t part)
{
	struct reduction *r = domain_var(&d->domain, part)->reduction;
	struct copy *copy = &r->copy[ex->id];
	struct heap *h = d->rt->heap;
	uint64_t size = data_size(d, part);
	struct cache *c = heap_thread_cache(h);
	struct heap_want w = { c ? c->memory : 0, size, d->align, 0 };
	bool is_zero;
	int error;

	if (!copy->bytes) {
		copy->bytes = heap_alloc_slow(h, c, &w, &is_zero, &error);
		if (unlikely(d->rt->check != NULL))
			r->is_noted = notes_copy(d->rt->notes, d->name,
						 copy->bytes, size);
	}
	if (!copy->bytes)
		return NULL;
	if (!copy->is_touched)
		make_neutral(d, copy->bytes, size);
	copy->is_touched = true;
	return copy->bytes;
}

bool reduction_is_touched(const struct reduction *r)
{
	uint32_t i;

	for (i = 0; r && i < r->nr; i++)
		if (r->copy[i].is_touched)
			return true;
	return false;
}

void reduction_forget(struct reduction *r)
{
	uint32_t i;

	for (i = 0; i < r->nr; i++)
		r->copy[i].is_touched = false;
}

void var_combine(struct executor *ex, struct var *v)
{
	struct reduction *r = v->reduction;

	r->var = v;
	/* At once: in a join nobody might come to run it. */
	if (ex)
		run_call(ex, &r->call);
	else
		runtime_push(r->data->rt, NULL, &r->call.link);
}

static void poison_copy(struct lkdf_data *d, struct var *v, int error)
{
	struct lkdf_error e = { .err = error, .id = -1, .worker = -1 };
	struct failure *f;

	snprintf(e.task, sizeof(e.task), "reduce of %.40s", d->name);
	snprintf(e.why, sizeof(e.why), "%s: %s", e.task, strerror(-error));
	f = failure_create(&e, "");
	var_fail(v, error, f);
	failure_put(f, &d->rt->log);
}

static void hear_value(struct check *ch, struct lkdf_data *d, struct var *v)
{
	var_hear(ch, v, TURN_WRITE);
	if (v != &d->domain.whole)
		var_hear(ch, &d->domain.whole, TURN_PARTS);
}

/* Those behind it use the part, or all. */
static void tell_value(struct check *ch, struct lkdf_data *d, struct var *v)
{
	var_tell(ch, v, TURN_WRITE);
	if (v != &d->domain.whole)
		var_tell(ch, &d->domain.whole, TURN_PARTS);
}

struct first {
	struct check_call call;
	struct lkdf_data *d;
	uint32_t part;
	char *bytes;
};

static void run_neutral(struct check_call *call)
{
	struct first *m = container_of(call, struct first, call);
	struct check *ch = m->d->rt->check;
	struct var *v = domain_var(&m->d->domain, m->part);

	hear_value(ch, m->d, v);
	check_enter(ch);
	make_neutral(m->d, m->bytes, data_size(m->d, m->part));
	check_leave(ch);
	tell_value(ch, m->d, v);
}

/* Uses of the data come after it, also where another thread makes it. */
static void make_first(struct lkdf_data *d, char *bytes, uint32_t part)
{
	struct first m = { .d = d, .part = part };

	m.bytes = bytes + data_offset(d, part);
	m.call.run = run_neutral;
	m.call.name = "neutral of a data";
	if (likely(!d->rt->check || !d->neutral) ||
	    fiber_run(d->rt->check, &m.call, (struct check_place){ 0 }))
		make_neutral(d, m.bytes, data_size(d, part));
}

int reduction_begin(struct lkdf_data *d, uint32_t part)
{
	struct var *v = domain_var(&d->domain, part);
	/* A weak WRITE counts as a value, also without a child that writes. */
	bool is_new = !a_load(&d->domain.at, relaxed);
	uint32_t i;
	char *bytes;

	if (!is_new && (v->has_value || d->domain.whole.has_value))
		return 0;
	bytes = data_bytes(d, -1);
	if (!bytes)
		return -ENOMEM;
	v->has_value = true;
	if (part || !d->domain.nr_parts)
		make_first(d, bytes, part);
	for (i = 1; !part && i <= d->domain.nr_parts; i++) {
		v = domain_var(&d->domain, i);
		if (is_new || !v->has_value)
			make_first(d, bytes, i);
	}
	return 0;
}

/* ---- option check ------------------------------------------------------- */

struct combine {
	struct check_call call;
	struct reduction *r;
	void *to;
	const void *from;
	int rc;
};

static void run_combine(struct check_call *call)
{
	struct combine *m = container_of(call, struct combine, call);
	struct lkdf_data *d = m->r->data;
	struct check *ch = d->rt->check;
	struct var *v = domain_var(&d->domain, m->r->part);

	hear_value(ch, d, v);
	check_enter(ch);
	m->rc = d->reduce(m->to, m->from, data_size(d, m->r->part));
	check_leave(ch);
	tell_value(ch, d, v);
}

/* Beside the bodies, after all that have left copies. */
static int call_reduce(struct reduction *r, void *to, const void *from)
{
	struct lkdf_data *d = r->data;
	struct combine m = { .r = r, .to = to, .from = from };

	if (likely(!d->rt->check))
		return d->reduce(to, from, data_size(d, r->part));
	m.call.run = run_combine;
	m.call.name = "reduce of a data";
	if (fiber_run(d->rt->check, &m.call, (struct check_place){ 0 }))
		return -ENOMEM;
	return m.rc;
}

/* ---- combining ---------------------------------------------------------- */

int reduction_combine(struct reduction *r)
{
	struct lkdf_data *d = r->data;
	int rc = reduction_begin(d, r->part);
	uint32_t i;
	char *bytes;

	if (rc)
		return rc;
	bytes = (char *)a_load(&d->domain.at, relaxed) +
		data_offset(d, r->part);
	for (i = 0; i < r->nr && rc >= 0; i++)
		if (r->copy[i].is_touched)
			rc = call_reduce(r, bytes, r->copy[i].bytes);
	reduction_forget(r);
	return rc < 0 ? failure_errno(rc) : 0;
}

void var_combine_now(struct var *v)
{
	struct reduction *r = v->reduction;
	int rc = reduction_combine(r);

	if (rc)
		poison_copy(r->data, v, rc);
}
