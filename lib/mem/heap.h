/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The allocator: memories (one per node, one interleaved, one pinned per
 * node), an index from addresses to them, and caches of threads. Several
 * heaps in one process do not know of each other, but for fork().
 *
 * A block knows its node by its address alone. Its second word tells whether
 * it is free, by a number that nobody can guess; so a block freed twice is
 * found at the price of one compare.
 */
#ifndef MEM_HEAP_H
#define MEM_HEAP_H

#include "base/thread.h"
#include "mem/cache.h"
#include "mem/index.h"
#include "mem/label.h"

#define HEAP_ALIGN ((size_t)64) /* what users of places get at least */
#define HEAP_SIZE_MAX ((size_t)1 << 46)

struct heap_node {
	int os_node;
	bool has_memory;
};

struct heap_attr {
	int nr_nodes;
	const struct heap_node *node;
	const int *distance; /* nr_nodes * nr_nodes; NULL: by number */
	uint64_t limit; /* bytes mapped per memory; 0: none */
	/* Memory of another node is refused, not only less liked. */
	bool is_strict;
	bool is_bound; /* false: a made-up machine, bind nothing */
	enum os_huge huge;
	/* Free bytes of the system's node, -1: unknown; for is_strict. */
	int64_t (*node_free)(int os_node);
};

struct heap {
	/* Set when made, constant afterwards. */
	uint64_t id; /* never used again in this process */
	uint64_t key; /* what the second word of a free block is made of */
	uint64_t limit;
	int64_t (*node_free)(int os_node);
	bool is_strict;
	bool is_bound;
	enum os_huge huge;
	int nr_nodes;
	unsigned nr_memories;
	int *os_node; /* by node */
	int *near; /* nr_nodes * nr_nodes: nodes by distance from a node */
	struct memory *memory[MAX_MEMORIES];
	struct size_class class[NR_SIZES];

	/* Any thread. */
	struct meta meta; /* caches, tables, labels */
	struct os_policy policy; /* meta's: none */
	struct labels labels;

	/*
	 * Option check, set before the first block: where blocks come from and
	 * go to, so that the sanitizer takes each for new. NULL: the memories.
	 */
	struct notes *notes; /* of their labels, see check/notes.h */
	void *(*fresh)(size_t align, size_t size);
	void (*forget)(void *p);

	/* Under lock. */
	_Alignas(CACHE_LINE) struct lock lock;
	struct list caches;

	/* Under the registry's lock. */
	struct list all;

	struct index index;
};

/* The number of the memory whose pages lie on all nodes by turns. */
static inline unsigned heap_interleaved(const struct heap *h)
{
	return (unsigned)h->nr_nodes;
}

static inline unsigned heap_pinned(const struct heap *h, int node)
{
	return (unsigned)(h->nr_nodes + 1 + node);
}

/* 0; -ENOMEM; -EINVAL: too many nodes. */
int heap_create(const struct heap_attr *a, struct heap **out);

/* Unmaps everything. No thread uses it any more. */
void heap_destroy(struct heap *h);

/* For the calling thread, which runs on node; NULL: no memory. */
struct cache *heap_cache_create(struct heap *h, int node);
void heap_cache_destroy(struct cache *c);

/*
 * The heap's number of the node this thread runs on; -1: none of its own. On a
 * made-up machine threads run on its first node.
 */
int heap_current_node(const struct heap *h);

/* The nearest memory there is from a node; -1: from the first. */
unsigned heap_near_memory(const struct heap *h, int node);

/*
 * This thread's cache, made when needed; NULL: no memory, the calls below
 * work without. It is given back when the thread ends.
 */
struct cache *heap_thread_cache(struct heap *h);

/*
 * A cache for a thread that works with this heap before all others: it has the
 * cache until it ends, however many heaps it meets. NULL: as above, or self is
 * not this thread.
 */
struct cache *heap_thread_keep(struct heap *h, struct thread *self);

struct heap_want {
	unsigned memory;
	size_t size, align; /* align: a power of two */
	/* Above CLASS_MAX_SIZE: huge pages asked for, if the heap may. */
	bool is_huge;
};

/*
 * c may be NULL. NULL: *error is ENOMEM
 * (the kernel's), EDQUOT (limit), ENOSPC (node exhausted, strict), EPERM,
 * EAGAIN (locking). *is_zero: known to hold zeroes.
 */
void *heap_alloc_slow(struct heap *h, struct cache *c,
		      const struct heap_want *w, bool *is_zero, int *error);

/* 0; -EINVAL: not a block of ours; -EALREADY: it is free. */
int heap_free_slow(struct heap *h, struct cache *c, void *p);

/* Bytes that may be used at p; 0: not a block of ours, or free. */
size_t heap_size(struct heap *h, void *p);

