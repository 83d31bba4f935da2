/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The number that a thread writes into the locks that it holds: the kernel's,
 * in thread-local storage of the initial-exec kind. A thread whose number
 * nobody has asked for writes one that no thread has, so that to take a lock
 * asks for nothing.
 */
#ifndef BASE_LOCK_OWNER_H
#define BASE_LOCK_OWNER_H

#include <stdint.h>

#ifdef LKDF_MC
int mc_self(void);

static inline uint32_t lock_owner(void)
{
	return (uint32_t)mc_self() + 2;
}

static inline void lock_owner_learn(void)
{
}
#else
extern __thread uint32_t lock_owner_number
	__attribute__((tls_model("initial-exec")));

/* Never 0, and no bit above FUTEX_TID_MASK. */
static inline uint32_t lock_owner(void)
{
	return lock_owner_number;
}

/* This thread's number from now on; in a forked child it is another one. */
void lock_owner_learn(void);
#endif

#endif
