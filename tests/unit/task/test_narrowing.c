/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option narrow=auto in made time: windows, samples, counts and tokens are made
 * up, runtime, kinds and gates are the library's. Which kinds come into a set,
 * when a gate is narrowed and when it is not, that bodies are counted during a
 * trial only, and what is told of it.
 */
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

/* Bodies of all kinds, on all workers that may. */
static void run_bodies(uint32_t cap)
{
	struct kind_row *rows;
	int i, j, k;

	for (i = 0; i < NR_KINDS; i++) {
		for (j = 0; j < 10; j++)
			if (a_load(&kind[i]->slow, relaxed) & ~SLOW_ADDS)
				kind_sample(kind[i],
					    play.alone *
						    (i || !play.stretch
							     ? 1
							     : play.stretch));
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
		g->nr_over[GATE_PASS_JOIN] += play.passes ? 600 : 400;
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

static bool counts(void)
{
	return a_load(&rt->executors[0].kinds, relaxed) ||
	       a_load(&kind[2]->slow, relaxed) & SLOW_NOTED;
}

/* ---- tests --------------------------------------------------------------- */

static void one_word_is_one_set(void)
{
	struct lkdf_facts f = { .size = sizeof(f) };
	struct narrowed n;

	begin();
	make_convoy();
	play.word[0] = play.word[1] = WORD;
	ok(windows_until(1, 64), "two kinds in one word: one worker runs them");
	n = first_set();
	is(n.nr_kinds, 2, "both at one gate");
	is(n.word, WORD, "whose word is known");
	is(n.source, LKDF_SIGNAL_BPF, "from the probe");
	is(n.why, NARROW_WON, "and why");
	ok(a_load(&kind[0]->slow, relaxed) & SLOW_GATED &&
		   a_load(&kind[1]->slow, relaxed) & SLOW_GATED,
	   "both want a token");
	ok(!a_load(&kind[2]->gate, relaxed), "the third one does not");
	ok(!counts(), "bodies are not counted any more");
	is(stat_of("lkdf.narrow.trials"), 1, "one trial");
	is(stat_of("lkdf.narrow.wins"), 1, "won");
	is(lkdf_signals(rt, -1, &f), 0, "facts");
	is(f.active_workers, 1, "say so");
	is(f.nr_narrow, 1, "of one set");
	ok(!narrowing_read(rt, 1, &n), "there is no other");
	end();
}

static void others_are_left_alone(void)
{
	begin();
	play_windows(200);
	ok(!first_set().nr_kinds, "no sign: no gate in 200 windows");
	ok(!counts(), "and nobody counts");
	is(stat_of("lkdf.narrow.trials"), 0, "nor tries");
	end();
}

static void a_spin_lock_has_no_word(void)
{
	begin();
	play.has_probe = false;
	play_windows(2);
	make_convoy();
	play.share = 0;
	ok(windows_until(1, 128), "bodies that take longer: one worker");
	is(first_set().nr_kinds, 1, "runs the kind");
	is(first_set().kind[0], kind[0]->trace_name, "that takes longer");
	is(first_set().word, 0, "no word is known");
	is(first_set().source, LKDF_SIGNAL_SELF, "nor who could name it");
	ok(!a_load(&kind[1]->gate, relaxed), "other kinds have no gate");
	end();
}

static void two_words_are_two_sets(void)
{
	struct narrowed n;

	begin();
	make_convoy();
	play.word[0] = WORD;
	play.word[1] = OTHER_WORD;
	play_windows(128);
	ok(narrowing_read(rt, 1, &n), "two words: two gates");
	ok(a_load(&kind[0]->gate, relaxed) != a_load(&kind[1]->gate, relaxed),
	   "of a kind each");
	end();
}

static void nothing_to_win(void)
{
	begin();
	play.share = 300;
	play.word[0] = WORD;
	play_windows(2000);
	is(first_set().cap, W, "as fast with all workers: all run it");
	is(stat_of("lkdf.narrow.losses"), NARROW_LOSSES,
	   "after three losses nobody tries any more");
	ok(!(a_load(&kind[0]->slow, relaxed) & SLOW_GATED),
	   "and nobody wants a token");
	ok(!counts(), "nor counts");
	end();
}

static void bodies_that_pass_by_are_no_trial(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.passes = true;
	play_windows(200);
	ok(stat_of("lkdf.narrow.trials") > 0, "a trial begins");
	is(stat_of("lkdf.narrow.wins"), 0,
	   "most bodies run without a token: no cap wins");
	is(stat_of("lkdf.narrow.losses"), 0, "nor loses");
	is(first_set().cap, W, "so all workers run them");
	play.passes = false;
	ok(windows_until(1, 128), "once they have tokens one worker does");
	end();
}

static void no_cpus_no_trial(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.delay_ns = WINDOWS_NS;
	play_windows(100);
	is(stat_of("lkdf.narrow.trials"), 0,
	   "workers that wait for a CPU tell nothing");
	play.delay_ns = 0;
	ok(windows_until(1, 64), "with their CPUs they do");
	end();
}

static void short_bodies_get_none(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.stretch = 0;
	play.alone = rt->sched.ticks_per_1024ns / 8;
	play_windows(100);
	ok(!a_load(&kind[0]->gate, relaxed), "bodies of 0.13 us: no gate");
	end();
	begin();
	make_convoy();
	play.word[0] = WORD;
	play.stretch = 0;
	play.alone = rt->sched.ticks_per_1024ns / 2;
	ok(windows_until(1, 64), "bodies of half a microsecond have one");
	end();
}

static void an_end_is_seen(void)
{
	int i;

	begin();
	make_convoy();
	play.word[0] = WORD;
	ok(windows_until(1, 64), "a convoy");
	play_windows(40);
	memset(play.word, 0, sizeof(play.word));
	play.share = play.stretch = 0;
	for (i = 1; i <= W; i++)
		play.rate[i] = (uint32_t)(1000 * i);
	i = windows_until(W, 100);
	ok(i && i <= 30, "that ends: all workers after %d windows", i);
	ok(!counts(), "and nobody counts");
	end();
}

static void a_name_is_a_kind(void)
{
	begin();
	make_convoy();
	play.word[0] = WORD;
	ok(windows_until(1, 64), "a convoy");
	lkdf_kind_put(kind[0]);
	kind[0] = make_kind("parse");
	ok(!a_load(&kind[0]->gate, relaxed), "a new kind has no gate");
	play_window();
	ok(a_load(&kind[0]->gate, relaxed), "until one comes by: the name's");
	ok(a_load(&kind[0]->slow, relaxed) & SLOW_GATED, "which is narrow");
	end();
}

/* The mean alone: one that has lost its CPU stands for many, but not for more
 * than the window. */
static void alone_is_bounded(void)
{
	uint64_t most;

	begin();
	make_convoy();
	play.word[0] = WORD;
	play.row_ticks = (uint64_t)1 << 40;
	ok(windows_until(1, 64), "a convoy");
	play_window();
	most = (uint64_t)WINDOWS_NS / 1024 * rt->sched.ticks_per_1024ns;
	ok(a_load(&kind[0]->alone_ticks, relaxed) &&
		   a_load(&kind[0]->alone_ticks, relaxed) <=
			   most / play.rate[1],
	   "a body that lost its CPU is no mean");
	end();
}

/* Sets move when one of them is forgotten. */
static void one_is_forgotten_meanwhile(void)
{
	begin();
	play.share = 300;
	play.word[0] = WORD;
	play.delay_ns = WINDOWS_NS;
	play_windows(2);
	play.word[0] = play.delay_ns = 0;
	play_windows(60);
	make_convoy();
	play.stretch = 0;
	play.word[1] = OTHER_WORD;
	play_windows(64);
	is(first_set().cap, 1, "a set tries while an older one is forgotten");
	is(first_set().kind[0], kind[1]->trace_name,
	   "it is the one that is left");
	is(stat_of("lkdf.narrow.wins"), 1, "it has won");
	ok(!counts() || first_set().why == NARROW_TRIAL,
	   "and bodies are counted in trials only");
	end();
}

int main(void)
{
	tap_start(120);
	one_is_forgotten_meanwhile();
	one_word_is_one_set();
	others_are_left_alone();
	a_spin_lock_has_no_word();
	two_words_are_two_sets();
	nothing_to_win();
	bodies_that_pass_by_are_no_trial();
	no_cpus_no_trial();
	short_bodies_get_none();
	an_end_is_seen();
	a_name_is_a_kind();
	alone_is_bounded();
	return tap_end();
}
