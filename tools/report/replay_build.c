/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording as a replay has it. A body that waited for tokens is one that the
 * program submits when its wait began. All blocks of a loop are joined by a
 * body that takes no time, for which whoever began the loop waits.
 */
#include "report/replay_build.h"
#include "report/reasons.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- order -------------------------------------------------------------- */

static uint64_t begin_of(const struct report *r, uint32_t i)
{
	return i < r->nr_slices ? r->slice[i].begin
				: r->op[i - r->nr_slices].begin;
}

static int by_begin(const void *a, const void *b, void *u)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = begin_of(u, x), q = begin_of(u, y);

	if (p != q)
		return p < q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The rank of each by begin. */
static int order_all(struct build *b)
{
	uint32_t *order = malloc((b->nr_all + 1ull) * sizeof(*order)), i;

	b->rank = malloc((b->nr_all + 1ull) * sizeof(*b->rank));
	if (!order || !b->rank) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < b->nr_all; i++)
		order[i] = i;
	qsort_r(order, b->nr_all, sizeof(*order), by_begin,
		(void *)(uintptr_t)b->r);
	for (i = 0; i < b->nr_all; i++)
		b->rank[order[i]] = i;
	free(order);
	return 0;
}

/* ---- steps of the program ----------------------------------------------- */

int replay_add_step(struct build *b, const struct replay_step *s)
{
	uint32_t cap = b->cap_steps * 2 + 1024;
	struct replay_step *more;

	if (b->p->nr_steps == b->cap_steps) {
		more = realloc(b->p->step, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->p->step = more;
		b->cap_steps = cap;
	}
	b->p->step[b->p->nr_steps++] = *s;
	return 0;
}

int replay_by_time(const void *a, const void *b)
{
	const struct replay_step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* A thread that submits and then waits at once does so in that order.
	 */
	if (!x->name != !y->name)
		return x->name ? 1 : -1;
	return x->body < y->body ? -1 : x->body > y->body;
}

/* A wait in which the program has another one, or submits: of two threads. */
static void look_at_threads(struct replay *p)
{
	uint64_t until = 0;
	uint32_t i, nr = 0, nr_within = 0;

	for (i = 0; i < p->nr_steps; i++) {
		nr_within += p->step[i].at < until;
		if (!p->step[i].name)
			continue;
		if (p->step[i].at < until)
			p->step[i].body = REPLAY_NONE;
		else
			until = p->step[i].end;
		nr++;
	}
	p->is_sure = !nr || nr_within * 20 <= p->nr_steps;
}

static int add_waits(struct build *b)
{
	const struct report *r = b->r;
	const struct wait *w;
	int rc = 0;

	for (w = r->wait; w < r->wait + r->nr_waits && !rc; w++)
		rc = replay_add_step(b, &(struct replay_step){
						.at = w->begin,
						.end = w->end,
						.body = w->by < b->nr_all
								? b->rank[w->by]
								: REPLAY_NONE,
						.name = 1 + w->name,
					});
	return rc;
}

/* ---- bodies ------------------------------------------------------------- */

static uint8_t place_of(const struct report *r, const struct slice *s)
{
	uint32_t kind = r->lane[s->lane].kind;

	return kind == LKDF_EXECUTOR_WORKER || kind == LANE_THREAD
		       ? REPLAY_WORKER
		       : REPLAY_ASIDE;
}

static uint8_t limit_number(struct replay *p, uint32_t name)
{
	uint32_t i;

	for (i = 0; i < p->nr_limits; i++)
		if (p->limit_name[i] == name)
			return (uint8_t)(i + 1);
	if (i == REPLAY_LIMITS)
		return 0;
	p->limit_name[p->nr_limits++] = name;
	return (uint8_t)(i + 1);
}

static uint8_t limit_of_kind(struct build *b, uint16_t kind)
{
	const struct limit *l;

	for (l = b->r->limit; l < b->r->limit + b->r->nr_limits; l++)
		if (l->kind == kind)
			return limit_number(b->p, l->name);
	return 0;
}

static uint32_t by_rank(const struct build *b, uint32_t by, uint32_t self)
{
	uint32_t rank = by < b->nr_all ? b->rank[by] : REPLAY_NONE;

	return rank < self ? rank : REPLAY_NONE;
}

/* How far into its maker's own time it became ready. */
static float offset_in(const struct report *r, const struct slice *s)
{
	const struct slice *by;

	if (s->by >= r->nr_slices)
		return -1;
	by = &r->slice[s->by];
	if (s->ready + 1000 >= by->end)
		return -1;
	return s->ready > by->begin ? (float)(s->ready - by->begin) : 0;
}

static int add_root(struct build *b, uint32_t rank, uint64_t at)
{
	return replay_add_step(b,
			       &(struct replay_step){ .at = at, .body = rank });
}

/*
 * A worker finds that tokens lack, perhaps while the program waits: the task
 * was submitted before that.
 */
static uint64_t held_since(const struct report *r, const struct held *h)
{
	uint32_t low = 0, high = r->nr_waits, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->wait[mid].end <= h->begin)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < r->nr_waits && r->wait[low].begin < h->begin)
		return r->wait[low].begin;
	return h->begin;
}

