/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/tiles.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a = L L^T; L replaces the lower half. */
static void potrf(uint32_t n, double *a)
{
	uint32_t i, j, k;
	double sum;

	for (j = 0; j < n; j++) {
		for (i = j; i < n; i++) {
			sum = a[i * n + j];
			for (k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
		}
	}
}

/* X with X L^T = x. */
static void trsm(uint32_t n, const double *l, double *x)
{
	uint32_t i, j, k;
	double sum;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			sum = x[i * n + j];
			for (k = 0; k < j; k++)
				sum -= x[i * n + k] * l[j * n + k];
			x[i * n + j] = sum / l[j * n + j];
		}
	}
}

/* c -= a b^T */
static void gemm_nt(uint32_t n, const double *a, const double *b, double *c)
{
	uint32_t i, j, k;
	double sum;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			sum = 0;
			for (k = 0; k < n; k++)
				sum += a[i * n + k] * b[j * n + k];
			c[i * n + j] -= sum;
		}
	}
}

/* a = L U; L has ones on its diagonal, which is not stored. */
static void getrf(uint32_t n, double *a)
{
	uint32_t i, j, k;

	for (k = 0; k < n; k++) {
		for (i = k + 1; i < n; i++) {
			a[i * n + k] /= a[k * n + k];
			for (j = k + 1; j < n; j++)
				a[i * n + j] -= a[i * n + k] * a[k * n + j];
		}
	}
}

static void lower(uint32_t n, const double *l, double *x)
{
	uint32_t i, j, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			for (j = 0; j < n; j++)
				x[i * n + j] -= l[i * n + k] * x[k * n + j];
}

static void upper(uint32_t n, const double *u, double *x)
{
	uint32_t i, j, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			x[i * n + k] /= u[k * n + k];
			for (j = k + 1; j < n; j++)
				x[i * n + j] -= x[i * n + k] * u[k * n + j];
		}
	}
}

/* c -= a b */
static void gemm(uint32_t n, const double *a, const double *b, double *c)
{
	uint32_t i, j, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			for (j = 0; j < n; j++)
				c[i * n + j] -= a[i * n + k] * b[k * n + j];
}

void tiles_do(enum tile_fn fn, uint32_t side, const double *a, const double *b,
	      double *out)
{
	switch (fn) {
	case TILE_POTRF:
		potrf(side, out);
		break;
	case TILE_TRSM:
		trsm(side, a, out);
		break;
	case TILE_SYRK:
		gemm_nt(side, a, a, out);
		break;
	case TILE_GEMM_NT:
		gemm_nt(side, a, b, out);
		break;
	case TILE_GETRF:
		getrf(side, out);
		break;
	case TILE_LOWER:
		lower(side, a, out);
		break;
	case TILE_UPPER:
		upper(side, a, out);
		break;
	case TILE_GEMM:
		gemm(side, a, b, out);
		break;
	}
}

static void add(struct tiles *t, enum tile_fn fn, int32_t a, int32_t b,
		uint32_t out)
{
	struct tile_op *op = &t->op[t->nr_ops++];

	op->fn = fn;
	op->out = out;
	if (a >= 0)
		op->in[op->nr_in++] = (uint32_t)a;
	if (b >= 0)
		op->in[op->nr_in++] = (uint32_t)b;
}

static void list_cholesky(struct tiles *t)
{
	uint32_t i, j, k, nr = t->nr;

	for (k = 0; k < nr; k++) {
		add(t, TILE_POTRF, -1, -1, k * nr + k);
		for (i = k + 1; i < nr; i++)
			add(t, TILE_TRSM, (int32_t)(k * nr + k), -1,
			    i * nr + k);
		for (i = k + 1; i < nr; i++) {
			add(t, TILE_SYRK, (int32_t)(i * nr + k), -1,
			    i * nr + i);
			for (j = k + 1; j < i; j++)
				add(t, TILE_GEMM_NT, (int32_t)(i * nr + k),
				    (int32_t)(j * nr + k), i * nr + j);
		}
	}
}

