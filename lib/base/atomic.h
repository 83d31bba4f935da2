/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one atomic layer. Every shared access in lib goes through these names,
 * so that a review sees the order at the call and the model checker sees the
 * access: with LKDF_MC the same names lead to tests/mc instead of the CPU.
 *
 * With LKDF_RMW locked operations are counted by place, see tests/rmw.
 *
 * There is no fence here on purpose: orders sit on accesses, which
 * ThreadSanitizer and the model checker both understand.
 *
 * Orders are written short: relaxed, acquire, release, acq_rel, seq_cst.
 *
 *	a_load(p, order)		value
 *	a_store(p, v, order)
 *	a_xchg(p, v, order)		old value
 *	a_cas(p, old, v, order, fail)	true on success; *old is updated on
 *					failure; strong
 *	a_add, a_sub, a_or, a_and	old value
 *	a_pause()			we spin: somebody else must move
 *	a_delay()			a moment goes by: nobody need move
 *	plain_load(p), plain_store(p, v) a field that an order elsewhere
 *					protects; checked for data races
 *	row_is_dropped(name)		false; the model checker leaves out one
 *					row of a table at a time
 */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#ifdef LKDF_MC
#include "mc_atomic.h"
#else
#include <stdatomic.h>
#include <stdbool.h>

#define a_load(p, o) atomic_load_explicit(p, memory_order_##o)
#define a_store(p, v, o) atomic_store_explicit(p, v, memory_order_##o)
#ifdef LKDF_RMW
#include "rmw_atomic.h"
#else
#define a_xchg(p, v, o) atomic_exchange_explicit(p, v, memory_order_##o)
#define a_cas(p, old, v, o, fail)                                            \
	atomic_compare_exchange_strong_explicit(p, old, v, memory_order_##o, \
						memory_order_##fail)
#define a_add(p, v, o) atomic_fetch_add_explicit(p, v, memory_order_##o)
#define a_sub(p, v, o) atomic_fetch_sub_explicit(p, v, memory_order_##o)
#define a_or(p, v, o) atomic_fetch_or_explicit(p, v, memory_order_##o)
#define a_and(p, v, o) atomic_fetch_and_explicit(p, v, memory_order_##o)
#endif
#define plain_load(p) (*(p))
#define plain_store(p, v) ((void)(*(p) = (v)))
#define row_is_dropped(name) ((void)(name), false)

static inline void a_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static inline void a_delay(void)
{
	a_pause();
}
#endif

#endif
