/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocked Cholesky: A = L L^T for a symmetric positive definite A. The matrix
 * is one data, split in a part for each tile; one thread submits the plain
 * sequential algorithm tile by tile, and what each step reads and writes tells
 * which steps may run at the same time. The result is checked: the norm of
 * A - L L^T, by that of A. With --replay the steps are recorded in a graph,
 * which then factors again and again. Documentation/cholesky.rst goes through
 * it.
 *
 * The bodies are in cholesky_kernels.h. With --device those with most of the
 * work are kernels, cholesky_device.h, and the same steps run on a device.
 *
 *   cholesky [--n N] [--block B] [--replay TIMES] [--device] [--indefinite]
 *            [--help]
 */
#include "cholesky_device.h"
#include "cholesky_kernels.h"

#include <errno.h>
#include <lkdf/device.h>
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	FILL,
	POTRF,
	TRSM,
	SYRK,
	GEMM,
	CHECK,
	NR_KINDS
};

struct cholesky {
	struct lkdf *rt;
	struct lkdf_kind *kind[NR_KINDS];
	struct lkdf_data *matrix, *norms;
	struct lkdf_scope *scope; /* NULL: the root */
	struct step step;
	struct lkdf_graph *graph; /* NULL: steps are submitted each time */
	uint32_t nr_tiles, nr_replays; /* tiles in a row */
	uint64_t nr_submitted[NR_KINDS];
	bool has_device; /* --device */
};

/* Tile (i, j) in the uses of a task. */
static struct lkdf_use tile(const struct cholesky *x, uint32_t i, uint32_t j,
			    uint32_t mode)
{
	struct lkdf_use u = { .data = x->matrix, .mode = mode };

	u.part = 1 + i * x->nr_tiles + j;
	return u;
}

static int submit(struct cholesky *x, int kind, uint32_t i, uint32_t j,
		  const struct lkdf_use *use, uint32_t nr_use)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = x->kind[kind] };
	int rc;

	x->step.i = i;
	x->step.j = j;
	t.arg = &x->step;
	t.use = use;
	t.nr_use = nr_use;
	x->nr_submitted[kind]++;
	rc = lkdf_submit(x->rt, x->scope, &t, NULL);
	/* While a graph records the scope: the number of the task */
	return rc < 0 ? rc : 0;
}

static int submit_fill(struct cholesky *x)
{
	struct lkdf_use u;
	uint32_t i, j;
	int rc = 0;

	for (j = 0; j < x->nr_tiles; j++)
		for (i = j; i < x->nr_tiles && !rc; i++) {
			u = tile(x, i, j, LKDF_WRITE);
			rc = submit(x, FILL, i, j, &u, 1);
		}
	return rc;
}

/* Row i of what is right of column k, and below. */
static int submit_row(struct cholesky *x, uint32_t i, uint32_t k)
{
	struct lkdf_use u[3];
	uint32_t j;
	int rc = 0;

	for (j = k + 1; j < i && !rc; j++) {
		u[0] = tile(x, i, k, LKDF_READ);
		u[1] = tile(x, j, k, LKDF_READ);
		u[2] = tile(x, i, j, LKDF_RW);
		rc = submit(x, GEMM, i, j, u, 3);
	}
	u[0] = tile(x, i, k, LKDF_READ);
	u[1] = tile(x, i, i, LKDF_RW);
	return rc ? rc : submit(x, SYRK, i, i, u, 2);
}

/* The algorithm, as it would stand in a sequential program. */
static int submit_factor(struct cholesky *x)
{
	struct lkdf_use u[2];
	uint32_t i, k;
	int rc = 0;

	for (k = 0; k < x->nr_tiles && !rc; k++) {
		u[0] = tile(x, k, k, LKDF_RW);
		rc = submit(x, POTRF, k, k, u, 1);
		u[0].mode = LKDF_READ;
		for (i = k + 1; i < x->nr_tiles && !rc; i++) {
			u[1] = tile(x, i, k, LKDF_RW);
			rc = submit(x, TRSM, i, k, u, 2);
		}
		for (i = k + 1; i < x->nr_tiles && !rc; i++)
			rc = submit_row(x, i, k);
	}
	return rc;
}

