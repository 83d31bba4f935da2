/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/values.h"

#include "base/err.h"
#include "core/runtime.h"
#include "data/offhost.h"
#include "data/replica.h"
#include "graph/access.h"
#include "run/always.h"
#include "run/follow.h"
#include "run/frame.h"
#include "run/sources.h"
#include "run/stream.h"
#include "run/task_claim.h"
#include "task/ctx.h"
#include "task/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void resume_frame(void *executor, struct blocking_item *item);

static bool waits_for_bytes(struct frame *f)
{
	f->values.bytes.run = resume_frame;
	/* order: run.waits */
	return offhost_is_possible(f->graph->rt) &&
	       offhost_claim_waits(f->values.claim, &f->values.bytes);
}

static void claim_ready(struct executor *ex, struct claim *c)
{
	struct frame *f = c->holder;

	if (waits_for_bytes(f))
		return;
	if (unlikely(f->stream)) {
		stream_granted(ex, f);
		return;
	}
	values_begin(f);
	sources_start(f->graph->rt, ex ? ex->worker : NULL, f);
}

static void resume_frame(void *executor, struct blocking_item *item)
{
	struct frame *f = container_of(item, struct frame, values.bytes);

	claim_ready(executor, f->values.claim);
}

static void keep_claim(struct claim *c)
{
	(void)c;
}

static const struct claim_ops ops = { claim_ready, keep_claim };

bool values_has(const struct claim *c)
{
	return c->ops == &ops;
}

const struct frame *values_of_bytes(const struct blocking_item *item)
{
	return item->run == resume_frame
		       ? container_of(item, const struct frame, values.bytes)
		       : NULL;
}

/* The var that has the use of the claim for its own, not for its whole. */
static struct access_var *values_claimed(const struct access_table *w,
					 uint32_t claim)
{
	return access_var(w, w->claimed[claim]);
}

static void fill_claim(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	struct claim *c = f->values.claim;
	struct access_var *v;
	struct use *u;
	uint32_t i;

	c->nr = (uint16_t)w->nr_claims;
	c->ops = &ops;
	c->holder = f;
	for (i = 0; i < w->nr_claims; i++) {
		v = values_claimed(w, i);
		u = &c->use[i];
		u->domain = &v->data->domain;
		u->part = v->part;
		u->mode = v->writes ? LKDF_WRITE : LKDF_READ;
		u->flags = (v->reads_first ? USE_READS : 0) |
			   (v->writes ? USE_WRITES : 0) |
			   (v->may_be_offhost ? USE_LATER : 0);
		if (v->reads_first && v->writes)
			u->mode = LKDF_RW;
	}
}

int values_create(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	size_t nr_vars = w->vars.nr, nr = w->nr_claims;
	struct values *v = &f->values;

	v->heap = f->graph->rt->heap;
	v->var = calloc(nr_vars + 1, sizeof(*v->var));
	v->error = calloc(nr + 1, sizeof(*v->error));
	v->is_dead = calloc(nr + 1, sizeof(*v->is_dead));
	v->nr_untouched = calloc(nr + 1, sizeof(*v->nr_untouched));
	v->nr_written = calloc(nr + 1, sizeof(*v->nr_written));
	v->lost = calloc(nr + 1, sizeof(*v->lost));
	v->claim = calloc(1, sizeof(*v->claim) + 2 * nr * sizeof(struct use));
	if (w->has_maybe)
		v->untouched = calloc(w->uses.nr, sizeof(*v->untouched));
	if (!v->var || transient_create(f) || !always_create(v, w) ||
	    !follow_create(v, w) || !v->error || !v->is_dead ||
	    !v->nr_untouched || !v->nr_written || !v->lost || !v->claim ||
	    (w->has_maybe && !v->untouched))
		return err(-ENOMEM, "graph %s: no memory for a frame's data",
			   f->graph->name);
	fill_claim(f);
	return 0;
}

void values_destroy(struct frame *f)
{
	struct values *v = &f->values;

	transient_destroy(f);
	free(v->var);
	free(v->error);
	free(v->is_dead);
	free(v->nr_untouched);
	free(v->nr_written);
	free(v->lost);
	free(v->untouched);
	free(v->bad);
	free(v->copy);
	free(v->claim);
}

static bool is_lasting(const struct access_var *v)
{
	return !v->is_transient && v->is_used;
}

int values_prepare(struct lkdf_graph *g)
{
	const struct access_table *w = g->accesses;
	struct access_var *v;
	uint32_t i;

	for (i = 0; i < w->vars.nr; i++) {
		v = access_var(w, i);
		/* [data.look] pairs with [data.at]. */
		if (is_lasting(v) && v->writes &&
		    !a_load(&v->data->domain.at, acquire) &&
		    !data_bytes(v->data,
				v->home < 0 ? DATA_FIRST_TOUCH : v->home))
			return -ENOMEM;
	}
	return 0;
}

