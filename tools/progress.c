/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER_NS 500000000
#define AGAIN_AFTER_NS 100000000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_start(struct progress *p, double total, bool is_quiet)
{
	*p = (struct progress){ .is_on = !is_quiet && isatty(STDERR_FILENO),
				.start_ns = now_ns(),
				.total = total };
}

void progress_step(struct progress *p, double by, const char *what)
{
	int64_t now;
	double eta;

	p->done += by;
	if (!p->is_on)
		return;
	now = now_ns();
	if (now - p->start_ns < FIRST_AFTER_NS ||
	    now - p->shown_ns < AGAIN_AFTER_NS)
		return;
	p->shown_ns = now;
	p->is_shown = true;
	fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * p->done / p->total, what);
	if (p->done > 0) {
		eta = (double)(now - p->start_ns) / 1e9;
		eta *= (p->total - p->done) / p->done;
		fprintf(stderr, "  (%.0f s left)", eta < 0 ? 0 : eta);
	}
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		fprintf(stderr, "\r\033[K");
	p->is_on = false;
}