/* Stores the submissions in a graph; no step runs. */
static int record_factor(struct cholesky *x)
{
	int rc;

	rc = lkdf_scope_create(x->rt, NULL, &x->scope);
	if (!rc)
		rc = lkdf_graph_create(x->rt, NULL, &x->graph);
	if (!rc)
		rc = lkdf_graph_record(x->graph, x->scope);
	if (!rc)
		rc = submit_factor(x);
	if (!rc)
		rc = lkdf_graph_seal(x->graph, NULL);
	lkdf_scope_put(x->scope);
	x->scope = NULL;
	return rc;
}

/* Tile (i, j) of L L^T is made from the rows i and j of L. */
static int submit_check(struct cholesky *x)
{
	struct lkdf_use u[LKDF_MAX_USES];
	uint32_t i, j, k;
	int rc = 0;

	u[0].data = x->norms;
	u[0].mode = LKDF_REDUCE;
	u[0].part = 0;
	for (j = 0; j < x->nr_tiles; j++)
		for (i = j; i < x->nr_tiles && !rc; i++) {
			for (k = 0; k <= j; k++) {
				u[1 + 2 * k] = tile(x, i, k, LKDF_READ);
				u[2 + 2 * k] = tile(x, j, k, LKDF_READ);
			}
			rc = submit(x, CHECK, i, j, u, 3 + 2 * j);
		}
	return rc;
}

/* The body of a is for a CPU; the kernel has its name. */
static int make_kernel(struct cholesky *x, int kind,
		       const struct lkdf_kind_attr *a)
{
	const struct lkdf_code code[] = {
		{ .device = "cuda", .image = device_text, .entry = a->name },
		{ .device = "opencl", .image = device_text, .entry = a->name },
	};
	struct lkdf_kernel_attr k = {
		.size = sizeof(k), .kind = a, .code = code, .nr_code = 2
	};

	k.range_from = LKDF_RANGE_VALUE;
	k.range[0] = x->step.b;
	k.range[1] = kind == TRSM ? 1 : x->step.b;
	k.range[2] = 1;
	return lkdf_kind_create_kernel(x->rt, &k, &x->kind[kind]);
}

static int make_kinds(struct cholesky *x)
{
	static const struct {
		const char *name;
		lkdf_fn fn;
		int prio;
	} kinds[NR_KINDS] = {
		[FILL] = { "fill", fill, LKDF_NORMAL },
		/* Column after column: what the next column needs goes first */
		[POTRF] = { "potrf", potrf, LKDF_HIGH },
		[TRSM] = { "trsm", trsm, LKDF_HIGH },
		[SYRK] = { "syrk", syrk, LKDF_NORMAL },
		[GEMM] = { "gemm", gemm, LKDF_NORMAL },
		[CHECK] = { "check", check, LKDF_NORMAL },
	};
	struct lkdf_kind_attr a = { .size = sizeof(a) };
	int i, rc = 0;

	a.arg_size = sizeof(struct step);
	for (i = 0; i < NR_KINDS && !rc; i++) {
		a.name = kinds[i].name;
		a.fn = kinds[i].fn;
		a.prio = (int8_t)kinds[i].prio;
		a.scratch_size = 0;
		if (i == CHECK)
			a.scratch_size = x->step.b * x->step.b * sizeof(double);
		if (x->has_device && i >= TRSM && i <= GEMM)
			rc = make_kernel(x, i, &a);
		else
			rc = lkdf_kind_create(x->rt, &a, &x->kind[i]);
	}
	return rc;
}

