/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker gives an operation to its ring and computes for 50 ms; the other
 * one has nothing to do. How long after the operation is over does the task
 * start that waits for it? For a read of a pipe that another thread writes
 * meanwhile (against a thread asleep in that read), and for a direct read of a
 * file, the device's own time included (against a ring by hand).
 */
#include "tests/bench/suites/io.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPUTE_NS 50000000
#define SETTLE_NS 8000000

struct late {
	struct lkdf *rt;
	struct lkdf_kind *first, *compute, *op;
	struct io_file file, direct;
	struct io_raw raw;
	struct lkdf_io io; /* of this sample */
	char *buf; /* pages; the ring by hand registers them */
	int pipe[2], raw_pipe[2];
	pthread_t reader;

	_Atomic int64_t computes_since, started, raw_started;
	int compute_worker, op_worker;
	int64_t result;

	struct samples pipe_us, read_us, thread_us, ring_us;
	unsigned nr_own; /* seen only by the worker itself, afterwards */
};

/* An argument is copied: this is ours. */
struct op {
	struct lkdf_io io;
	struct late *x;
};

static int do_compute(struct lkdf_ctx *c, void *arg)
{
	struct late *x = arg;
	int64_t start = bench_now_ns();

	x->compute_worker = lkdf_worker(c);
	atomic_store(&x->computes_since, start);
	while (bench_now_ns() - start < COMPUTE_NS)
		;
	return 0;
}

static int do_op(struct lkdf_ctx *c, void *arg)
{
	struct late *x = ((struct op *)arg)->x;

	atomic_store(&x->started, bench_now_ns());
	x->op_worker = lkdf_worker(c);
	x->result = lkdf_io_result(c);
	return 0;
}

/* The task that is submitted last runs first, on this worker: the operation. */
static int do_first(struct lkdf_ctx *c, void *arg)
{
	struct late *x = arg;
	struct op op = { .io = x->io, .x = x };
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = x->compute,
			       .arg = x };
	int rc = lkdf_submit(x->rt, NULL, &t, NULL);

	(void)c;
	t.kind = x->op;
	t.arg = &op;
	return rc ? rc : lkdf_submit(x->rt, NULL, &t, NULL);
}

static void *reader_main(void *arg)
{
	struct late *x = arg;
	char byte;

	while (read(x->raw_pipe[0], &byte, 1) == 1)
		atomic_store(&x->raw_started, bench_now_ns());
	return NULL;
}

static double us_since(int64_t start, int64_t now)
{
	return (double)(now - start) / 1e3;
}

/* Starts both; when it returns one worker computes. */
static int start(struct late *x)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = x->first, .arg = x };
	int rc;

	atomic_store(&x->computes_since, 0);
	atomic_store(&x->started, 0);
	rc = lkdf_submit(x->rt, NULL, &t, NULL);
	if (rc)
		return bench_fail(rc, "io: submit: %s", lkdf_errmsg());
	while (!atomic_load(&x->computes_since))
		bench_sleep_ns(100000);
	bench_sleep_ns(SETTLE_NS);
	return 0;
}

static int finish(struct late *x, struct samples *to, int64_t since,
		  int64_t want)
{
	int rc = lkdf_scope_wait(x->rt, NULL, -1);

	if (rc || x->result != want)
		return bench_fail(rc ? rc : -EIO, "io: late: result %lld",
				  (long long)x->result);
	samples_add(to, us_since(since, atomic_load(&x->started)));
	x->nr_own += x->op_worker == x->compute_worker;
	return 0;
}

static int sample_pipe(struct late *x)
{
	int64_t then;
	int rc;

	x->io = (struct lkdf_io){ .size = sizeof(x->io),
				  .op = LKDF_IO_READ,
				  .fd = x->pipe[0],
				  .buf = x->buf,
				  .len = 1,
				  .off = -1 };
	rc = start(x);
	if (rc)
		return rc;
	atomic_store(&x->raw_started, 0);
	then = bench_now_ns();
	if (write(x->raw_pipe[1], "", 1) != 1)
		return bench_fail(-errno, "io: pipe");
	bench_sleep_ns(SETTLE_NS);
	if (atomic_load(&x->raw_started))
		samples_add(&x->thread_us,
			    us_since(then, atomic_load(&x->raw_started)));
	then = bench_now_ns();
	if (write(x->pipe[1], "", 1) != 1)
		return bench_fail(-errno, "io: pipe");
	return finish(x, &x->pipe_us, then, 1);
}

static int sample_read(struct late *x, uint32_t page)
{
	struct io_load l = { .file = &x->direct,
			     .page = &page,
			     .nr = 1,
			     .qd = 1,
			     .buf = x->buf };
	int64_t ns = io_raw_run(&x->raw, &l);
	int rc;

	if (ns < 0)
		return (int)ns;
	samples_add(&x->ring_us, (double)ns / 1e3);
	x->io = (struct lkdf_io){ .size = sizeof(x->io),
				  .op = LKDF_IO_READ,
				  .fd = x->direct.fd,
				  .buf = x->buf,
				  .len = IO_PAGE,
				  .off = io_load_offset(&l, 0) };
	rc = start(x);
	return rc ? rc
		  : finish(x, &x->read_us, atomic_load(&x->computes_since),
			   IO_PAGE);
}

