/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * C++: what the peers of lkdf bench flow share, which answer:
 * control SHAPE NR WORKERS          ns of a run of NR iterations
 * stream STAGES NR UNITS WORKERS    ns of NR tokens
 * by answer_flow<loops, line, fed>(), with classes made of a number of workers,
 * of which at most one object lives at a time; fed is for streams that are fed
 * through a bounded queue, and a peer that has none leaves it out.
 */
#ifndef TESTS_BENCH_PEER_CONTROL_H
#define TESTS_BENCH_PEER_CONTROL_H

#include "tests/bench/control.h"
#include "tests/bench/peer_loop.h"

#include <memory>
#include <string>
#include <type_traits>

static struct control the_control;
static struct stream the_stream;

/* A graph of the_control or pipeline of the_stream, built and run again and
 * again, also when these start anew with another number of iterations. */
struct contest {
	virtual ~contest() = default;
	virtual void run() = 0;
};

/* The last one stays built for the next question. */
struct built {
	std::unique_ptr<contest> now;
	std::string of;
};

static struct built the_built;

template <class C> static double timed_run(const char *what, int workers)
{
	std::string asked = what + std::to_string(workers);
	int64_t start;

	if (asked != the_built.of) {
		the_built.now.reset();
		the_built.now.reset(new C(workers));
		the_built.of = asked;
	}
	start = peer_now_ns();
	the_built.now->run();
	return (double)(peer_now_ns() - start);
}

template <class Loops> static int answer_control(struct question *q)
{
	if (control_init(&the_control, q->word[1], peer_number(q, 2)))
		return peer_refuse(q, "no such shape");
	q->out[0] = timed_run<Loops>(q->word[1], (int)peer_number(q, 3));
	return control_is_right(&the_control) ? 1
					      : peer_refuse(q, "wrong result");
}

template <class Line, class Fed> static int answer_stream(struct question *q)
{
	int workers = (int)peer_number(q, 4);

	if (stream_init(&the_stream, q->word[1], peer_number(q, 2),
			peer_number(q, 3)))
		return peer_refuse(q, "no such stream");
	if (!the_stream.is_fed)
		q->out[0] = timed_run<Line>(q->word[1], workers);
	else if constexpr (std::is_void_v<Fed>)
		return peer_refuse(q, "has no bounded queue");
	else
		q->out[0] = timed_run<Fed>(q->word[1], workers);
	return stream_is_right(&the_stream) ? 1
					    : peer_refuse(q, "wrong result");
}

template <class Loops, class Line, class Fed = void>
static int answer_flow(struct question *q)
{
	if (q->nr < 4)
		return peer_refuse(q, "too few words");
	if (peer_is(q, "control"))
		return answer_control<Loops>(q);
	if (peer_is(q, "stream") && q->nr > 4)
		return answer_stream<Line, Fed>(q);
	return peer_refuse(q, "unknown question");
}

#endif
