/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Blocks by their address: what is known of them, other sizes, copies. */
#include <lkdf/device.h>

#include "api/border.h"
#include "base/options.h"
#include "data/block.h"
#include "offload/copy.h"
#include "scope/event.h"

#include <string.h>

/* ---- lkdf_block() ------------------------------------------------------- */

static bool find_held(struct lkdf *rt, const void *p, struct lkdf_block_info *b)
{
	struct device_held *h = blocks_get(rt, p);

	if (!h)
		return false;
	b->mem = h->mem;
	b->place = rt->devices->place[h->device->attr.index];
	b->base = h->base;
	b->device_ptr = h->device_ptr ? h->device_ptr : h->base;
	b->bytes = h->bytes;
	b->taken = h->taken;
	memcpy(b->label, h->label, sizeof(b->label));
	held_put(h);
	return true;
}

static bool find_on_node(struct lkdf *rt, const void *p,
			 struct lkdf_block_info *b)
{
	struct heap *h = rt->heap;
	struct block found;
	unsigned memory;

	block_find(h, p, &found);
	b->base = (char *)(uintptr_t)p - found.offset;
	if (!found.is_ours || !heap_size(h, b->base))
		return false;
	memory = (unsigned)heap_memory_of(h, p);
	b->mem = memory < heap_interleaved(h)	 ? LKDF_MEM_OWN
		 : memory == heap_interleaved(h) ? LKDF_MEM_INTERLEAVED
						 : LKDF_MEM_HOST_PINNED;
	if (b->mem == LKDF_MEM_OWN)
		b->place = &rt->places[memory];
	if (b->mem == LKDF_MEM_HOST_PINNED)
		b->place = &rt->places[memory - heap_pinned(h, 0)];
	b->device_ptr = b->base;
	b->bytes = b->taken = found.size;
	memcpy(b->label, found.label, sizeof(b->label));
	return true;
}

int lkdf_block(struct lkdf *rt, const void *p, struct lkdf_block_info *out)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	int rc = border_runtime(rt);
	uint32_t size;

	if (rc)
		return rc;
	if (!p || !out)
		return err(-EINVAL, "block: the address or out is NULL");
	size = out->size;
	if (size < 2 * sizeof(uint32_t))
		return err(-EINVAL, "block: size %u is not set", size);
	if (!find_held(rt, p, &b) && !find_on_node(rt, p, &b))
		return err(-ENOENT, "block: %p is in no block in use", p);
	memset(out, 0, size);
	memcpy(out, &b, size < sizeof(b) ? size : sizeof(b));
	out->size = size;
	return 0;
}

/* ---- lkdf_copy() -------------------------------------------------------- */

/* *side: with a user of the block, if it is memory that needs a device. */
static int find_side(struct lkdf *rt, const void *at, uint64_t bytes,
		     struct copy_side *side)
{
	struct device_held *h = blocks_get(rt, at);
	uint64_t offset;
	int rc = 0;

	side->at = (char *)(uintptr_t)at;
	side->held = NULL;
	if (!h)
		return blocks_check(rt, at, "copy");
	offset = (uint64_t)(side->at - h->base);
	if (offset > h->bytes || bytes > h->bytes - offset)
		rc = err(-EINVAL,
			 "copy: %llu bytes from byte %llu on, the block \"%s\" "
			 "of device %s has %llu",
			 (unsigned long long)bytes, (unsigned long long)offset,
			 h->label, h->device->name,
			 (unsigned long long)h->bytes);
	if (!rc && h->mem == LKDF_MEM_OWN)
		side->held = h;
	else
		held_put(h);
	return rc;
}

/* Addresses are those of the program: no two memories have the same. */
static int check_overlap(const char *to, const char *from, uint64_t bytes)
{
	uint64_t apart =
		to < from ? (uint64_t)(from - to) : (uint64_t)(to - from);

	if (apart >= bytes)
		return 0;
	return err(-EINVAL,
		   "copy: %llu bytes to %p and from %p overlap: at most %llu",
		   (unsigned long long)bytes, (const void *)to,
		   (const void *)from, (unsigned long long)apart);
}

