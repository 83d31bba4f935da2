/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "policy/solo.h"

#include "base/clock.h"

#define NR_COUNTED (SOLO_RUNS - SOLO_SKIPPED)

/* The rest of NR_COUNTED without the two longest, which others caused. */
#define NR_SUMMED (NR_COUNTED - 2)

void solo_init(struct solo *s, bool is_possible, uint32_t nr_workers)
{
	s->is_possible = is_possible;
	s->nr_workers = nr_workers;
	a_store(&s->cap, nr_workers, relaxed);
	s->hold = SOLO_HOLD;
	a_store(&s->remaining, SOLO_FIRST, relaxed);
}

/*
 * An alarm goes to CHALLENGER at once, and each phase may find nothing to gain.
 */
CHECK_ONLY static const uint8_t legal[] = {
	[SOLO_HOLDS] = MOVE_TO(SOLO_HOLDS) | MOVE_TO(SOLO_SAMPLES) |
		       MOVE_TO(SOLO_CHALLENGER),
	[SOLO_SAMPLES] = MOVE_TO(SOLO_INCUMBENT) | MOVE_TO(SOLO_HOLDS),
	[SOLO_INCUMBENT] = MOVE_TO(SOLO_CHALLENGER) | MOVE_TO(SOLO_HOLDS),
	[SOLO_CHALLENGER] = MOVE_TO(SOLO_CHALLENGER) | MOVE_TO(SOLO_HOLDS),
};

/* Under lock. */
static void begin_half(struct solo *s, enum solo_phase phase)
{
	lock_assert_held(&s->lock);
	check_move(legal, a_load(&s->phase, relaxed), phase);
	s->nr_told = s->nr_odd = 0;
	s->sum = s->max[0] = s->max[1] = 0;
	a_store(&s->half, a_load(&s->half, relaxed) + 1, relaxed);
	a_store(&s->phase, (uint32_t)phase, relaxed);
}

/* Under lock. */
static void hold_mode(struct solo *s, uint32_t nr, uint64_t typical)
{
	lock_assert_held(&s->lock);
	begin_half(s, SOLO_HOLDS);
	a_store(&s->typical, typical, relaxed);
	a_store(&s->remaining, nr, relaxed);
}

/* Under lock. */
static void set_cap(struct solo *s, uint32_t cap, uint32_t why)
{
	lock_assert_held(&s->lock);
	a_store(&s->anew, cap < a_load(&s->cap, relaxed) ? why : 0, relaxed);
	a_store(&s->cap, cap, relaxed);
}

/* Under lock: as a graph that was never tried. */
static void hold_shared(struct solo *s)
{
	lock_assert_held(&s->lock);
	set_cap(s, s->nr_workers, 0);
	s->hold = SOLO_HOLD;
	hold_mode(s, s->hold, 0);
}

bool solo_try(struct solo *s)
{
	bool is_due;

	lock_take(&s->lock);
	is_due = solo_is_due(s);
	if (is_due)
		begin_half(s, SOLO_SAMPLES);
	lock_give(&s->lock);
	return is_due;
}

void solo_answer(struct solo *s, uint64_t serial_ticks)
{
	lock_take(&s->lock);
	if (solo_asks(s) && s->nr_told >= SOLO_ASKED) {
		s->serial = serial_ticks;
		if (serial_ticks)
			begin_half(s, SOLO_INCUMBENT);
		else
			hold_shared(s);
	}
	lock_give(&s->lock);
}

uint32_t solo_excess(const struct solo *s, const struct solo_run *r,
		     uint64_t now, uint64_t serial_ticks)
{
	uint64_t ticks = now > r->began ? now - r->began : 0;

	if (!serial_ticks || ticks / SOLO_SLOW < serial_ticks ||
	    a_load(&s->remaining, relaxed) >= SOLO_FIRST - 1)
		return 0;
	return (uint32_t)(1000 - serial_ticks * 1000 / ticks);
}

/* Under lock: another run may have seen it, or a trial is under way. */
static bool may_alarm(const struct solo *s, const struct solo_run *r,
		      uint64_t ticks, uint64_t serial_ticks)
{
	lock_assert_held(&s->lock);
	return r->is_first && a_load(&s->half, relaxed) == r->half &&
	       a_load(&s->phase, relaxed) == SOLO_HOLDS && serial_ticks &&
	       ticks > serial_ticks && serial_ticks <= SOLO_TOO_LONG_TICKS;
}

