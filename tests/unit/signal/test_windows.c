/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Windows of contention on a board that is made up, in made time: whose window
 * it is to close, what share of it went to futexes or the system, in bodies of
 * which kinds and in which word; and what is said of the first look, of words
 * that others have taken, of too few samples and of a probe that is gone.
 */
#include "signal/windows.h"
#include "tests/tap.h"

#include <string.h>

#define MS 1000000u
#define NR_WORDS 24
#define PARSE 3u
#define PRINT 4u

static struct fake {
	struct probed_word word[NR_WORDS];
} fake;

static bool fake_word(const void *u, uint32_t i, struct probed_word *out)
{
	const struct fake *f = u;

	*out = f->word[i];
	return out->id != 0;
}

static const struct probed_source source = {
	.u = &fake,
	.nr_words = NR_WORDS,
	.word = fake_word,
};

static struct worker_facts facts[2];
static struct workers board = { .nr = 2, .of = facts, .has_self = true };

static struct world {
	struct windows w;
	struct workers_mark mark;
	int64_t now;
} world;

static void world_open(bool has_probe)
{
	memset(&fake, 0, sizeof(fake));
	memset(facts, 0, sizeof(facts));
	memset(&world, 0, sizeof(world));
	world.now = 1000 * MS;
	windows_open(&world.w, &board, has_probe ? &source : NULL);
}

static void meet(uint32_t at, uint32_t kind, uint64_t samples)
{
	struct probed_word *w = &fake.word[at];

	w->id = at + 1;
	w->address = 0x1000 + at;
	w->kind = kind;
	w->count[WORD_SAMPLES] += samples;
}

/* Both workers compute and are in the system for so long, then it is over. */
static struct window turn_after(uint64_t user_ms, uint64_t system_ms,
				uint64_t samples, uint64_t futex)
{
	struct window out;

	world.now += (int64_t)((user_ms + system_ms) * MS / 2);
	world.mark.user_ns += user_ms * MS;
	world.mark.system_ns += system_ms * MS;
	world.mark.samples += samples;
	world.mark.futex += futex;
	if (windows_begin(&world.w, world.now)) {
		windows_turn(&world.w, &world.mark, world.now);
		windows_end(&world.w);
	}
	windows_read(&world.w, &out);
	return out;
}

static void one_closes_it(void)
{
	world_open(false);
	ok(windows_begin(&world.w, world.now), "the first window is due");
	ok(!windows_begin(&world.w, world.now), "nobody else closes it");
	windows_turn(&world.w, &world.mark, world.now);
	windows_end(&world.w);
	ok(!windows_begin(&world.w, world.now + WINDOWS_NS - 1),
	   "the next one goes on for 10 ms");
	ok(windows_begin(&world.w, world.now + WINDOWS_NS), "and is due then");
	windows_end(&world.w);
	windows_close(&world.w);
}

static void threads_tell_the_share(void)
{
	struct window w;

	world_open(false);
	w = turn_after(10, 10, 0, 0);
	is(w.ns, 0, "the first one has no beginning");
	is(w.share.source, LKDF_SIGNAL_NONE, "so nobody tells of it");
	a_store(&facts[1].run_delay_ns, 3 * MS, relaxed);
	w = turn_after(10, 10, 0, 0);
	is(w.ns, 10 * MS, "the second one took 10 ms");
	is(w.share.permille, 500, "half of it in the system");
	is(w.share.source, LKDF_SIGNAL_SELF, "as threads tell");
	is(w.delay_ns, 3 * MS, "and waited for a CPU");
	is(w.nr_kinds, 0, "nobody knows in bodies of which kind");
	w = turn_after(20, 0, 0, 0);
	is(w.share.permille, 0, "the third one is over: nothing of it");
	is(w.delay_ns, 0, "nor of the delay");
	windows_close(&world.w);
}

