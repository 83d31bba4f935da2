/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench placement, what the watched pay: 8 MiB are moved to another node
 * and back, once with the range watched and once without, in pairs whose order
 * changes. Pairs are added until the median of their ratios is known to
 * +-5 %, or there are too many; the interval is that of the order statistics,
 * so it assumes no distribution.
 */
#include "tests/bench/suites/placement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOVED ((size_t)8 << 20)
#define MPOL_MF_MOVE 2
#define LEAST_PAIRS 15
#define EVERY 5 /* pairs between two looks at the interval */
#define NEAR 0.05

struct mover {
	void **pages;
	int *nodes, *status;
	size_t nr, nr_left; /* moves that did not happen */
	int node[2];
	struct samples took[2]; /* not watched, watched; us */
	struct samples ratio;
	double low, high;
};

static unsigned most_pairs(const struct bench *b)
{
	return b->is_quick ? 20 : 200;
}

double place_mover_steps(const struct bench *b)
{
	return most_pairs(b);
}

/* @step: one address of each page, whatever its size. */
static int mover_open(struct mover *m, const struct place *p, size_t step)
{
	size_t i;

	m->nr = MOVED / step;
	m->pages = malloc(m->nr * sizeof(*m->pages));
	m->nodes = malloc(m->nr * sizeof(*m->nodes));
	m->status = malloc(m->nr * sizeof(*m->status));
	if (!m->pages || !m->nodes || !m->status)
		return bench_fail(-ENOMEM, "no memory for lists of pages");
	for (i = 0; i < m->nr; i++)
		m->pages[i] = p->mem + i * step;
	return 0;
}

static void mover_close(struct mover *m)
{
	free(m->pages);
	free(m->nodes);
	free(m->status);
}

/* 0, or -errno; -EIO if no page went. */
static int move_to(struct mover *m, int node)
{
	size_t i, nr_left = 0;

	for (i = 0; i < m->nr; i++) {
		m->nodes[i] = node;
		m->status[i] = -1;
	}
	if (syscall(SYS_move_pages, 0, m->nr, m->pages, m->nodes, m->status,
		    MPOL_MF_MOVE) < 0)
		return -errno;
	for (i = 0; i < m->nr; i++)
		nr_left += m->status[i] != node;
	m->nr_left += nr_left;
	return nr_left == m->nr ? -EIO : 0;
}

/* There and back, so that every time has the same ways in it. */
static int there_and_back(struct mover *m, double *us)
{
	int64_t start = bench_now_ns();
	int rc = move_to(m, m->node[1]);

	if (!rc)
		rc = move_to(m, m->node[0]);
	*us = (double)(bench_now_ns() - start) / 1e3;
	return rc;
}

static int one_pair(struct mover *m, struct place *p, unsigned pair)
{
	double us[2];
	int rc = 0;
	unsigned k, is_watched;

	for (k = 0; k < 2 && !rc; k++) {
		is_watched = (pair + k) % 2;
		if (is_watched) {
			rc = place_watch(p);
			if (!rc && place_refresh(p, 0) < 0)
				rc = -EIO;
		}
		if (!rc)
			rc = there_and_back(m, &us[is_watched]);
		if (is_watched)
			place_unwatch(p);
	}
	if (rc)
		return rc;
	for (k = 0; k < 2; k++)
		samples_add(&m->took[k], us[k]);
	samples_add(&m->ratio, us[1] / us[0]);
	return 0;
}

/* Where the median is, with 95 %: binomial, by its normal approximation. */
static bool is_resolved(struct mover *m)
{
	double half = 0.98 / sqrt(m->ratio.nr);

	m->low = samples_quantile(&m->ratio, 0.5 - half);
	m->high = samples_quantile(&m->ratio, 0.5 + half);
	return m->high - m->low <= 2 * NEAR * samples_median(&m->ratio);
}

static void mover_row(struct bench_row *row, const struct mover *m,
		      bool is_done)
{
	int nr;

	row_value(row, &m->took[1], 1);
	row->floor = samples_median(&m->took[0]);
	row->ratio = samples_median(&m->ratio);
	row->spread = (m->high - m->low) / 2;
	nr = snprintf(row->note, sizeof(row->note),
		      "%s95 %% of the median: %.3f to %.3f, %u pairs",
		      is_done ? "" : "not resolved: ", m->low, m->high,
		      m->ratio.nr);
	if (m->nr_left)
		snprintf(row->note + nr, sizeof(row->note) - (size_t)nr,
			 "; %zu moves failed", m->nr_left);
}

static int measure(struct bench *b, struct mover *m, struct place *p,
		   bool *is_done)
{
	unsigned i, most = most_pairs(b);
	int rc = move_to(m, m->node[0]);

	*is_done = false;
	for (i = 0; i < most && !rc && !*is_done; i++) {
		if (i % EVERY == 0)
			gate_wait(&b->gate);
		bench_step(b, 1, "mover");
		rc = one_pair(m, p, i);
		if (i + 1 >= LEAST_PAIRS && (i + 1) % EVERY == 0)
			*is_done = is_resolved(m);
	}
	if (!rc && !*is_done)
		*is_done = is_resolved(m);
	bench_step(b, most - i, "mover");
	return rc;
}

void place_mover(struct bench *b, struct place *p, const char *pages,
		 size_t step)
{
	struct mover m = { .nr = 0 };
	struct bench_row *row;
	bool is_done = false;
	int rc;

	if (p->fd < 0 || p->len < MOVED || place_two_nodes(m.node) < 2) {
		row = report_add(&b->report, 0, "us", "%s/mover", pages);
		snprintf(row->note, sizeof(row->note), "%s",
			 p->fd < 0 ? p->why : "needs two nodes with memory");
		bench_step(b, place_mover_steps(b), "mover");
		return;
	}
	place_unwatch(p);
	rc = mover_open(&m, p, step);
	if (!rc)
		rc = measure(b, &m, p, &is_done);
	row = report_add(&b->report, 0, "us", "%s/mover", pages);
	if (rc)
		snprintf(row->note, sizeof(row->note),
			 "pages did not move: error %d", -rc);
	else
		mover_row(row, &m, is_done);
	mover_close(&m);
}
