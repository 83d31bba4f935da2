/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/why.h"

#include "core/limit.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "io/io_ring.h"
#include "run/frame.h"
#include "run/own_task.h"
#include "run/slots.h"
#include "run/stream.h"
#include "scope/scope.h"
#include "task/again.h"
#include "task/kind.h"
#include "task/urgent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "wave 4 of graph "video"". */
#define FRAME_NAME 80

/* Parents that are named. */
#define NR_ABOVE 3

/* ---- rows --------------------------------------------------------------- */

struct why_row *why_add(struct why *y, enum why_cause cause)
{
	struct why_row *r = &y->row[y->nr];

	if (y->nr == WHY_ROWS) {
		y->nr_more++;
		return NULL;
	}
	y->nr++;
	*r = (struct why_row){ .cause = cause };
	return r;
}

void why_says(struct why_row *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->what, sizeof(r->what), fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4))) static void
append_text(char *to, size_t size, const char *fmt, ...)
{
	size_t used = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + used, size - used, fmt, ap);
	va_end(ap);
}

/* Waves share frames in turn: the next one in this frame begins after this. */
static bool is_wave(const struct frame *f)
{
	const struct stream *s = f->graph->stream;

	return s && a_load(&s->nr_running, relaxed);
}

static void says_next_wave(struct why_row *r, const struct frame *f)
{
	const struct stream *s = f->graph->stream;
	uint64_t next = a_load(&f->wave, relaxed) + f->graph->nr_frames;

	if (a_load(&s->has_ended, relaxed) || a_load(&s->is_cut, relaxed) ||
	    next >= a_load(&s->times, relaxed))
		return;
	snprintf(r->next, sizeof(r->next),
		 "wave %llu, which cannot begin: inflight %u",
		 (unsigned long long)next, f->graph->nr_frames);
}

/* "graph "g"", or "wave 4 of graph "g"". */
static void frame_name(const struct frame *f, char *name, size_t size)
{
	if (is_wave(f))
		snprintf(name, size, "wave %llu of graph \"%s\"",
			 (unsigned long long)a_load(&f->wave, relaxed),
			 f->graph->name);
	else
		snprintf(name, size, "graph \"%s\"", f->graph->name);
}

static void add_frame(struct why_row *r, const struct frame *f)
{
	if (is_wave(f))
		says_next_wave(r, f);
	r->frame = f;
	r->graph = f->graph;
	r->nr_behind += a_load(&f->remaining, relaxed);
}

struct why_row *why_add_run(struct why *y, enum why_cause cause,
			    const struct frame *f)
{
	struct why_row *r = why_add(y, cause);
	char name[FRAME_NAME];

	if (!r)
		return NULL;
	r->key = f;
	add_frame(r, f);
	frame_name(f, name, sizeof(name));
	snprintf(r->who, sizeof(r->who), "%s%s", is_wave(f) ? "" : "a run of ",
		 name);
	return r;
}

/*
 * Names the tasks above it, and the limits that those hold until it has ended.
 */
static void add_above(struct why_row *r, const struct task *t)
{
	const struct task *up = a_load(&t->parent, relaxed);
	const struct lkdf_kind *k;
	uint32_t nr = 0, i;

	for (; up; up = a_load(&up->parent, relaxed)) {
		k = up->kind;
		r->nr_behind++;
		if (nr++ == NR_ABOVE)
			append_text(r->who, sizeof(r->who), ", below others");
		if (nr > NR_ABOVE)
			continue;
		append_text(r->who, sizeof(r->who), ", below \"%s\"", k->name);
		for (i = 0; i < k->nr_limits && up->nr_limits_held; i++)
			append_text(r->who, sizeof(r->who), "%s %s%s",
				    i ? "," : " (holds",
				    k->limit[i].limit->text,
				    i + 1 == k->nr_limits ? ")" : "");
	}
}

struct why_row *why_add_index(struct why *y, enum why_cause cause,
			      const struct frame *f, uint32_t index)
{
	struct why_row *r = why_add(y, cause);
	char name[NAME_SIZE], graph[FRAME_NAME];

	check(frame_has(f, index));
	if (!r)
		return NULL;
	graph_task_name(f->graph, graph_number(f->graph, index), name,
			sizeof(name));
	frame_name(f, graph, sizeof(graph));
	snprintf(r->who, sizeof(r->who), "task \"%s\" of %s", name, graph);
	add_frame(r, f);
	return r;
}

