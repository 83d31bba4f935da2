/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of the callers in a stack of another process. The kernel has followed
 * frame pointers: a function that was built without them may be left out, and
 * where one holds something else the stack ends with an address that is no
 * code, which is not shown.
 */
#ifndef TOOLS_PROBE_FRAMES_H
#define TOOLS_PROBE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses that have a name already, of one process. */
struct frames;

/* NULL: no memory. */
struct frames *frames_open(int pid);
void frames_close(struct frames *f);

/*
 * "lookup, parse, libc.so.6+0x1d2a", the innermost first; "" where the first
 * address is no code by now.
 */
const char *frames_text(struct frames *f, const uint64_t *ip, uint32_t nr,
			char *to, size_t size);

/* The name of one; NULL: it is no code. first: no address to return to. */
const char *frames_name(struct frames *f, uint64_t ip, bool is_first);

#endif