int values_enter(struct executor *ex, struct frame *f)
{
	struct claim *c = f->values.claim;
	char text[DATA_TEXT];
	struct use *why;
	int rc;

	if (!c->nr)
		return 1;
	claim_prepare(c);
	rc = claim_enter(ex, c, &why);
	if (rc < 0)
		err(rc, "graph %s: nobody has written %s, which it reads",
		    f->graph->name,
		    data_text(why->domain->data, why->part, text));
	return rc > 0 && waits_for_bytes(f) ? 0 : rc;
}

/* An input is not there when the run starts: its error is the run's. */
static void note_poison(struct frame *f, struct use *u)
{
	struct failure *failure, *none = NULL;
	int error = uses_error(u, &failure);
	int32_t zero = 0;

	check(u->domain);
	f->values.error[u - f->values.claim->use] = error;
	if (!error)
		return;
	f->values.is_poisoned = true;
	if (!a_cas(&f->first_err, &zero, error, relaxed, relaxed))
		return;
	failure = failure_of_skipped(failure, error);
	/* [frame.fail] pairs with [frame.resolved]. */
	if (!a_cas(&f->failure, &none, failure, release, relaxed))
		failure_put(failure, &f->graph->rt->log);
}

static void find_bytes(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	struct access_var *v;
	uint32_t i;
	char *at;

	for (i = 0; i < w->vars.nr; i++) {
		v = access_var(w, i);
		if (!is_lasting(v))
			continue;
		/* There are bytes: values_prepare(). */
		if (v->data->reduce && v->writes)
			reduction_begin(v->data, v->part);
		/* [data.look] pairs with [data.at]. */
		at = a_load(&v->data->domain.at, acquire);
		f->values.var[i].bytes = at ? at + v->offset : NULL;
	}
}

/* Nothing is noted so far. */
static void forget_notes(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	struct values *val = &f->values;
	uint32_t i;

	always_begin(val, w);
	/* Members that have failed keep their marks. */
	if (unlikely(val->untouched && f->graph->control))
		memset(val->untouched, 0, w->uses.nr * sizeof(*val->untouched));
	for (i = 0; i < w->nr_claims; i++) {
		a_store(&val->is_dead[i], 0, relaxed);
		a_store(&val->nr_untouched[i], 0, relaxed);
	}
}

void values_begin(struct frame *f)
{
	struct values *val = &f->values;
	struct failure *failure;
	struct use *u;
	uint32_t i;

	access_forget_tokens(f->graph->accesses, f->graph->rt);
	forget_notes(f);
	val->is_poisoned = val->heals = false;
	/* order: run.written */
	if (offhost_is_possible(f->graph->rt))
		offhost_begin_all(val->claim);
	for (i = 0; i < val->claim->nr; i++) {
		a_store(&val->nr_written[i], 0, relaxed);
		a_store(&val->lost[i], 0, relaxed);
		val->error[i] = 0;
		u = &val->claim->use[i];
		if (u->flags & USE_READS)
			note_poison(f, u);
		if (!(u->flags & USE_WRITES))
			continue;
		val->heals |= uses_error(u, &failure) != 0;
		data_will_write(u->domain->data);
	}
	find_bytes(f);
}

/* All who might have written it have left it as it was. */
static bool is_untouched(const struct frame *f, const struct access_var *v)
{
	uint32_t nr = a_load(&f->values.nr_untouched[v->claim], relaxed);

	return nr && nr == v->nr_writers;
}

/* More writes than the one that leaving counts. */
static void count_writes(struct frame *f, bool leaves)
{
	const struct access_table *w = f->graph->accesses;
	struct access_var *v;
	uint32_t i, nr;

	for (i = 0; i < w->nr_claims; i++) {
		v = values_claimed(w, i);
		if (!v->writes)
			continue;
		nr = v->nr_writers -
		     a_load(&f->values.nr_untouched[i], relaxed);
		a_store(&f->values.nr_untouched[i], 0, relaxed);
		nr -= leaves && nr;
		a_add(&v->data->domain.version, nr, relaxed);
	}
}

static void note_untouched(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	uint32_t i;

	if (!w->has_maybe && !f->graph->control)
		return;
	for (i = 0; i < w->nr_claims; i++)
		if (is_untouched(f, values_claimed(w, i)))
			f->values.claim->use[i].is_untouched = true;
}

/* Does what leaving does, but nobody comes after us. */
static void heal_var(struct frame *f)
{
	struct claim *c = f->values.claim;
	uint32_t i;

	note_untouched(f);
	count_writes(f, true);
	for (i = 0; i < c->nr; i++) {
		use_publish(&c->use[i], 0, NULL);
		c->use[i].is_untouched = false;
	}
}

void values_count(struct frame *f)
{
	if (unlikely(f->values.heals))
		heal_var(f);
	else
		count_writes(f, false);
}

void values_leave(struct executor *ex, struct frame *f, int error,
		  struct failure *failure)
{
	struct values *v = &f->values;
	struct claim *c = v->claim;
	struct use *u;
	uint32_t i;

