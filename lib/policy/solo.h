/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Does it pay to share the runs of a graph? Where tasks take some nanoseconds
 * it may not: handing one to another CPU costs more than running it. No number
 * tells beforehand, for it depends on the shape, the bodies, the data and the
 * machine; so both ways are tried, and runs go the faster one for a while. A
 * run that goes solo is kept by the worker that starts it, see the mechanism
 * holdoff. Where one worker is faster than all, two may be faster still, and
 * four: a cap is W (the number of workers) or a power of two below, and a run
 * of a smaller one is kept by as many workers.
 *
 *	HOLDS -> SAMPLES -> INCUMBENT -> CHALLENGER -> HOLDS
 *
 * SAMPLES samples the bodies, INCUMBENT measures the way in which runs go, and
 * CHALLENGER other ones, one after the other: 1, 2, 4 .. as long as each is the
 * best so far; where runs have a smaller cap than W, it is W, twice their cap
 * and half of it, see next_cap(). Runs that are shared and take less than their
 * bodies in a row are left alone: that pays. A trial is repeated the later the
 * more often nothing changed, and at once if runs take another time than they
 * did. Only graphs whose bodies are all short are tried: a body that is not
 * ends a solo run, so what is ready starts while others are idle.
 *
 * Bodies that meet in a lock may make shared runs many times slower, and the
 * first of them are as dear as all others: see SOLO_ALARM. Each of the bodies
 * is long then, too. So what a run and its bodies take alone says whether it is
 * tried: the sum of the shortest samples. The worker that begins the first run
 * after runs have become solo ones has the kinds measured anew (kind_doubt()).
 */
#ifndef POLICY_SOLO_H
#define POLICY_SOLO_H

#include "base/atomic.h"
#include "base/lock.h"
#include "base/util.h"

/* Runs of one half of a trial; the first ones are not counted. */
#define SOLO_RUNS 10
#define SOLO_SKIPPED 2

/* Runs in which bodies are sampled before. */
#define SOLO_ASKED 2

/* Runs before the first trial. */
#define SOLO_FIRST 8

/*
 * A share of the time of the first runs, in thousandths, that went to futexes
 * or the system: then the trial begins at once, with the run that was measured
 * as one half, and solo runs as the other.
 */
#define SOLO_ALARM 150

/*
 * A run behind the first takes so many times as long as its bodies in a row,
 * though no share says why: locks that spin, or lines that all write.
 */
#define SOLO_SLOW 2

/* Runs between two trials; the longer ones where the wrong way costs more. */
#define SOLO_HOLD 64
#define SOLO_HOLD_MAX 1024
#define SOLO_COSTLY_MAX 16

/* In a hold every so many runs is measured, or each where it takes long. */
#define SOLO_LOOK_EVERY 16
#define SOLO_LONG_TICKS 50000

/* So many in a row that are out of the common end a hold. */
#define SOLO_ODD 3

/* Runs whose bodies take longer one after the other are not tried. */
#define SOLO_TOO_LONG_TICKS 100000000

/* A shared run is so many times as long as a solo one: two of them suffice. */
#define SOLO_DEAR 4
#define SOLO_DEAR_RUNS 2

/* For runs that go solo from the next one on; else what solo_alarm() was told.
 */
#define SOLO_ANEW 1

enum solo_phase {
	SOLO_HOLDS,
	SOLO_SAMPLES,
	SOLO_INCUMBENT,
	SOLO_CHALLENGER
};

struct solo {
	/* Set at seal, constant afterwards. */
	bool is_possible;
	uint32_t nr_workers;

	/*
	 * Any worker, without the lock: what is lost by a race is a run of the
	 * other kind, or one that is not counted.
	 */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) remaining; /* runs of the hold */
	_Atomic(uint32_t) cap; /* workers of a run, as they go now */
	_Atomic(uint32_t) anew; /* SOLO_ANEW or an alarm, until a run begins */
	_Atomic(uint32_t) phase;
	_Atomic(uint32_t) half; /* counts halves of trials and holds */
	_Atomic(uint64_t) typical; /* ticks a run took at last; 0: not known */
	_Atomic(uint64_t) last_end; /* ticks */

	/* Under lock. */
	struct lock lock;
	uint32_t nr_told, nr_odd, hold;
	uint64_t sum, max[2]; /* of this half; the two longest ones */
	uint64_t here; /* the best half's */
	uint32_t home, best; /* caps: before the trial, and of that half */
	uint64_t cost; /* how much longer runs took under the worst cap */
	uint64_t serial; /* see solo_answer() */
	bool is_early; /* the trial is one of solo_alarm() */
};

/* A run: how it goes, and whether its time is wanted. */
struct solo_run {
	bool is_solo, is_measured;
	bool is_held; /* by fewer workers than there are */
	uint8_t width; /* by how many: its logarithm */
	bool is_first; /* of the first hold: solo_alarm() after its end */
	uint32_t anew; /* the first one that goes solo: as above; else 0 */
	uint32_t half;
	uint64_t began; /* ticks */
};

/* nr_workers that go to solo_init() where it is one worker or all. */
#define SOLO_OR_ALL 2

void solo_init(struct solo *s, bool is_possible, uint32_t nr_workers);

/* Is a trial due? */
static inline bool solo_is_due(const struct solo *s)
{
	return !a_load(&s->remaining, relaxed) &&
	       a_load(&s->phase, relaxed) == SOLO_HOLDS;
}

/* Begins one. True: the caller did, and others may think so too. */
bool solo_try(struct solo *s);

/*
 * In a trial: how many ticks do all bodies take one after the other, about? 0:
 * not all of them are short, and the trial is over. Where runs are shared and
 * faster than that nothing else is tried.
 */
static inline bool solo_asks(const struct solo *s)
{
	return a_load(&s->phase, relaxed) == SOLO_SAMPLES;
}

void solo_answer(struct solo *s, uint64_t serial_ticks);

/* The next run, and its end; both where it is possible only. */
void solo_begin(struct solo *s, struct solo_run *r);
void solo_end(struct solo *s, const struct solo_run *r);

/* A share in thousandths and who has seen it, as one word: never SOLO_ANEW. */
static inline uint32_t solo_alarm_word(uint32_t source, uint32_t permille)
{
	return source << 16 | permille;
}

/*
 * After the end of such a run, at the time now: what part of the run's time its
 * bodies alone do not explain, in thousandths; 0: it was not slow, or the first
 * one, or what bodies take alone is not known.
 */
uint32_t solo_excess(const struct solo *s, const struct solo_run *r,
		     uint64_t now, uint64_t serial_ticks);

/*
 * After the end of such a run, at the time now: the share so far, and what all
 * bodies take one after the other, see solo_answer(). True: a trial has begun,
 * and the run that acts on the alarm has it in anew.
 */
bool solo_alarm(struct solo *s, const struct solo_run *r, uint64_t now,
		uint32_t alarm, uint64_t serial_ticks);

/* Ends a run with the clock of the caller. */
void solo_end_at(struct solo *s, const struct solo_run *r, uint64_t now);

/* For how many ticks a run that is held may be so. */
static inline uint64_t solo_patience(const struct solo *s, uint64_t least)
{
	return least + 4 * a_load(&s->typical, relaxed);
}

#endif
