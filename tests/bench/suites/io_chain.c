/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Chains of writes in a graph, which the kernel gets together, against the same
 * graph whose kind has a function that does nothing: its operations go one by
 * one. A single chain waits for each of its writes, 64 fill the rings.
 */
#include "tests/bench/suites/io.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH 8
#define MOST 64
#define RUNS_NS 5000000

struct chains {
	struct lkdf *rt;
	struct lkdf_kind *kind[2]; /* one by one, together */
	struct io_file file;
	char *buf;
};

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_io_result(c) == IO_PAGE ? 0 : -EIO;
}

static int chains_open(const struct bench *b, struct chains *x)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "write" };
	int rc = io_file_make(&x->file, MOST * LENGTH, b->dir);

	if (rc)
		return rc;
	x->buf = aligned_alloc(IO_PAGE, IO_PAGE);
	if (!x->buf)
		return bench_fail(-ENOMEM, "io: no memory");
	memset(x->buf, 1, IO_PAGE);
	rc = lkdf_open("workers=2", &x->rt);
	if (!rc)
		rc = lkdf_kind_create_io(x->rt, &a, &x->kind[1]);
	a.fn = nothing;
	if (!rc)
		rc = lkdf_kind_create_io(x->rt, &a, &x->kind[0]);
	return rc ? bench_fail(rc, "io: chain: %s", lkdf_errmsg()) : 0;
}

static void chains_close(struct chains *x)
{
	lkdf_kind_put(x->kind[0]);
	lkdf_kind_put(x->kind[1]);
	lkdf_close(x->rt);
	io_file_close(&x->file);
	free(x->buf);
}

static int build(struct chains *x, struct lkdf_kind *k, int nr,
		 struct lkdf_graph **out)
{
	struct lkdf_graph_attr a = { .size = sizeof(a), .inflight = 1 };
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_WRITE,
			      .fd = x->file.fd,
			      .buf = x->buf,
			      .len = IO_PAGE };
	int rc = lkdf_graph_create(x->rt, &a, out), i, task = 0;

	for (i = 0; i < nr * LENGTH && rc >= 0 && task >= 0; i++) {
		io.off = (int64_t)i * IO_PAGE;
		task = lkdf_graph_add(*out, k, &io, NULL, 0);
		if (i % LENGTH && task >= 0)
			rc = lkdf_graph_order(*out, task - 1, task);
	}
	if (!rc && task >= 0)
		rc = lkdf_graph_seal(*out, NULL);
	rc = task < 0 ? task : rc;
	return rc ? bench_fail(rc, "io: chain: %s", lkdf_errmsg()) : 0;
}

/* Adds the ns of a write; some runs, one after another. */
static int sample(struct lkdf_graph *g, int nr, struct samples *to)
{
	int64_t start = bench_now_ns(), end;
	struct lkdf_event done;
	int rc, runs = 0;

	do {
		rc = lkdf_graph_run(g, NULL, NULL, &done);
		if (!rc)
			rc = lkdf_event_wait(done, -1);
		runs++;
		end = bench_now_ns();
	} while (!rc && end - start < RUNS_NS);
	samples_add(to, (double)(end - start) / runs / (nr * LENGTH));
	return rc ? bench_fail(rc, "io: chain: %s", lkdf_errmsg()) : 0;
}

static void chain_row(struct bench *b, int nr, const struct samples *s)
{
	struct bench_row *row = report_add(&b->report, 2, "ns",
					   "chain/write/%dx%d", nr, LENGTH);

	row_value(row, &s[1], 1);
	snprintf(row->peer, sizeof(row->peer), "one by one");
	row->peer_value = samples_median(&s[0]);
	row_ratio(row, &s[0], &s[1]);
	row_judge(row, BAR_AT_LEAST, 1.1, gate_was_fair(&b->gate));
	snprintf(row->note, sizeof(row->note), "a write; in chains of %d",
		 LENGTH);
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 5 : 15;
}

double io_chain_steps(const struct bench *b)
{
	return 2.0 * rounds_of(b);
}

static int measure(struct bench *b, struct chains *x, int nr)
{
	struct lkdf_graph *g[2] = { NULL, NULL };
	struct samples s[2];
	unsigned i, k;
	int rc = 0;

	s[0].nr = s[1].nr = 0;
	for (k = 0; k < 2 && !rc; k++)
		rc = build(x, x->kind[k], nr, &g[k]);
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !rc; i++) {
		bench_round(b, "chain");
		for (k = 0; k < 2 && !rc; k++)
			rc = sample(g[(i + k) % 2], nr, &s[(i + k) % 2]);
	}
	if (!rc)
		chain_row(b, nr, s);
	for (k = 0; k < 2; k++)
		lkdf_graph_put(g[k]);
	return rc;
}

int io_chain(struct bench *b)
{
	struct chains x = { .file = { .fd = -1 } };
	struct bench_row *row;
	int rc = chains_open(b, &x);

	if (!rc && !(lkdf_caps(x.rt) & LKDF_CAP_URING)) {
		row = report_add(&b->report, 2, "ns", "chain/write");
		snprintf(row->note, sizeof(row->note), "absent: io_uring");
	} else {
		rc = rc ? rc : measure(b, &x, 1);
		rc = rc ? rc : measure(b, &x, MOST);
	}
	chains_close(&x);
	return rc;
}
