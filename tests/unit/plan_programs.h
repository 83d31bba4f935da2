/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The five programs of the measurements behind the policy, in their sizes, and
 * five others that it was not made for. A body touches each word once for each
 * access, read and written ones twice.
 */
#ifndef TESTS_UNIT_PLAN_PROGRAMS_H
#define TESTS_UNIT_PLAN_PROGRAMS_H

#include "tests/unit/plan_program.h"

static void program_read(struct program *p, uint32_t block)
{
	program_use(p, block, "r", 0);
}

static void program_write(struct program *p, uint32_t block)
{
	program_use(p, block, "w", 0);
}

static void program_update(struct program *p, uint32_t block)
{
	program_use(p, block, "rw", 0);
}

/* So many blocks twice, first written, then swept. */
static struct program *program_stencil(uint32_t nr, uint32_t nr_sweeps)
{
	struct program *p = program_new("stencil");
	uint32_t b[2], s, i;

	b[0] = program_blocks(p, nr, 512 * PROGRAM_KIB);
	b[1] = program_blocks(p, nr, 512 * PROGRAM_KIB);
	for (i = 0; i < nr; i++) {
		program_task(p);
		program_write(p, b[0] + i);
	}
	for (s = 0; s < nr_sweeps * nr; s++) {
		i = s % nr;
		program_task(p);
		program_read(p, b[s / nr % 2] + i);
		/* 512 words of 8 bytes. */
		if (i > 0)
			program_use(p, b[s / nr % 2] + i - 1, "r", 512);
		if (i < nr - 1)
			program_use(p, b[s / nr % 2] + i + 1, "r", 512);
		program_write(p, b[(s / nr + 1) % 2] + i);
	}
	return program_end(p);
}

/* Inner tasks write a block, their two children read it; leaves only read. */
static struct program *program_tree(uint32_t nr_inner)
{
	struct program *p = program_new("tree");
	uint32_t b = program_blocks(p, nr_inner, 512 * PROGRAM_KIB), t;

	for (t = 0; t < 2 * nr_inner + 1; t++) {
		program_task(p);
		if (t > 0)
			program_read(p, b + (t - 1) / 2);
		if (t < nr_inner)
			program_write(p, b + t);
	}
	return program_end(p);
}

/* A square of fresh blocks, each from those above and to the left. */
static struct program *program_wave(uint32_t n)
{
	struct program *p = program_new("wave");
	uint32_t b = program_blocks(p, n * n, 512 * PROGRAM_KIB), i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			program_task(p);
			if (i > 0)
				program_read(p, b + (i - 1) * n + j);
			if (j > 0)
				program_read(p, b + i * n + j - 1);
			program_write(p, b + i * n + j);
		}
	}
	return program_end(p);
}

static void cholesky_step(struct program *p, uint32_t n, uint32_t k)
{
	uint32_t i, j;

	program_task(p);
	program_update(p, k * n + k);
	for (i = k + 1; i < n; i++) {
		program_task(p);
		program_read(p, k * n + k);
		program_update(p, i * n + k);
	}
	for (i = k + 1; i < n; i++) {
		for (j = k + 1; j <= i; j++) {
			program_task(p);
			program_read(p, i * n + k);
			if (j < i)
				program_read(p, j * n + k);
			program_update(p, i * n + j);
		}
	}
}

/* Right-looking, the lower half of n x n tiles of 128 x 128 doubles. */
static struct program *program_cholesky(uint32_t n)
{
	struct program *p = program_new("cholesky");
	uint32_t k;

	program_blocks(p, n * n, 128 * PROGRAM_KIB);
	for (k = 0; k < n; k++)
		cholesky_step(p, n, k);
	return program_end(p);
}

/* Leaves written, then combined in pairs in place. */
static struct program *program_reduction(uint32_t nr)
{
	struct program *p = program_new("reduction");
	uint32_t b = program_blocks(p, nr, 512 * PROGRAM_KIB), i, step;

	for (i = 0; i < nr; i++) {
		program_task(p);
		program_write(p, b + i);
	}
	for (step = 1; step < nr; step *= 2) {
		for (i = 0; i < nr; i += 2 * step) {
			program_task(p);
			program_read(p, b + i + step);
			program_update(p, b + i);
		}
	}
	return program_end(p);
}