	note_untouched(f);
	if (!error)
		count_writes(f, true);
	if (!c->nr)
		return;
	for (i = 0; i < c->nr; i++) {
		u = &c->use[i];
		/* A var that all have left as it was is as bad as it was. */
		if (!a_load(&v->is_dead[i], relaxed) || u->is_untouched)
			continue;
		use_publish(u, error ? error : -ECANCELED, failure);
		u->is_untouched = true;
	}
	claim_leave(ex, c, 0, NULL);
	for (i = 0; i < c->nr; i++)
		c->use[i].is_untouched = false;
}

/* ---- waves -------------------------------------------------------------- */

void values_begin_wave(struct frame *f, const struct frame *holder)
{
	uint32_t nr = f->graph->accesses->nr_claims;

	forget_notes(f);
	if (f == holder)
		return;
	f->values.heals = false;
	f->values.is_poisoned = holder->values.is_poisoned;
	memcpy(f->values.error, holder->values.error,
	       nr * sizeof(*f->values.error));
	find_bytes(f);
}

void values_end_wave(struct frame *f, struct frame *holder)
{
	const struct access_table *w = f->graph->accesses;
	uint32_t i, nr;

	for (i = 0; i < w->nr_claims; i++) {
		nr = values_claimed(w, i)->nr_writers -
		     a_load(&f->values.nr_untouched[i], relaxed);
		/* Relaxed: [stream.stop] orders them before the last look. */
		a_add(&holder->values.nr_written[i], nr, relaxed);
		if (a_load(&f->values.is_dead[i], relaxed))
			a_store(&holder->values.lost[i], 1, relaxed);
	}
}

void values_end_waves(struct frame *holder)
{
	const struct access_table *w = holder->graph->accesses;
	struct values *v = &holder->values;
	uint64_t nr;
	uint32_t i;

	for (i = 0; i < w->nr_claims; i++) {
		nr = a_load(&v->nr_written[i], relaxed);
		a_store(&v->is_dead[i], a_load(&v->lost[i], relaxed), relaxed);
		v->claim->use[i].is_untouched = !nr;
		/* Leaving counts one. */
		if (nr)
			a_add(&values_claimed(w, i)->data->domain.version,
			      nr - 1, relaxed);
	}
}

bool values_are_wanted(const struct frame *f)
{
	const struct use *u;

	for (u = f->values.claim->first; u; u = u->after)
		if (!(a_load(&u->var->active, relaxed) & VAR_OPEN))
			return true;
	return false;
}

bool values_are_missing(const struct frame *f, uint32_t index)
{
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u, *end;
	uint32_t claim;

	check(frame_has(f, index));
	for (u = access_uses(w, index, &end); u < end; u++) {
		claim = access_var(w, u->var)->claim;
		if (u->flags & ACCESS_FIRST && claim != NO_CLAIM &&
		    f->values.error[claim])
			return true;
	}
	return false;
}

void values_dead(struct frame *f, uint32_t index)
{
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u, *end;
	const struct access_var *v;
	struct reduction *r;
	uint32_t claim;

	check(frame_has(f, index));
	check(f->graph->accesses);
	for (u = access_uses(w, index, &end); u < end; u++) {
		v = access_var(w, u->var);
		always_dead(f, u);
		/* All who reduced are resolved; others may come later. */
		r = u->flags & ACCESS_COMBINES ? f->recs[index].arg : NULL;
		if (r)
			reduction_forget(r);
		claim = v->claim;
		if (u->flags & ACCESS_LAST && claim != NO_CLAIM &&
		    !values_is_untouched(f, u))
			a_store(&f->values.is_dead[claim], 1, relaxed);
	}
	values_count_untouched(f, index);
	transient_used(f, index);
}

/* The copy of the var that is combined, whatever part of it the use is of. */
static void *copy_of(struct executor *ex, const struct access_table *w,
		     const struct access_use *u)
{
	const struct access_var *v = access_var(w, access_main(w, u)->var);
	char *bytes = reduction_copy(ex, v->data, v->part);

	return bytes ? bytes + access_var(w, u->var)->offset - v->offset : NULL;
}

void *values_ptr(struct lkdf_ctx *c, unsigned use)
{
	struct frame *f = c->frame;
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u, *end;

	if (unlikely(!w))
		return NULL;
	u = access_uses(w, c->index, &end) + use;
	if (unlikely(use >= LKDF_MAX_USES || u >= end))
		return NULL;
	if (unlikely(u->mode & (LKDF_REDUCE | LKDF_WEAK) || c->task) &&
	    !task_claim_may_touch(c, use))
		return NULL;
	if (unlikely(u->mode & (LKDF_REDUCE | FOLLOW_COPIED)))
		return u->mode & LKDF_REDUCE ? copy_of(c->ex, w, u)
					     : follow_ptr(f, u);
	return f->values.var[u->var].bytes;
}
