/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP tasks as a pipeline, for lkdf bench flow: a task for each token and
 * stage, which depends on the token's slot and, where the stage is serial, on
 * the stage. One thread makes them all, in the order of tokens; a slot is free
 * again when its token has left. OpenMP has no loops of tasks and no bounded
 * queues between them, so these questions are refused.
 *
 * stream STAGES NR UNITS WORKERS    ns of NR tokens
 */
#include "tests/bench/control.h"
#include "tests/bench/peer_loop.h"

#include <omp.h>

static struct stream the_stream;

static void make_task(struct stream *s, unsigned stage, uint64_t token)
{
	struct slot *slot = &s->slot[token % STREAM_TOKENS];
	struct stage *at = &s->stage[stage];

	(void)slot; /* gcc does not count what depend() names as used */
	if (at->is_serial) {
#pragma omp task firstprivate(s, stage, token) depend(inout : slot[0], at[0])
		stream_do(s, stage, token);
	} else {
#pragma omp task firstprivate(s, stage, token) depend(inout : slot[0])
		stream_do(s, stage, token);
	}
}

static void run(struct stream *s, int workers)
{
#pragma omp parallel num_threads(workers)
#pragma omp single
	{
		uint64_t token;
		unsigned stage;

		for (token = 0; token < s->nr; token++)
			for (stage = 0; stage < STREAM_STAGES; stage++)
				make_task(s, stage, token);
	}
}

static int peer_answer(struct question *q)
{
	int64_t start;

	if (peer_is(q, "control"))
		return peer_refuse(q, "has no loops of tasks");
	if (!peer_is(q, "stream") || q->nr < 5)
		return peer_refuse(q, "unknown question");
	if (stream_init(&the_stream, q->word[1], peer_number(q, 2),
			peer_number(q, 3)))
		return peer_refuse(q, "no such stream");
	if (the_stream.is_fed)
		return peer_refuse(q, "has no bounded queue");
	start = peer_now_ns();
	run(&the_stream, (int)peer_number(q, 4));
	q->out[0] = (double)(peer_now_ns() - start);
	return stream_is_right(&the_stream) ? 1
					    : peer_refuse(q, "wrong result");
}

int main(void)
{
	return peer_loop();
}
