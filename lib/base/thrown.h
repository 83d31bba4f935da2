/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the search for a handler of an exception ends: a thread's first
 * function, or one that runs work on a thread of the user. There it always
 * finds one, so that the stack is unwound and the frame that has called the
 * user's code can tell (task/body.h). Nothing gets as far as here again.
 *
 * A function that is marked has no cleanups of its own, for it has room for one
 * personality only.
 */
#ifndef BASE_THROWN_H
#define BASE_THROWN_H

#include <stddef.h>

/* Writes the line on standard error and aborts. */
_Noreturn void thrown_end(const char *line);

/*
 * The cleanup of a guard that a caller of the user's function has set to such a
 * line, and sets to NULL when the function has returned.
 */
static inline __attribute__((always_inline)) void
thrown_look(const char *const *line)
{
	if (__builtin_expect(*line != NULL, 0))
		thrown_end(*line);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* 0x1b: 4 bytes, relative to where they stand. */
#define THROWN_ENDS_HERE \
	__asm__ volatile(".cfi_personality 0x1b, thrown_personality")
#else
#define THROWN_ENDS_HERE ((void)0)
#endif

#endif