static int make_data(struct cholesky *x)
{
	static const struct norms zero;
	struct lkdf_data_attr a = { .size = sizeof(a), .name = "matrix" };
	struct lkdf_data_attr s = { .size = sizeof(s), .name = "norms" };
	uint64_t tile_bytes = (uint64_t)x->step.b * x->step.b * sizeof(double);
	uint32_t nr = x->nr_tiles * x->nr_tiles;
	int rc;

	a.bytes = nr * tile_bytes;
	rc = lkdf_data_create(x->rt, &a, &x->matrix);
	if (!rc)
		rc = lkdf_data_split(x->matrix, nr, tile_bytes);
	s.bytes = sizeof(zero);
	s.init = &zero;
	s.reduce = add_norms;
	s.neutral = no_norms;
	return rc ? rc : lkdf_data_create(x->rt, &s, &x->norms);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The matrix is filled before the clock starts. */
static int factor(struct cholesky *x, double *took)
{
	double start;
	int rc, all;

	rc = submit_fill(x);
	all = lkdf_scope_wait(x->rt, NULL, -1);
	if (rc || all)
		return rc ? rc : all;
	start = seconds();
	if (x->graph)
		rc = lkdf_graph_run(x->graph, NULL, NULL, NULL);
	else
		rc = submit_factor(x);
	all = lkdf_scope_wait(x->rt, NULL, -1);
	*took = seconds() - start;
	return rc ? rc : all;
}

static int norm_of(struct cholesky *x, double *out)
{
	struct norms *norms;
	void *bytes;
	int rc, all;

	rc = submit_check(x);
	all = lkdf_scope_wait(x->rt, NULL, -1);
	if (rc || all)
		return rc ? rc : all;
	rc = lkdf_data_acquire(x->norms, LKDF_RW, -1, &bytes);
	if (rc)
		return rc;
	norms = bytes;
	*out = sqrt(norms->residual) / sqrt(norms->a);
	no_norms(norms, sizeof(*norms));
	return lkdf_data_release(x->norms);
}

static int say_error(struct cholesky *x, int rc)
{
	struct lkdf_error e = { .size = sizeof(e) };

	if (lkdf_scope_error(x->rt, NULL, &e) || !e.err) {
		fprintf(stderr, "cholesky: %s (%d)\n", lkdf_errmsg(), rc);
		return rc;
	}
	fprintf(stderr, "cholesky: %s: %llu failed, %llu skipped\n", e.why,
		(unsigned long long)e.nr_failed,
		(unsigned long long)e.nr_skipped);
	return rc;
}

static uint64_t counter(const struct cholesky *x, const char *name)
{
	uint64_t v = 0;

	lkdf_stat(x->rt, name, &v);
	return v;
}

static void say_device(const struct cholesky *x)
{
	struct lkdf_device_info info = { .size = sizeof(info) };
	struct lkdf_place *p;

	if (lkdf_places(x->rt, LKDF_PLACE_GPU, &p, 1) < 1 ||
	    lkdf_place_info(p, &info))
		return;
	printf("%llu kernels on %s, %.1f MiB there, %.1f MiB back\n",
	       (unsigned long long)counter(x, "lkdf.device.kernels"), info.name,
	       (double)counter(x, "lkdf.device.uploaded_bytes") / 0x100000,
	       (double)counter(x, "lkdf.device.fetched_bytes") / 0x100000);
}

/* Factors, checks and says what came of it. */
static int run_once(struct cholesky *x)
{
	double n = x->step.n, took = 0, norm = 0;
	uint64_t nr = 0;
	int i, rc;

	rc = factor(x, &took);
	if (!rc)
		rc = norm_of(x, &norm);
	if (rc)
		return say_error(x, rc);
	for (i = POTRF; i <= GEMM; i++)
		nr += x->nr_submitted[i];
	printf("order %u, tiles of %u, %llu tasks, %.3f s, %.2f Gflop/s\n",
	       x->step.n, x->step.b, (unsigned long long)nr, took,
	       n * n * n / 3 / took * 1e-9);
	printf("residual %.1e, %s\n", norm, norm < 1e-10 ? "right" : "wrong");
	if (x->has_device)
		say_device(x);
	return norm < 1e-10 ? 0 : -EBADMSG;
}

static int run(struct cholesky *x)
{
	uint32_t i, nr = x->nr_replays ? x->nr_replays : 1;
	int rc;

	rc = make_kinds(x);
	if (!rc)
		rc = make_data(x);
	if (!rc && x->nr_replays)
		rc = record_factor(x);
	if (rc)
		return say_error(x, rc);
	for (i = 0; i < nr && !rc; i++)
		rc = run_once(x);
	return rc;
}

static int usage(const char *arg)
{
	FILE *to = arg ? stderr : stdout;

	if (arg)
		fprintf(to, "cholesky: %s: not understood\n", arg);
	fputs("usage: cholesky [--n N] [--block B] [--replay TIMES] "
	      "[--device] [--indefinite]\n"
	      "  --n N         order of the matrix, 1 to 40000 (768)\n"
	      "  --block B     order of a tile, 1 to 1000 (64); at most 500\n"
	      "                tiles in a row\n"
	      "  --replay TIMES  record the steps once, run them so often:\n"
	      "                1 to 1000000\n"
	      "  --device      most steps on the first OpenCL device\n"
	      "  --indefinite  a matrix that has no factor: see it fail\n",
	      to);
	return arg ? 2 : 0;
}

/* 0: not a number from 1 to @max. */
static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long v = text ? strtoul(text, &end, 10) : 0;

	return v && !*end && v <= max ? (uint32_t)v : 0;
}