struct why_row *why_add_task(struct why *y, enum why_cause cause,
			     const struct task *t)
{
	struct why_row *r = why_add(y, cause);
	char name[NAME_SIZE], graph[FRAME_NAME], text[2 * NAME_SIZE];

	if (!r)
		return NULL;
	r->key = t;
	if (t->link.flags & TASK_OWNED) {
		t->owner->name(t->frame, t->index, name, sizeof(name));
		frame_name(t->frame, graph, sizeof(graph));
		snprintf(r->who, sizeof(r->who), "task \"%s\" of %s", name,
			 graph);
		add_frame(r, t->frame);
	} else {
		task_text(t, text, sizeof(text));
		snprintf(r->who, sizeof(r->who), "task \"%s\"", text);
	}
	add_above(r, t);
	if (cause != WHY_DATA && t->link.flags & TASK_HAS_DATA)
		why_add_followers(r, t);
	return r;
}

/* ---- limits ------------------------------------------------------------- */

static uint32_t tokens_asked(const struct task *t, const struct lkdf_limit *l)
{
	const struct lkdf_kind *k = t->kind;
	uint32_t i;

	for (i = 0; i < k->nr_limits; i++)
		if (k->limit[i].limit == l)
			return k->limit[i].tokens;
	return 0;
}

/* Under the runtime's lock: it stays. */
static void look_at_limit(struct why *y, struct lkdf_limit *l)
{
	struct limit_waiter *w;
	const struct task *t;
	struct why_row *r;
	unsigned nr = 0;

	mutex_assert_held(&y->rt->lock);
	pthread_mutex_lock(&l->lock);
	for (w = l->first; w && nr < WHY_LOOK; w = w->next) {
		if (nr++ >= WHY_PER_QUEUE) {
			y->nr_more++;
			continue;
		}
		t = container_of(w, struct task, limit_waiter);
		r = why_add_task(y, WHY_TOKEN, t);
		if (r)
			why_says(r, "for %u of %s, of which %u %s free",
				 tokens_asked(t, l), l->text, l->nr_free,
				 l->nr_free == 1 ? "is" : "are");
	}
	pthread_mutex_unlock(&l->lock);
}

static void look_at_limits(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct lkdf_limit *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->limits; l; l = l->next)
		look_at_limit(y, l);
	pthread_mutex_unlock(&rt->lock);
}

/* ---- operations --------------------------------------------------------- */

static void look_at_req(struct why *y, const struct io_req *q)
{
	const struct lkdf_io *io = &q->op.io;
	const char *name = io_op_name(io->op);
	struct why_row *r;

	/*
	 * An operation of a chain may have no task yet; a descriptor that is
	 * polled is told of by who waits for it.
	 */
	if (!q->task || q->task->kind == a_load(&y->rt->poll_kind, relaxed))
		return;
	r = why_add_task(y, WHY_IO, q->task);
	if (r && io->op == LKDF_IO_TIMEOUT)
		why_says(r, "for the time of its operation timeout");
	else if (r)
		why_says(r, "for its operation %s on descriptor %d",
			 name ? name : "?", io->fd);
}

static void look_at_reqs(struct why *y, const struct list *list)
{
	const struct list *l;
	unsigned nr = 0;

	for (l = list->next; l != list && nr < WHY_LOOK; l = l->next)
		if (nr++ < WHY_PER_QUEUE)
			look_at_req(y, container_of(l, struct io_req, list));
		else
			y->nr_more++;
}

static void look_at_io(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct io_ring *ring;
	int i;

	for (i = 0; i < rt->nr_workers; i++) {
		ring = io_ring_at(rt->io_rings, i);
		if (!ring)
			continue;
		lock_take(&ring->lock);
		look_at_reqs(y, &ring->list);
		lock_give(&ring->lock);
	}
	pthread_mutex_lock(&rt->io_wait->lock);
	look_at_reqs(y, &rt->io_wait->list);
	pthread_mutex_unlock(&rt->io_wait->lock);
}

/* ---- scopes ------------------------------------------------------------- */

