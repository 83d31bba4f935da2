/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The side of the access counter that programs in the machine use: marks, an
 * arena at a fixed address for their data, binding, and what the kernel says
 * of pages. Without the counter the marks are stores to a page that nobody
 * reads. A mark must not race with another one of the same process, texts
 * aside.
 */
#ifndef TESTS_VM_PLUGIN_GUEST_H
#define TESTS_VM_PLUGIN_GUEST_H

#include "tests/vm/plugin/control.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of them: 0, or -errno after a line on stderr, unless said. */

/* Before anything else here. */
int guest_open(void);

static inline void guest_mark(unsigned word)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint64_t *)(uintptr_t)(CONTROL_AT + word * 8) = 0;
	__asm__ volatile("" ::: "memory");
}

/* One line to the counter. */
void guest_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * What has a name in the arena, and the mappings of this process as they are
 * now, as ranges.
 */
int guest_say_ranges(void);

/*
 * Zeroed memory in the arena; NULL after a line on stderr. @name is borrowed
 * until the arena is given back; NULL: none.
 */
void *guest_arena(size_t size, const char *name);
/* Gives all of the arena back. */
void guest_arena_free(void);
/*
 * For a library's own allocator, which unmaps it: data while a body runs, the
 * runtime's words otherwise. @align is a power of two, at least a page. Any
 * thread. NULL after a line on stderr.
 */
void *guest_heap(size_t size, size_t align);
/* The next touch of each page puts it on the node, or fails. */
int guest_bind(void *at, size_t size, int node);
/* Node of each of @nr pages from @at, -errno where there is none. */
int guest_nodes(void *at, size_t nr, int *nodes);
/* Touches all pages of arena and heap and says on which node they must be. */
int guest_verify(void);

int guest_pin(int cpu);
/* Of the machine; -1: there is no such CPU. */
int guest_node_of_cpu(int cpu);
/* 0 also for a node that is not there. */
int guest_has_memory(int node);

#ifdef __cplusplus
}
#endif
#endif
