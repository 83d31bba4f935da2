/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files and memory that the user says stay: operations on them go to a ring by
 * their slot in its tables (ring/tables.h). The runtime's list of them is
 * under its lock. Every ring has a copy, under the ring's, which changes with
 * it; a ring's kernel hears of a slot when an operation of that ring is the
 * first to use it, so that only workers that read into some memory pin it.
 */
#ifndef IO_IO_FIXED_H
#define IO_IO_FIXED_H

#include "ring/tables.h"

struct io_req;
struct io_ring;
struct lkdf;

enum io_fixed_sort {
	IO_FIXED_FILE, /* start: the descriptor, size: 1 */
	IO_FIXED_BUFFER,
	IO_NR_FIXED, /* sorts */
};

struct io_fixed {
	uint64_t taken; /* slots, a bit each */
	struct {
		uint64_t start, size;
	} slot[URING_NR_SLOTS];
};

/* A ring's. */
struct io_fixed_copy {
	struct io_fixed known;
	uint64_t is_set; /* slots that its kernel has */
	uint64_t is_refused; /* that it would not have */
};

/* 0; -EEXIST: a part of it is there; -ENOSPC: no slot is left. */
int io_fixed_add(struct lkdf *rt, enum io_fixed_sort sort, uint64_t start,
		 uint64_t size);

/*
 * 0; -ENOENT: nothing starts there; -EBUSY: an operation on it is under way;
 * -errno of a kernel that keeps it.
 */
int io_fixed_remove(struct lkdf *rt, enum io_fixed_sort sort, uint64_t start);

/* Under the runtime's lock: a new ring gets its copy. */
void io_fixed_copy(struct lkdf *rt, struct io_ring *ring);

/* Under the ring's lock, on its worker: the slots of what the request uses. */
void io_fixed_look(struct io_ring *ring, struct io_req *r);

#endif
