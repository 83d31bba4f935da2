/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A signal of the process that has flight recorders written: one signal for all
 * runtimes that want one. The handler counts, and the threads that write look
 * at the count each time they come by.
 */
#ifndef TRACE_LAST_SIGNAL_H
#define TRACE_LAST_SIGNAL_H

#include <stdint.h>

/*
 * Each 0 has its last_signal_drop(). -EBUSY: the program handles or ignores the
 * signal, or another runtime has chosen another one; err() has said so.
 */
int last_signal_take(int number);

/* The last one gives the signal back, unless the program has taken it. */
void last_signal_drop(void);

/* How often it came. Any thread. */
uint32_t last_signal_count(void);

#endif