/* NULL: *error why, and p is as it was. Keeps the memory p belongs to. */
void *heap_resize(struct heap *h, struct cache *c, void *p, size_t size,
		  int *error);

/* The memory's number; -1: not ours. */
int heap_memory_of(struct heap *h, const void *p);

/* Gives back what lies idle; all: at once. */
void heap_trim(struct heap *h, bool all);

/* Under the memory's lock: *error why not. */
bool heap_may_map(struct memory *m, size_t size, int *error);

/* Strict: claims the pages at once. False: they are not on the node. */
bool heap_claim(struct memory *m, void *at, size_t size);

struct heap_stat {
	uint64_t used; /* bytes with users, sizes as rounded up */
	uint64_t cached; /* mapped, but free, and not yet given back */
	uint64_t peak; /* most with users and in threads' bins */
	uint64_t mapped; /* address space */
	uint64_t remote_frees; /* blocks freed by threads on other nodes */
};

void heap_stat(struct heap *h, unsigned memory, struct heap_stat *out);

/* Calls fn for each label of blocks that are not free. No thread runs. */
void heap_leaks(struct heap *h,
		void (*fn)(void *u, unsigned memory, const char *label,
			   uint64_t nr, uint64_t bytes),
		void *u);

static inline uint64_t heap_mark(const struct heap *h, const void *p)
{
	return h->key ^ (uintptr_t)p;
}

/*
 * A block of a class begins at p, and it was handed out once. p lies in the
 * entry's span, if there is one.
 */
static inline bool is_block(uint64_t entry, const void *p)
{
	struct span *s = entry_span(entry);
	size_t offset;

	if (unlikely(!entry))
		return false;
	offset = (size_t)((const char *)p - s->base);
	return is_multiple(offset, s->inverse) &&
	       offset < a_load(&s->end, relaxed);
}

/*
 * size 1 .. CLASS_MAX_SIZE; the block's alignment is its class's. NULL: these
 * bins have none.
 */
static inline void *heap_alloc_from(struct bins *b, size_t class)
{
	void **top = a_load(&b->top[class], relaxed);
	uint64_t *p;

	if (unlikely(!((uintptr_t)top % sizeof(b->slot[0]))))
		return NULL;
	a_store(&b->top[class], top - 1, relaxed);
	p = top[-1];
	p[1] = 0;
	return p;
}

static inline void *heap_alloc_class(struct cache *c, unsigned memory,
				     unsigned class)
{
	return heap_alloc_from(cache_bins(c, memory), class);
}

/* False: nothing was done. */
static inline bool heap_free_fast(struct heap *h, struct cache *c, void *p)
{
	uint64_t entry = index_entry(&h->index, p);
	uint64_t mark = heap_mark(h, p);

	if (unlikely(!is_block(entry, p) || ((uint64_t *)p)[1] == mark))
		return false;
	return cache_push(c, entry_span(entry), p, mark);
}

/* Frees a block whose memory and class are known. */
static inline bool heap_free_known(struct heap *h, struct cache *c,
				   unsigned memory, unsigned class, void *p)
{
	uint64_t mark = heap_mark(h, p);

	return likely(((uint64_t *)p)[1] != mark) &&
	       cache_push_class(c, memory, class, p, mark);
}

/* This thread's cache, if that is known at once; NULL: ask. */
static inline struct cache *heap_cache_of(const struct heap *h,
					  const struct thread *self)
{
	return likely(self->memory[0].id == h->id) ? self->memory[0].cache
						   : NULL;
}

static inline struct cache *heap_known_cache(const struct heap *h)
{
	return heap_cache_of(h, thread_self());
}

/* As heap_new(), whatever there is. */
void *heap_new_slow(struct heap *h, struct cache *c, size_t size);

/* For structures of our own, on this thread's node; c may be NULL. */
static inline void *heap_new(struct heap *h, struct cache *c, size_t size)
{
	void *p = NULL;

	if (likely(c && size - 1 < CLASS_MAX_SIZE))
		p = heap_alloc_class(c, c->memory, class_of(size));
	return likely(p != NULL) ? p : heap_new_slow(h, c, size);
}

/* The block that heap_new() gives next for that size is written soon. */
static inline void heap_expect(struct cache *c, size_t size)
{
	struct bins *b = cache_bins(c, c->memory);
	void **top = a_load(&b->top[class_of(size)], relaxed);
	size_t i;

	if (unlikely(!((uintptr_t)top % sizeof(b->slot[0]))))
		return;
	for (i = 0; i < size; i += CACHE_LINE)
		__builtin_prefetch((const char *)top[-1] + i, 1);
}

/* Frees a block through the thread's cache; returns as heap_free_slow(). */
static inline int heap_free(struct heap *h, struct cache *c, void *p)
{
	if (likely(c && heap_free_fast(h, c, p)))
		return 0;
	return heap_free_slow(h, c, p);
}

#endif
