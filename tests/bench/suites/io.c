/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench io: random reads of 4 KiB as tasks, against a ring by hand (plain,
 * and with all that makes it fast), a loop of pread and pools of threads, from
 * the page cache, past it and from tmpfs, with 1, 32 and 128 under way. Last
 * how long a task waits for an operation of a worker that computes.
 */
#include "tests/bench/suites/io.h"
#include "tests/bench/suites/suites.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum where {
	IN_CACHE,
	DIRECT,
	IN_MEMORY,
	NR_WHERE
};

static const char *const where_names[NR_WHERE] = { "cache", "direct", "tmpfs" };
static const uint32_t depths[] = { 1, 32, IO_MAX_QD };

#define NR_DEPTHS (sizeof(depths) / sizeof(depths[0]))
#define NR_PARTS (NR_WHERE * NR_DEPTHS)

enum reader {
	PLAIN_RING,
	BEST_RING,
	PREAD,
	POOL_2,
	POOL_16,
	BY_HAND, /* number of those without workers */
	STEAL = BY_HAND,
	THREADS,
	NR_READERS
};

static const char *const reader_names[NR_READERS] = { "ring-plain", "ring-best",
						      "pread",	    "pool-2",
						      "pool-16",    "io=steal",
						      "io=threads" };

struct arm {
	enum reader reader;
	int workers; /* 0: by hand */
	char absent[64]; /* why; "": it is there */
	struct io_raw raw;
	struct io_pool *pool;
	struct io_tasks tasks;

	/* Of this part. */
	uint32_t nr;
	struct samples rate; /* thousands a second */
};

#define MAX_ARMS (BY_HAND + 2 * BENCH_MAX_COUNTS)

struct io_bench {
	struct arm arm[MAX_ARMS];
	unsigned nr_arms;
	struct io_file file[NR_WHERE];
	uint32_t page[IO_MAX_READS];
	char *buf;
	double fio;
};

static int arm_open(struct arm *a)
{
	int rc;

	switch (a->reader) {
	case PLAIN_RING:
	case BEST_RING:
		rc = io_raw_open(&a->raw, a->reader == BEST_RING);
		if (rc)
			snprintf(a->absent, sizeof(a->absent),
				 "absent: io_uring: %s", strerror(-rc));
		return 0;
	case POOL_2:
		return io_pool_open(2, &a->pool);
	case POOL_16:
		return io_pool_open(16, &a->pool);
	case STEAL:
		return io_tasks_open(&a->tasks, a->workers, "steal");
	case THREADS:
		return io_tasks_open(&a->tasks, a->workers, "threads");
	default:
		return 0;
	}
}

static void arm_close(struct arm *a)
{
	if (a->reader <= BEST_RING)
		io_raw_close(&a->raw);
	io_pool_close(a->pool);
	io_tasks_close(&a->tasks);
}

static int64_t arm_run(struct arm *a, const struct io_load *l)
{
	switch (a->reader) {
	case PLAIN_RING:
	case BEST_RING:
		return io_raw_run(&a->raw, l);
	case PREAD:
		return io_pread_run(l);
	case POOL_2:
	case POOL_16:
		return io_pool_run(a->pool, l);
	default:
		return io_tasks_run(&a->tasks, l);
	}
}

/* ---- a part: one file, one depth ---------------------------------------- */

static struct io_load load_of(const struct io_bench *x, unsigned part,
			      uint32_t nr)
{
	return (struct io_load){ .file = &x->file[part / NR_DEPTHS],
				 .page = x->page,
				 .nr = nr,
				 .qd = depths[part % NR_DEPTHS],
				 .buf = x->buf };
}

