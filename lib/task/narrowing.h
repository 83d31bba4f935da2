/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option narrow=auto: kinds whose bodies meet in a lock get a gate, and fewer
 * workers run them where that is measured to be faster. A worker that has
 * closed a window (signal/windows.h) tells policy/narrow.h of each set of kinds
 * what the window was like, and gives the set's gate the cap that comes of it.
 *
 * Kinds come into a set by a sign of trouble: the probe has seen their bodies
 * in one futex word for much of the time, or their bodies take longer than
 * alone (kind_is_stretched()), as in spin locks, or without the probe. Kinds
 * with one hottest word are one set, any other kind is a set of its own at
 * first. Two sets without a word whose trials were lost, and that still show
 * trouble in the same windows, become one set: kinds that meet in one spin lock
 * win nothing one by one. Kinds of one name are one kind. Bodies of less than
 * about 0.25 us are left alone: a gate would cost more than they do, and a
 * trial would only find that out.
 *
 *	sign --> set --narrow_is_due()--> gate, and bodies are counted
 *	                                    | narrow_step() each window
 *	                                    v
 *	                                  the best cap; counting ends
 *
 * Sets try one at a time, for what a trial compares is the progress of the
 * whole program. Until a set is due nothing is counted and no kind has a gate.
 * A set that has been without a sign for long is forgotten, and its gate serves
 * the next one.
 *
 *	all fields but those marked	who has closed the window, until it is
 *					given back by windows_end()
 */
#ifndef TASK_NARROWING_H
#define TASK_NARROWING_H

#include "policy/narrow.h"

#include <lkdf/signals.h>

struct gate;
struct lkdf;
struct window;
struct worker;

/* Sets of a runtime at a time; kinds of a set that a reader gets, of any
 * number.
 */
#define NARROWED_KINDS 8
#define NARROWED_SETS 64

/* None but with narrow=auto and several workers. 0 or -ENOMEM. */
int narrowing_open(struct lkdf *rt);

/* No body runs any more, or we are a forked child. */
void narrowing_close(struct lkdf *rt);

/* The worker has closed a window. */
void narrowing_turn(struct worker *w, const struct window *win);

/* A set that has, or had, fewer workers. */
struct narrowed {
	const struct gate *gate;
	uint32_t cap, nr_workers; /* the same: all may run it now */
	uint32_t running, aside; /* workers with a token; items put aside */
	uint64_t word; /* the futex word of its bodies; 0: none is known */
	enum lkdf_signal_source source; /* of the first sign */
	enum narrow_why why; /* the last step that changed something */
	uint32_t nr_kinds;
	uint32_t kind[NARROWED_KINDS]; /* their names in recordings */
};

/* Any thread: the i-th set that has a gate; false: there is none. */
bool narrowing_read(struct lkdf *rt, uint32_t i, struct narrowed *out);

/* Any thread: active_workers and nr_narrow. */
void narrowing_tell(const struct lkdf *rt, struct lkdf_facts *out);

/* EVENT_NARROW's second word; the first one is the kind. */
static inline uint64_t narrowing_word(uint32_t cap, uint32_t source,
				      uint32_t why)
{
	return cap | (uint64_t)source << 32 | (uint64_t)why << 40;
}

#endif
