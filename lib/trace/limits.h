/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions with a limit that are under way while there is a flight recorder: the
 * drain thread looks at them in each of its rounds, 2 ms apart, and has the
 * recorder written when one is late, while that still runs.
 *
 * A place is free, or has one region: whoever begins takes it by its begin, and
 * whoever ends gives it back, so that both take no lock. Regions that begin in
 * one tick share what they say, and one more than there are places is looked at
 * when it ends.
 */
#ifndef TRACE_LIMITS_H
#define TRACE_LIMITS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define LIMIT_PLACES 64

struct limit_place {
	_Atomic(uint64_t) begin; /* ticks; 0: it is free */
	_Atomic(uint64_t) end; /* ticks; 0: it has none, or it was told */
};

struct limits {
	_Atomic(uint32_t) nr; /* places in use, or soon; a guess */
	struct limit_place place[LIMIT_PLACES];
};

/* A region that began then is late after end. */
void limits_begin(struct limits *l, uint64_t begin, uint64_t end);

/* It has ended. True: it was late while it ran, and that was told. */
bool limits_end(struct limits *l, uint64_t begin);

/* The drain thread. True: one is late that was not so far. */
bool limits_look(struct limits *l, uint64_t now);

#endif
