/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocked Cholesky and LU (without pivoting, of matrices that need none): the
 * operations on tiles in the order of the serial program, plain C kernels and
 * the check of the result. All contestants go through the same list and link
 * the same object.
 */
#ifndef TESTS_BENCH_TILES_H
#define TESTS_BENCH_TILES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tile_fn {
	TILE_POTRF,
	TILE_TRSM,
	TILE_SYRK,
	TILE_GEMM_NT,
	TILE_GETRF,
	TILE_LOWER, /* X with L X = out */
	TILE_UPPER, /* X with X U = out */
	TILE_GEMM,
};

/* Reads tiles in[0] .. in[nr_in - 1], changes tile out. */
struct tile_op {
	enum tile_fn fn;
	uint32_t nr_in, in[2], out;
};

struct tiles {
	uint32_t n, side, nr; /* rows; rows of a tile; tiles in a row */
	uint32_t nr_ops;
	bool is_lu;
	struct tile_op *op;
	double *first, *now; /* the matrix, tile after tile; being factored */
};

/* "cholesky" or "lu"; @n a multiple of @side. 0, -EINVAL, -ENOMEM. */
int tiles_init(struct tiles *t, const char *name, uint32_t n, uint32_t side);
void tiles_fini(struct tiles *t);

/* Back to the matrix before factoring. */
void tiles_reset(struct tiles *t);

static inline double *tiles_at(const struct tiles *t, uint32_t tile)
{
	return t->now + (uint64_t)tile * t->side * t->side;
}

/* One operation on tiles of @side rows; @a and @b may be unused. */
void tiles_do(enum tile_fn fn, uint32_t side, const double *a, const double *b,
	      double *out);

/*
 * Largest element of (factors times x - matrix times x), in units of what
 * rounding explains: below 1 is right, not a number is wrong.
 */
double tiles_residual(const struct tiles *t);

#ifdef __cplusplus
}
#endif
#endif
