/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A request as a run of a graph:
 *
 *	open --> look --> read --> sum
 *
 * Each of the first three starts an operation as its child, and so ends when
 * that is over; no thread waits meanwhile. The graph is made once; each run
 * has an argument of its own, which all its tasks see.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <lkdf/lkdf.h>
#include <sys/stat.h>

#define IN_FLIGHT 8
#define NR_STEPS 4

enum what {
	ECHO,
	FILE_,
	NAP,
};

struct request {
	/* Set before the run. */
	enum what what;
	const char *text; /* what to echo, or a name */
	int64_t nap_ns;
	int root_fd;
	uint64_t max_size;
	struct lkdf_kind *op;

	/* The run's own until it has ended. */
	int64_t fd, slept, looked; /* results of operations */
	struct statx status;

	/* The outcome. */
	char *bytes; /* NULL: text is it */
	int64_t size;
	uint32_t sum;
};

struct requests {
	struct lkdf *rt;
	struct lkdf_kind *op, *step[NR_STEPS];
	struct lkdf_graph *graph;
};

/* -errno, lkdf_errmsg() says why. Then fini. */
int requests_init(struct requests *all);
void requests_fini(struct requests *all);

/* -EAGAIN: IN_FLIGHT of them run; else as lkdf_graph_run(). */
int request_run(struct requests *all, struct request *r, struct lkdf_scope *s,
		int64_t deadline_ns, struct lkdf_event *done);

/* The run has ended: its file is not needed any more. */
void request_close(struct request *r);

/* Nor are its bytes. */
void request_fini(struct request *r);

#endif
