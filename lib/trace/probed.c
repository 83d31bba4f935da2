/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/probed.h"

#include "trace/loaded.h"
#include "trace/probed_stacks.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void probed_init(struct probed *k, const struct trace *t)
{
	*k = (struct probed){ .t = t };
	k->threads = calloc((size_t)t->nr_executors, sizeof(*k->threads));
}

void probed_fini(struct probed *k)
{
	free(k->threads);
	free(k->words);
	free(k->stacks);
	k->threads = NULL;
	k->words = NULL;
	k->stacks = NULL;
}

bool probed_has_source(const struct probed *k)
{
	/* [trace.probed] its fields; pairs with [trace.told_by]. */
	return a_load(&k->t->told_by_probe, acquire);
}

static void begin_record(struct trace_file *f, enum lkdf_probed_record record)
{
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	chunk_number(f, record);
}

/* The counts may have begun anew between two looks. */
static uint64_t since_begin(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/* ---- threads ------------------------------------------------------------- */

/*
 * Adds what came since the sample before. A thread that was there when
 * recording began has counted before; one that came later begins at 0.
 */
static void add_counts(struct probed_thread_row *r,
		       const struct probed_thread *now, bool has_begun)
{
	int i;

	if (r->id != now->id) {
		r->id = now->id;
		memset(r->last, 0, sizeof(r->last));
		if (!has_begun)
			memcpy(r->last, now->count, sizeof(r->last));
	}
	for (i = 0; i < LKDF_PROBED_COUNTS; i++) {
		r->sum[i] += since_begin(now->count[i], r->last[i]);
		r->last[i] = now->count[i];
	}
}

/*
 * The last one, where there was one since the sample before. This thread has
 * just taken a CPU to look: to find itself tells nothing of the program.
 */
static void tell_preemptor(struct trace_file *f, int executor,
			   const struct probed_thread *now)
{
	begin_record(f, LKDF_PROBED_PREEMPTOR);
	chunk_number(f, (uint64_t)executor);
	chunk_number(f, now->by_tid);
	chunk_text(f, now->by);
	chunk_end(f);
}

static void tell_thread(struct probed *k, struct trace_file *f, uint64_t ticks,
			int executor)
{
	const struct probed_source *s = &k->t->probed;
	struct probed_thread_row *r = &k->threads[executor];
	struct probed_thread now;
	uint64_t preempts;
	int i;

	memset(&now, 0, sizeof(now));
	if (!s->thread(s->u, executor, &now))
		return;
	preempts = r->sum[LKDF_PROBED_PREEMPTS];
	add_counts(r, &now, k->has_begun);
	if (r->sum[LKDF_PROBED_PREEMPTS] > preempts && now.by_tid &&
	    now.by_tid != (uint32_t)gettid())
		tell_preemptor(f, executor, &now);
	begin_record(f, LKDF_PROBED_THREAD);
	chunk_number(f, (uint64_t)executor);
	chunk_number(f, ticks);
	chunk_number(f, now.state);
	chunk_number(f, now.state_ns);
	chunk_number(f, now.word);
	for (i = 0; i < LKDF_PROBED_COUNTS; i++)
		chunk_number(f, r->sum[i]);
	chunk_end(f);
}

/* ---- words --------------------------------------------------------------- */

/* A copy of a row that others may write meanwhile. */
static void copy_row(const struct lkdf_stats_label *row,
		     struct lkdf_stats_label *to)
{
	const _Atomic(uint64_t) *from = (const void *)row;
	uint64_t word[sizeof(*to) / 8];
	size_t i;

	for (i = 0; i < sizeof(word) / 8; i++)
		/* [trace.row] before the address again; pairs with
		 * [listing.word]. */
		word[i] = a_load(&from[i], acquire);
	memcpy(to, word, sizeof(*to));
	to->text[sizeof(to->text) - 1] = '\0';
}

/* The block with a label that holds an address. False: none has. */
static bool find_label(const struct trace *t, uint64_t address,
		       struct lkdf_stats_label *l, uint64_t *begin)
{
	const _Atomic(uint64_t) *at = (const void *)t->labels;
	const struct lkdf_stats_label *row =
		(const void *)(t->labels + TRACE_LABELS * sizeof(*at));
	uint32_t i;

	for (i = 0; i < TRACE_LABELS; i++) {
		/* [trace.block] the row; pairs with [listing.row]. */
		*begin = a_load(&at[i], acquire);
		if (*begin <= 1 || address < *begin)
			continue;
		copy_row(&row[i], l);
		if (address - *begin < l->bytes &&
		    a_load(&at[i], relaxed) == *begin)
			return true;
	}
	return false;
}

static void tell_place(const struct probed *k, struct trace_file *f,
		       uint64_t address)
{
	struct lkdf_stats_label l;
	struct loaded place;
	uint64_t begin;

	if (!find_label(k->t, address, &l, &begin)) {
		memset(&l, 0, sizeof(l));
		begin = address;
	}
	loaded_find(address, &place);
	begin_record(f, LKDF_PROBED_PLACE);
	chunk_number(f, address);
	chunk_text(f, place.file);
	chunk_number(f, place.offset);
	chunk_text(f, place.build_id);
	chunk_text(f, place.mapping);
	chunk_number(f, place.mapping_offset);
	chunk_text(f, l.text);
	chunk_number(f, address - begin);
	chunk_number(f, l.bytes);
	chunk_end(f);
}

static void tell_counts(const struct probed_word_row *r,
			const struct probed_word *now, struct trace_file *f,
			uint64_t ticks, uint32_t nr_names)
{
	int i;

	begin_record(f, LKDF_PROBED_WORD);
	chunk_number(f, ticks);
	chunk_number(f, now->address);
	chunk_number(f, now->kind < nr_names ? now->kind : 0);
	for (i = 0; i < NR_WORD_COUNTS; i++)
		chunk_number(f, since_begin(now->count[i], r->base[i]));
	chunk_number(f, now->wait_nodes);
	chunk_number(f, now->wake_nodes);
	chunk_end(f);
}

static void begin_word(struct probed_word_row *r, const struct probed_word *now,
		       bool has_begun)
{
	memset(r, 0, sizeof(*r));
	r->id = now->id;
	if (!has_begun) {
		memcpy(r->base, now->count, sizeof(r->base));
		r->base_wakes = now->wakes;
	}
	r->told_wakes = r->base_wakes;
	memcpy(r->told, r->base, sizeof(r->told));
}

/* The last one, where there was one since the record before. */
static void tell_waker(struct probed_word_row *r, const struct probed_word *now,
		       struct trace_file *f, uint64_t ticks, uint32_t nr_names)
{
	if (now->wakes == r->told_wakes)
		return;
	r->told_wakes = now->wakes;
	begin_record(f, LKDF_PROBED_WAKER);
	chunk_number(f, ticks);
	chunk_number(f, now->address);
	chunk_number(f, now->kind < nr_names ? now->kind : 0);
	chunk_number(f, now->waker_tid);
	chunk_number(f, (uint64_t)(now->waker + 1));
	chunk_number(f, now->waker_kind < nr_names ? now->waker_kind : 0);
	chunk_number(f, since_begin(now->wakes, r->base_wakes));
	chunk_end(f);
}

static void look_at_word(struct probed *k, struct trace_file *f, uint64_t ticks,
			 uint32_t i, uint32_t nr_names)
{
	const struct probed_source *s = &k->t->probed;
	struct probed_word_row *r = &k->words[i];
	struct probed_word now;

	memset(&now, 0, sizeof(now));
	if (!s->word(s->u, i, &now))
		return;
	if (r->id != now.id)
		begin_word(r, &now, k->has_begun);
	if (!memcmp(r->told, now.count, sizeof(r->told)))
		return;
	if (!r->is_placed)
		tell_place(k, f, now.address);
	r->is_placed = true;
	memcpy(r->told, now.count, sizeof(r->told));
	tell_counts(r, &now, f, ticks, nr_names);
	tell_waker(r, &now, f, ticks, nr_names);
}

/* ---- all ----------------------------------------------------------------- */

static void tell_probe(struct probed *k, struct trace_file *f, uint64_t ticks,
		       uint32_t sees, uint32_t hz)
{
	if (sees == k->sees)
		return;
	k->sees = sees;
	begin_record(f, LKDF_PROBED_PROBE);
	chunk_number(f, ticks);
	chunk_number(f, sees);
	chunk_number(f, hz);
	chunk_end(f);
}

void probed_sample(struct probed *k, struct trace_file *f, uint64_t ticks,
		   uint32_t nr_names)
{
	const struct probed_source *s = &k->t->probed;
	uint32_t sees = 0, hz = 0, i;
	int executor;

	if (probed_has_source(k) && k->threads)
		sees = s->sees(s->u, &hz);
	tell_probe(k, f, ticks, sees, hz);
	for (executor = 0; sees && executor < k->t->nr_executors; executor++)
		tell_thread(k, f, ticks, executor);
	if (sees && !k->words)
		k->words = calloc(s->nr_words, sizeof(*k->words));
	for (i = 0; sees && k->words && i < s->nr_words; i++)
		look_at_word(k, f, ticks, i, nr_names);
	if (sees && s->nr_stacks && !k->stacks)
		k->stacks = probed_stacks_new(s->nr_stacks);
	if (sees && k->stacks)
		probed_stacks_tell(k, f, ticks, nr_names);
	k->has_begun = true;
}
