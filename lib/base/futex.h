/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Process-private futex words. The model checker has its own futex.c.
 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include "base/atomic.h"

#include <stdint.h>

/*
 * Sleeps while *word == expect. 0: woken, the value differed or a signal came
 * (so look again); -ETIMEDOUT after timeout_ns >= 0; -1 is for ever.
 */
int futex_wait(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns);

/* Wakes at most nr sleepers; the number woken. */
int futex_wake(_Atomic(uint32_t) *word, int nr);

/*
 * As the calls above, of a sleeper with bits of its own, at least one:
 * futex_wake_of() wakes only those that have one of its bits.
 */
int futex_wait_as(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns,
		  uint32_t bits);
int futex_wake_of(_Atomic(uint32_t) *word, int nr, uint32_t bits);

#endif
