/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The run of a replay. A worker that is busy has one event: its body makes the
 * next one ready, or ends; so has the program. Ready bodies are a set of bits,
 * one level of words above the other: the least is found in five steps.
 */
#include "report/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 6
#define PROGRAM UINT32_MAX
/* In an event: the end of a part of a body but its first one. */
#define PART (1u << 31)

struct set {
	uint64_t *word[LEVELS];
	uint32_t nr;
};

struct event {
	double at;
	uint32_t body; /* or PROGRAM */
};

struct run {
	const struct replay *p;
	const struct change *c;
	struct set first, rest; /* ready: of the kind that goes first, others */
	struct set held[REPLAY_LIMITS]; /* ready, but for tokens */
	uint32_t running[REPLAY_LIMITS];
	struct event *heap;
	uint32_t nr_heap, cap_heap;
	uint32_t *next; /* of a body that runs: the next that it makes ready */
	uint32_t *open; /* bodies and parts that keep it from ending */
	uint32_t *left; /* parts of it that are not taken */
	double *begin; /* of bodies that have begun */
	uint8_t *state;
	uint32_t idle, step, awaited, nr_ended;
	double now, shift; /* the program is so much later than it was */
	bool has_failed;
};

enum state {
	STATE_NEW,
	STATE_RUNS,
	STATE_ENDS, /* its own time is over */
	STATE_OVER,
};

/* ---- sets --------------------------------------------------------------- */

static bool set_open(struct set *s, uint32_t nr)
{
	uint32_t i, words = nr;

	s->nr = nr;
	for (i = 0; i < LEVELS; i++) {
		words = words / 64 + 1;
		s->word[i] = calloc(words, sizeof(uint64_t));
		if (!s->word[i])
			return false;
	}
	return true;
}

static void set_close(struct set *s)
{
	uint32_t i;

	for (i = 0; i < LEVELS; i++)
		free(s->word[i]);
}

static void set_add(struct set *s, uint32_t x)
{
	uint32_t i;

	for (i = 0; i < LEVELS; i++, x /= 64)
		s->word[i][x / 64] |= 1ull << x % 64;
}

static bool set_is_empty(const struct set *s)
{
	return !s->word[LEVELS - 1][0];
}

static uint32_t set_take(struct set *s)
{
	uint32_t i, x = 0, at;

	for (i = LEVELS; i-- > 0;)
		x = x * 64 + (uint32_t)__builtin_ctzll(s->word[i][x]);
	for (i = 0, at = x; i < LEVELS; i++, at /= 64) {
		s->word[i][at / 64] &= ~(1ull << at % 64);
		if (s->word[i][at / 64])
			break;
	}
	return x;
}

/* ---- events ------------------------------------------------------------- */

static void put_event(struct run *x, double at, uint32_t body)
{
	uint32_t i = x->nr_heap++, up;
	struct event *more, *h = x->heap;

	if (x->nr_heap > x->cap_heap) {
		more = realloc(h, 2ull * x->cap_heap * sizeof(*h));
		if (!more) {
			x->has_failed = true;
			x->nr_heap--;
			return;
		}
		x->heap = h = more;
		x->cap_heap *= 2;
	}
	for (; i; i = up) {
		up = (i - 1) / 2;
		if (h[up].at <= at)
			break;
		h[i] = h[up];
	}
	h[i] = (struct event){ at, body };
}

static struct event take_event(struct run *x)
{
	struct event *h = x->heap, found = h[0], last = h[--x->nr_heap];
	uint32_t i = 0, child;

	for (;; i = child) {
		child = 2 * i + 1;
		if (child >= x->nr_heap)
			break;
		if (child + 1 < x->nr_heap && h[child + 1].at < h[child].at)
			child++;
		if (h[child].at >= last.at)
			break;
		h[i] = h[child];
	}
	h[i] = last;
	return found;
}

/* ---- bodies ------------------------------------------------------------- */

static uint32_t nr_parts(const struct run *x, const struct replay_body *b)
{
	if (!x->c->split || b->kind != x->c->split - 1 ||
	    b->place != REPLAY_WORKER)
		return 1;
	return x->c->workers ? x->c->workers : x->p->r->nr_workers;
}