static void lu_step(struct program *p, uint32_t n, uint32_t k)
{
	uint32_t i, j;

	program_task(p);
	program_update(p, k * n + k);
	for (i = k + 1; i < n; i++) {
		program_task(p);
		program_read(p, k * n + k);
		program_update(p, i * n + k);
		program_task(p);
		program_read(p, k * n + k);
		program_update(p, k * n + i);
	}
	for (i = k + 1; i < n; i++) {
		for (j = k + 1; j < n; j++) {
			program_task(p);
			program_read(p, i * n + k);
			program_read(p, k * n + j);
			program_update(p, i * n + j);
		}
	}
}

/* Without pivoting, n x n tiles. */
static struct program *program_lu(uint32_t n)
{
	struct program *p = program_new("lu");
	uint32_t k;

	program_blocks(p, n * n, 128 * PROGRAM_KIB);
	for (k = 0; k < n; k++)
		lu_step(p, n, k);
	return program_end(p);
}

/* A butterfly: each task updates two blocks, further apart each time. */
static struct program *program_fft(uint32_t nr)
{
	struct program *p = program_new("fft");
	uint32_t b = program_blocks(p, nr, 256 * PROGRAM_KIB), i, step;

	for (i = 0; i < nr; i++) {
		program_task(p);
		program_write(p, b + i);
	}
	for (step = 1; step < nr; step *= 2) {
		for (i = 0; i < nr; i++) {
			if (i & step)
				continue;
			program_task(p);
			program_update(p, b + i);
			program_update(p, b + i + step);
		}
	}
	return program_end(p);
}

static void plane_task(struct program *p, uint32_t n, uint32_t from, uint32_t i)
{
	program_read(p, from + i);
	if (i % n > 0)
		program_use(p, from + i - 1, "r", 1024);
	if (i % n < n - 1)
		program_use(p, from + i + 1, "r", 1024);
	if (i >= n)
		program_use(p, from + i - n, "r", 1024);
	if (i < n * n - n)
		program_use(p, from + i + n, "r", 1024);
}

/* A stencil in two dimensions: n x n blocks twice. */
static struct program *program_plane(uint32_t n, uint32_t nr_sweeps)
{
	struct program *p = program_new("plane");
	uint32_t b[2], s, i;

	b[0] = program_blocks(p, n * n, 256 * PROGRAM_KIB);
	b[1] = program_blocks(p, n * n, 256 * PROGRAM_KIB);
	for (s = 0; s <= nr_sweeps; s++) {
		for (i = 0; i < n * n; i++) {
			program_task(p);
			if (s > 0)
				plane_task(p, n, b[(s + 1) % 2], i);
			program_write(p, b[s % 2] + i);
		}
	}
	return program_end(p);
}

/* Tasks update one block each and read some others, mostly close ones. */
static struct program *program_sparse(uint32_t nr_tasks, uint64_t seed)
{
	struct program *p = program_new("sparse");
	uint32_t nr = nr_tasks / 8 + 1, t, i, out, other;

	for (i = 0; i < nr; i++) {
		program_blocks(p, 1,
			       (32 + random_next(&seed) % 480) * PROGRAM_KIB);
		program_task(p);
		program_write(p, i);
	}
	for (t = 0; t < nr_tasks; t++) {
		out = random_next(&seed) % nr;
		program_task(p);
		program_update(p, out);
		for (i = random_next(&seed) % 4; i > 0; i--) {
			other = random_next(&seed) % 8 ? out + i
						       : random_next(&seed);
			if (other % nr != out)
				program_read(p, other % nr);
		}
	}
	return program_end(p);
}

/* Chains of different lengths that all read one table. */
static struct program *program_chains(uint32_t nr)
{
	struct program *p = program_new("chains");
	uint32_t table = program_blocks(p, 1, 64 * PROGRAM_KIB), i, s;
	uint32_t b = program_blocks(p, nr, 512 * PROGRAM_KIB);

	program_task(p);
	program_write(p, table);
	for (s = 0; s < 24; s++) {
		for (i = 0; i < nr; i++) {
			if (s > 8 + i % 16)
				continue;
			program_task(p);
			program_read(p, table);
			program_update(p, b + i);
		}
	}
	return program_end(p);
}

/* The five of the measurements in their sizes, then others. */
#define NR_MEASURED 5
#define NR_PROGRAMS 10
static struct program *program_build(int which)
{
	switch (which) {
	case 0:
		return program_stencil(64, 20);
	case 1:
		return program_tree(127);
	case 2:
		return program_wave(16);
	case 3:
		return program_cholesky(12);
	case 4:
		return program_reduction(128);
	case 5:
		return program_lu(10);
	case 6:
		return program_fft(128);
	case 7:
		return program_plane(10, 12);
	case 8:
		return program_sparse(800, 42);
	default:
		return program_chains(64);
	}
}

#endif
