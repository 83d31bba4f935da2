/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A mechanism of workers: one row of the table that the runtime hands in at
 * start (mechanism/rows.h). The engine (deque, inbox, park, worker, idle,
 * notify, intake, timers) calls mechanisms through their rows alone, so a row
 * that is left out takes its mechanism out of the engine.
 *
 *	worker           engine                     fields of a row
 *
 *	runs bodies      offers work                answers, keeps
 *	                 has made work behind one   is_watched, watch
 *	                 looks at its inbox         has_news, pop
 *	                 between two bodies         must_leave, stand_by
 *	                                            is_due, take_due
 *	looks for work   begins                     enter
 *	                 one round of looks         take
 *	                 between two rounds         spin, must_leave
 *	goes to sleep    says so                    before_sleep, announce
 *	                 looks once more            has, nap
 *	                 is awake                   after_wake
 *	found work       leaves                     leave
 *	ends a wait      in a body                  release
 *
 * Debug builds check that the calls come in this order (phase.h). Every field
 * but the name may be NULL. The engine asks the rows in the order of the table.
 * Fields that say "one row" may be set by one row of a table: a debug build
 * aborts at open where a second one sets one.
 *
 * A mechanism keeps data for each worker, for each node and for the scheduler.
 * Its row states how much; the engine lays it out at start, zeroed, and knows
 * nothing else of it. Worker, node and scheduler have a pointer to it in
 * data[], at the row's number in the table, so a mechanism reaches its own data
 * with one load. A build without a mechanism keeps these fields of its row.
 */
#ifndef SCHED_MECHANISM_H
#define SCHED_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_MECHANISMS 24

struct sched;
struct sched_node;
struct sched_setup;
struct worker;

/* How a worker keeps its work from others for a while. */
enum keeping {
	KEEPS_NOTHING,
	KEEPS_IN_GROUP, /* some workers have it together */
	KEEPS_ALONE,
};

/* Zeroed bytes for a mechanism; none: size is 0. */
struct mechanism_data {
	size_t size, align;
	size_t per_node; /* and so many more for each node of the machine */
};

#define MECHANISM_DATA(type)                                   \
	{                                                      \
		.size = sizeof(type), .align = _Alignof(type), \
	}

struct mechanism {
	const char *name;

	/* Names of the rows whose functions it calls, separated by spaces. */
	const char *uses;

	/* Those of them without which it does not work: make WITHOUT= asks. */
	const char *needs;

	/* Why no build can leave it out; NULL: one can. */
	const char *stays;

	/* On the worker's node; beside all nodes, and beside the scheduler. */
	struct mechanism_data of_worker, of_node, of_sched;

	/* ---- life; the thread that opens or closes the runtime ----------- */

	/* Before the workers start. 0; -ENOMEM. */
	int (*open)(struct sched *s, const struct sched_setup *a);

	/* All workers have started. */
	void (*started)(struct sched *s);

	/* The runtime stops: those who wait have to look. */
	void (*stop)(struct sched *s);

	/* No worker is left, or open() of some row has failed. */
	void (*close)(struct sched *s);

	/* ---- a place where work may be that a worker does not own --------
	 *
	 * A worker looks at each place while it spins (take) and once more
	 * after it has said that it sleeps (has): a row that has take and lacks
	 * has loses wake-ups. The model checker drops each has in turn, and a
	 * scenario dies of it.
	 */

	/* At other nodes too if is_far. True: *item is the caller's. */
	bool (*take)(struct worker *w, bool is_far, uint64_t *item);

	/* After park_announce(): a bit for each deque, see share_all(). */
	unsigned (*has)(struct worker *w);

	/* ---- an idle worker; called by it alone -------------------------- */

	/* It begins to look for work. */
	void (*enter)(struct worker *w);

	/* Each spin_ns while it spins; is_last: before its last round. */
	void (*spin)(struct worker *w, bool is_last);
	uint32_t spin_ns;

	/* It has not found any work. */
	void (*before_sleep)(struct worker *w);

	/* It is about to say that it sleeps. */
	void (*announce)(struct worker *w);

	/* It has said so: ns until it comes back by itself, -1: never. */
	int64_t (*nap)(struct worker *w);

	/* It does not sleep any more. Pairs with before_sleep. */
	void (*after_wake)(struct worker *w);

