/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks of memory. The way of a small block without a label through
 * lkdf_alloc() and lkdf_free() is short; all else is behind calls.
 */
#include <lkdf/place.h>

#include "api/border.h"
#include "data/block.h"
#include "data/place.h"
#include "device/device.h"
#include "offload/blocks.h"

#include <lkdf/runtime.h>
#include <string.h>
#include <sys/resource.h>

#define ALIGN_MAX (1ull << 30)

/* A block that is asked for, checked. */
struct request {
	struct lkdf_place *p;
	enum lkdf_mem_kind kind;
	struct heap_want want;
	const char *label;
};

static int check_request(const struct lkdf_place *p, enum lkdf_mem_kind m,
			 uint64_t bytes, uint64_t align)
{
	if (!p)
		return err(-EINVAL, "alloc: the place is NULL");
	if (m == LKDF_MEM_MANAGED && !p->device)
		return err(-EOPNOTSUPP,
			   "alloc: LKDF_MEM_MANAGED: node %d has none, a "
			   "device may have",
			   place_id(p));
	if (m != LKDF_MEM_OWN && m != LKDF_MEM_MANAGED &&
	    m != LKDF_MEM_HOST_PINNED && m != LKDF_MEM_INTERLEAVED)
		return err(-EINVAL, "alloc: memory kind %d is unknown", (int)m);
	if (!bytes || bytes > HEAP_SIZE_MAX)
		return err(-EINVAL, "alloc: %llu bytes: expected 1 .. 2^46",
			   (unsigned long long)bytes);
	if (align & (align - 1) || align > ALIGN_MAX)
		return err(-EINVAL,
			   "alloc: alignment %llu: expected 0 or a power of "
			   "two up to 2^30",
			   (unsigned long long)align);
	return 0;
}

static unsigned memory_of(const struct lkdf_place *p, enum lkdf_mem_kind m)
{
	if (m == LKDF_MEM_INTERLEAVED)
		return heap_interleaved(p->heap);
	if (m == LKDF_MEM_HOST_PINNED)
		return heap_pinned(p->heap, p->node);
	return p->memory;
}

/* There may be CPUs only. */
static int refuse_empty_node(const struct lkdf_place *p)
{
	const struct heap *h = p->heap;
	const int *near = h->near + p->node * h->nr_nodes;
	int i;

	for (i = 0; i < h->nr_nodes; i++)
		if (h->memory[near[i]]->is_present)
			return err(-ENOMEM,
				   "alloc: node %d has no memory; the nearest "
				   "that has is node %d",
				   place_id(p), h->os_node[near[i]]);
	return err(-ENOMEM, "alloc: no node has memory");
}

static int refuse_pinned(const struct request *r, const char *where, int error)
{
	int rc = error == EPERM ? -EPERM : -ENOMEM;
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		limit.rlim_cur = 0;
	if (limit.rlim_cur == RLIM_INFINITY)
		return err(rc, "alloc: %zu bytes %s: %s", r->want.size, where,
			   strerror(error));
	return err(rc,
		   "alloc: %zu bytes %s: %s; this process may lock %llu KiB, "
		   "see ulimit -l",
		   r->want.size, where, strerror(error),
		   (unsigned long long)limit.rlim_cur >> 10);
}

/* Strict. Where nothing can be bound, all nodes but the own are "full". */
static int refuse_node(const struct request *r, const char *where)
{
	int error = r->p->rt->bind_error;

	if (error)
		return err(-ENOMEM,
			   "alloc: %zu bytes %s: mbind: %s: memory cannot be "
			   "bound there, and memory_strict=yes forbids "
			   "another node",
			   r->want.size, where, strerror(error));
	return err(-ENOMEM,
		   "alloc: %zu bytes %s: the node has not so much free, and "
		   "memory_strict=yes forbids another one",
		   r->want.size, where);
}

static int refuse_request(const struct request *r, int error)
{
	const struct heap *h = r->p->heap;
	char where[BLOCK_WHERE];

	block_memory_text(h, r->want.memory, where);
	if (error == EDQUOT)
		return err(-ENOMEM,
			   "alloc: %zu bytes %s: memory_limit=%llu MiB is "
			   "reached; raise it or free blocks",
			   r->want.size, where,
			   (unsigned long long)h->limit >> 20);
	if (error == ENOSPC)
		return refuse_node(r, where);
	if (r->kind == LKDF_MEM_HOST_PINNED)
		return refuse_pinned(r, where, error);
	return err(-ENOMEM, "alloc: %zu bytes %s: %s", r->want.size, where,
		   strerror(error));
}

/* A block may still have the label it had before. */
static bool needs_label(struct heap *h, const char *label)
{
	return label || a_load(&h->labels.nr, relaxed);
}

