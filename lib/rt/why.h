/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waiters of a runtime and the reasons: a look at all places where something
 * that waits can be found without any work done for it before:
 *
 *	limits        the queues for their tokens
 *	after, then   tasks that wait for events which the program signals, for
 *	and hold      the first of several, or for descriptors
 *	channels      tasks and threads that wait for a value or for room
 *	data          first in the queue of each data and part, and those that
 *	              wait for bytes to come home from a device
 *	rings         operations under way, and those that poll() waits for
 *	devices       kernels under way, the one that waits for room, and those
 *	              in the queue of the launcher
 *	scopes        threads that wait for room
 *	gates         kinds that fewer workers run than there are (task/gate.h)
 *	frames        runs under way in which nothing of the above was found
 *
 * Each place is looked at under its own lock, one after the other, so the whole
 * is no moment's truth. Nothing is written while a lock is held, and a long
 * queue is only looked at from its head.
 *
 * Not seen: what is queued for a worker, ALWAYS tasks that wait for events,
 * what waits for the end of another task, and children that wait for data among
 * themselves. Bodies that run are seen with option stall, see core/watch.h,
 * those that sleep in a lock with lkdf probe.
 */
#ifndef RT_WHY_H
#define RT_WHY_H

#include <stdbool.h>
#include <stdint.h>

#define WHY_ROWS 128
#define WHY_PER_QUEUE 8 /* rows for one queue */
#define WHY_LOOK 1024 /* entries of one queue that are counted */
#define WHY_TEXT 224
#define WHY_BODIES 64
#define WHY_GATES 16
#define WHY_NAME 64 /* of a kind */

struct again_at;
struct frame;
struct lkdf;
struct lkdf_graph;
struct task;
struct text;

enum why_cause {
	WHY_TOKEN,
	WHY_EVENT,
	WHY_CHANNEL,
	WHY_DATA,
	WHY_IO,
	WHY_DEVICE,
	WHY_ROOM,
	WHY_RUN,
};

struct why_row {
	enum why_cause cause;
	const void *key; /* of a task or run, compared only; NULL: a thread */
	const struct frame *frame; /* compared only; NULL: of no graph */
	const struct lkdf_graph *graph; /* as frame */
	uint64_t nr_behind; /* unresolved tasks */
	char who[WHY_TEXT], what[WHY_TEXT];
	char next[WHY_TEXT]; /* one of those behind; "": none is known */
};

/* A body that runs; seen with option stall only. */
struct why_body {
	int executor;
	uint64_t ns; /* since it began */
	bool in_join; /* which rests: nothing below it is for its worker */
	bool has_lent; /* and a substitute runs in the worker's place */
	char kind[WHY_NAME];
};

/* A body whose thread does not run; seen by the probe only. */
struct why_sleep {
	int executor;
	uint32_t state; /* enum lkdf_worker_state */
	uint64_t ns; /* it has been in that state */
	uint64_t word; /* of FUTEX: its address; 0: not known which */
	uint32_t holder_tid; /* of the word; 0: not known */
	int holder; /* the executor that this is, or -1 */
	/* A thread that has the CPU of this one, or of the holder; 0. */
	uint32_t by_tid;
	char by[16];
	char kind[WHY_NAME];
};

/* A gate that keeps workers from bodies of some kinds. */
struct why_gate {
	uint32_t cap, running, aside; /* workers; bodies that lie there */
	uint64_t nr_bodies, nr_over; /* begun; of those, without a token */
	char over[WHY_TEXT]; /* the same, by reason */
	uint64_t word; /* the kinds have met in it; 0: not known */
	unsigned nr_kinds;
	char kinds[WHY_TEXT]; /* the first ones, quoted */
};

struct why {
	struct lkdf *rt;
	uint64_t nr_live; /* submitted tasks and runs that are not over */
	uint64_t nr_more; /* that wait and have no row */
	uint32_t nr_asleep; /* workers */
	uint32_t nr_seats; /* workers that sleep for a gang, between its runs */
	int nr_running, nr_queued; /* of the blocking pool */
	bool has_board; /* the probe sees the threads */
	unsigned nr, nr_bodies; /* rows; bodies, of which WHY_BODIES are here */
	unsigned nr_sleeps; /* of which WHY_BODIES are here */
	struct why_row row[WHY_ROWS];
	struct why_body body[WHY_BODIES];
	unsigned nr_gates; /* of which WHY_GATES are here */
	struct why_sleep sleep[WHY_BODIES];
	struct why_gate gate[WHY_GATES];
};

/* A row for a thread, its who empty; NULL: there is no more room. */
struct why_row *why_add(struct why *y, enum why_cause cause);

/* Adds a row for a task, or a run, that the caller keeps from ending. */
struct why_row *why_add_task(struct why *y, enum why_cause cause,
			     const struct task *t);
struct why_row *why_add_index(struct why *y, enum why_cause cause,
			      const struct frame *f, uint32_t index);
struct why_row *why_add_run(struct why *y, enum why_cause cause,
			    const struct frame *f);

/* Adds text on what the row waits for. */
__attribute__((format(printf, 2, 3))) void why_says(struct why_row *r,
						    const char *fmt, ...);

/* Looks at all of them; y is zeroed but for its runtime. */
void why_look(struct why *y);

/*
 * Those that wait for data that the task uses. The caller keeps it from
 * going on, and holds the lock of no data.
 */
void why_add_followers(struct why_row *r, const struct task *t);

/* See the files why_event.c to why_gate.c. */
void why_look_at_events(struct why *y);
void why_look_at_data(struct why *y);
void why_look_at_devices(struct why *y);
void why_look_at_bodies(struct why *y);
void why_look_at_board(struct why *y);
void why_look_at_gates(struct why *y);

/*
 * Those at channels that are not found by a tap; what a task that is found so
 * waits for.
 */
void why_look_at_channels(struct why *y);
void why_says_channel(struct why_row *r, const struct again_at *at);

/*
 * All of it as text or JSON, behind what t holds. Any thread; it holds no lock
 * of the runtime. 0 or -ENOMEM.
 */
int why_tell(struct lkdf *rt, bool is_json, struct text *t);

/* The text into the log, as errors, each line after "what: ". */
void why_log(struct lkdf *rt, const char *what);

#endif