static double length_of(const struct run *x, const struct replay_body *b)
{
	double length = (double)b->length;

	if (x->c->scaled && b->kind == x->c->scaled - 1)
		length *= x->c->scale;
	if (x->c->each)
		length *= x->c->each[b->kind];
	return length / nr_parts(x, b);
}

/* As offsets shrink and grow with the body. */
static double offset_of(const struct run *x, const struct replay_body *by,
			const struct replay_body *b)
{
	double length = length_of(x, by);

	if (b->offset < 0 || by->length <= 0)
		return b->offset < 0 ? length : 0;
	return (double)b->offset / (double)by->length * length;
}

static void make_ready(struct run *x, uint32_t i);

/* Its next event: it makes a body ready, or ends. */
static void go_on(struct run *x, uint32_t i)
{
	const struct replay_body *b = &x->p->body[i];
	uint32_t k = x->next[i];
	double at;

	if (k != REPLAY_NONE && x->p->body[k].offset >= 0)
		at = x->begin[i] + offset_of(x, b, &x->p->body[k]);
	else
		at = x->begin[i] + length_of(x, b);
	put_event(x, at > x->now ? at : x->now, i);
}

static void start(struct run *x, uint32_t i)
{
	const struct replay_body *b = &x->p->body[i];

	x->left[i]--;
	if (x->state[i] != STATE_NEW) {
		put_event(x, x->now + length_of(x, b), i | PART);
		return;
	}
	x->begin[i] = x->now + (double)x->p->between;
	x->state[i] = STATE_RUNS;
	x->next[i] = b->first;
	go_on(x, i);
}

static bool has_token(struct run *x, const struct replay_body *b)
{
	uint32_t l = b->limit;

	if (!l || x->c->more == l)
		return true;
	return x->running[l - 1] < x->p->cap[l - 1];
}

static void enqueue(struct run *x, uint32_t i)
{
	const struct replay_body *b = &x->p->body[i];

	if (!has_token(x, b))
		set_add(&x->held[b->limit - 1], i);
	else if (x->c->first && b->kind == x->c->first - 1)
		set_add(&x->first, i);
	else
		set_add(&x->rest, i);
}

static void make_ready(struct run *x, uint32_t i)
{
	x->open[i] = x->left[i] = nr_parts(x, &x->p->body[i]);
	if (x->p->body[i].place == REPLAY_WORKER)
		enqueue(x, i);
	else
		start(x, i);
}

static void give_token(struct run *x, const struct replay_body *b)
{
	uint32_t l = b->limit;

	if (!l || x->c->more == l)
		return;
	x->running[l - 1]--;
	if (!set_is_empty(&x->held[l - 1]))
		enqueue(x, set_take(&x->held[l - 1]));
}

/* Idle workers take ready bodies; one of parts stays until all are taken. */
static void dispatch(struct run *x)
{
	const struct replay_body *b;
	struct set *s;
	uint32_t i;

	while (x->idle) {
		s = set_is_empty(&x->first) ? &x->rest : &x->first;
		if (set_is_empty(s))
			return;
		i = set_take(s);
		b = &x->p->body[i];
		if (!has_token(x, b)) {
			set_add(&x->held[b->limit - 1], i);
			continue;
		}
		if (b->limit && x->c->more != b->limit)
			x->running[b->limit - 1]++;
		x->idle--;
		start(x, i);
		if (x->left[i])
			set_add(s, i);
	}
}

static void is_over(struct run *x, uint32_t i);

static void close_one(struct run *x, uint32_t i)
{
	if (!--x->open[i] && x->state[i] == STATE_ENDS)
		is_over(x, i);
}

static void is_over(struct run *x, uint32_t i)
{
	uint32_t k, by = x->p->body[i].by;

	x->state[i] = STATE_OVER;
	x->nr_ended++;
	for (k = x->next[i]; k != REPLAY_NONE; k = x->p->body[k].next)
		make_ready(x, k);
	x->next[i] = REPLAY_NONE;
	if (x->awaited == i) {
		x->awaited = REPLAY_NONE;
		put_event(x, x->now, PROGRAM);
	}
	if (by != REPLAY_NONE && x->p->body[i].offset >= 0 &&
	    x->p->body[by].joins)
		close_one(x, by);
}

