/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The recordings of several ranks as one: ranks_read.c reads them, ranks.c
 * finds who waits for whom, ranks_text.c and ranks_html.c write. All times are
 * ns of the clock of rank 0.
 */
#ifndef REPORT_RANKS_H
#define REPORT_RANKS_H

#include "trace/read.h"

#define MAX_RANKS 1024u
#define MAX_RANK_FINDINGS 12u
/* A share of the time of a rank's workers; a wait of less is not worth a
 * finding. */
#define WORTH_A_WAIT 0.02

enum rank_way {
	RANK_WAY_NONE, /* the program has not told */
	RANK_WAY_FROM,
	RANK_WAY_TO,
};

struct rank_body {
	int64_t begin, end;
	uint32_t lane, name;
};

struct rank_request {
	int64_t begin, end;
	enum rank_way way;
	int peer;
};

/* A worker had nothing to run until a message of a peer was there. */
struct rank_charge {
	int64_t begin, end;
	int peer;
};

/* All charges of one rank to one peer. */
struct rank_wait {
	uint32_t row; /* of the rank that waits */
	int peer; /* its number */
	uint64_t nr, ns;
	double share; /* of the time of the rank's workers */
	double busy; /* of ns: a worker of the peer was in a body; < 0: no file
		      */
	const char *kind; /* that has most of these bodies; NULL */
};

struct rank {
	const char *file;
	int number;
	uint32_t pid, nr_workers;
	char program[64];
	char **name; /* by name */

	struct rank_body *body; /* of workers, by lane and begin */
	size_t nr_bodies, cap_bodies;
	struct rank_request *request; /* by end */
	size_t nr_requests, cap_requests;
	struct rank_charge *charge; /* by begin */
	size_t nr_charges, cap_charges;
	uint64_t body_ns, wait_ns, request_ns;
};

struct ranks {
	uint32_t nr;
	struct rank rank[MAX_RANKS]; /* by number */
	int64_t begin, end; /* of bodies and requests of all */
	struct rank_wait *wait; /* the most first */
	uint32_t nr_waits;
};

struct rank_words {
	char title[128], why[768], fix[256];
};

/*
 * Reads a recording into a row of r. -ENOENT: it is of no rank. Otherwise as
 * trace_read().
 */
int ranks_read(struct ranks *r, const char *file, FILE *in,
	       struct trace_fault *fault);
void ranks_fini(struct ranks *r);

/* Return: 0; -ENOMEM; -EEXIST: two files of one rank. */
int ranks_analyse(struct ranks *r);

/* The row of a rank's number, or NULL. */
const struct rank *ranks_find(const struct ranks *r, int number);

static inline double ranks_wall(const struct ranks *r)
{
	return r->end > r->begin ? (double)(r->end - r->begin) : 1;
}

/* A share of the time of the rank's workers. */
double ranks_share(const struct ranks *r, const struct rank *x, uint64_t ns);

/* So many waits are worth a finding. */
uint32_t ranks_nr_findings(const struct ranks *r);
void ranks_say(const struct ranks *r, const struct rank_wait *w,
	       struct rank_words *to);

void ranks_text(const struct ranks *r, FILE *out);
void ranks_json(const struct ranks *r, FILE *out);
void ranks_html(const struct ranks *r, FILE *out);

/* "#" bodies, "." a message is awaited: how much of so many equal bins. */
struct rank_bins {
	uint32_t nr;
	double *body, *wait; /* share of the rank's workers */
};

/* -ENOMEM. */
int ranks_bins(const struct ranks *r, const struct rank *x, uint32_t nr,
	       struct rank_bins *out);
void ranks_bins_fini(struct rank_bins *b);

#endif