/* ---- all of it ---------------------------------------------------------- */

static int make_kinds(struct late *x)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "first",
				    .fn = do_first };
	int rc = lkdf_kind_create(x->rt, &a, &x->first);

	a.name = "compute";
	a.fn = do_compute;
	if (!rc)
		rc = lkdf_kind_create(x->rt, &a, &x->compute);
	a.name = "op";
	a.fn = do_op;
	a.arg_size = sizeof(struct op);
	if (!rc)
		rc = lkdf_kind_create_io(x->rt, &a, &x->op);
	return rc ? bench_fail(rc, "io: kind: %s", lkdf_errmsg()) : 0;
}

static int late_open(struct bench *b, struct late *x)
{
	struct io_load l = { .file = &x->direct };
	int rc = b->file ? io_file_open(&x->file, b->file)
			 : io_file_make(&x->file, IO_OWN_PAGES, b->dir);

	if (rc)
		return rc;
	io_file_direct(&x->direct, &x->file);
	x->buf = aligned_alloc(IO_PAGE, (size_t)IO_MAX_QD * IO_PAGE);
	if (!x->buf || pipe(x->pipe) || pipe(x->raw_pipe))
		return bench_fail(-ENOMEM, "io: late: %s", strerror(errno));
	l.buf = x->buf;
	if (x->direct.fd >= 0)
		io_raw_take(&x->raw, &l);
	rc = bench_open(2, "io=steal", &x->rt);
	if (!rc)
		rc = make_kinds(x);
	if (!rc)
		rc = -pthread_create(&x->reader, NULL, reader_main, x);
	return rc;
}

static void late_close(struct late *x)
{
	unsigned i;

	if (x->raw_pipe[1] >= 0)
		close(x->raw_pipe[1]);
	if (x->reader)
		pthread_join(x->reader, NULL);
	if (x->rt)
		lkdf_scope_wait(x->rt, NULL, -1);
	lkdf_kind_put(x->first);
	lkdf_kind_put(x->compute);
	lkdf_kind_put(x->op);
	lkdf_close(x->rt);
	for (i = 0; i < 2; i++)
		if (x->pipe[i] >= 0)
			close(x->pipe[i]);
	if (x->raw_pipe[0] >= 0)
		close(x->raw_pipe[0]);
	io_file_close(&x->direct);
	io_file_close(&x->file);
	io_raw_close(&x->raw);
	free(x->buf);
}

/* Its median in us against the bar. */
static void late_row(struct bench *b, const char *name, const struct samples *s,
		     const char *peer, const struct samples *by)
{
	struct bench_row *row =
		report_add(&b->report, 2, "us", "late/%s", name);

	row_value(row, s, 1);
	snprintf(row->peer, sizeof(row->peer), "%s", peer);
	row->peer_value = samples_median(by);
	row->ratio = row->value;
	row->spread = (samples_quantile(s, 0.75) - samples_quantile(s, 0.25)) /
		      2 / sqrt(s->nr);
	row_judge(row, BAR_AT_MOST, 150, gate_was_fair(&b->gate));
	snprintf(row->note, sizeof(row->note),
		 "bar in us; p99 %.0f, %s p99 %.0f", samples_quantile(s, 0.99),
		 peer, samples_quantile(by, 0.99));
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 3 : 12;
}

double io_late_steps(const struct bench *b)
{
	return rounds_of(b);
}

static int measure(struct bench *b, struct late *x)
{
	unsigned i, k;
	int rc = 0;

	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !rc; i++) {
		bench_round(b, "late");
		for (k = 0; k < 8 && !rc; k++) {
			rc = sample_pipe(x);
			if (!rc && x->direct.fd >= 0)
				rc = sample_read(x, (i * 8 + k) * 37 %
							    x->file.nr_pages);
		}
	}
	if (rc)
		return rc;
	late_row(b, "pipe", &x->pipe_us, "read(2)", &x->thread_us);
	if (x->direct.fd >= 0)
		late_row(b, "direct", &x->read_us, "ring-best", &x->ring_us);
	return 0;
}

int io_late(struct bench *b)
{
	struct late *x = calloc(1, sizeof(*x));
	struct bench_row *row;
	int rc;

	if (!x)
		return bench_fail(-ENOMEM, "io: no memory");
	x->file.fd = x->direct.fd = -1;
	x->pipe[0] = x->pipe[1] = x->raw_pipe[0] = x->raw_pipe[1] = -1;
	rc = io_raw_open(&x->raw, true);
	if (rc) {
		row = report_add(&b->report, 2, "us", "late");
		snprintf(row->note, sizeof(row->note), "absent: io_uring: %s",
			 strerror(-rc));
		free(x);
		return 0;
	}
	rc = late_open(b, x);
	if (!rc)
		rc = measure(b, x);
	late_close(x);
	free(x);
	return rc;
}
