/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Small things without state: container_of, rounding, likely, check.
 */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define round_up_const(x, to) (((x) + (to)-1) / (to) * (to))

#define container_of(p, type, member) \
	((type *)((char *)(p)-offsetof(type, member)))

/*
 * The impossible. On with LKDF_DEBUG, which make check's sanitizer build
 * defines; never for input. It ends the process with file, line, condition,
 * this thread's last error and what check_state() says, where that is linked.
 */
#ifdef LKDF_DEBUG
#define check_as(cond, text) \
	((cond) ? (void)0 : check_failed(text, __FILE__, __LINE__))
#define check(cond) check_as(cond, #cond)
_Noreturn void check_failed(const char *cond, const char *file, int line);
/* The state of this thread's runtime, to a descriptor. */
__attribute__((weak)) void check_state(int fd);
#else
/* Not evaluated. */
#define check_as(cond, text) ((void)sizeof(!(cond)))
#define check(cond) check_as(cond, )
#endif

/* Names that only check() uses. */
#define CHECK_ONLY __attribute__((unused))

/*
 * A state machine's legal moves: table[from] has a bit for each state that may
 * follow.
 */
#define MOVE_TO(state) (1u << (state))
#define check_move(table, from, to)                                         \
	check_as((from) < ARRAY_SIZE(table) && (table)[from] & MOVE_TO(to), \
		 #table ": " #from " -> " #to)

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Up to the next multiple of a power of two. */
static inline uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) & ~(to - 1);
}

/* xorshift64*: Vigna 2014. State must not be 0. */
static inline uint32_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (uint32_t)((x * 2685821657736338717ull) >> 32);
}

#endif