bool solo_alarm(struct solo *s, const struct solo_run *r, uint64_t now,
		uint32_t alarm, uint64_t serial_ticks)
{
	uint64_t ticks = now > r->began ? now - r->began : 0;
	bool begins;

	if ((alarm & 0xffff) < SOLO_ALARM)
		return false;
	lock_take(&s->lock);
	begins = may_alarm(s, r, ticks, serial_ticks);
	if (begins) {
		s->serial = serial_ticks;
		s->here = ticks * NR_SUMMED;
		s->home = s->best = s->nr_workers;
		s->cost = 1;
		s->is_early = true;
		a_store(&s->typical, ticks, relaxed);
		set_cap(s, 1, alarm);
		begin_half(s, SOLO_CHALLENGER);
	}
	lock_give(&s->lock);
	return begins;
}

static void count_down(struct solo *s)
{
	uint32_t remaining = a_load(&s->remaining, relaxed);

	if (remaining)
		a_store(&s->remaining, remaining - 1, relaxed);
}

static bool is_looked_at(const struct solo *s)
{
	uint64_t typical = a_load(&s->typical, relaxed);

	if (a_load(&s->phase, relaxed) != SOLO_HOLDS)
		return true;
	return typical >= SOLO_LONG_TICKS ||
	       a_load(&s->remaining, relaxed) % SOLO_LOOK_EVERY == 0;
}

void solo_begin(struct solo *s, struct solo_run *r)
{
	uint32_t cap = a_load(&s->cap, relaxed);

	if (a_load(&s->phase, relaxed) == SOLO_HOLDS)
		count_down(s);
	r->half = a_load(&s->half, relaxed);
	r->is_held = cap < s->nr_workers;
	r->is_solo = cap == 1;
	r->width = (uint8_t)(31 - __builtin_clz(cap));
	r->anew = 0;
	if (unlikely(r->is_held && a_load(&s->anew, relaxed)))
		r->anew = a_xchg(&s->anew, 0, relaxed);
	r->is_measured = is_looked_at(s);
	r->is_first = !r->half;
	r->began =
		r->is_measured || r->is_held || r->is_first ? clock_ticks() : 0;
}

/* Under lock: one more of this half, of which some are too long. */
static void add_sample(struct solo *s, uint64_t ticks)
{
	lock_assert_held(&s->lock);
	if (++s->nr_told <= SOLO_SKIPPED)
		return;
	s->sum += ticks;
	if (ticks > s->max[0]) {
		s->max[1] = s->max[0];
		s->max[0] = ticks;
	} else if (ticks > s->max[1]) {
		s->max[1] = ticks;
	}
}

static uint64_t ticks_summed(const struct solo *s)
{
	return s->sum - s->max[0] - s->max[1];
}

/*
 * The cap to try after this one; 0: the trial is over. An alarm has measured a
 * single run, so only what it is about is tried.
 */
static uint32_t next_cap(const struct solo *s, uint32_t tried, bool has_won)
{
	uint32_t w = s->nr_workers, up = s->home * 2, down = s->home / 2;

	if (s->is_early)
		return 0;
	if (s->home == w)
		return has_won && tried * 2 < w ? tried * 2 : 0;
	if (tried == w)
		return has_won ? 0 : up < w ? up : down;
	return tried == up ? down : 0;
}

static void challenge_cap(struct solo *s, uint32_t cap)
{
	set_cap(s, cap, SOLO_ANEW);
	begin_half(s, SOLO_CHALLENGER);
}

static void end_here(struct solo *s)
{
	uint64_t typical = ticks_summed(s) / NR_SUMMED;
	uint32_t cap = a_load(&s->cap, relaxed);

	if (s->serial > SOLO_TOO_LONG_TICKS ||
	    (cap == s->nr_workers && typical < s->serial)) {
		hold_shared(s);
		return;
	}
	s->here = ticks_summed(s);
	s->home = s->best = cap;
	s->cost = 1;
	a_store(&s->typical, typical, relaxed);
	challenge_cap(s, cap == s->nr_workers ? 1 : s->nr_workers);
}

/* Another cap is faster by so much that it is worth to change. */
static void change_mode(struct solo *s)
{
	s->hold = SOLO_HOLD;
	/*
	 * A single run, which may have been out of the common, was all it had.
	 */
	hold_mode(s, s->is_early ? SOLO_FIRST : s->hold, s->here / NR_SUMMED);
}

