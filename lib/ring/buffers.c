/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/buffers.h"

#include <errno.h>
#include <liburing.h>
#include <sys/mman.h>

/* Memory of this thread's node, in whole pages. */
static void *map_ring(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int tell_ring(const struct uring *u, const struct uring_buffers *b,
		     uint16_t id)
{
	struct io_uring_buf_reg reg = {
		.ring_addr = (uint64_t)(uintptr_t)b->ring,
		.ring_entries = b->nr,
		.bgid = id,
	};

	return io_uring_register_buf_ring(u->made, &reg, 0);
}

int uring_buffers_open(struct uring_buffers *b, const struct uring *u,
		       uint16_t id, uint32_t nr, uint32_t size)
{
	uint32_t i;
	int rc = 0;

	b->nr = nr;
	b->size = size;
	b->ring_size = nr * sizeof(struct io_uring_buf);
	b->tail = 0;
	b->ring = map_ring(b->ring_size);
	b->bytes = map_ring((size_t)nr * size);
	if (!b->ring || !b->bytes)
		rc = -ENOMEM;
	if (!rc)
		rc = tell_ring(u, b, id);
	if (rc) {
		uring_buffers_close(b);
		b->has_failed = true;
		return rc;
	}
	for (i = 0; i < nr; i++)
		uring_buffers_lend(b, (uint16_t)i);
	return 0;
}

void uring_buffers_close(struct uring_buffers *b)
{
	if (b->ring)
		munmap(b->ring, b->ring_size);
	if (b->bytes)
		munmap(b->bytes, (size_t)b->nr * b->size);
	b->ring = NULL;
	b->bytes = NULL;
}

void uring_buffers_lend(struct uring_buffers *b, uint16_t at)
{
	io_uring_buf_ring_add(b->ring, (char *)(uintptr_t)uring_buffer(b, at),
			      b->size, at, io_uring_buf_ring_mask(b->nr), 0);
	b->tail++;
	/* [uring.lend] the entry before it, and that its bytes were read; the
	 * kernel acquires it; pairs with itself. */
	a_store((_Atomic(uint16_t) *)(void *)&b->ring->tail, b->tail, release);
}
