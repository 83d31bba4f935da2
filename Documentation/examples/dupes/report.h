/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The result: sets of equal files, the largest waste first, each with its paths
 * in order, and totals. Two forms: for people and as JSON.
 *
 * Further names of an inode are listed, but they waste nothing.
 */
#ifndef DUPES_REPORT_H
#define DUPES_REPORT_H

#include "class.h"
#include "options.h"
#include "summary.h"
#include "trouble.h"

/* An inode: its paths in order. */
struct copy {
	char **path;
	size_t nr;
};

struct group {
	uint64_t size, waste;
	struct copy *copy;
	size_t nr;
};

struct report {
	struct counts counts; /* of the walk; reading adds its errors */
	uint64_t bytes_read, waste;
	uint64_t alone, links, changed;
	struct group *group;
	size_t nr;
	struct troubles troubles;
	bool is_partial; /* interrupted */
};

int report_init(struct report *r, struct tree *t, const struct classes *cs,
		struct search *s);
void report_fini(struct report *r);
void report_text(const struct report *r, const struct options *o,
		 const struct summary *s, FILE *f);
void report_json(const struct report *r, const struct options *o,
		 const struct summary *s, FILE *f);

#endif