	/* It does not look for work any more, because it has found some. */
	void (*leave)(struct worker *w, bool has_found);

	/* It has ended a wait in a body: what others may wait for. */
	void (*release)(struct worker *w);

	/* ---- one row ------------------------------------------------------
	 */

	/* Any worker, of itself: does it keep its NORMAL work from others? */
	enum keeping (*keeps)(const struct worker *w);

	/* It keeps work and somebody asks for some. True: that is answered. */
	bool (*answers)(struct worker *w, bool is_short);

	/* Planned work was made public: shall other nodes' workers wake? */
	bool (*wakes_others)(struct sched_node *node);

	/* Does somebody come by for work behind a body? */
	bool (*is_watched)(struct sched *s);

	/* There is such work: sees to it that somebody does. */
	void (*watch)(struct worker *w);

	/* Is there work for this worker in a queue of a mechanism? */
	bool (*has_news)(struct worker *w);

	/* The oldest of it. */
	bool (*pop)(struct worker *w, uint64_t *item);

	/*
	 * This worker has no CPU of its own any more. is_idle: it looks for
	 * work, and only its seat may send it away.
	 */
	bool (*must_leave)(struct worker *w, bool is_idle);

	/* Outside of all bodies, until it may run. */
	void (*stand_by)(struct worker *w);

	/* It takes nothing but what take_due() gives it. */
	bool (*is_due)(const struct worker *w);
	bool (*take_due)(struct worker *w, uint64_t *item);
};

/* The calls of a table, sorted by field: what the engine walks. */
struct mechanism_calls {
	/* Set at start, constant afterwards. The lists end with NULL. */
	bool (*take[MAX_MECHANISMS + 1])(struct worker *w, bool is_far,
					 uint64_t *item);
	unsigned (*has[MAX_MECHANISMS + 1])(struct worker *w);
	const char *has_name[MAX_MECHANISMS + 1]; /* the row's */
	void (*spin[MAX_MECHANISMS + 1])(struct worker *w, bool is_last);
	uint64_t spin_ticks[MAX_MECHANISMS + 1]; /* between two calls */
	void (*enter[MAX_MECHANISMS + 1])(struct worker *w);
	void (*before_sleep[MAX_MECHANISMS + 1])(struct worker *w);
	void (*announce[MAX_MECHANISMS + 1])(struct worker *w);
	int64_t (*nap[MAX_MECHANISMS + 1])(struct worker *w);
	void (*after_wake[MAX_MECHANISMS + 1])(struct worker *w);
	void (*leave[MAX_MECHANISMS + 1])(struct worker *w, bool has_found);
	void (*release[MAX_MECHANISMS + 1])(struct worker *w);

	/* Never NULL. */
	enum keeping (*keeps)(const struct worker *w);
	bool (*answers)(struct worker *w, bool is_short);
	bool (*wakes_others)(struct sched_node *node);
	bool (*is_watched)(struct sched *s);
	void (*watch)(struct worker *w);
	bool (*has_news)(struct worker *w);
	bool (*pop)(struct worker *w, uint64_t *item);
	bool (*must_leave)(struct worker *w, bool is_idle);
	void (*stand_by)(struct worker *w);
	bool (*is_due)(const struct worker *w);
	bool (*take_due)(struct worker *w, uint64_t *item);
};

/*
 * Sorts the rows of a table, which ends with NULL, into c. A period of spin_ns
 * is so many ticks: ns * ticks_per_1024ns / 1024.
 */
void mechanism_sort(struct mechanism_calls *c,
		    const struct mechanism *const *rows,
		    uint32_t ticks_per_1024ns);

/* Whose data. */
enum mechanism_owner {
	OWNER_WORKER,
	OWNER_NODE,
	OWNER_SCHED,
};

/*
 * Lays out the data of all rows for one owner from at on, which is aligned to
 * CACHE_LINE and zeroed; at is NULL: nothing yet. Returns how many bytes it is.
 */
size_t mechanism_lay(const struct mechanism *const *rows,
		     enum mechanism_owner owner, int nr_nodes, void **data,
		     char *at);

/* All rows of a scheduler, in order: see the fields. 0; -ENOMEM. */
int mechanisms_open(struct sched *s, const struct sched_setup *a);
void mechanisms_started(struct sched *s);
void mechanisms_stop(struct sched *s);
void mechanisms_close(struct sched *s);

#endif
