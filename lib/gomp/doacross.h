/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops whose iterations wait for others by number: ordered with depend(sink)
 * and depend(source). The iterations of the outermost loop are dealt out in
 * chunks of one size, and each chunk has a slot, in which the thread that has
 * it tells how far it is, counted over all the loops inside. Its iterations
 * come in order, so a slot only grows, and one number says of all of them
 * whether they have posted.
 *
 *	posts                            sleeps
 *	(A) the slot                     (C) nr_asleep + 1
 *	(B) looks at nr_asleep           (D) looks at the slot
 *
 * All four are seq_cst: either B sees C, or D sees A.
 */
#ifndef GOMP_DOACROSS_H
#define GOMP_DOACROSS_H

#include "base/atomic.h"

#include <stdint.h>

struct doacross {
	/* Set by the first thread, constant afterwards. */
	unsigned nr; /* loops */
	unsigned stride; /* from slot to slot */
	uint64_t chunk; /* iterations of the outermost loop */
	uint64_t *count; /* iterations of each loop */

	/* Any thread. */
	_Atomic(uint32_t) nr_asleep;
	_Atomic(uint32_t) nr_calls; /* a futex */
	_Atomic(uint64_t) slot[]; /* iterations posted; the counts follow */
};

#endif