static void put_side(struct copy_side *side)
{
	if (side->held)
		held_put(side->held);
}

/* An event that has fired, where somebody wants one. */
static int copy_here(struct lkdf *rt, void *to, const void *from,
		     uint64_t bytes, struct lkdf_event *done)
{
	struct lkdf_event e;
	int rc = 0;

	if (done)
		rc = event_create(rt, runtime_executor(rt), 1, 2, &e);
	if (rc)
		return rc;
	if (bytes)
		memcpy(to, from, bytes);
	if (done) {
		event_finish(e, 0, NULL);
		*done = e;
	}
	return 0;
}

static int copy_as_task(struct lkdf *rt, struct lkdf_scope *s,
			struct copy_side *to, struct copy_side *from,
			uint64_t bytes, struct lkdf_event *done)
{
	struct lkdf_event mine;
	int rc = done ? 0 : border_may_wait("copy");

	if (!rc)
		rc = copy_submit(rt, s ? s : rt->root, to, from, bytes,
				 done ? done : &mine);
	if (rc) {
		put_side(to);
		put_side(from);
		return rc;
	}
	return done ? 0 : event_wait(mine, -1);
}

int lkdf_copy(struct lkdf *rt, struct lkdf_scope *s, void *to, const void *from,
	      uint64_t bytes, struct lkdf_event *done)
{
	struct copy_side there = { NULL, NULL }, here = { NULL, NULL };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (bytes && (!to || !from))
		return err(-EINVAL, "copy: an address is NULL");
	if (bytes > HEAP_SIZE_MAX)
		return err(-EINVAL, "copy: %llu bytes, at most 2^46",
			   (unsigned long long)bytes);
	rc = bytes ? check_overlap(to, from, bytes) : 0;
	if (!rc && bytes)
		rc = find_side(rt, to, bytes, &there);
	if (!rc && bytes)
		rc = find_side(rt, from, bytes, &here);
	if (rc) {
		put_side(&there);
		return rc;
	}
	if (!there.held && !here.held &&
	    bytes <= (uint64_t)rt->options->copy_inline_kib << 10)
		return copy_here(rt, to, from, bytes, done);
	return copy_as_task(rt, s, &there, &here, bytes, done);
}

/* ---- lkdf_realloc() ----------------------------------------------------- */

static int fill_info(struct lkdf *rt, const struct lkdf_block_info *b, void *to,
		     uint64_t bytes)
{
	uint64_t both = bytes < b->bytes ? bytes : b->bytes;

	if (b->device_ptr != b->base)
		return lkdf_copy(rt, NULL, to, b->base, both, NULL);
	memcpy(to, b->base, both);
	return 0;
}

/* The block is there, and its memory: another one takes its place. */
static int move_block(struct lkdf *rt, const struct lkdf_block_info *b,
		      uint64_t bytes, void **out)
{
	struct lkdf_place *p = b->place ? b->place : &rt->places[0];
	void *to;
	int rc = b->device_ptr != b->base ? border_may_wait("realloc") : 0;

	if (!rc)
		rc = lkdf_alloc(p, (enum lkdf_mem_kind)b->mem, bytes, 0,
				b->label, &to);
	if (rc)
		return rc;
	rc = fill_info(rt, b, to, bytes);
	lkdf_free(rt, rc ? to : b->base);
	if (!rc)
		*out = to;
	return rc;
}

int lkdf_realloc(struct lkdf *rt, void *p, uint64_t bytes, void **out)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	int rc;

	if (!p || !out)
		return err(-EINVAL, "realloc: the block or out is NULL");
	if (!bytes || bytes > HEAP_SIZE_MAX)
		return err(-EINVAL, "realloc: %llu bytes: expected 1 .. 2^46",
			   (unsigned long long)bytes);
	rc = lkdf_block(rt, p, &b);
	if (rc)
		return rc;
	if (b.base != p)
		return err(-EINVAL,
			   "realloc: %p lies %llu bytes inside of a block", p,
			   (unsigned long long)((char *)p - (char *)b.base));
	if (bytes == b.bytes) {
		*out = p;
		return 0;
	}
	return move_block(rt, &b, bytes, out);
}
