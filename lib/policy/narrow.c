/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "policy/narrow.h"

#include <string.h>

/* A cap below W is better than W by so much, or another one than its own. */
#define BETTER (1.0 + 1.0 / 16)

/* Caps with a smaller part of the best one's progress are not measured again.
 */
#define CLOSE (5.0 / 8)

void narrow_init(struct narrow *n, uint32_t nr_workers)
{
	memset(n, 0, sizeof(*n));
	n->nr_workers = n->cap = nr_workers;
	n->hold = NARROW_HOLD;
	n->most_hold = NARROW_HOLD_MAX;
}

static bool is_loud(const struct narrow_in *in)
{
	return in->is_stretched || in->permille >= NARROW_LOUD;
}

static bool is_quiet(const struct narrow_in *in)
{
	return !in->is_stretched && in->permille < NARROW_QUIET;
}

/* Does a window of a set, of which nothing is held back, show trouble? */
static bool shows_trouble(const struct narrow *n, const struct narrow_in *in)
{
	return n->phase == NARROW_WATCHES && !n->left && n->nr_workers > 1 &&
	       in->is_whole && in->most_running > 1 && is_loud(in);
}

bool narrow_is_due(const struct narrow *n, const struct narrow_in *in)
{
	return shows_trouble(n, in) &&
	       (n->nr_bodies + in->nr_bodies >= NARROW_BODIES ||
		n->nr_windows + 1 >= NARROW_WINDOWS);
}

CHECK_ONLY static const uint8_t legal[] = {
	[NARROW_WATCHES] = MOVE_TO(NARROW_TRIES) | MOVE_TO(NARROW_HOLDS),
	[NARROW_TRIES] = MOVE_TO(NARROW_WATCHES) | MOVE_TO(NARROW_HOLDS),
	[NARROW_HOLDS] = MOVE_TO(NARROW_WATCHES) | MOVE_TO(NARROW_TRIES),
};

static void enter_phase(struct narrow *n, enum narrow_phase phase, uint32_t cap,
			enum narrow_why why)
{
	check_move(legal, n->phase, phase);
	n->phase = phase;
	n->cap = cap;
	n->why = why;
	n->nr_void = 0;
}

static void watch_for(struct narrow *n, uint32_t windows, enum narrow_why why)
{
	n->left = windows;
	n->nr_bodies = n->nr_windows = 0;
	enter_phase(n, NARROW_WATCHES, n->nr_workers, why);
}

static void hold_cap(struct narrow *n, uint32_t cap, enum narrow_why why)
{
	n->left = n->hold;
	n->nr_quiet = 0;
	n->was_loud = false;
	enter_phase(n, NARROW_HOLDS, cap, why);
}

static void double_hold(struct narrow *n)
{
	n->hold = (uint32_t)min_u64(2 * n->hold, n->most_hold);
}

/* Phases were seen: holds get as long as without them the later. */
static void lengthen_most(struct narrow *n)
{
	if (n->hold < n->most_hold || ++n->nr_steady < NARROW_STEADY)
		return;
	n->nr_steady = 0;
	n->most_hold = (uint32_t)min_u64(2 * n->most_hold, NARROW_HOLD_MAX);
}

/* ---- the end of a trial ------------------------------------------------- */

static double cell_mean(const struct narrow_cell *c)
{
	return c->nr ? c->sum / c->nr : 0;
}

/* The cell of W: the first, or the last where a cap is held. */
static const struct narrow_cell *all_workers(const struct narrow *n)
{
	return &n->cell[n->home < n->nr_workers ? n->nr_cells - 1 : 0];
}

static uint32_t best_cap(const struct narrow *n)
{
	const struct narrow_cell *best = &n->cell[0], *w = all_workers(n), *c;
	double least = cell_mean(best) * BETTER;

	for (c = n->cell; c < n->cell + n->nr_cells; c++) {
		if (cell_mean(c) <= least)
			continue;
		best = c;
		least = cell_mean(c);
	}
	return cell_mean(best) > cell_mean(w) * BETTER ? best->cap : w->cap;
}

