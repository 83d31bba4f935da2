/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many workers at once may run bodies that meet in a lock: the cap of a
 * set of kinds, W (the number of workers) or a power of two below it. Nothing
 * tells the best cap beforehand, so a trial measures several, one window of
 * time after the other, and the cap under which the whole program makes most
 * progress is kept: never the one under which the set does, for workers that a
 * cap keeps from the set run other kinds.
 *
 *	WATCHES --signs of trouble--> TRIES --another cap is better--> HOLDS
 *	   ^                          | ^ |                              |
 *	   +------- W is best --------+ | +--- its cap is still best ----+
 *	                                +--------- from time to time ----+
 *
 * WATCHES has the cap W. The first trial goes from W down to one worker and
 * ends early where a cap shows no trouble any more; a trial of HOLDS measures
 * W, the cap above its own and the one below. Each compares the caps' means
 * after at most NARROW_ROUNDS rounds, and a cap below W must be better than W
 * by 1/16. The hold doubles with each trial that finds its cap right. A trial
 * that no cap below W wins, and a win that its next trial does not confirm,
 * are losses; after NARROW_LOSSES of them in a row nothing is tried for
 * NARROW_OFF windows. A confirmed cap that ended because its trouble did is
 * remembered: it comes back without a trial once the trouble does.
 *
 * Pure functions over the caller's numbers; nothing here reads a clock or the
 * memory of others. The caller sees to it that one thread at a time does so.
 */
#ifndef POLICY_NARROW_H
#define POLICY_NARROW_H

#include "base/util.h"

/* A share of the set's time in futexes or the system, in thousandths. */
#define NARROW_LOUD 150 /* a sign of trouble */
#define NARROW_QUIET 50 /* below: none */

/* A measurement, and a first sign, take so many bodies or windows. */
#define NARROW_BODIES 32
#define NARROW_WINDOWS 4

#define NARROW_ROUNDS 4

/* Windows that a cap is held, at first and at most. */
#define NARROW_HOLD 8
#define NARROW_HOLD_MAX 256

/*
 * At most, once a confirmed cap has turned out wrong: the program has phases.
 * That doubles after so many confirmations in a row.
 */
#define NARROW_HOLD_PHASED 8
#define NARROW_STEADY 16

/* So many quiet windows after loud ones end a hold. */
#define NARROW_CALM 8

/* Windows in a row that are not whole: they end a trial, and a hold. */
#define NARROW_VOID 8
#define NARROW_VOID_MAX 256

/* So many losses in a row: nothing is tried for so many windows. */
#define NARROW_LOSSES 3
#define NARROW_OFF 4096

/* Caps of one trial: W and the powers of two below 2^31. */
#define NARROW_CAPS 32

/* A window of the set of kinds. */
struct narrow_in {
	uint64_t ticks; /* its length */
	/*
	 * The sum over all kinds of the program, of the set or not: bodies that
	 * ended times the ticks of one alone. Wanted in TRIES only.
	 */
	uint64_t progress;
	/* A share of the set's time: in futexes or the system; -1: not
	 * known. */
	int32_t permille;
	/* Bodies took >= 1.5 times as long as alone while two or more ran. */
	bool is_stretched;
	uint32_t nr_bodies; /* of the set that ended, about */
	uint32_t most_running; /* of the set at once */
	bool is_whole; /* CPUs were delivered; else nothing else is read */
};

enum narrow_phase {
	NARROW_WATCHES,
	NARROW_TRIES,
	NARROW_HOLDS
};

/* The last step, for those who tell what was done. */
enum narrow_why {
	NARROW_NOTHING, /* the phase goes on */
	NARROW_TRIAL, /* a trial has begun */
	NARROW_CALLED_OFF, /* it ended: the signs or the bodies did, or CPUs */
	NARROW_WON, /* it ended: a smaller cap than W is better, and held */
	NARROW_LOST, /* it ended: W is as good */
	NARROW_CONFIRMED, /* it ended: narrowing is still right */
	NARROW_RELEASED, /* it ended: W is as good again */
	NARROW_IDLE, /* nobody was held back, or nothing known: W */
	NARROW_AGAIN, /* signs again: the remembered cap is held */
};

/* A cap of a trial. */
struct narrow_cell {
	uint32_t cap, nr; /* measurements */
	double sum; /* of progress per tick */
	bool is_out; /* far behind the best one: not measured again */
	bool is_loud, is_quiet; /* a window was; all have been */
};

struct narrow {
	uint32_t nr_workers, cap;
	enum narrow_phase phase;
	enum narrow_why why;

	uint32_t hold; /* windows of the next hold, or until a next trial */
	uint32_t left; /* windows of this one */
	uint32_t most_hold, nr_steady; /* see NARROW_HOLD_PHASED */
	uint32_t best; /* the cap that is remembered; 0: none */
	uint32_t nr_void, nr_quiet;
	uint32_t nr_lost; /* in a row */
	bool is_confirmed; /* by a trial after the one that it won */
	bool was_loud; /* since the hold began */
	bool is_patient; /* quiet windows end no hold, as they did for nothing
			  */

	/* A trial has it. */
	uint32_t home; /* the cap before it */
	uint32_t at, round, nr_cells;
	struct narrow_cell cell[NARROW_CAPS];

	/* It belongs to a measurement, or to signs in a row. */
	uint64_t ticks, progress, nr_bodies;
	uint32_t nr_windows;

	/* Counters. */
	uint64_t nr_trials, nr_wins, nr_losses;
};

void narrow_init(struct narrow *n, uint32_t nr_workers);

/*
 * Does this window make a trial, or the remembered cap, begin? The caller may
 * ask before it has anything that enforces a cap: narrow_step() of the same
 * window begins it.
 */
bool narrow_is_due(const struct narrow *n, const struct narrow_in *in);

/*
 * The caller hands in a window that had the cap n->cap. Returns the cap of the
 * next one.
 */
uint32_t narrow_step(struct narrow *n, const struct narrow_in *in);

/* Is the progress of the next window wanted? */
static inline bool narrow_measures(const struct narrow *n)
{
	return n->phase == NARROW_TRIES;
}

/* Has it turned itself off for a while? */
static inline bool narrow_is_off(const struct narrow *n)
{
	return n->phase == NARROW_WATCHES && n->nr_lost >= NARROW_LOSSES &&
	       n->left;
}

#endif
