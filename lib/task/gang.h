/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Members 1 and up of a gang are tasks that are bound to one worker each.
 * Worker 0 is in a body, the seat, that sleeps until the gang ends; the thread
 * that runs the gang is its guest and uses the context of that body. Workers
 * beyond the size of the gang are in seats, too, until it grows.
 *
 *	member of round r                the last of round r
 *	(A) nr_arrived + 1               (C) nr_arrived = 0
 *	(B) waits while round is r       (D) round = r + 1
 *
 * nr_arrived goes to 0 before the round ends, so whoever sees the next round
 * counts from 0 there. Its upper half counts members that come to no barrier of
 * this run any more: such a member may be the last one, too.
 */
#ifndef TASK_GANG_H
#define TASK_GANG_H

#include "base/util.h"
#include "task/task.h"

#include <lkdf/gang.h>

#define NR_NAMED_ROWS 64
#define MAX_NAMED 384

struct member;
struct named;

struct lkdf_gang {
	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	struct worker *first; /* whose seat it has */
	struct lkdf_scope *scope; /* of all its tasks */
	struct lkdf_kind *seat;
	struct lkdf_place **place; /* of each worker alone */
	struct lkdf_task *task; /* on it, of the member */
	struct member *arg; /* of that */
	_Atomic(uint32_t) *seat_state; /* of each worker: a futex */
	unsigned nr_places;
	struct lkdf_ctx *c; /* of worker 0's seat */

	/* Any thread: somebody runs it, or changes its size. */
	_Atomic(uint32_t) is_running;

	/* The thread that has set it: workers in no seat, and worker 0. */
	unsigned size;
	/* The thread that has is_running: kinds of members by name, in rows by
	 * hash, and that of the next run. */
	struct named *named[NR_NAMED_ROWS];
	unsigned nr_named;
	struct lkdf_kind *member;

	/* Set before the members start, constant while they run. */
	lkdf_gang_fn fn;
	void *u;
	unsigned nr;

	/* Members. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) nr_arrived;
	_Alignas(CACHE_LINE) _Atomic(uint32_t) round;
	_Alignas(CACHE_LINE) _Atomic(uint32_t) nr_left; /* but member 0 */
	_Atomic(int32_t) error; /* 0 or the first */

	/* Where member 0 and the last other one were at their end. */
	_Atomic(int) first_cpu, member_cpu;
};

/* The runtime has workers. 0 or -errno. */
int gang_create(struct lkdf *rt, struct lkdf_gang **out);
int gang_resize(struct lkdf_gang *g, unsigned nr);
int gang_run(struct lkdf_gang *g, unsigned nr, lkdf_gang_fn fn, void *u);
int gang_name(struct lkdf_gang *g, const char *name);
void gang_destroy(struct lkdf_gang *g);

/* The gang whose member's body this is; NULL: of none. */
struct lkdf_gang *gang_of(const struct lkdf_ctx *c);

/* On a member. 0 or the first error of its children. */
int gang_barrier(struct lkdf_gang *g, struct lkdf_ctx *c);

/* On a member, at most once a run: it comes to no barrier any more. */
void gang_drop(struct lkdf_gang *g);

#endif