static void list_lu(struct tiles *t)
{
	uint32_t i, j, k, nr = t->nr;

	for (k = 0; k < nr; k++) {
		add(t, TILE_GETRF, -1, -1, k * nr + k);
		for (i = k + 1; i < nr; i++) {
			add(t, TILE_LOWER, (int32_t)(k * nr + k), -1,
			    k * nr + i);
			add(t, TILE_UPPER, (int32_t)(k * nr + k), -1,
			    i * nr + k);
		}
		for (i = k + 1; i < nr; i++)
			for (j = k + 1; j < nr; j++)
				add(t, TILE_GEMM, (int32_t)(i * nr + k),
				    (int32_t)(k * nr + j), i * nr + j);
	}
}

/* Where the element in this row and column lies. */
static uint64_t place_of(const struct tiles *t, uint32_t row, uint32_t col)
{
	uint64_t tile = (uint64_t)(row / t->side) * t->nr + col / t->side;

	return (tile * t->side + row % t->side) * t->side + col % t->side;
}

/* Symmetric, with a diagonal that outweighs its row; same on any machine. */
static void draw(struct tiles *t)
{
	uint64_t state = 1;
	uint32_t i, j;
	double v;

	for (i = 0; i < t->n; i++) {
		for (j = 0; j < i; j++) {
			state = state * 6364136223846793005u + 1;
			v = (double)(state >> 40) / (1 << 24) - 0.5;
			t->first[place_of(t, i, j)] = v;
			t->first[place_of(t, j, i)] = v;
		}
		t->first[place_of(t, i, i)] = t->n;
	}
}

int tiles_init(struct tiles *t, const char *name, uint32_t n, uint32_t side)
{
	uint64_t nr_ops, bytes = (uint64_t)n * n * sizeof(double);

	memset(t, 0, sizeof(*t));
	t->is_lu = !strcmp(name, "lu");
	if (!t->is_lu && strcmp(name, "cholesky"))
		return -EINVAL;
	if (!side || !n || n % side || n > 16384)
		return -EINVAL;
	t->n = n;
	t->side = side;
	t->nr = n / side;
	nr_ops = (uint64_t)t->nr * t->nr * t->nr + t->nr;
	t->op = calloc(nr_ops, sizeof(*t->op));
	t->first = malloc(bytes);
	t->now = aligned_alloc(64, (bytes + 63) / 64 * 64);
	if (!t->op || !t->first || !t->now) {
		tiles_fini(t);
		return -ENOMEM;
	}
	draw(t);
	if (t->is_lu)
		list_lu(t);
	else
		list_cholesky(t);
	tiles_reset(t);
	return 0;
}

void tiles_fini(struct tiles *t)
{
	free(t->op);
	free(t->first);
	free(t->now);
	memset(t, 0, sizeof(*t));
}

void tiles_reset(struct tiles *t)
{
	memcpy(t->now, t->first, (uint64_t)t->n * t->n * sizeof(double));
}

/* An element of the left or right factor. */
static double left(const struct tiles *t, uint32_t i, uint32_t j)
{
	if (i == j && t->is_lu)
		return 1;
	return i < j ? 0 : t->now[place_of(t, i, j)];
}

static double right(const struct tiles *t, uint32_t i, uint32_t j)
{
	if (!t->is_lu)
		return left(t, j, i);
	return i > j ? 0 : t->now[place_of(t, i, j)];
}

double tiles_residual(const struct tiles *t)
{
	double *x = malloc(2 * sizeof(double) * t->n), *z = x + t->n;
	double want, have, worst = 0, most = 0;
	uint32_t i, j;

	if (!x)
		return NAN;
	for (i = 0; i < t->n; i++)
		x[i] = 1 + i % 7;
	for (i = 0; i < t->n; i++) {
		z[i] = 0;
		for (j = 0; j < t->n; j++)
			z[i] += right(t, i, j) * x[j];
	}
	for (i = 0; i < t->n; i++) {
		want = 0;
		have = 0;
		for (j = 0; j < t->n; j++) {
			want += t->first[place_of(t, i, j)] * x[j];
			have += left(t, i, j) * z[j];
		}
		/* Once not a number, for ever. */
		if (!(fabs(have - want) <= worst) && !isnan(worst))
			worst = fabs(have - want);
		most = fmax(most, fabs(want));
	}
	free(x);
	return worst / (most * t->n * DBL_EPSILON);
}
