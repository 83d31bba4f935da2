/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs whose bodies meet in a lock, in virtual time: locks that sleep, spin
 * or hand over, and a gate in which a body that the cap keeps out waits while
 * its worker runs another one. The costs are those of the machine in
 * test_scale.c.
 *
 * A program is some chains of bodies, so what is kept out keeps its chain: work
 * that a cap puts off is missed soon.
 */
#ifndef TESTS_LOCK_MODEL_H
#define TESTS_LOCK_MODEL_H

#include "policy/narrow.h"

#include <string.h>

/* Costs, in ns. */
#define LINE 100 /* a cache line that moves */
#define BOUNCE 26 /* a locked operation, for each who does the same */
#define SLEEP 1000 /* the system call of who sleeps */
#define WAKER 1500 /* that of who wakes */
#define WAKE 23000 /* until a thread runs whose CPU slept */
#define WOKEN 5000 /* ... whose CPU did not */
#define ASIDE (2 * LINE) /* a body in and out of the gate */

#define MAX_WORKERS 16
#define MAX_CHAINS 64
#define MS 1000000
#define NEVER UINT64_MAX

enum lock_type {
	LOCK_NONE,
	LOCK_FUTEX,
	LOCK_SPIN,
	LOCK_HANDED
};

struct program {
	const char *name;
	enum lock_type type;
	uint32_t nr_calls, held, outside; /* of a locking body */
	uint32_t other; /* ns of a body without lock */
	uint32_t percent; /* bodies that lock */
	uint32_t noise; /* +- per cent of what is measured */
	/* Windows with the lock and without it, in turn; 0: always with it. */
	uint32_t with, without;
	int32_t permille; /* what is told of the set; 0: what the lock costs */
	bool is_hogged; /* see disturb() */
	uint64_t window; /* 0: the usual one */
};

enum state {
	PICKS,
	ARRIVES,
	RELEASES,
	ENDS
};

struct worker {
	enum state state;
	uint64_t at, began, waits_from;
	uint32_t chain, left;
	bool is_locking; /* the body is one of the set */
};

struct queue {
	uint32_t item[MAX_CHAINS], nr;
};

static struct program prog;
static struct worker workers[MAX_WORKERS];
static uint32_t nr_workers, cap, running;
static bool is_held;
static bool is_free; /* bodies that begin now take no lock */
static struct queue ready, aside, waiters;
static uint64_t seed, now;

/* Of this window. */
static uint64_t progress, system_ns, set_ns;
static uint32_t nr_bodies, most_running;

static uint32_t take_first(struct queue *q)
{
	uint32_t item = q->item[0];

	memmove(q->item, q->item + 1, --q->nr * sizeof(q->item[0]));
	return item;
}

static void add_last(struct queue *q, uint32_t item)
{
	q->item[q->nr++] = item;
}

static uint64_t alone(bool is_locking)
{
	return is_locking ? prog.nr_calls * (prog.held + prog.outside)
			  : prog.other;
}

/* ---- bodies ------------------------------------------------------------- */

static void begin_body(struct worker *w, uint32_t chain, bool is_locking)
{
	w->chain = chain;
	w->is_locking = is_locking;
	w->began = w->at;
	if (is_locking) {
		most_running += ++running > most_running;
		w->left = prog.nr_calls;
	}
	if (is_locking && !is_free && prog.type != LOCK_NONE) {
		w->state = ARRIVES;
		w->at += prog.outside;
	} else {
		w->state = ENDS;
		w->at += alone(is_locking);
	}
}

/* The gate: what the cap keeps out first, once it does not any more. */
static void pick_body(struct worker *w)
{
	uint32_t chain;

	if (aside.nr && running < cap) {
		begin_body(w, take_first(&aside), true);
		return;
	}
	while (ready.nr) {
		chain = take_first(&ready);
		if (random_next(&seed) % 100 >= prog.percent) {
			begin_body(w, chain, false);
			return;
		}
		if (running < cap) {
			begin_body(w, chain, true);
			return;
		}
		add_last(&aside, chain);
		w->at += ASIDE;
	}
	w->state = PICKS;
	w->at = NEVER;
}