static int options(struct cholesky *x, int argc, char **argv)
{
	struct step *s = &x->step;
	bool is_indefinite = false;
	uint32_t v = 1;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			exit(usage(NULL));
		if (!strcmp(argv[i], "--indefinite"))
			is_indefinite = true;
		else if (!strcmp(argv[i], "--device"))
			x->has_device = true;
		else if (!strcmp(argv[i], "--n"))
			s->n = v = number(argv[++i], 40000);
		else if (!strcmp(argv[i], "--block"))
			s->b = v = number(argv[++i], 1000);
		else if (!strcmp(argv[i], "--replay"))
			x->nr_replays = v = number(argv[++i], 1000000);
		else
			return usage(argv[i]);
		if (!v)
			return usage(i < argc ? argv[i] : "a missing number");
	}
	if ((s->n + s->b - 1) / s->b > 500)
		return usage("more than 500 tiles in a row");
	s->diagonal = is_indefinite ? -1.0 : s->n;
	return 0;
}

/* A runtime, with devices if they are asked for: then there is one. */
static int open_runtime(struct cholesky *x)
{
	const char *options = x->has_device ? "devices=\"cuda,opencl\"" : NULL;
	int rc = lkdf_open(options, &x->rt);

	if (rc || !x->has_device ||
	    lkdf_places(x->rt, LKDF_PLACE_GPU, NULL, 0) > 0)
		return rc;
	fprintf(stderr, "cholesky: no device: %s\n", lkdf_errmsg());
	lkdf_close(x->rt);
	return -ENODEV;
}

int main(int argc, char **argv)
{
	struct cholesky x = { .step = { .n = 768, .b = 64 } };
	int rc, i;

	rc = options(&x, argc, argv);
	if (rc)
		return rc;
	x.nr_tiles = (x.step.n + x.step.b - 1) / x.step.b;
	rc = open_runtime(&x);
	if (rc && rc != -ENODEV)
		fprintf(stderr, "cholesky: %s (%d)\n", lkdf_errmsg(), rc);
	if (rc)
		return 1;
	rc = run(&x);
	lkdf_graph_put(x.graph);
	lkdf_data_put(x.matrix);
	lkdf_data_put(x.norms);
	for (i = 0; i < NR_KINDS; i++)
		lkdf_kind_put(x.kind[i]);
	if (lkdf_close(x.rt))
		rc = -EBUSY;
	return rc ? 1 : 0;
}
