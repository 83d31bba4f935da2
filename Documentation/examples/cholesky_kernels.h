/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The bodies of cholesky.c: each knows its tiles only by the number of the use.
 * They are plain C: for real work call a BLAS in potrf(), trsm(), syrk() and
 * gemm().
 */
#ifndef EXAMPLES_CHOLESKY_KERNELS_H
#define EXAMPLES_CHOLESKY_KERNELS_H

#include <errno.h>
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* A step's tile; copied into its task. */
struct step {
	uint32_t n, b; /* order of A, of a tile */
	uint32_t i, j; /* row and column of the tile */
	double diagonal;
};

/* Sums of squares: of A - L L^T and of A. */
struct norms {
	double residual, a;
};

/* Element of A: 1 / (1 + |row - col|), n more on the diagonal. Beyond n: I. */
static double element(const struct step *s, uint32_t row, uint32_t col)
{
	if (row >= s->n || col >= s->n)
		return row == col;
	if (row == col)
		return 1 + s->diagonal;
	return 1 / (1 + fabs((double)row - (double)col));
}

/* Tile (i, j) of A. Tiles are stored by columns. */
static int fill(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;
	double *a = lkdf_ptr(c, 0);
	uint32_t col, row;

	for (col = 0; col < s->b; col++)
		for (row = 0; row < s->b; row++)
			*a++ = element(s, s->i * s->b + row, s->j * s->b + col);
	return 0;
}

/* a = L of a = L L^T; zeroes above the diagonal. */
static int potrf(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;
	double *a = lkdf_ptr(c, 0), *aj, *ak;
	uint32_t b = s->b, i, j, k;

	for (j = 0; j < b; j++) {
		aj = a + (size_t)j * b;
		if (!(aj[j] > 0))
			return lkdf_fail(c, -EDOM,
					 "row %u: A is not positive definite",
					 s->j * b + j);
		aj[j] = sqrt(aj[j]);
		for (i = 0; i < j; i++)
			aj[i] = 0;
		for (i = j + 1; i < b; i++)
			aj[i] /= aj[j];
		for (k = j + 1; k < b; k++) {
			ak = a + (size_t)k * b;
			for (i = k; i < b; i++)
				ak[i] -= aj[i] * aj[k];
		}
	}
	return 0;
}

/* a = a L^-T: the tile below a factored one. */
static int trsm(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;
	const double *l = lkdf_ptr(c, 0);
	double *a = lkdf_ptr(c, 1), *aj, *ak;
	uint32_t b = s->b, i, j, k;

	for (j = 0; j < b; j++) {
		aj = a + (size_t)j * b;
		for (i = 0; i < b; i++)
			aj[i] /= l[(size_t)j * b + j];
		for (k = j + 1; k < b; k++) {
			ak = a + (size_t)k * b;
			for (i = 0; i < b; i++)
				ak[i] -= aj[i] * l[(size_t)j * b + k];
		}
	}
	return 0;
}

/* a = a - x y^T, rows from the diagonal down where the tile is on it. */
static void subtract(double *a, const double *x, const double *y, uint32_t b,
		     int is_diagonal)
{
	uint32_t i, j, k;

	for (j = 0; j < b; j++)
		for (k = 0; k < b; k++) {
			double f = y[(size_t)k * b + j];
			double *aj = a + (size_t)j * b;
			const double *xk = x + (size_t)k * b;

			for (i = is_diagonal ? j : 0; i < b; i++)
				aj[i] -= xk[i] * f;
		}
}

static int syrk(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;
	const double *x = lkdf_ptr(c, 0);

	subtract(lkdf_ptr(c, 1), x, x, s->b, 1);
	return 0;
}

static int gemm(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;

	subtract(lkdf_ptr(c, 2), lkdf_ptr(c, 0), lkdf_ptr(c, 1), s->b, 0);
	return 0;
}

/* Adds tile (i, j) of A - L L^T and of A to the norms. */
static int check(struct lkdf_ctx *c, void *arg)
{
	const struct step *s = arg;
	struct norms *norms = lkdf_ptr(c, 0);
	uint32_t row, col, k;
	double a, *r = lkdf_scratch(c);

	for (col = 0; col < s->b; col++)
		for (row = 0; row < s->b; row++) {
			a = element(s, s->i * s->b + row, s->j * s->b + col);
			r[col * s->b + row] = a;
			/* A tile below the diagonal stands for two */
			norms->a += (s->i == s->j ? 1 : 2) * a * a;
		}
	for (k = 0; k <= s->j; k++)
		subtract(r, lkdf_ptr(c, 1 + 2 * k), lkdf_ptr(c, 2 + 2 * k),
			 s->b, 0);
	for (k = 0; k < s->b * s->b; k++)
		norms->residual += (s->i == s->j ? 1 : 2) * r[k] * r[k];
	return 0;
}

static int add_norms(void *acc, const void *x, uint64_t bytes)
{
	struct norms *to = acc;
	const struct norms *from = x;

	(void)bytes;
	to->residual += from->residual;
	to->a += from->a;
	return 0;
}

static void no_norms(void *acc, uint64_t bytes)
{
	memset(acc, 0, bytes);
}

#endif