/* A worker is done with a body, or with a part of it. */
static void leave_worker(struct run *x, uint32_t i)
{
	if (x->p->body[i].place != REPLAY_WORKER)
		return;
	x->idle++;
	give_token(x, &x->p->body[i]);
}

static void step_body(struct run *x, uint32_t i)
{
	const struct replay_body *b = &x->p->body[i];
	uint32_t k = x->next[i];

	if (k != REPLAY_NONE && x->p->body[k].offset >= 0 &&
	    x->state[i] == STATE_RUNS) {
		x->next[i] = x->p->body[k].next;
		if (b->joins)
			x->open[i]++;
		make_ready(x, k);
		go_on(x, i);
		return;
	}
	leave_worker(x, i);
	x->state[i] = STATE_ENDS;
	close_one(x, i);
}

/* ---- the program -------------------------------------------------------- */

/* False: it waits. */
static bool pass_wait(struct run *x, const struct replay_step *s)
{
	if (x->c->no_wait == s->name)
		x->shift -= (double)(s->end - s->at);
	else if (s->body == REPLAY_NONE)
		return true;
	else if (x->state[s->body] != STATE_OVER) {
		x->awaited = s->body;
		x->step--;
		return false;
	} else if (x->now > (double)s->at + x->shift)
		x->shift = x->now - (double)s->end;
	else
		x->shift -= (double)(s->end - s->at);
	return true;
}

static void step_program(struct run *x)
{
	const struct replay_step *s;
	double at;

	while (x->step < x->p->nr_steps) {
		s = &x->p->step[x->step];
		at = (double)s->at + x->shift;
		if (at > x->now && x->awaited == REPLAY_NONE &&
		    !x->c->hurries) {
			put_event(x, at, PROGRAM);
			return;
		}
		x->step++;
		if (!s->name)
			make_ready(x, s->body);
		else if (!pass_wait(x, s))
			return;
	}
}

/* ---- a run -------------------------------------------------------------- */

static bool run_open(struct run *x)
{
	uint32_t i, nr = x->p->nr_bodies + 1;
	bool ok = set_open(&x->first, nr) && set_open(&x->rest, nr);

	for (i = 0; i < x->p->nr_limits; i++)
		ok = ok && set_open(&x->held[i], nr);
	x->cap_heap = 256;
	x->heap = malloc(x->cap_heap * sizeof(*x->heap));
	x->next = calloc(nr, sizeof(*x->next));
	x->open = calloc(nr, sizeof(*x->open));
	x->left = calloc(nr, sizeof(*x->left));
	x->begin = calloc(nr, sizeof(*x->begin));
	x->state = calloc(nr, 1);
	return ok && x->heap && x->next && x->open && x->left && x->begin &&
	       x->state;
}

static void run_close(struct run *x)
{
	uint32_t i;

	set_close(&x->first);
	set_close(&x->rest);
	for (i = 0; i < x->p->nr_limits; i++)
		set_close(&x->held[i]);
	free(x->heap);
	free(x->next);
	free(x->open);
	free(x->left);
	free(x->begin);
	free(x->state);
}

int64_t replay_run(const struct replay *p, const struct change *c)
{
	struct run x = {
		.p = p,
		.c = c,
		.awaited = REPLAY_NONE,
		.idle = c->workers ? c->workers : p->r->nr_workers,
	};
	struct event e;

	if (!run_open(&x)) {
		run_close(&x);
		return -ENOMEM;
	}
	put_event(&x, 0, PROGRAM);
	while (x.nr_heap && !x.has_failed) {
		e = take_event(&x);
		x.now = e.at;
		if (e.body == PROGRAM)
			step_program(&x);
		else if (e.body & PART) {
			leave_worker(&x, e.body & ~PART);
			close_one(&x, e.body & ~PART);
		} else
			step_body(&x, e.body);
		dispatch(&x);
	}
	run_close(&x);
	if (x.has_failed)
		return -ENOMEM;
	return x.nr_ended == p->nr_bodies ? (int64_t)x.now : 0;
}
