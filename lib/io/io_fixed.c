/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_fixed.h"

#include "base/err.h"
#include "base/log.h"
#include "core/runtime.h"
#include "io/io_ring.h"
#include "trace/counters.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <string.h>

static const char *const sorts[] = { "descriptor", "memory" };

static uint64_t bit_of(int slot)
{
	return (uint64_t)1 << slot;
}

/* ---- the list ----------------------------------------------------------- */

/* start + size may be more than there are numbers: a descriptor below 0. */
static bool has_all(const struct io_fixed *f, int slot, uint64_t start,
		    uint64_t size)
{
	uint64_t before = start - f->slot[slot].start;

	return start >= f->slot[slot].start && size <= f->slot[slot].size &&
	       before <= f->slot[slot].size - size;
}

/* Both have been checked to end where there are numbers. */
static bool has_part(const struct io_fixed *f, int slot, uint64_t start,
		     uint64_t size)
{
	return start < f->slot[slot].start + f->slot[slot].size &&
	       start + size > f->slot[slot].start;
}

/* The slot that has all of it, or a part; < 0: none. */
static int find_fixed(const struct io_fixed *f, uint64_t start, uint64_t size,
		      bool is_all)
{
	uint64_t left;
	int i;

	for (left = f->taken; left; left &= left - 1) {
		i = __builtin_ctzll(left);
		if (is_all ? has_all(f, i, start, size)
			   : has_part(f, i, start, size))
			return i;
	}
	return -1;
}

static void put_fixed(struct io_fixed *f, int slot, uint64_t start,
		      uint64_t size)
{
	f->slot[slot].start = start;
	f->slot[slot].size = size;
	f->taken |= bit_of(slot);
}

/* The next ring from *i on that keeps any; NULL: all were seen. */
static struct io_ring *next_ring(struct lkdf *rt, int *i)
{
	struct io_ring *ring;

	while (*i < rt->nr_workers) {
		ring = io_ring_at(rt->io_rings, (*i)++);
		if (ring)
			return ring;
	}
	return NULL;
}

static int add_fixed(struct lkdf *rt, enum io_fixed_sort sort, uint64_t start,
		     uint64_t size)
{
	struct io_fixed *f = &rt->io_rings->fixed[sort];
	struct io_ring *ring;
	int slot, i = 0;

	if (find_fixed(f, start, size, false) >= 0)
		return err(-EEXIST, "io: that %s is registered already",
			   sorts[sort]);
	if (f->taken == UINT64_MAX)
		return err(-ENOSPC, "io: %s: all %d slots are taken",
			   sorts[sort], URING_NR_SLOTS);
	slot = __builtin_ctzll(~f->taken);
	put_fixed(f, slot, start, size);
	while ((ring = next_ring(rt, &i))) {
		lock_take(&ring->lock);
		put_fixed(&ring->fixed[sort].known, slot, start, size);
		lock_give(&ring->lock);
	}
	return 0;
}

int io_fixed_add(struct lkdf *rt, enum io_fixed_sort sort, uint64_t start,
		 uint64_t size)
{
	int rc;

	pthread_mutex_lock(&rt->lock);
	rc = add_fixed(rt, sort, start, size);
	pthread_mutex_unlock(&rt->lock);
	return rc;
}

/* From now on nothing new uses it. True: something under way does. */
static bool hide_buffer(struct lkdf *rt, enum io_fixed_sort sort, int slot)
{
	const struct list *l;
	struct io_ring *ring;
	bool is_busy = false;
	int i = 0;

	while ((ring = next_ring(rt, &i))) {
		lock_take(&ring->lock);
		ring->fixed[sort].known.taken &= ~bit_of(slot);
		for (l = ring->list.next; l != &ring->list; l = l->next)
			is_busy |= container_of(l, struct io_req, list)
					   ->fixed[sort] == slot;
		lock_give(&ring->lock);
	}
	return is_busy;
}

static void show_fixed(struct lkdf *rt, enum io_fixed_sort sort, int slot)
{
	struct io_ring *ring;
	int i = 0;

	while ((ring = next_ring(rt, &i))) {
		lock_take(&ring->lock);
		ring->fixed[sort].known.taken |= bit_of(slot);
		lock_give(&ring->lock);
	}
}

