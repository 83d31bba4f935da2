/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads the map of /dev/lkdf as lkdf_kmod.h describes it. node_of() is one
 * relaxed load of two bytes. No fences: orders sit on the loads.
 */
#ifndef LKDF_TESTS_KMOD_READER_H
#define LKDF_TESTS_KMOD_READER_H

#include <stdint.h>

#include "lkdf_kmod.h"

/* What a reader keeps of a region, all constant while it lives. */
struct reader {
	const uint16_t *words;
	const volatile struct lkdf_map_desc *desc;
	uintptr_t start;
	unsigned shift;
};

static inline uint16_t reader_load(const uint16_t *words, uintptr_t offset,
				   unsigned shift)
{
	return __atomic_load_n(&words[offset >> shift], __ATOMIC_RELAXED);
}

static inline uint16_t reader_word(const struct reader *r, const void *addr)
{
	return reader_load(r->words, (uintptr_t)addr - r->start, r->shift);
}

/* The hint: where the block is, or was when the kernel looked. */
static inline unsigned node_of(const struct reader *r, const void *addr)
{
	return reader_word(r, addr) & LKDF_BLOCK_NODE;
}

/* The fact: its node, or -1 where the kernel would have to look again. */
static inline int reader_settled(const struct reader *r, const void *addr)
{
	uint16_t word;

	/* [map.all] pairs with the kernel's release */
	if (__atomic_load_n(&r->desc->all_stale, __ATOMIC_ACQUIRE))
		return -1;
	word = reader_word(r, addr);
	return word & LKDF_BLOCK_UNSETTLED ? -1 : word & LKDF_BLOCK_NODE;
}

static inline uint64_t reader_gen(const struct reader *r)
{
	/* [map.gen] pairs with the kernel's release */
	return __atomic_load_n(&r->desc->gen, __ATOMIC_ACQUIRE);
}

/* A histogram that is one piece. */
struct reader_counts {
	uint64_t snap_gen;
	uint64_t present, absent, rsvd2, zero, error, huge;
	uint64_t pages[64];
};

/* Return: 0, or -1 if it was being written all the time. */
static inline int reader_counts(const struct reader *r, unsigned nr_nodes,
				struct reader_counts *out)
{
	const volatile __u64 *from = &r->desc->present;
	uint64_t *to = &out->present;
	uint32_t seq;
	unsigned i;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		/* [map.seq] pairs with the kernel's write barriers */
		seq = __atomic_load_n(&r->desc->seq, __ATOMIC_ACQUIRE);
		out->snap_gen =
			__atomic_load_n(&r->desc->snap_gen, __ATOMIC_ACQUIRE);
		for (i = 0; i < 6 + nr_nodes && i < 6 + 64; i++)
			to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
		if (!(seq & 1) &&
		    seq == __atomic_load_n(&r->desc->seq, __ATOMIC_RELAXED))
			return 0;
	}
	return -1;
}

#endif
