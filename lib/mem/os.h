/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Address ranges from the kernel with a memory policy. Where the kernel
 * refuses the policy (a container's filter, a kernel without NUMA) the range
 * is there all the same, its pages lie where they are first touched, and the
 * caller learns the reason.
 *
 * A node is preferred, never forced: a forced node without free memory makes
 * the kernel kill a process instead of refusing.
 */
#ifndef MEM_OS_H
#define MEM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OS_MAX_NODES 1024

enum os_huge {
	OS_HUGE_DEFAULT,
	OS_HUGE_ALWAYS,
	OS_HUGE_NEVER
};

struct os_policy {
	bool is_bound; /* to the nodes of the mask; else to none */
	bool is_interleaved; /* over the nodes of the mask, page by page */
	bool is_locked; /* mlock: never paged out, always present */
	enum os_huge huge;
	unsigned long nodes[OS_MAX_NODES / 64];
};

/*
 * size: a multiple of the page; align: a power of two. NULL: no memory or no
 * right to lock it (*error tells). *bind_error is set to the errno with which
 * the kernel refused the policy, else left alone.
 */
void *os_map(size_t size, size_t align, const struct os_policy *p, int *error,
	     int *bind_error);

void os_unmap(void *at, size_t size);

/* The pages go back, the range stays and reads as zero. */
void os_decommit(void *at, size_t size);

/* Asks for huge pages in a range that is mapped already, unless never. */
void os_huge(void *at, size_t size, enum os_huge policy);

/* Makes all pages present. False: there are not enough. */
bool os_populate(void *at, size_t size);

/*
 * The system's node of each page, negative where there is none. False: the
 * kernel does not say.
 */
bool os_where(void *const *page, unsigned nr, int *node);

/*
 * Moves the present pages among the whole ones of at .. at + size to the
 * system's node. Return: bytes that were elsewhere and are there now; -errno:
 * the kernel refuses.
 */
int64_t os_move(void *at, size_t size, int os_node);

/*
 * The system's node of a few of those pages, if they agree; -1: none is
 * present, or the kernel does not say; OS_SPREAD: they do not agree. *is_all:
 * all of them are present.
 */
#define OS_SPREAD (-2)
int os_node_of(void *at, size_t size, bool *is_all);

/* Applies the policy to a range that is mapped already. 0 or -errno. */
int os_bind(void *at, size_t size, const struct os_policy *p);

/* Coarse monotonic clock, a few ns to read, steps of a few ms. */
int64_t os_coarse_ns(void);

/* Number of the node this thread runs on; 0 where the kernel does not say. */
int os_current_node(void);

#endif
