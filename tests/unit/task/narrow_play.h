/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program in made time for tests of option narrow=auto: windows, samples,
 * counts and tokens are made up, runtime, kinds and gates are the library's.
 */
#ifndef TESTS_UNIT_TASK_NARROW_PLAY_H
#define TESTS_UNIT_TASK_NARROW_PLAY_H

#include "core/runtime.h"
#include "signal/windows.h"
#include "task/gate.h"
#include "task/kind.h"
#include "task/narrowing.h"
#include "trace/kind_row.h"

#include "tests/tap.h"
#include "trace/counters.h"

#include <lkdf/lkdf.h>
#include <stdlib.h>
#include <string.h>

#define W 4
#define WORD 0x1000u
#define OTHER_WORD 0x2000u
#define NR_KINDS 3

/* What the program is like now. */
static struct {
	uint32_t rate[W + 1]; /* bodies in a window, by the cap */
	uint32_t
		share; /* thousandths in futex words, of each kind in trouble */
	uint64_t word[NR_KINDS]; /* 0: it meets nobody */
	uint64_t stretch; /* bodies take so many times as long; 0: as alone */
	uint64_t delay_ns, alone;
	uint64_t row_ticks; /* of bodies in a window that one at a time runs */
	bool has_probe;
	bool passes; /* bodies begin without a token */
	bool is_joint; /* the first two kinds meet in one spin lock */
} play;

static struct lkdf *rt;
static struct lkdf_kind *kind[NR_KINDS];
static const char *const names[NR_KINDS] = { "parse", "print", "count" };

static void must(int rc)
{
	if (!rc)
		return;
	printf("Bail out! %s\n", lkdf_errmsg());
	exit(1);
}

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static struct lkdf_kind *make_kind(const char *name)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = name,
				    .fn = do_nothing };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt, &a, &k));
	return k;
}

/* Workers sleep from now on, and close no window. */
static void begin(void)
{
	int i;

	memset(&play, 0, sizeof(play));
	play.has_probe = true;
	for (i = 0; i <= W; i++)
		play.rate[i] = 1000;
	must(lkdf_open("workers=4,narrow=auto,probe=\"\"", &rt));
	play.alone = 4 * (uint64_t)rt->sched.ticks_per_1024ns;
	for (i = 0; i < NR_KINDS; i++)
		kind[i] = make_kind(names[i]);
	while (!windows_begin(&rt->windows, INT64_MAX))
		continue;
}

static void end(void)
{
	int i;

	windows_end(&rt->windows);
	for (i = 0; i < NR_KINDS; i++)
		lkdf_kind_put(kind[i]);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static struct narrowed first_set(void)
{
	struct narrowed n;

	if (!narrowing_read(rt, 0, &n))
		n = (struct narrowed){ .cap = W, .nr_workers = W };
	return n;
}

static uint64_t stat_of(const char *name)
{
	uint64_t v = UINT64_MAX;

	lkdf_stat(rt, name, &v);
	return v;
}

/* ---- windows ------------------------------------------------------------- */

static struct window make_window(void)
{
	struct window w = { .ns = WINDOWS_NS, .delay_ns = play.delay_ns };
	int i;

	w.share.source = play.has_probe ? LKDF_SIGNAL_BPF : LKDF_SIGNAL_SELF;
	w.share.permille = play.share;
	for (i = 0; i < NR_KINDS && play.has_probe; i++)
		if (play.word[i])
			w.kind[w.nr_kinds++] = (struct window_kind){
				.name = kind[i]->trace_name,
				.permille = play.share,
				.samples = 20,
				.word = play.word[i],
				.word_samples = 20,
			};
	return w;
}

static bool is_slow(int i)
{
	return play.stretch && (!i || (play.is_joint && i == 1));
}

static bool are_together(void)
{
	struct gate *g = a_load(&kind[0]->gate, relaxed);

	return g && g == a_load(&kind[1]->gate, relaxed);
}

/* Bodies of all kinds, on all workers that may. */
static void run_bodies(uint32_t cap)
{
	struct kind_row *rows;
	int i, j, k;

	/* Other workers are in the lock with the other kind. */
	if (play.is_joint && !are_together())
		cap = W;
	for (i = 0; i < NR_KINDS; i++) {
		for (j = 0; j < 10; j++)
			if (a_load(&kind[i]->slow, relaxed) & ~SLOW_ADDS)
				kind_sample(kind[i],
					    play.alone * (is_slow(i)
								  ? play.stretch
								  : 1));
		for (k = 0; k < W; k++) {
			rows = a_load(&rt->executors[k].kinds, relaxed);
			if (!rows)
				continue;
			rows += kind[i]->trace_name;
			for (j = 0; j < (int)play.rate[cap] / W; j++)
				kind_row_count(rows);
			if (cap == 1)
				rows->told.ticks += play.row_ticks;
		}
	}
	for (k = 0; k < W; k++)
		counter_add(rt->executors[k].counters, COUNTER_TASKS,
			    NR_KINDS * play.rate[cap] / W);
}

/* As if tokens had been taken. */
static void take_tokens(uint32_t cap)
{
	struct gate *g;
	int i;

	for (i = 0; i < NR_KINDS; i++) {
		g = a_load(&kind[i]->gate, relaxed);
		if (!g)
			continue;
		g->most_running = cap;
		g->nr_held += play.passes ? 400 : 600;
		g->nr_over[GATE_PASS_DEADLINE] += play.passes ? 600 : 400;
	}
}

static void play_window(void)
{
	uint32_t cap = first_set().cap;
	struct window w;

	take_tokens(cap);
	run_bodies(cap);
	w = make_window();
	narrowing_turn(&rt->sched.workers[0], &w);
}

static void play_windows(int nr)
{
	while (nr--)
		play_window();
}

/* Windows until the cap is that; 0: never. */
static int windows_until(uint32_t cap, int most)
{
	int i;

	for (i = 1; i <= most; i++) {
		play_window();
		if (first_set().cap == cap && !first_set().aside &&
		    first_set().why != NARROW_TRIAL)
			return i;
	}
	return 0;
}

/* One worker is four times as fast as all. */
static void make_convoy(void)
{
	int i;

	for (i = 1; i <= W; i++)
		play.rate[i] = (uint32_t)(4000 / i);
	play.share = 300;
	play.stretch = 8;
}

__attribute__((unused)) static bool counts(void)
{
	return a_load(&rt->executors[0].kinds, relaxed) ||
	       a_load(&kind[2]->slow, relaxed) & SLOW_NOTED;
}

#endif
