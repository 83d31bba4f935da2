/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench data, third part: blocked Cholesky and LU, one submitted task
 * for each operation on tiles, against the serial loop over the same list and
 * against other runtimes. The kernels are plain C and the same object for
 * all; every factorisation's residual is checked. Without bars against the
 * peers: the kernels decide.
 */
#include "bench/arms.h"
#include "bench/peer.h"
#include "tests/bench/suites/data.h"

#include "tests/bench/lkdf_tiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 512
#define SIDE 32
#define MOST_RESIDUAL 1

static const struct {
	const char *program, *name;
} peers[] = {
	{ "peer_starpu", "starpu" },
	{ "peer_omp_gcc", "libgomp" },
	{ "peer_omp_clang", "libomp" },
};
#define NR_PEERS (sizeof(peers) / sizeof(peers[0]))

struct arm {
	int workers;
	struct lkdf *rt;
	struct lkdf_tiles tasks;
	struct peer peer[NR_PEERS];
	struct samples by_lkdf, by_serial, by_peer[NR_PEERS]; /* us */
};

static const char *const names[] = { "cholesky", "lu" };
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

/* The matrix of the part that is being measured. */
static struct tiles matrix;

static int check(const char *who, double residual)
{
	if (residual < MOST_RESIDUAL)
		return 0;
	return bench_fail(-EBADMSG, "%s: residual %.3g", who, residual);
}

static int serial_once(struct arm *a)
{
	struct tiles *t = &matrix;
	const struct tile_op *op;
	int64_t start;
	uint32_t i;

	tiles_reset(t);
	start = bench_now_ns();
	for (i = 0; i < t->nr_ops; i++) {
		op = &t->op[i];
		tiles_do(op->fn, t->side, tiles_at(t, op->in[0]),
			 tiles_at(t, op->in[1]), tiles_at(t, op->out));
	}
	samples_add(&a->by_serial, (double)(bench_now_ns() - start) / 1000);
	return check("serial", tiles_residual(t));
}

static int lkdf_once(struct arm *a)
{
	struct tiles *t = &matrix;
	int64_t start;
	int rc;

	tiles_reset(t);
	start = bench_now_ns();
	rc = lkdf_tiles_run(&a->tasks);
	samples_add(&a->by_lkdf, (double)(bench_now_ns() - start) / 1000);
	if (rc)
		return bench_fail(rc, "tiles: %s", lkdf_errmsg());
	return check("lkdf", tiles_residual(t));
}

static int peer_once(struct arm *a, const char *name, unsigned i)
{
	double out[PEER_MAX_VALUES];

	if (!a->peer[i].pid || peer_ask(&a->peer[i], out, "tiles %s %d %d %d",
					name, ROWS, SIDE, a->workers) != 2)
		return 0;
	samples_add(&a->by_peer[i], out[0] / 1000);
	return check(peers[i].name, out[1]);
}

static int one_round(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	unsigned i;
	int rc = serial_once(a);

	(void)b;
	if (!rc)
		rc = lkdf_once(a);
	for (i = 0; i < NR_PEERS && !rc; i++)
		rc = peer_once(a, names[part], i);
	return rc;
}

static void forget(struct arm *a)
{
	memset(&a->by_lkdf, 0, sizeof(a->by_lkdf));
	memset(&a->by_serial, 0, sizeof(a->by_serial));
	memset(a->by_peer, 0, sizeof(a->by_peer));
}

static int arm_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int rc = lkdf_tiles_open(&a->tasks, a->rt, &matrix);

	if (rc)
		return bench_fail(rc, "tiles: %s", lkdf_errmsg());
	rc = one_round(b, a, part);
	forget(a);
	return rc;
}

static void arm_drop(void *arm)
{
	struct arm *a = arm;

	if (a->tasks.rt)
		lkdf_tiles_close(&a->tasks);
}

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;
	unsigned i;

	a->workers = workers;
	for (i = 0; i < NR_PEERS; i++)
		peer_open(&a->peer[i], peers[i].program);
	return bench_open(workers, NULL, &a->rt);
}

static void arm_close(void *arm)
{
	struct arm *a = arm;
	unsigned i;

	for (i = 0; i < NR_PEERS; i++)
		peer_close(&a->peer[i]);
	lkdf_close(a->rt);
}

static void arm_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	const struct arm *a = arm, *one = first;
	const char *name = names[part];
	struct bench_row *row;
	unsigned i;

	row = report_add(&b->report, a->workers, "us", "%s/%d", name,
			 a->workers);
	row_value(row, &a->by_lkdf, 1);
	row->floor = samples_median(&a->by_serial);
	row_ratio(row, &a->by_lkdf, &a->by_serial);
	for (i = 0; i < NR_PEERS; i++) {
		row = report_add(&b->report, a->workers, "us", "%s/%d/%s", name,
				 a->workers, peers[i].name);
		row_value(row, &a->by_lkdf, 1);
		if (row_peer(row, peers[i].name, &a->by_peer[i],
			     a->peer[i].why))
			row_ratio(row, &a->by_peer[i], &a->by_lkdf);
	}
	if (a == one)
		return;
	row = report_add(&b->report, a->workers, "us", "%s/slower", name);
	row_value(row, &a->by_lkdf, 1);
	row_ratio(row, &a->by_lkdf, &one->by_lkdf);
	row_judge(row, BAR_AT_MOST, 1.05, gate_was_fair(&b->gate));
}

static int matrix_open(unsigned part)
{
	int rc = tiles_init(&matrix, names[part], ROWS, SIDE);

	return rc ? bench_fail(rc, "tiles: no memory") : 0;
}

static void matrix_close(void)
{
	tiles_fini(&matrix);
}

static const char *name_of(unsigned part)
{
	return names[part];
}

static const struct bench_arms factors = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_close,
	.name = name_of,
	.begin = matrix_open,
	.build = arm_build,
	.round = one_round,
	.rows = arm_rows,
	.drop = arm_drop,
	.end = matrix_close,
};

double bench_tiles_steps(const struct bench *b)
{
	return bench_arms_steps(b, &factors, NR_NAMES);
}

int bench_tiles(struct bench *b)
{
	return bench_arms(b, &factors, NR_NAMES);
}