static void call_idle(uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr_workers && nr; i++) {
		if (workers[i].state != PICKS || workers[i].at != NEVER)
			continue;
		workers[i].at = now + LINE;
		nr--;
	}
}

static void end_body(struct worker *w)
{
	progress += alone(w->is_locking);
	if (w->is_locking) {
		nr_bodies++;
		running--;
		set_ns += now - w->began;
	}
	add_last(&ready, w->chain);
	pick_body(w);
	call_idle(ready.nr + (running < cap ? aside.nr : 0));
}

/* ---- locks -------------------------------------------------------------- */

static void hold_lock(struct worker *w, uint64_t from)
{
	is_held = true;
	w->state = RELEASES;
	w->at = from + prog.held;
	if (waiters.nr)
		w->at += BOUNCE * (waiters.nr + 1);
}

static void arrive_at_lock(struct worker *w)
{
	if (!is_held) {
		hold_lock(w, now);
		return;
	}
	w->waits_from = now;
	w->at = NEVER;
	add_last(&waiters, (uint32_t)(w - workers));
}

/* The waiter that is next; returns what that costs who releases. */
static uint32_t wake_next(void)
{
	struct worker *w = &workers[take_first(&waiters)];

	switch (prog.type) {
	case LOCK_SPIN:
		hold_lock(w, now + LINE);
		return 0;
	case LOCK_HANDED:
		hold_lock(w, now + WAKE);
		break;
	default:
		w->at = now + WOKEN;
		w->state = ARRIVES;
		break;
	}
	system_ns += now - w->waits_from + SLEEP + WAKER;
	return WAKER;
}

static void release_lock(struct worker *w)
{
	w->at = now;
	is_held = false;
	if (waiters.nr)
		w->at += wake_next();
	w->state = --w->left ? ARRIVES : ENDS;
	w->at += w->left ? prog.outside : 0;
}

/* ---- windows ------------------------------------------------------------ */

static void run_until(uint64_t end)
{
	struct worker *w;
	uint32_t i;

	for (;;) {
		w = &workers[0];
		for (i = 1; i < nr_workers; i++)
			if (workers[i].at < w->at)
				w = &workers[i];
		if (w->at > end)
			break;
		now = w->at;
		if (w->state == PICKS)
			pick_body(w);
		else if (w->state == ARRIVES)
			arrive_at_lock(w);
		else if (w->state == RELEASES)
			release_lock(w);
		else
			end_body(w);
	}
	now = end;
}

/* A neighbour takes the first worker's CPU for half of such a window. */
static void disturb(void)
{
	if (workers[0].at != NEVER)
		workers[0].at += prog.window / 2;
}

static struct narrow_in next_window(uint32_t nr)
{
	uint32_t noise = prog.noise;
	double by = noise * (random_next(&seed) % 2001 / 1000. - 1) / 100;
	struct narrow_in in = { .ticks = prog.window, .is_whole = true };

	progress = system_ns = set_ns = 0;
	nr_bodies = most_running = 0;
	if (prog.is_hogged && nr % 4) {
		in.is_whole = false;
		disturb();
	}
	run_until(now + prog.window);
	in.progress = (uint64_t)((double)progress * (1 + by));
	in.permille = prog.permille;
	if (!prog.permille)
		in.permille =
			(int32_t)min_u64(1000 * system_ns / (set_ns + 1), 1000);
	in.is_stretched = most_running > 1 && nr_bodies &&
			  set_ns / nr_bodies >= alone(true) * 3 / 2;
	in.nr_bodies = nr_bodies;
	in.most_running = most_running;
	return in;
}

static void set_lock(const struct program *p, uint32_t nr)
{
	uint32_t both = p->with + p->without;

	is_free = both && nr % both >= p->with;
}

static void start(const struct program *p, uint32_t nr)
{
	uint32_t i;

	prog = *p;
	prog.window = p->window ? p->window : MS / 10;
	nr_workers = cap = nr;
	seed = 34;
	now = 0;
	running = 0;
	is_held = is_free = false;
	ready.nr = aside.nr = waiters.nr = 0;
	memset(workers, 0, sizeof(workers));
	for (i = 0; i < 4 * nr; i++)
		add_last(&ready, i);
}

#endif