static int add_slice(struct build *b, uint32_t i)
{
	const struct report *r = b->r;
	const struct slice *s = &r->slice[i];
	uint32_t rank = b->rank[i];
	struct replay_body *x = &b->p->body[rank];
	const struct held *h =
		s->ready == NO_TIME ? NULL : held_of(r, b->held, s);

	*x = (struct replay_body){
		.by = h ? REPLAY_NONE : by_rank(b, s->by, rank),
		.slice = i,
		.kind = s->kind,
		.place = place_of(r, s),
		.limit = limit_of_kind(b, s->kind),
		.offset = offset_in(r, s),
	};
	x->length = (float)(s->end - s->begin);
	if (x->by != REPLAY_NONE)
		return 0;
	x->offset = -1;
	return add_root(b, rank,
			h		      ? held_since(r, h)
			: s->ready != NO_TIME ? s->ready
					      : s->begin);
}

static int add_op(struct build *b, uint32_t i)
{
	const struct op *o = &b->r->op[i];
	uint32_t rank = b->rank[b->r->nr_slices + i];
	struct replay_body *x = &b->p->body[rank];

	*x = (struct replay_body){
		.by = by_rank(b, o->by, rank),
		.slice = REPLAY_NONE,
		.kind = o->kind,
		.place = REPLAY_ASIDE,
		.offset = -1,
		.length = (float)(o->end - o->begin),
	};
	return x->by == REPLAY_NONE ? add_root(b, rank, o->begin) : 0;
}

/*
 * Bodies within a body lie behind it in its lane: their time is not its own,
 * and it waits for bodies that it has made ready.
 */
static int take_inner(struct build *b)
{
	const struct slice *s = b->r->slice;
	uint32_t *open = malloc((b->r->nr_slices + 1ull) * sizeof(*open));
	struct replay_body *outer;
	uint32_t i, nr = 0;

	if (!open)
		return -ENOMEM;
	for (i = 0; i < b->r->nr_slices; i++) {
		while (nr && (s[open[nr - 1]].lane != s[i].lane ||
			      s[open[nr - 1]].end < s[i].end))
			nr--;
		if (nr) {
			outer = &b->p->body[b->rank[open[nr - 1]]];
			outer->joins = true;
			outer->length -= (float)(s[i].end - s[i].begin);
			outer->length = outer->length > 0 ? outer->length : 0;
		}
		open[nr++] = i;
	}
	free(open);
	return 0;
}

/* ---- limits, loops, links ----------------------------------------------- */

/* Bodies that a body makes ready, the first first; those at its end last. */
void replay_link_kids(struct replay *p)
{
	uint32_t i, by, pass;

	for (i = 0; i < p->nr_bodies; i++)
		p->body[i].first = p->body[i].next = REPLAY_NONE;
	for (pass = 0; pass < 2; pass++)
		for (i = p->nr_bodies; i-- > 0;) {
			by = p->body[i].by;
			if (by == REPLAY_NONE ||
			    (p->body[i].offset < 0) != !pass)
				continue;
			p->body[i].next = p->body[by].first;
			p->body[by].first = i;
		}
}

static int build_all(struct build *b)
{
	const struct report *r = b->r;
	struct replay *p = b->p;
	uint32_t i;
	int rc = order_all(b);

	for (i = 0; i < r->nr_slices && !rc; i++)
		rc = add_slice(b, i);
	for (i = 0; i < r->nr_ops && !rc; i++)
		rc = add_op(b, i);
	if (!rc)
		rc = take_inner(b);
	if (!rc)
		rc = add_waits(b);
	if (!rc)
		rc = replay_join_loops(b);
	for (i = 0; i < p->nr_limits && !rc; i++)
		rc = replay_find_cap(p, i);
	if (rc)
		return rc;
	qsort(p->step, p->nr_steps, sizeof(*p->step), replay_by_time);
	look_at_threads(p);
	replay_link_kids(p);
	return 0;
}

int replay_build(struct replay *p, const struct report *r)
{
	struct build b = { .p = p, .r = r };
	uint64_t most = r->nr_slices + (uint64_t)r->nr_ops;
	uint32_t i;
	int rc;

	*p = (struct replay){ .r = r };
	b.nr_all = p->nr_bodies = (uint32_t)most;
	for (i = 0; i < r->nr_loops; i++)
		most += r->loop[i].nr;
	if (nr_tasks(r) && r->time[TIME_RUNTIME])
		p->between = (float)r->time[TIME_RUNTIME] / (float)nr_tasks(r);
	p->body = calloc(most + 1, sizeof(*p->body));
	b.held = held_index(r);
	rc = p->body && b.held ? build_all(&b) : -ENOMEM;
	free(b.held);
	free(b.rank);
	return rc;
}

void replay_free(struct replay *p)
{
	free(p->body);
	free(p->step);
}
