/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/listing.h"

#include <string.h>

/* Blocks begin at multiples of 16: this is none. */
#define BUSY 1

static uint32_t line_of(const struct listing *l, uint64_t address)
{
	uint64_t h = address * 11400714819323198485ull; /* 2^64 / phi, Knuth */

	return (uint32_t)(h >> 32) & (l->nr - 1) & ~(LKDF_LABEL_LINE - 1u);
}

/* The place that has the value, made the caller's; l->nr: there is none. */
static uint32_t take_place(const struct listing *l, uint32_t first,
			   uint64_t value)
{
	uint64_t seen;
	uint32_t i;

	for (i = first; i < first + LKDF_LABEL_LINE; i++) {
		seen = value;
		/* [listing.take] its row is the caller's; pairs with
		 * [listing.row], [listing.word] and [listing.free]. */
		if (a_load(&l->address[i], relaxed) == value &&
		    a_cas(&l->address[i], &seen, BUSY, acq_rel, relaxed))
			return i;
	}
	return l->nr;
}

/* A reader that sees a word of it sees also that its address has gone. */
static void write_row(const struct listing *l, uint32_t i, uint64_t bytes,
		      const char *text)
{
	_Atomic(uint64_t) *to = (void *)&l->row[i];
	struct lkdf_stats_label row = { .bytes = bytes };
	uint64_t word[sizeof(row) / 8];
	size_t k;

	memcpy(row.text, text, sizeof(row.text));
	memcpy(word, &row, sizeof(row));
	for (k = 0; k < sizeof(row) / 8; k++)
		/* [listing.word] comes after BUSY, for tools; pairs with
		 * [listing.take]. */
		a_store(&to[k], word[k], release);
}

void listing_set(const struct listing *l, const void *block, uint64_t bytes,
		 const char *text)
{
	uint64_t address = (uintptr_t)block;
	uint32_t first, i;

	if (!l->address)
		return;
	first = line_of(l, address);
	i = take_place(l, first, address);
	if (i == l->nr)
		i = take_place(l, first, 0);
	if (i == l->nr) {
		a_add(l->left_out, 1, relaxed);
		return;
	}
	write_row(l, i, bytes, text);
	/* [listing.row] what is said of it; pairs with [listing.take]. */
	a_store(&l->address[i], address, release);
}

void listing_drop(const struct listing *l, const void *block)
{
	uint64_t address = (uintptr_t)block;
	uint32_t i;

	if (!l->address)
		return;
	i = take_place(l, line_of(l, address), address);
	/* [listing.free] the row is not read here again; pairs with
	 * [listing.take]. */
	if (i < l->nr)
		a_store(&l->address[i], 0, release);
}
