/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The shapes of lkdf bench cpp: each once by the C calls, by lkdf.hpp, by
 * coroutines, and by peers. All count the same result.
 */
#ifndef TESTS_BENCH_CPP_H
#define TESTS_BENCH_CPP_H

#include <stdint.h>

#define CPP_CONNECTIONS 20
#define CPP_MESSAGE 64 /* bytes */
#define CPP_FAN 10 /* children of a node of skynet */
#define CPP_ROW 1000 /* iterations of an inner loop of nested */
#define CPP_QUEENS 16 /* at most */

struct lkdf;

/* What a shape is given. */
struct cpp_job {
	struct lkdf *rt;
	uint32_t size;
	uint32_t *x; /* of size numbers, element i is i | 1; see loop.h */
	int fd[CPP_CONNECTIONS][2]; /* of ping */
	uint64_t result;
};

/* Squares of a row that no queen attacks; bit i is column i. */
struct cpp_board {
	uint32_t n, columns, left, right;
};

static inline uint32_t cpp_free(const struct cpp_board *b)
{
	return ~(b->columns | b->left | b->right) & ((1u << b->n) - 1);
}

/* One more queen. */
static inline struct cpp_board cpp_put(const struct cpp_board *b, uint32_t bit)
{
	struct cpp_board next = { b->n, b->columns | bit, (b->left | bit) << 1,
				  (b->right | bit) >> 1 };

	return next;
}

static inline int cpp_is_full(const struct cpp_board *b)
{
	return b->columns == (1u << b->n) - 1;
}

/* Iterations of the outer loop of nested. */
static inline uint32_t cpp_rows(const struct cpp_job *j)
{
	return j->size / CPP_ROW;
}

static inline uint64_t cpp_leaves(uint32_t depth)
{
	uint64_t nr = 1;

	while (depth--)
		nr *= CPP_FAN;
	return nr;
}

#ifdef __cplusplus
extern "C" {
#endif

/* By the C calls: 0 or -errno. */
int cpp_c_loop(struct cpp_job *j);
int cpp_c_reduce(struct cpp_job *j);
int cpp_c_async(struct cpp_job *j);
int cpp_c_data(struct cpp_job *j);
int cpp_c_fib(struct cpp_job *j);
int cpp_c_skynet(struct cpp_job *j);
int cpp_c_nqueens(struct cpp_job *j);
int cpp_c_ping(struct cpp_job *j);

#ifdef __cplusplus
}
#endif

#endif