static void lose_trial(struct narrow *n)
{
	uint32_t windows = n->hold;

	n->best = 0;
	n->nr_losses++;
	if (++n->nr_lost >= NARROW_LOSSES)
		windows = NARROW_OFF;
	double_hold(n);
	watch_for(n, windows, NARROW_LOST);
}

/* As at first; the cap is remembered if only its trouble is over. */
static void release_cap(struct narrow *n, uint32_t cap, bool is_over,
			enum narrow_why why)
{
	n->best = is_over ? cap : 0;
	n->hold = NARROW_HOLD;
	n->is_patient = false;
	watch_for(n, is_over ? 0 : n->hold, why);
}

static void win_trial(struct narrow *n, uint32_t cap)
{
	n->nr_wins++;
	n->is_confirmed = false;
	n->hold = NARROW_HOLD;
	hold_cap(n, cap, NARROW_WON);
}

static void confirm_cap(struct narrow *n, uint32_t cap)
{
	n->is_confirmed = true;
	n->nr_lost = 0;
	if (cap == n->home) {
		lengthen_most(n);
		double_hold(n);
	} else {
		n->hold = (uint32_t)max_u64(n->hold / 4, NARROW_HOLD);
	}
	hold_cap(n, cap, NARROW_CONFIRMED);
}

static void end_trial(struct narrow *n)
{
	uint32_t cap = best_cap(n);
	bool was_held = n->home < n->nr_workers;

	if (cap < n->nr_workers) {
		if (was_held)
			confirm_cap(n, cap);
		else
			win_trial(n, cap);
	} else if (was_held && n->is_confirmed) {
		n->most_hold = NARROW_HOLD_PHASED;
		n->nr_steady = 0;
		release_cap(n, n->home, all_workers(n)->is_quiet,
			    NARROW_RELEASED);
	} else {
		lose_trial(n);
	}
}

/* The cap stays what it was: nothing could be measured. */
static void call_off(struct narrow *n)
{
	n->nr_trials--;
	if (n->home < n->nr_workers)
		hold_cap(n, n->home, NARROW_CALLED_OFF);
	else
		watch_for(n, n->hold, NARROW_CALLED_OFF);
}

/* ---- a trial ------------------------------------------------------------ */

static void add_cell(struct narrow *n, uint32_t cap)
{
	n->cell[n->nr_cells++] =
		(struct narrow_cell){ .cap = cap, .is_quiet = true };
}

static uint32_t power_below(uint32_t cap)
{
	uint32_t power = 1;

	while (power < cap - power)
		power *= 2;
	return power;
}

/*
 * The first cell is the cap as it is. A lock that convoys may go on with that
 * for a while under a smaller cap, so the others of a hold come upwards.
 */
static void add_cells(struct narrow *n)
{
	uint32_t w = n->nr_workers, cap = n->home;

	n->nr_cells = 0;
	add_cell(n, cap);
	if (cap == w) {
		while (cap > 1)
			add_cell(n, cap = power_below(cap));
		return;
	}
	if (cap > 1)
		add_cell(n, cap / 2);
	if (cap < w - cap)
		add_cell(n, cap * 2);
	add_cell(n, w);
}

static void begin_measurement(struct narrow *n)
{
	n->ticks = n->progress = n->nr_bodies = 0;
	n->nr_windows = 0;
	n->cap = n->cell[n->at].cap;
}

static void begin_trial(struct narrow *n)
{
	n->home = n->cap;
	n->at = n->round = 0;
	n->nr_trials++;
	add_cells(n);
	enter_phase(n, NARROW_TRIES, n->home, NARROW_TRIAL);
	begin_measurement(n);
}

/*
 * Leaves out caps that are far behind, but the one of before not in the first
 * round: what changes between two windows looks like a win. True: one is left.
 */
static bool weed_cells(struct narrow *n)
{
	struct narrow_cell *c, *end = n->cell + n->nr_cells;
	uint32_t nr_left = 0;
	double most = 0;

	for (c = n->cell; c < end; c++)
		if (cell_mean(c) > most)
			most = cell_mean(c);
	for (c = n->cell; c < end; c++) {
		c->is_out |= cell_mean(c) < most * CLOSE &&
			     (n->round > 1 || c != n->cell);
		nr_left += !c->is_out;
	}
	return nr_left < 2;
}

