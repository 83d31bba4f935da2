/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A stencil over several ranks: each has a band of rows and gets the rows above
 * and below it as messages. Rows that need no message are computed while the
 * messages travel; tasks of the others start when theirs is there. Rank 0
 * computes the whole grid alone, too, and compares bit by bit.
 *
 *	mpirun -n 4 build/examples/halo [ROWS [SWEEPS]]
 */
#include <limits.h>
#include <lkdf/lkdf.h>
#include <lkdf/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 512
#define BLOCK 32 /* rows of a task */

struct band {
	struct lkdf *rt;
	struct lkdf_mpi *m;
	struct lkdf_kind *kind;
	int rank, nr_ranks, first, nr; /* rows of this rank */
	double *now, *next; /* nr rows, one more above and one below */
};

struct rows {
	const double *from;
	double *to;
	int begin, end;
};

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "halo: %s: %s\n", what, lkdf_errmsg());
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static double first_value(int row, int column)
{
	return (row * 31 + column * 17) % 101;
}

/* Row 0 of the arrays is the one above begin = 1. */
static int compute_rows(struct lkdf_ctx *c, void *arg)
{
	const struct rows *r = arg;
	const double *from;
	int i, k;

	(void)c;
	for (i = r->begin; i < r->end; i++) {
		from = r->from + (size_t)i * COLUMNS;
		for (k = 1; k < COLUMNS - 1; k++)
			r->to[(size_t)i * COLUMNS + (size_t)k] =
				0.25 * (from[k - 1] + from[k + 1] +
					from[k - COLUMNS] + from[k + COLUMNS]);
	}
	return 0;
}

static void submit_rows(struct band *b, int begin, int end,
			const struct lkdf_event *after)
{
	struct rows r = { b->now, b->next, begin, end };
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = b->kind,
		.arg = &r,
		.after = after,
		.nr_after = after != NULL,
	};

	must(lkdf_submit(b->rt, NULL, &t, NULL), "submit");
}

/* The row of another rank, and ours for it; row: of the array, tag: way. */
static struct lkdf_event exchange(struct band *b, int other, int halo, int own,
				  int up)
{
	struct lkdf_event came;
	MPI_Request r[2];

	MPI_Irecv(b->now + (size_t)halo * COLUMNS, COLUMNS, MPI_DOUBLE, other,
		  !up, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(b->now + (size_t)own * COLUMNS, COLUMNS, MPI_DOUBLE, other,
		  up, MPI_COMM_WORLD, &r[1]);
	/* For lkdf_why() and lkdf report: MPI does not tell them. */
	must(lkdf_mpi_from(b->m, r[0], other, !up), "halo");
	must(lkdf_mpi_to(b->m, r[1], other, up), "halo");
	must(lkdf_mpi_events(b->m, 2, r, MPI_STATUSES_IGNORE, &came), "halo");
	return came;
}

static void sweep(struct band *b)
{
	struct lkdf_event above = { 0 }, below = { 0 };
	double *was = b->now;
	int i, end;

	if (b->rank)
		above = exchange(b, b->rank - 1, 0, 1, 1);
	if (b->rank < b->nr_ranks - 1)
		below = exchange(b, b->rank + 1, b->nr + 1, b->nr, 0);
	/* The grid's own first and last row stay as they are. */
	if (b->rank)
		submit_rows(b, 1, 2, &above);
	if (b->rank < b->nr_ranks - 1)
		submit_rows(b, b->nr, b->nr + 1, &below);
	for (i = 2; i < b->nr; i = end) {
		end = i + BLOCK < b->nr ? i + BLOCK : b->nr;
		submit_rows(b, i, end, NULL);
	}
	must(lkdf_scope_wait(b->rt, NULL, -1), "wait");
	lkdf_event_put(above);
	lkdf_event_put(below);
	b->now = b->next;
	b->next = was;
}

static double *make_rows(int first, int nr)
{
	double *rows = malloc((size_t)(nr + 2) * COLUMNS * sizeof(*rows));
	int i, k;

	if (!rows)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < nr + 2; i++)
		for (k = 0; k < COLUMNS; k++)
			rows[(size_t)i * COLUMNS + (size_t)k] =
				first_value(first + i - 1, k);
	return rows;
}