static void the_probe_tells_kinds(void)
{
	struct window w;

	world_open(true);
	turn_after(10, 10, 20, 10);
	meet(0, PARSE, 500);
	w = turn_after(10, 10, 20, 10);
	is(w.share.permille, 500, "half of the samples in futexes");
	is(w.nr_kinds, 0, "words that were met before tell nothing");
	meet(0, PARSE, 4);
	meet(7, PRINT, 3);
	meet(8, PARSE, 3);
	w = turn_after(10, 10, 20, 10);
	is(w.nr_kinds, 2, "two kinds");
	is(w.kind[0].name, PARSE, "the one with most samples first");
	is(w.kind[0].permille, 350, "and what part of all they are");
	is(w.kind[0].word, 0x1000, "its hottest word");
	is(w.kind[1].name, PRINT, "and the other one");
	is(w.kind[1].permille, 150, "and its part");
	memset(&fake.word[0], 0, sizeof(fake.word[0]));
	meet(0, PRINT, 9);
	w = turn_after(10, 10, 20, 10);
	is(w.kind[0].name, PRINT, "a word that is another one now");
	is(w.kind[0].samples, 9, "counts anew");
	windows_close(&world.w);
}

static void a_quiet_time_is_not_looked_at(void)
{
	struct window w;

	world_open(true);
	turn_after(20, 0, 20, 0);
	turn_after(10, 10, 20, 10);
	meet(0, PARSE, 1);
	w = turn_after(20, 0, 40, 1);
	is(w.share.permille, 25, "a small share");
	is(w.nr_kinds, 0, "has nobody look at words");
	meet(0, PARSE, 9);
	w = turn_after(10, 10, 20, 10);
	is(w.nr_kinds, 0, "so what came in that time is not told");
	meet(0, PARSE, 8);
	w = turn_after(10, 10, 20, 10);
	is(w.kind[0].samples, 8, "what comes afterwards is");
	windows_close(&world.w);
}

static void few_samples_add_up(void)
{
	struct window w;

	world_open(true);
	turn_after(20, 0, 20, 0);
	turn_after(10, 10, 20, 10);
	meet(0, PARSE, 3);
	w = turn_after(10, 10, 5, 4);
	is(w.share.source, LKDF_SIGNAL_SELF, "five samples tell nothing");
	is(w.nr_kinds, 0, "of kinds");
	meet(0, PARSE, 3);
	w = turn_after(10, 10, 5, 4);
	is(w.share.source, LKDF_SIGNAL_BPF, "ten do");
	is(w.share.permille, 800, "of both windows");
	is(w.kind[0].samples, 6, "and so do those of words");
	is(w.kind[0].permille, 600, "as a part of them");
	w = turn_after(10, 10, 0, 0);
	is(w.share.permille, 500, "then they begin anew");
	world.mark.samples = world.mark.futex = 0;
	w = turn_after(10, 10, 0, 0);
	is(w.share.source, LKDF_SIGNAL_SELF, "a probe that is gone");
	w = turn_after(10, 10, 20, 10);
	is(w.share.source, LKDF_SIGNAL_BPF, "and one that has come");
	windows_close(&world.w);
}

static void more_kinds_than_room(void)
{
	struct window w;
	uint32_t i;

	world_open(true);
	turn_after(20, 0, 20, 0);
	turn_after(10, 10, 20, 10);
	for (i = 0; i < NR_WORDS; i++)
		meet(i, 10 + i, 1 + i);
	w = turn_after(10, 10, 1000, 300);
	is(w.nr_kinds, WINDOWS_KINDS, "as many kinds as there is room for");
	is(w.kind[0].name, 10 + NR_WORDS - 1, "the hottest one is among them");
	ok(w.kind[0].samples >= w.kind[1].samples &&
		   w.kind[WINDOWS_KINDS - 2].samples >=
			   w.kind[WINDOWS_KINDS - 1].samples,
	   "in order");
	windows_close(&world.w);
}

int main(void)
{
	tap_start(60);
	one_closes_it();
	threads_tell_the_share();
	the_probe_tells_kinds();
	a_quiet_time_is_not_looked_at();
	few_samples_add_up();
	more_kinds_than_room();
	return tap_end();
}