/*
 * The trial of a hold ends once nothing is better than its cap, or W is for two
 * rounds. Until then it measures all: a phase may have ended meanwhile.
 */
static bool is_clear(const struct narrow *n)
{
	uint32_t cap = best_cap(n);

	return cap == n->home || (cap == n->nr_workers && n->round > 1);
}

static bool is_decided(struct narrow *n)
{
	n->round++;
	if (n->round == NARROW_ROUNDS)
		return true;
	return n->home < n->nr_workers ? is_clear(n) : weed_cells(n);
}

static void next_cell(struct narrow *n)
{
	while (++n->at < n->nr_cells)
		if (!n->cell[n->at].is_out)
			break;
	if (n->at == n->nr_cells) {
		if (is_decided(n)) {
			end_trial(n);
			return;
		}
		for (n->at = 0; n->cell[n->at].is_out;)
			n->at++;
	}
	begin_measurement(n);
}

/*
 * Going down from W: without a sign there is nothing to try, and below a cap
 * that shows none it gets no better.
 */
static void end_measurement(struct narrow *n)
{
	struct narrow_cell *c = &n->cell[n->at];

	c->sum += (double)n->progress / (double)max_u64(n->ticks, 1);
	c->nr++;
	if (!n->round && n->home == n->nr_workers) {
		if (!n->at && !c->is_loud) {
			call_off(n);
			return;
		}
		if (c->is_quiet)
			n->nr_cells = n->at + 1;
	}
	next_cell(n);
}

static void step_trial(struct narrow *n, const struct narrow_in *in)
{
	struct narrow_cell *c = &n->cell[n->at];

	if (!in->is_whole || !in->nr_bodies) {
		if (++n->nr_void == NARROW_VOID)
			call_off(n);
		return;
	}
	n->nr_void = 0;
	n->ticks += in->ticks;
	n->progress += in->progress;
	n->nr_bodies += in->nr_bodies;
	c->is_loud |= is_loud(in);
	c->is_quiet &= is_quiet(in);
	if (++n->nr_windows == NARROW_WINDOWS || n->nr_bodies >= NARROW_BODIES)
		end_measurement(n);
}

/* ---- between trials ----------------------------------------------------- */

static void step_watch(struct narrow *n, const struct narrow_in *in)
{
	if (narrow_is_due(n, in)) {
		if (n->best) {
			n->is_confirmed = false;
			hold_cap(n, n->best, NARROW_AGAIN);
		} else {
			begin_trial(n);
		}
		return;
	}
	if (!in->is_whole)
		return;
	if (n->left)
		n->left--;
	if (shows_trouble(n, in)) {
		n->nr_bodies += in->nr_bodies;
		n->nr_windows++;
	} else {
		n->nr_bodies = n->nr_windows = 0;
	}
}

/* Windows that are quiet after loud ones: something has changed. */
static bool is_calm(struct narrow *n, const struct narrow_in *in)
{
	n->nr_quiet = is_quiet(in) ? n->nr_quiet + 1 : 0;
	n->was_loud |= !n->nr_quiet;
	if (n->is_patient || !n->was_loud || n->nr_quiet < NARROW_CALM)
		return false;
	n->is_patient = true;
	return true;
}

static void step_hold(struct narrow *n, const struct narrow_in *in)
{
	bool has_begun;

	if (!in->is_whole) {
		if (++n->nr_void == NARROW_VOID_MAX)
			release_cap(n, n->cap, true, NARROW_IDLE);
		return;
	}
	n->nr_void = 0;
	if (in->nr_bodies && in->most_running < n->cap) {
		release_cap(n, n->cap, true, NARROW_IDLE);
		return;
	}
	has_begun = is_calm(n, in);
	if (n->left)
		n->left--;
	if (!n->left || has_begun)
		begin_trial(n);
}

uint32_t narrow_step(struct narrow *n, const struct narrow_in *in)
{
	n->why = NARROW_NOTHING;
	switch (n->phase) {
	case NARROW_WATCHES:
		step_watch(n, in);
		break;
	case NARROW_TRIES:
		step_trial(n, in);
		break;
	case NARROW_HOLDS:
		step_hold(n, in);
		break;
	}
	return n->cap;
}
