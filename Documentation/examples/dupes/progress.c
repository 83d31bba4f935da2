/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Progress on the terminal, see progress.h. The rest to read is an upper bound
 * that falls whenever files turn out to be different, so the time left is "at
 * most", as long as the disk keeps its speed.
 */
#include "progress.h"
#include "text.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define QUIET_NS 500000000

int64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

void progress_init(struct progress *p, bool quiet)
{
	*p = (struct progress){ .start_ns = clock_ns() };
	p->is_on = !quiet && isatty(STDERR_FILENO);
}

static bool is_due(struct progress *p)
{
	if (!p->is_on || clock_ns() - p->start_ns < QUIET_NS)
		return false;
	p->is_shown = true;
	return true;
}

void progress_walk(struct progress *p, struct tree *t)
{
	struct counts n;

	if (!is_due(p))
		return;
	n = tree_counts(t);
	fprintf(stderr, "\r%llu directories, %llu files\033[K",
		(unsigned long long)n.dirs, (unsigned long long)n.files);
}

void progress_read(struct progress *p, struct reading *r)
{
	uint64_t read = atomic_load(&r->bytes);
	int64_t left = atomic_load(&r->left);
	double seconds;

	if (!p->read_ns)
		p->read_ns = clock_ns();
	if (!is_due(p))
		return;
	left = left > 0 ? left : 0;
	seconds = (clock_ns() - p->read_ns) / 1e9;
	fprintf(stderr, "\r%s read, at most %s left", text_size(read).s,
		text_size(left).s);
	if (read && seconds > 0.5) {
		seconds *= (double)left / read;
		fprintf(stderr, ", %.0f:%02d", (double)(long)(seconds / 60),
			(int)seconds % 60);
	}
	fputs("\033[K", stderr);
}

void progress_end(struct progress *p, struct reading *r)
{
	if (p->is_shown)
		fprintf(stderr, "\r%s read in %.1f s\033[K\n",
			text_size(atomic_load(&r->bytes)).s,
			(clock_ns() - p->start_ns) / 1e9);
}
