/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * C++: the question that all programs of lkdf bench cpp answer.
 * WAY SHAPE SIZE WORKERS   ns, the result
 */
#ifndef TESTS_BENCH_PEER_CPP_H
#define TESTS_BENCH_PEER_CPP_H

#include "tests/bench/cpp.h"
#include "tests/bench/loop.h"
#include "tests/bench/peer_loop.h"

#include <vector>

struct cpp_shape {
	const char *way, *shape;
	int (*run)(struct cpp_job *j);
};

static int cpp_answer(struct question *q, const struct cpp_shape *shapes,
		      struct cpp_job *j)
{
	std::vector<uint32_t> x(j->size);
	const struct cpp_shape *s = shapes;

	while (s->run && (!peer_is(q, s->way) || q->nr < 3 ||
			  strcmp(q->word[1], s->shape)))
		s++;
	if (!s->run)
		return peer_refuse(q, "not a shape of this program");
	for (uint32_t i = 0; i < j->size; i++)
		x[i] = i | 1;
	j->x = x.data();
	int64_t start = peer_now_ns();
	if (s->run(j))
		return peer_refuse(q, "the shape has failed");
	q->out[0] = (double)(peer_now_ns() - start);
	if ((!strcmp(s->shape, "loop") || !strcmp(s->shape, "nested")) &&
	    loop_wrong(j->x, j->size, 2))
		return peer_refuse(q, "the loop has left out an iteration");
	q->out[1] = (double)j->result;
	return 2;
}

#endif