/* So many reads that a round of this arm takes about so long. */
static int calibrate(struct io_bench *x, struct arm *a, unsigned part,
		     int64_t round_ns)
{
	struct io_load l = load_of(x, part, 4 * IO_MAX_QD);
	int64_t ns = 0, nr;
	int i;

	a->rate.nr = 0;
	if (a->raw.fd >= 0 && a->reader <= BEST_RING)
		io_raw_take(&a->raw, &l);
	/* The first one makes threads and rings. */
	for (i = 0; i < 2 && ns >= 0; i++)
		ns = arm_run(a, &l);
	if (ns < 0)
		return (int)ns;
	nr = round_ns * l.nr / (ns + 1);
	if (nr < l.nr)
		nr = l.nr;
	a->nr = nr < IO_MAX_READS ? (uint32_t)nr : IO_MAX_READS;
	return 0;
}

static int one_round(struct io_bench *x, unsigned part)
{
	struct io_load l;
	int64_t ns;
	unsigned i;

	for (i = 0; i < x->nr_arms; i++) {
		if (x->arm[i].absent[0])
			continue;
		l = load_of(x, part, x->arm[i].nr);
		ns = arm_run(&x->arm[i], &l);
		if (ns < 0)
			return (int)ns;
		samples_add(&x->arm[i].rate, l.nr * 1e6 / (double)ns);
	}
	return 0;
}

/* The faster of two by hand; NULL: both absent. */
static const struct arm *better(const struct io_bench *x, enum reader one,
				enum reader other)
{
	const struct arm *a = &x->arm[one], *b = &x->arm[other];

	if (a->absent[0] || b->absent[0])
		return b->absent[0] ? (a->absent[0] ? NULL : a) : b;
	return samples_median(&a->rate) > samples_median(&b->rate) ? a : b;
}

static struct bench_row *add_row(struct bench *b, const struct arm *a,
				 unsigned part, const char *more)
{
	struct bench_row *row =
		report_add(&b->report, a->workers, "k/s", "%s/%u/%s%s",
			   where_names[part / NR_DEPTHS],
			   depths[part % NR_DEPTHS], reader_names[a->reader],
			   more);

	if (a->absent[0])
		snprintf(row->note, sizeof(row->note), "%s", a->absent);
	else
		row_value(row, &a->rate, 1);
	return row;
}

/* bar 0: none. */
static void against(struct bench *b, struct bench_row *row, const struct arm *a,
		    const struct arm *peer, double bar)
{
	if (!peer || a->absent[0])
		return;
	snprintf(row->peer, sizeof(row->peer), "%s",
		 reader_names[peer->reader]);
	row->peer_value = samples_median(&peer->rate);
	row_ratio(row, &a->rate, &peer->rate);
	if (bar > 0)
		row_judge(row, BAR_AT_LEAST, bar, gate_was_fair(&b->gate));
}

/* The ring's bar of a part. */
static double ring_bar(unsigned part)
{
	uint32_t depth = depths[part % NR_DEPTHS];

	switch (part / NR_DEPTHS) {
	case IN_CACHE:
		return depth == 32 ? 0.85 : 0;
	case DIRECT:
		return 0.97;
	default:
		return depth == 1 ? 5 : 0;
	}
}

/* That it is absent is said once. */
static void fio_row(struct bench *b, const struct io_bench *x, unsigned part)
{
	struct bench_row *row;

	if (part && isnan(x->fio))
		return;
	row = report_add(&b->report, 0, "k/s", "%s/%u/fio",
			 where_names[part / NR_DEPTHS],
			 depths[part % NR_DEPTHS]);
	row->value = x->fio;
	if (isnan(x->fio))
		snprintf(row->note, sizeof(row->note), "absent");
}

static void rows(struct bench *b, const struct io_bench *x, unsigned part)
{
	const struct arm *ring = better(x, PLAIN_RING, BEST_RING);
	const struct arm *pool = better(x, POOL_2, POOL_16), *a;
	unsigned i;

	for (i = 0; i < x->nr_arms; i++) {
		a = &x->arm[i];
		if (a->reader < STEAL)
			add_row(b, a, part, "");
		if (a->reader == STEAL)
			against(b, add_row(b, a, part, ""), a, ring,
				ring_bar(part));
		if (a->reader == STEAL && part == IN_CACHE * NR_DEPTHS)
			against(b, add_row(b, a, part, ":pread"), a,
				&x->arm[PREAD], 1);
		if (a->reader == THREADS)
			against(b, add_row(b, a, part, ""), a, pool, 0.9);
	}
	fio_row(b, x, part);
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 5 : b->rounds;
}

