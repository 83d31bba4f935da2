/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A memory: all bytes that a heap holds of one kind on one node. It is cut
 * three times. Segments of 4 MiB come from the kernel, bound to the node; spans
 * are runs of their 64 KiB pages; blocks of one size class are parts of a span
 * (tcmalloc's page heap and spans; Ghemawat and Menage, 2007). A block larger
 * than 2 MiB is a span with a mapping of its own.
 *
 * Free pages that have been written stay for a second, then they go back to
 * the kernel. Time is looked at only when a span comes or goes.
 */
#ifndef MEM_MEMORY_H
#define MEM_MEMORY_H

#include "mem/class.h"
#include "mem/depot.h"
#include "mem/index.h"
#include "mem/meta.h"

#define SEGMENT_SIZE ((size_t)4 << 20)
#define SEGMENT_PAGES 64

/* Large blocks are cached by size, eight steps per doubling. */
#define NR_LARGE 224

/* Bytes of large blocks kept for reuse, at most: with pages, and without. */
#define LARGE_CACHED_MAX ((uint64_t)1 << 30)
#define LARGE_CLEAN_MAX ((uint64_t)64 << 30)

/* How often depots give up half of what they do not need. */
#define MEMORY_SWEEP_NS ((int64_t)250000000)

/* How long free pages that were written stay. */
#define MEMORY_IDLE_NS ((int64_t)1000000000)

enum memory_kind {
	MEMORY_NODE,
	MEMORY_INTERLEAVED,
	MEMORY_PINNED
};

struct segment {
	/* Constant while it lives. */
	char *base;

	/* Under the memory's lock; one bit per page. */
	struct list bucket; /* by the longest run of free pages */
	struct list idle; /* some pages are free and dirty; oldest first */
	uint64_t free, dirty;
	int64_t idle_since_ns;
	unsigned run; /* longest run of free pages, its bucket */
};

struct span {
	/* Constant while it has blocks. */
	char *base;
	uint64_t inverse; /* of block_size, in 2^-64 */
	/* Behind the last block ever handed out: grows. Large: 0. */
	_Atomic(uint32_t) end;
	uint32_t block_size, nr_blocks; /* large: 0, 1 */
	uint16_t memory_index, nr_pages; /* large: nr_pages 0 */
	uint8_t class;
	struct memory *memory;
	struct segment *segment; /* large: NULL */

	/* Under the depot's lock; a large one's under the memory's. */
	void *free; /* blocks that came back, linked by their first word */
	uint32_t nr_free;
	uint32_t nr_fresh; /* blocks never handed out: the last ones */
	struct list list; /* depot's partial ones, or the large cache */
	struct list age; /* large, cached: oldest first */
	size_t size; /* large: bytes mapped */
	int64_t idle_since_ns;
	bool is_dirty; /* large: not known to be zero */
	bool is_huge; /* large: has a policy of its own, is never cached */
	_Atomic(bool) is_cached;

	/* Under labels' lock, see label.h: one number per block, or NULL. */
	_Atomic(_Atomic(uint32_t) *) label;
	_Atomic(uint32_t) large_label;
	struct list all; /* every span in use, under the memory's lock */
};

struct memory {
	/* Set at init, constant afterwards. */
	struct heap *heap;
	unsigned index; /* in the heap */
	int node; /* the heap's number of the node; interleaved: -1 */
	enum memory_kind kind;
	bool is_present; /* there is memory on the node */
	struct os_policy policy;
	struct meta meta;

	/* Any thread. */
	_Atomic(uint64_t) out; /* bytes with users and their threads */
	_Atomic(uint64_t) peak; /* of out */
	_Atomic(int64_t) swept_ns;
	_Atomic(int) bind_error; /* why the kernel refused the policy, or 0 */

	/* Under lock. */
	_Alignas(CACHE_LINE) struct lock lock;
	uint64_t bucket_mask; /* bit r-1: bucket r is not empty */
	struct list bucket[SEGMENT_PAGES + 1];
	struct list idle;
	struct list spans;
	struct list large[NR_LARGE];
	struct list large_age;
	uint64_t mapped, large_cached, large_clean, cached_pages;
	uint64_t nr_remote; /* large blocks freed by threads elsewhere */
	unsigned nr_segments;

	struct depot depot[NR_SIZES];
};

/* The size class of the span of an entry that is not 0. */
static inline unsigned entry_class(uint64_t entry)
{
	return entry_span(entry)->class;
}

static inline unsigned entry_memory(uint64_t entry)
{
	return entry_span(entry)->memory_index;
}

void memory_init(struct memory *m);

/* Unmaps everything, whatever is still out. */
void memory_fini(struct memory *m);

/* A span of class with nothing handed out; NULL: no memory, *error why. */
struct span *memory_span(struct memory *m, unsigned class, int *error);

/* All its blocks came back. */
void memory_span_free(struct memory *m, struct span *s);

/*
 * A block of its own, of at least size bytes. is_huge: huge pages are asked
 * for, unless the policy says never. *is_zero: known to hold zeroes. NULL: no
 * memory, *error why.
 */
struct span *memory_large(struct memory *m, size_t size, size_t align,
			  bool is_huge, bool *is_zero, int *error);

/* 0; -EALREADY: it is free. */
int memory_large_free(struct memory *m, struct span *s, bool is_remote);

/* Under lock: unmaps all that is unused. */
void memory_drop_idle(struct memory *m);

/* Gives back what lies idle; all: at once, not after a second. */
void memory_trim(struct memory *m, bool all);

/*
 * As memory_trim(m, false), if the last time is a while ago. Called now and
 * then, without locks.
 */
void memory_sweep(struct memory *m);

/* More bytes with users; nr may be negative. */
void memory_count_out(struct memory *m, int64_t bytes);

#endif
