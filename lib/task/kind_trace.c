/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings and counts that begin and end while tasks run: all kinds follow.
 */
#include "task/kind.h"

#include "base/options.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "core/signals.h"

/* The short ways are for those that nobody traces. */
void kind_set_paths(struct lkdf_kind *k, uint32_t slow)
{
	bool is_traced = slow & SLOW_TRACED;

	a_store(&k->is_plain, k->is_child && !is_traced, relaxed);
	a_store(&k->starts_slowly,
		k->may_block || is_traced || k->rt->sched.order.is_on, relaxed);
}

/*
 * Recorded or not, as all others. Its copies are made under the lock, so they
 * are as it is. Parts of loops are told block by block, see loop_traced.h.
 */
static void trace_one(struct lkdf_kind *k, void *is_traced)
{
	uint32_t slow;

	if (k->is_seat || k->ops->told & LKDF_KIND_IS_LOOP)
		return;
	if (*(bool *)is_traced)
		slow = a_or(&k->slow, SLOW_TRACED, relaxed) | SLOW_TRACED;
	else
		slow = a_and(&k->slow, ~SLOW_TRACED, relaxed) & ~SLOW_TRACED;
	kind_set_paths(k, slow);
}

void kind_trace_all(struct lkdf *rt, bool is_traced)
{
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next)
		kind_each_copy(container_of(l, struct lkdf_kind, all),
			       trace_one, &is_traced);
	pthread_mutex_unlock(&rt->lock);
}

uint32_t kind_notes(const struct lkdf *rt)
{
	if (rt->options->kinds)
		return SLOW_NOTES;
	return signals_want_kinds(rt) ? SLOW_NOTED : 0;
}

static void note_one(struct lkdf_kind *k, void *notes)
{
	a_or(&k->slow, *(uint32_t *)notes, relaxed);
	a_and(&k->slow, *(uint32_t *)notes | ~SLOW_NOTES, relaxed);
}

void kind_note_all(struct lkdf *rt, bool is_noted)
{
	uint32_t notes = is_noted ? SLOW_NOTES : kind_notes(rt);
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	rt->notes_kinds = is_noted;
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next)
		kind_each_copy(container_of(l, struct lkdf_kind, all), note_one,
			       &notes);
	pthread_mutex_unlock(&rt->lock);
}

/* Under the lock it is as whoever starts or ends one of these wants all. */
void kind_enlist(struct lkdf_kind *k)
{
	struct lkdf *rt = k->rt;
	uint32_t notes = SLOW_NOTES;
	bool yes = true;

	pthread_mutex_lock(&rt->lock);
	list_append(&rt->kinds, &k->all);
	if (trace_is_recording(&rt->trace))
		kind_each_copy(k, trace_one, &yes);
	if (rt->notes_kinds)
		kind_each_copy(k, note_one, &notes);
	pthread_mutex_unlock(&rt->lock);
}

void kind_hide(struct lkdf_kind *k)
{
	pthread_mutex_lock(&k->rt->lock);
	k->is_ours = k->is_seat = true;
	a_and(&k->slow, ~(SLOW_TRACED | SLOW_WATCHED | SLOW_NOTES), relaxed);
	kind_set_paths(k, a_load(&k->slow, relaxed));
	pthread_mutex_unlock(&k->rt->lock);
}
