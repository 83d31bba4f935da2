/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/windows.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void windows_open(struct windows *w, const struct workers *b,
		  const struct probed_source *probe)
{
	memset(w, 0, sizeof(*w));
	w->b = b;
	if (probe)
		w->probe = *probe;
}

void windows_close(struct windows *w)
{
	free(w->seen);
	w->seen = NULL;
}

bool windows_begin(struct windows *w, int64_t now)
{
	uint32_t no = 0;

	if (now < a_load(&w->next_ns, relaxed))
		return false;
	/* [window.turn] the last one's; pairs with [window.over]. */
	if (!a_cas(&w->is_closing, &no, 1, acquire, relaxed))
		return false;
	if (now >= a_load(&w->next_ns, relaxed))
		return true;
	windows_end(w);
	return false;
}

void windows_end(struct windows *w)
{
	check(a_load(&w->is_closing, relaxed));
	/* [window.over] what this one found; pairs with [window.turn]. */
	a_store(&w->is_closing, 0, release);
}

/* ---- words --------------------------------------------------------------- */

static struct window_kind *find_kind(struct window *out, uint32_t name)
{
	struct window_kind *k, *least = NULL;

	for (k = out->kind; k < out->kind + out->nr_kinds; k++) {
		if (k->name == name)
			return k;
		if (!least || k->samples < least->samples)
			least = k;
	}
	if (out->nr_kinds < WINDOWS_KINDS)
		least = &out->kind[out->nr_kinds++];
	*least = (struct window_kind){ .name = name };
	return least;
}

static void add_word(struct window *out, const struct probed_word *word,
		     uint64_t samples)
{
	struct window_kind *k = find_kind(out, word->kind);

	k->samples += samples;
	if (samples <= k->word_samples)
		return;
	k->word_samples = samples;
	k->word = word->address;
}

/* A place that another word has taken since counts from 0 anew. */
static uint32_t grown_by(uint32_t *seen, uint64_t samples)
{
	uint32_t now = (uint32_t)samples, from = *seen;

	*seen = now;
	return now >= from ? now - from : now;
}

/* Samples that have come to each word since the last look, if there was one. */
static void look_at_words(struct windows *w, struct window *out)
{
	struct probed_word word;
	uint32_t i, samples;

	if (!w->seen)
		w->seen = calloc(w->probe.nr_words, sizeof(*w->seen));
	if (!w->seen)
		return;
	for (i = 0; i < w->probe.nr_words; i++) {
		if (!w->probe.word(w->probe.u, i, &word)) {
			w->seen[i] = 0;
			continue;
		}
		samples = grown_by(&w->seen[i], word.count[WORD_SAMPLES]);
		if (w->has_seen && samples)
			add_word(out, &word, samples);
	}
	w->has_seen = true;
}

static int has_more(const void *a, const void *b)
{
	const struct window_kind *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static void tell_kinds(struct window *out, uint64_t samples)
{
	uint32_t i;

	for (i = 0; i < out->nr_kinds; i++)
		out->kind[i].permille = (uint32_t)min_u64(
			out->kind[i].samples * 1000 / samples, 1000);
	qsort(out->kind, out->nr_kinds, sizeof(out->kind[0]), has_more);
}

/* ---- windows ------------------------------------------------------------- */

/* The sum over all workers, as each has told last. */
static uint64_t delay_of(const struct workers *b)
{
	uint64_t ns = 0;
	int i;

	for (i = 0; b->of && i < b->nr; i++)
		ns += a_load(&b->of[i].run_delay_ns, relaxed);
	return ns;
}

/* Samples are rare: those of a window that has too few wait for more. */
static void keep_mark(struct windows *w, const struct workers_mark *mark,
		      bool has_samples)
{
	struct workers_mark was = w->mark;

	w->mark = *mark;
	if (has_samples || mark->samples < was.samples)
		return;
	w->mark.samples = was.samples;
	w->mark.futex = was.futex;
	w->mark.own = was.own;
}

void windows_turn(struct windows *w, const struct workers_mark *mark,
		  int64_t now)
{
	uint64_t delay = delay_of(w->b);
	uint64_t samples = mark->samples - w->mark.samples;
	bool has_samples = mark->samples >= w->mark.samples + WINDOWS_SAMPLES;
	bool is_first = !w->at_ns;
	struct window out = { .end_ns = now };

	if (!is_first) {
		out.ns = (uint64_t)(now - w->at_ns);
		out.share = workers_share(&w->mark, mark);
		out.delay_ns = delay > w->delay_ns ? delay - w->delay_ns : 0;
	}
	if (has_samples && w->probe.word &&
	    out.share.permille >= WINDOWS_QUIET) {
		look_at_words(w, &out);
		tell_kinds(&out, samples);
	} else if (has_samples) {
		w->has_seen = false;
	}
	w->at_ns = now;
	w->delay_ns = delay;
	keep_mark(w, mark, has_samples || is_first);
	a_store(&w->next_ns, now + WINDOWS_NS, relaxed);
	lock_take(&w->lock);
	w->last = out;
	lock_give(&w->lock);
}

void windows_read(struct windows *w, struct window *out)
{
	lock_take(&w->lock);
	*out = w->last;
	lock_give(&w->lock);
}