static void look_at_room(struct why *y, const struct lkdf_scope *s)
{
	uint64_t asked = a_load(&s->room_asked, relaxed);
	struct why_row *r;

	if (!asked || a_load(&s->nr_taken, relaxed) < asked)
		return;
	r = why_add(y, WHY_ROOM);
	if (!r)
		return;
	snprintf(r->who, sizeof(r->who), "a thread that submits");
	why_says(r, "for room in scope \"%s\", which has its %llu tasks",
		 s->name, (unsigned long long)s->max_tasks);
}

static void look_at_scopes(struct why *y)
{
	struct lkdf *rt = y->rt;
	const struct lkdf_scope *s;

	pthread_mutex_lock(&rt->scope_lock);
	for (s = rt->root; s; s = scope_below(rt->root, s))
		look_at_room(y, s);
	pthread_mutex_unlock(&rt->scope_lock);
}

/* ---- runs --------------------------------------------------------------- */

static bool has_row(const struct why *y, const struct frame *f)
{
	unsigned i;

	for (i = 0; i < y->nr; i++)
		if (y->row[i].frame == f)
			return true;
	return false;
}

/* Under the runtime's lock: another run of its graph has something to tell. */
static bool has_peer(const struct why *y, const struct frame *f)
{
	unsigned i;

	mutex_assert_held(&y->rt->lock);
	for (i = 0; i < y->nr; i++)
		if (y->row[i].graph == f->graph && y->row[i].frame != f &&
		    y->row[i].cause != WHY_RUN)
			return true;
	return false;
}

/* Under the runtime's lock: its memory stays. */
static void look_at_frame(struct why *y, const struct frame *f)
{
	struct why_row *r;

	mutex_assert_held(&y->rt->lock);
	/* [frame.look] its graph is sealed; pairs with [frame.busy]. */
	if (a_load(&f->is_busy, acquire) != FRAME_BUSY || has_row(y, f))
		return;
	r = why_add_run(y, WHY_RUN, f);
	if (!r)
		return;
	if (f->graph->stream && stream_waits(f->graph->stream, f))
		why_says(r, "for another wave of its stream to end: as many as "
			    "its max_waves are under way");
	else if (has_peer(y, f))
		why_says(r, "for tokens of another run of its graph, or for "
			    "bodies and children of its own tasks");
	else
		why_says(r, "for bodies, children or queued tasks of its own; "
			    "none was seen to wait");
}

static void look_at_frames(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct frame *f;
	uint32_t i;

	pthread_mutex_lock(&rt->lock);
	for (i = 0; i < rt->nr_frames; i++) {
		f = slots_frame(rt, i);
		/* A free slot holds a number. */
		if ((uintptr_t)f > MAX_FRAMES)
			look_at_frame(y, f);
	}
	pthread_mutex_unlock(&rt->lock);
}

/* ---- all ---------------------------------------------------------------- */

static bool is_first_of(const struct why *y, unsigned i)
{
	unsigned j;

	for (j = 0; j < i; j++)
		if (y->row[j].key == y->row[i].key)
			return false;
	return true;
}

/* The unresolved tasks of a run, but those that have a row themselves. */
static void leave_out_rows(struct why *y)
{
	struct why_row *r;
	unsigned i, j;

	for (i = 0; i < y->nr; i++) {
		r = &y->row[i];
		for (j = 0; r->frame && j < y->nr; j++)
			if (y->row[j].frame == r->frame &&
			    y->row[j].key != r->frame && r->nr_behind &&
			    is_first_of(y, j))
				r->nr_behind--;
	}
}

void why_look(struct why *y)
{
	struct lkdf *rt = y->rt;
	int i;

	y->nr_seats = a_load(&rt->nr_seats, relaxed);
	y->nr_live = scope_live(rt->root);
	y->nr_live -= min_u64(y->nr_live, y->nr_seats);
	y->nr_running = a_load(&rt->blocking.nr_running, relaxed) +
			a_load(&rt->urgent->pool.nr_running, relaxed);
	y->nr_queued = a_load(&rt->blocking.nr_queued, relaxed);
	for (i = 0; i < rt->sched.nr_nodes; i++)
		y->nr_asleep += park_sleepers(
			a_load(&rt->sched.nodes[i].park.word, relaxed));
	look_at_limits(y);
	why_look_at_events(y);
	why_look_at_channels(y);
	why_look_at_data(y);
	look_at_io(y);
	why_look_at_devices(y);
	look_at_scopes(y);
	look_at_frames(y);
	why_look_at_bodies(y);
	why_look_at_board(y);
	why_look_at_gates(y);
	leave_out_rows(y);
}