/* Alone, in plain loops. */
static int is_as_one(const double *all, int nr_rows, int nr_sweeps)
{
	double *now = make_rows(0, nr_rows), *next = make_rows(0, nr_rows),
	       *was;
	struct rows r = { .begin = 2, .end = nr_rows };
	int is_same;

	for (; nr_sweeps; nr_sweeps--) {
		r.from = now;
		r.to = next;
		compute_rows(NULL, &r);
		was = now;
		now = next;
		next = was;
	}
	is_same = !memcmp(all, now + COLUMNS,
			  (size_t)nr_rows * COLUMNS * sizeof(*now));
	free(now);
	free(next);
	return is_same;
}

/* Rank 0 gets all bands and looks. */
static int compare(const struct band *b, int nr_rows, int nr_sweeps)
{
	size_t size = (size_t)nr_rows * COLUMNS * sizeof(double);
	double *all = b->rank ? NULL : malloc(size);
	int is_same = 1, p, band = nr_rows / b->nr_ranks;

	if (b->rank) {
		MPI_Send(b->now + COLUMNS, b->nr * COLUMNS, MPI_DOUBLE, 0, 9,
			 MPI_COMM_WORLD);
		return 1;
	}
	if (!all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memcpy(all, b->now + COLUMNS, (size_t)b->nr * COLUMNS * sizeof(*all));
	for (p = 1; p < b->nr_ranks; p++)
		MPI_Recv(all + (size_t)(p * band) * COLUMNS,
			 (p < b->nr_ranks - 1 ? band : nr_rows - p * band) *
				 COLUMNS,
			 MPI_DOUBLE, p, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	is_same = is_as_one(all, nr_rows, nr_sweeps);
	printf("%d ranks, %d rows, %d sweeps: %s\n", b->nr_ranks, nr_rows,
	       nr_sweeps,
	       is_same ? "as one process has it" : "NOT as one process has it");
	free(all);
	return is_same;
}

/* The argument; -1: it is no number from least on; other: it is not there. */
static int number_at(int argc, char **argv, int at, int least, int other)
{
	char *end;
	long n;

	if (argc <= at)
		return other;
	n = strtol(argv[at], &end, 10);
	return *argv[at] && !*end && n >= least && n <= INT_MAX ? (int)n : -1;
}

static int usage(const struct band *b, bool is_help)
{
	if (!b->rank)
		fprintf(is_help ? stdout : stderr,
			"usage: halo [ROWS [SWEEPS]]\n"
			"ROWS of the grid (1024), at least 4 for each of %d "
			"ranks; SWEEPS over it (100)\n",
			b->nr_ranks);
	MPI_Finalize();
	return is_help ? 0 : 2;
}

int main(int argc, char **argv)
{
	int nr_rows = number_at(argc, argv, 1, 4, 1024), level, i, is_same;
	int nr_sweeps = number_at(argc, argv, 2, 0, 100);
	struct band b = { 0 };
	char options[8192];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &b.nr_ranks);
	if (argc > 3 || nr_rows / b.nr_ranks < 4 || nr_sweeps < 0)
		return usage(&b, argc == 2 && !strcmp(argv[1], "--help"));
	must(lkdf_mpi_options(MPI_COMM_WORLD, options, sizeof(options)),
	     "options");
	must(lkdf_open(options, &b.rt), "open");
	must(lkdf_mpi_open(b.rt, MPI_COMM_WORLD, NULL, &b.m), "mpi");
	must(lkdf_kind_create(b.rt,
			      LKDF_KIND(.name = "rows", .fn = compute_rows,
					.arg_size = sizeof(struct rows)),
			      &b.kind),
	     "kind");
	b.first = b.rank * (nr_rows / b.nr_ranks);
	b.nr = b.rank < b.nr_ranks - 1 ? nr_rows / b.nr_ranks
				       : nr_rows - b.first;
	b.now = make_rows(b.first, b.nr);
	b.next = make_rows(b.first, b.nr);
	for (i = 0; i < nr_sweeps; i++)
		sweep(&b);
	is_same = compare(&b, nr_rows, nr_sweeps);
	free(b.now);
	free(b.next);
	lkdf_kind_put(b.kind);
	must(lkdf_mpi_close(b.m), "mpi");
	must(lkdf_close(b.rt), "close");
	MPI_Finalize();
	return !is_same;
}
