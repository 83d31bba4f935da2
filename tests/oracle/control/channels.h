/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task of a random graph that receives a value each time it is called, and
 * one that sends one. A dynamic task feeds the first, another one drains what
 * the second sends; both channels are short, and all of them wait by
 * LKDF_AGAIN. With one sender and one receiver a channel is a queue, and a task
 * of a graph is called run by run, so the model's counts of calls say which
 * values come, and in which order.
 */
#ifndef TESTS_ORACLE_CONTROL_CHANNELS_H
#define TESTS_ORACLE_CONTROL_CHANNELS_H

#include "tests/oracle/control/program.h"

#include <lkdf/lkdf.h>
#include <stdatomic.h>

/* Where a call is that waits; of one run. */
struct exchange {
	bool has_received; /* a task that sends, too, and waits for room */
};

struct channels {
	const struct program *p;
	struct lkdf_channel *in, *out; /* NULL: no such task */
	struct lkdf_kind *feeds, *drains;

	/* The feeder, the receiver and the drainer only, one each. */
	uint64_t nr_fed, nr_received, nr_drained;
	uint64_t received, drained; /* program_see() of the values */

	_Atomic(uint64_t) nr_again; /* calls of both tasks that have waited */

	/* By the model. */
	uint64_t want_received, want_drained;
	uint64_t nr_want_received, nr_want_drained;
};

void channels_open(struct channels *ch, struct lkdf *rt,
		   const struct program *p);

/* In the body of a task, which sends value if it sends: 0, or to be returned.
 */
int channels_exchange(struct channels *ch, struct lkdf_ctx *c,
		      struct exchange *x, const struct program *p, int task,
		      uint64_t value);

/* What the model says of the next run. */
void channels_expect(struct channels *ch, const struct program *p, int run,
		     const struct story *s);

/* All runs are over. False, and told: other values than the model's. */
bool channels_close(struct channels *ch, struct lkdf *rt);

#endif