/* Under the ring's lock. */
static int clear_slot(struct io_ring *ring, enum io_fixed_sort sort, int slot)
{
	struct io_fixed_copy *f = &ring->fixed[sort];
	int rc = 0;

	if (f->is_set & bit_of(slot))
		rc = sort == IO_FIXED_FILE
			     ? uring_set_file(&ring->u, (uint32_t)slot, -1)
			     : uring_set_buffer(&ring->u, (uint32_t)slot, NULL,
						0);
	if (rc)
		return err(rc, "io: the kernel keeps that %s: %s", sorts[sort],
			   strerror(-rc));
	f->is_set &= ~bit_of(slot);
	f->is_refused &= ~bit_of(slot);
	return 0;
}

static int take_out(struct lkdf *rt, enum io_fixed_sort sort, int slot)
{
	struct io_ring *ring;
	int rc = 0, i = 0;

	if (hide_buffer(rt, sort, slot))
		rc = err(-EBUSY, "io: an operation on that %s is under way",
			 sorts[sort]);
	while (!rc && (ring = next_ring(rt, &i))) {
		lock_take(&ring->lock);
		rc = clear_slot(ring, sort, slot);
		lock_give(&ring->lock);
	}
	if (rc)
		show_fixed(rt, sort, slot);
	else
		rt->io_rings->fixed[sort].taken &= ~bit_of(slot);
	return rc;
}

int io_fixed_remove(struct lkdf *rt, enum io_fixed_sort sort, uint64_t start)
{
	struct io_fixed *f = &rt->io_rings->fixed[sort];
	int slot, rc;

	pthread_mutex_lock(&rt->lock);
	slot = find_fixed(f, start, 1, true);
	if (slot < 0 || f->slot[slot].start != start)
		rc = err(-ENOENT, "io: no such %s is registered", sorts[sort]);
	else
		rc = take_out(rt, sort, slot);
	pthread_mutex_unlock(&rt->lock);
	return rc;
}

/* ---- a ring's ----------------------------------------------------------- */

void io_fixed_copy(struct lkdf *rt, struct io_ring *ring)
{
	unsigned i;

	for (i = 0; i < IO_NR_FIXED; i++)
		ring->fixed[i].known = rt->io_rings->fixed[i];
}

/* False: its kernel would not have it. */
static bool set_buffer(struct io_ring *ring, enum io_fixed_sort sort, int slot)
{
	struct io_fixed_copy *f = &ring->fixed[sort];
	uint64_t start = f->known.slot[slot].start;
	struct lkdf *rt = ring->w->executor->rt;
	int rc;

	if (sort == IO_FIXED_FILE)
		rc = uring_set_file(&ring->u, (uint32_t)slot, (int)start);
	else
		rc = uring_set_buffer(&ring->u, (uint32_t)slot,
				      (const void *)(uintptr_t)start,
				      f->known.slot[slot].size);
	if (!rc) {
		f->is_set |= bit_of(slot);
		return true;
	}
	f->is_refused |= bit_of(slot);
	log_text(&rt->log, LKDF_LOG_INFO,
		 "io: the ring of worker %d does without a registered %s: %s",
		 ring->w->id, sorts[sort], strerror(-rc));
	return false;
}

static int8_t slot_of(struct io_ring *ring, enum io_fixed_sort sort,
		      uint64_t start, uint64_t size)
{
	struct io_fixed_copy *f = &ring->fixed[sort];
	int slot = find_fixed(&f->known, start, size, true);

	if (slot < 0 || f->is_refused & bit_of(slot) ||
	    (!(f->is_set & bit_of(slot)) && !set_buffer(ring, sort, slot)))
		return -1;
	return (int8_t)slot;
}

void io_fixed_look(struct io_ring *ring, struct io_req *r)
{
	const struct io_op *op = &r->op;

	if (!io_op_has_file(&op->io))
		return;
	r->fixed[IO_FIXED_FILE] =
		slot_of(ring, IO_FIXED_FILE, (uint64_t)op->io.fd, 1);
	if (io_op_has_bytes(&op->io))
		r->fixed[IO_FIXED_BUFFER] =
			slot_of(ring, IO_FIXED_BUFFER,
				(uint64_t)(uintptr_t)op->one.iov_base,
				op->one.iov_len);
	if (r->fixed[IO_FIXED_FILE] >= 0 || r->fixed[IO_FIXED_BUFFER] >= 0)
		counter_add(ring->w->executor->counters, COUNTER_FIXED, 1);
}
