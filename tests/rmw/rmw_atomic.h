/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The locked operations of lib/base/atomic.h in a library that counts them: by
 * file, function and line, and how many went to a cache line that another
 * thread was the last to lock. A line that is loaded or stored only is not
 * counted, nor does a store tell whose line it is.
 */
#ifndef TESTS_RMW_RMW_ATOMIC_H
#define TESTS_RMW_RMW_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

void rmw_count(const char *file, const char *function, int line,
	       uintptr_t address);

#define RMW_COUNT(p) rmw_count(__FILE__, __func__, __LINE__, (uintptr_t)(p))

#define a_xchg(p, v, o) \
	(RMW_COUNT(p), atomic_exchange_explicit(p, v, memory_order_##o))
#define a_cas(p, old, v, o, fail)                                             \
	(RMW_COUNT(p),                                                        \
	 atomic_compare_exchange_strong_explicit(p, old, v, memory_order_##o, \
						 memory_order_##fail))
#define a_add(p, v, o) \
	(RMW_COUNT(p), atomic_fetch_add_explicit(p, v, memory_order_##o))
#define a_sub(p, v, o) \
	(RMW_COUNT(p), atomic_fetch_sub_explicit(p, v, memory_order_##o))
#define a_or(p, v, o) \
	(RMW_COUNT(p), atomic_fetch_or_explicit(p, v, memory_order_##o))
#define a_and(p, v, o) \
	(RMW_COUNT(p), atomic_fetch_and_explicit(p, v, memory_order_##o))

#endif