/*
 * None is: the next trial comes the later, the longer it has been so and the
 * more a trial costs.
 */
static void stay_put(struct solo *s)
{
	hold_mode(s, s->hold * (uint32_t)s->cost, s->here / NR_SUMMED + 1);
	s->hold = (uint32_t)min_u64(s->hold * 2, SOLO_HOLD_MAX);
}

static void end_trial(struct solo *s)
{
	set_cap(s, s->best, SOLO_ANEW);
	if (s->best != s->home)
		change_mode(s);
	else
		stay_put(s);
	s->is_early = false;
}

/* How much longer than under the best cap runs have taken, in whole times. */
static uint64_t cost_of(const struct solo *s)
{
	uint64_t typical = s->here / NR_SUMMED + 1, cost = SOLO_COSTLY_MAX;

	if (s->nr_told > SOLO_SKIPPED + 2) {
		cost = ticks_summed(s) / (s->nr_told - SOLO_SKIPPED - 2);
		cost = (cost + typical / 2) / typical;
	}
	return min_u64(max_u64(cost, 1), SOLO_COSTLY_MAX);
}

static void end_challenge(struct solo *s, bool has_won)
{
	uint32_t cap = a_load(&s->cap, relaxed), next;

	if (has_won) {
		s->here = ticks_summed(s);
		s->best = cap;
	} else {
		s->cost = max_u64(s->cost, cost_of(s));
	}
	next = next_cap(s, cap, has_won);
	if (next)
		challenge_cap(s, next);
	else
		end_trial(s);
}

/*
 * Runs that share a lock may take a hundred times as long: two of them in a row
 * are enough.
 */
static bool is_dear(struct solo *s, uint64_t ticks)
{
	bool is_wider = a_load(&s->cap, relaxed) > s->best;

	if (is_wider && ticks / SOLO_DEAR > s->here / NR_SUMMED)
		s->nr_odd++;
	else
		s->nr_odd = 0;
	return s->nr_odd == SOLO_DEAR_RUNS;
}

static void tell_there(struct solo *s, uint64_t ticks)
{
	bool is_over = s->nr_told == SOLO_RUNS;

	if (is_dear(s, ticks))
		end_challenge(s, false);
	else if (is_over && ticks_summed(s) < s->here - s->here / 32)
		end_challenge(s, true);
	else if (is_over ||
		 (s->nr_told > SOLO_SKIPPED + 2 && ticks_summed(s) > s->here))
		end_challenge(s, false);
}

/* In a hold: is it as it was? */
static void tell_hold(struct solo *s, uint64_t ticks)
{
	uint64_t typical = a_load(&s->typical, relaxed);

	if (!typical)
		a_store(&s->typical, typical = ticks, relaxed);
	if (ticks > typical * 2 || ticks < typical / 2)
		s->nr_odd++;
	else
		s->nr_odd = 0;
	if (s->nr_odd < SOLO_ODD)
		return;
	/* Not as it was: what was found out is not true any more. */
	hold_shared(s);
}

static void tell_run(struct solo *s, const struct solo_run *r, uint64_t ticks)
{
	lock_take(&s->lock);
	/* A run that began in another half says nothing of this one. */
	if (r->half == a_load(&s->half, relaxed)) {
		switch ((enum solo_phase)a_load(&s->phase, relaxed)) {
		case SOLO_HOLDS:
			tell_hold(s, ticks);
			break;
		case SOLO_SAMPLES:
			s->nr_told++;
			break;
		case SOLO_INCUMBENT:
			add_sample(s, ticks);
			if (s->nr_told == SOLO_RUNS)
				end_here(s);
			break;
		case SOLO_CHALLENGER:
			add_sample(s, ticks);
			tell_there(s, ticks);
			break;
		}
	}
	lock_give(&s->lock);
}

/* Each of several runs that overlap is what it adds to the one that ended
 * before. */
void solo_end_at(struct solo *s, const struct solo_run *r, uint64_t now)
{
	uint64_t from = max_u64(r->began, a_load(&s->last_end, relaxed));

	a_store(&s->last_end, now, relaxed);
	tell_run(s, r, now > from ? now - from : 0);
}

void solo_end(struct solo *s, const struct solo_run *r)
{
	if (r->is_measured)
		solo_end_at(s, r, clock_ticks());
}