static int alloc_slow(struct request *r, void **out)
{
	struct heap *h = r->p->heap;
	struct cache *c = heap_thread_cache(h);
	bool is_zero;
	void *block;
	int error;

	if (!h->memory[r->want.memory]->is_present)
		return refuse_empty_node(r->p);
	block = heap_alloc_slow(h, c, &r->want, &is_zero, &error);
	if (!block)
		return refuse_request(r, error);
	if (needs_label(h, r->label))
		block_set_label(h, c, block, r->label);
	*out = block;
	return 0;
}

static int alloc_there(const struct request *r, void **out)
{
	int rc = border_runtime(r->p->rt);

	return rc ? rc
		  : blocks_alloc(r->p, r->kind, r->want.size, r->want.align,
				 r->label, out);
}

static void tell_block(const struct lkdf_place *p, enum lkdf_mem_kind m,
		       uint64_t bytes, const char *label, const void *at)
{
	const struct lkdf_hooks *t = p->rt->hooks.table;
	int node = m == LKDF_MEM_INTERLEAVED ? -1 : p->node;

	if (t->alloc)
		t->alloc(p->rt->hooks.u, at, bytes, node, label);
	if (t->alloc_device && p->device)
		t->alloc_device(p->rt->hooks.u, at, p->device->attr.index, m);
}

static __attribute__((noinline)) int alloc_any(struct lkdf_place *p,
					       enum lkdf_mem_kind m,
					       uint64_t bytes, uint64_t align,
					       const char *label, void **out)
{
	struct request r = { .p = p, .kind = m, .label = label };
	int rc = check_request(p, m, bytes, align);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "alloc: out is NULL");
	r.want.memory = memory_of(p, m);
	r.want.size = bytes;
	r.want.align = max_u64(align, HEAP_ALIGN);
	if (blocks_serve(p, m))
		rc = alloc_there(&r, out);
	else
		rc = alloc_slow(&r, out);
	if (!rc && p->rt->hooks.table)
		tell_block(p, m, bytes, label, *out);
	return rc;
}

/* Sizes and alignments that a class of multiples of 64 serves. */
static bool is_plain(uint64_t bytes, uint64_t align)
{
	return bytes - 1 < CLASS_MAX_SIZE && !(align & ~HEAP_ALIGN);
}

int lkdf_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes,
	       uint64_t align, const char *label, void **out)
{
	struct cache *c;
	void *block;

	if (unlikely(!p || !out || m != LKDF_MEM_OWN ||
		     !is_plain(bytes, align) || p->is_hooked))
		return alloc_any(p, m, bytes, align, label, out);
	c = heap_known_cache(p->heap);
	if (unlikely(!c))
		return alloc_any(p, m, bytes, align, label, out);
	block = heap_alloc_class(c, p->memory,
				 class_of(round_up(bytes, HEAP_ALIGN)));
	if (unlikely(!block))
		return alloc_any(p, m, bytes, align, label, out);
	if (unlikely(needs_label(p->heap, label)))
		block_set_label(p->heap, c, block, label);
	*out = block;
	return 0;
}

/* A line to the log and to this thread's text. */
static __attribute__((noinline)) void report_refusal(struct lkdf *rt,
						     const void *p, int rc)
{
	struct block b;

	block_find(rt->heap, p, &b);
	if (!b.is_ours)
		err(rc, "free: %p is no block of this runtime", p);
	else if (rc == -EALREADY)
		err(rc,
		    "free: %p, %zu bytes \"%s\" %s, is free already: freed "
		    "twice",
		    p, b.size, b.label, b.where);
	else
		err(rc,
		    "free: %p lies %zu bytes inside a block of %zu bytes "
		    "\"%s\" %s",
		    p, b.offset, b.size, b.label, b.where);
	log_text(&rt->log, LKDF_LOG_ERROR, "%s", err_text());
}

static __attribute__((noinline)) void free_any(struct lkdf *rt, void *p)
{
	int rc;

	if (!p)
		return;
	if (!rt) {
		err(-EINVAL, "free: the runtime is NULL");
		return;
	}
	if (rt->hooks.table && rt->hooks.table->free)
		rt->hooks.table->free(rt->hooks.u, p);
	rc = blocks_free(rt, p);
	if (rc == -EINVAL)
		log_text(&rt->log, LKDF_LOG_ERROR, "%s", err_text());
	if (rc != -ENOENT)
		return;
	rc = heap_free(rt->heap, heap_thread_cache(rt->heap), p);
	if (rc)
		report_refusal(rt, p, rc);
}

void lkdf_free(struct lkdf *rt, void *p)
{
	struct cache *c = likely(rt && p && !rt->hooks.table)
				  ? heap_known_cache(rt->heap)
				  : NULL;

	/*
	 * The allocator is asked once more about a block that it refused, for
	 * the reason.
	 */
	if (unlikely(!c || heap_free(rt->heap, c, p)))
		free_any(rt, p);
}
