/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/words.h"

#include "trace/trace.h"

#include <stdlib.h>

/* Names new since the last time; they never change. */
static void write_names(struct words *w)
{
	struct trace *t = w->t;
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&t->nr_names, acquire), i = w->nr_names;

	while (i < nr) {
		chunk_begin(w->file, LKDF_CHUNK_NAMES);
		for (; i < nr && !chunk_is_full(w->file); i++) {
			chunk_number(w->file, i);
			chunk_text(w->file, t->names[i]);
		}
		chunk_end(w->file);
	}
	w->nr_names = nr;
}

/* Kinds that are new, or are not what they were. */
static void write_kinds(struct words *w)
{
	struct trace *t = w->t;
	struct trace_kind *k;
	uint32_t i;

	chunk_begin(w->file, LKDF_CHUNK_KINDS);
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < w->nr_names && !chunk_is_full(w->file); i++) {
		k = &t->kinds[i];
		if (!k->is_known || k->is_told)
			continue;
		k->is_told = true;
		chunk_number(w->file, i);
		chunk_number(w->file, k->flags);
		chunk_number(w->file, k->prio);
		chunk_number(w->file, k->width);
		chunk_number(w->file, k->limits);
	}
	pthread_mutex_unlock(&t->lock);
	chunk_end_if_any(w->file);
}

static struct trace_note *take_notes(struct trace *t)
{
	struct trace_note *n;

	pthread_mutex_lock(&t->lock);
	n = t->notes;
	t->notes = NULL;
	t->notes_end = &t->notes;
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void note_lane(struct words *w, uint32_t lane)
{
	lane -= (uint32_t)w->t->nr_executors + 1;
	w->lanes[lane / 8] |= (uint8_t)(1u << lane % 8);
}

void words_write(struct words *w)
{
	struct trace_note *n = take_notes(w->t), *next;

	write_names(w);
	write_kinds(w);
	for (; n; n = next) {
		next = n->next;
		chunk_begin(w->file, (enum lkdf_chunk_type)n->type);
		chunk_bytes(w->file, n->payload, n->size);
		chunk_end(w->file);
		if (n->type == LKDF_CHUNK_LANE)
			note_lane(w, n->lane);
		free(n);
	}
}
