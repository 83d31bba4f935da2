/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Uses with LKDF_MAYBE in a graph that turned out untouched. The body marks
 * them; when its task is resolved they are no writes: they are not counted, and
 * a failure does not pass over edges that are there for them only.
 */
#include "run/values.h"

#include "graph/access.h"
#include "graph/pairs.h"
#include "run/always.h"
#include "run/frame.h"

static uint8_t *mark_of(const struct frame *f, const struct access_use *u)
{
	const struct access_use *all = f->graph->accesses->uses.items;

	return &f->values.untouched[u - all];
}

bool values_is_untouched(const struct frame *f, const struct access_use *u)
{
	return f->values.untouched && *mark_of(f, u);
}

void values_untouched(struct frame *f, uint32_t index, unsigned use)
{
	const struct access_use *u, *end;

	check(frame_has(f, index));
	u = access_uses(f->graph->accesses, index, &end) + use;
	*mark_of(f, access_main(f->graph->accesses, u)) = 1;
}

void values_count_untouched(struct frame *f, uint32_t index)
{
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u, *end;
	uint32_t claim;

	check(frame_has(f, index));
	/* Members of a loop count as writers. */
	if (likely(!f->values.untouched) || f->recs[index].flags & REC_MEMBER)
		return;
	for (u = access_uses(w, index, &end); u < end; u++) {
		claim = access_var(w, u->var)->claim;
		if (*mark_of(f, u) && claim != NO_CLAIM)
			a_add(&f->values.nr_untouched[claim], 1, relaxed);
	}
}

/* Data that a loop writes counts as written, whichever iteration does. */
void values_unchosen(struct frame *f, uint32_t index)
{
	const struct access_table *w = f->graph->accesses;
	bool is_member = f->recs[index].flags & REC_MEMBER;
	const struct access_use *u, *end;
	uint32_t claim;

	check(frame_has(f, index));
	for (u = access_uses(w, index, &end); u < end && !is_member; u++) {
		claim = access_var(w, u->var)->claim;
		if (u->flags & ACCESS_WRITES && !(u->flags & ACCESS_MERGED) &&
		    !(u->mode & LKDF_REDUCE) && claim != NO_CLAIM)
			a_add(&f->values.nr_untouched[claim], 1, relaxed);
	}
	transient_used(f, index);
}

void values_forget_untouched(struct frame *f, uint32_t index)
{
	const struct access_use *u, *end;

	check(frame_has(f, index));
	if (likely(!f->values.untouched))
		return;
	for (u = access_uses(f->graph->accesses, index, &end); u < end; u++)
		*mark_of(f, u) = 0;
}

/* Has the task left alone what it writes of the var? */
static bool has_left(const struct frame *f, uint32_t index, uint32_t var)
{
	const struct access_use *u, *end;

	for (u = access_uses(f->graph->accesses, index, &end); u < end; u++)
		if (u->var == var && values_is_untouched(f, u))
			return true;
	return false;
}

static bool passes_failure(const struct frame *f, uint32_t from, uint32_t to)
{
	const struct access_pair *p, *end;

	p = pairs_find(f->graph->accesses, from, to, &end);
	if (p == end)
		return true;
	for (; p < end; p++)
		if (p->var != NO_VAR && !has_left(f, from, p->var))
			return true;
	return false;
}

int values_passes(const struct frame *f, uint32_t from, uint32_t to,
		  int verdict)
{
	if (verdict == VERDICT_UNCHOSEN)
		return verdict;
	return (verdict < 0 && passes_failure(f, from, to)) ||
			       always_passes_error(f, from, to)
		       ? VERDICT_FAILED
		       : VERDICT_LIVE;
}