static int do_part(struct bench *b, struct io_bench *x, unsigned part)
{
	struct io_load l = load_of(x, part, 1);
	unsigned i;
	int rc = 0;

	if (x->file[part / NR_DEPTHS].fd < 0) {
		snprintf(report_add(&b->report, 0, "k/s", "%s/%u",
				    where_names[part / NR_DEPTHS],
				    depths[part % NR_DEPTHS])
				 ->note,
			 96, "absent: the file has no O_DIRECT");
		return 0;
	}
	x->fio = io_fio_run(&l);
	for (i = 0; i < x->nr_arms && !rc; i++)
		if (!x->arm[i].absent[0])
			rc = calibrate(x, &x->arm[i], part,
				       b->is_quick ? 8000000 : 20000000);
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !rc; i++) {
		bench_round(b, where_names[part / NR_DEPTHS]);
		rc = one_round(x, part);
	}
	if (!rc)
		rows(b, x, part);
	return rc;
}

/* ---- all of it ---------------------------------------------------------- */

static int open_files(struct bench *b, struct io_bench *x)
{
	struct io_file *f = x->file;
	uint64_t draw = 1;
	unsigned i;
	int rc;

	for (i = 0; i < NR_WHERE; i++)
		f[i].fd = -1;
	rc = b->file ? io_file_open(&f[IN_CACHE], b->file)
		     : io_file_make(&f[IN_CACHE], IO_OWN_PAGES, b->dir);
	if (!rc)
		rc = io_file_make_memory(&f[IN_MEMORY], IO_OWN_PAGES);
	if (rc)
		return rc;
	io_file_direct(&f[DIRECT], &f[IN_CACHE]);
	for (i = 0; i < IO_MAX_READS; i++) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		x->page[i] = (uint32_t)(draw >> 33) %
			     (f[IN_CACHE].nr_pages < f[IN_MEMORY].nr_pages
				      ? f[IN_CACHE].nr_pages
				      : f[IN_MEMORY].nr_pages);
	}
	x->buf = aligned_alloc(IO_PAGE, (size_t)IO_MAX_QD * IO_PAGE);
	return x->buf ? 0 : bench_fail(-ENOMEM, "io: no memory");
}

static int open_arms(const struct bench *b, struct io_bench *x)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < BY_HAND + 2 * b->nr_counts && !rc; i++) {
		x->arm[i].reader = i < BY_HAND	       ? (enum reader)i
				   : (i - BY_HAND) % 2 ? THREADS
						       : STEAL;
		if (i >= BY_HAND)
			x->arm[i].workers = b->workers[(i - BY_HAND) / 2];
		x->nr_arms++;
		rc = arm_open(&x->arm[i]);
		/* A runtime without rings is that of io=threads. */
		if (x->arm[i].reader == STEAL)
			memcpy(x->arm[i].absent, x->arm[PLAIN_RING].absent,
			       sizeof(x->arm[i].absent));
	}
	return rc;
}

static void close_all(struct io_bench *x)
{
	unsigned i;

	while (x->nr_arms)
		arm_close(&x->arm[--x->nr_arms]);
	for (i = 0; i < NR_WHERE; i++)
		io_file_close(&x->file[i]);
	free(x->buf);
	free(x);
}

double bench_io_steps(const struct bench *b)
{
	return (double)NR_PARTS * rounds_of(b) + io_chain_steps(b) +
	       io_late_steps(b);
}

int bench_io(struct bench *b)
{
	struct io_bench *x = calloc(1, sizeof(*x));
	unsigned i;
	int rc;

	if (!x)
		return bench_fail(-ENOMEM, "io: no memory");
	rc = open_files(b, x);
	if (!rc)
		rc = open_arms(b, x);
	for (i = 0; i < NR_PARTS && !rc; i++)
		rc = do_part(b, x, i);
	close_all(x);
	if (!rc)
		rc = io_chain(b);
	return rc ? rc : io_late(b);
}
