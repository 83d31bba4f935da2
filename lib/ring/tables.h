/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A ring's tables of files and of memory ("fixed files", "fixed buffers"): an
 * operation that names a slot spares the kernel to look the descriptor up, or
 * to pin the pages. The tables are made with the first slot that is set. Until
 * a slot is cleared the kernel keeps the file open, and the pages where they
 * are. Any thread.
 */
#ifndef RING_TABLES_H
#define RING_TABLES_H

#include "ring/uring.h"

#include <stddef.h>

#define URING_NR_SLOTS 64

/* The kernel takes no more at once. */
#define URING_MAX_BUFFER ((uint64_t)1 << 30)

/* fd -1; bytes NULL, size 0: clears it. 0 or -errno: the slot is as before. */
int uring_set_file(const struct uring *u, uint32_t slot, int fd);
int uring_set_buffer(const struct uring *u, uint32_t slot, const void *bytes,
		     size_t size);

#endif
