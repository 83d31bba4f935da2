/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bodies by kind of runtimes with option kinds, which count them. */
#ifndef TOOLS_STAT_KINDS_H
#define TOOLS_STAT_KINDS_H

#include "stat/stats.h"

#define STATS_KINDS 1024u /* those beyond have no room */

/* For all runtimes that are looked at; kinds of one name are one. */
struct stats_kind {
	char name[64]; /* tame */
	uint64_t bodies;
	double ns; /* that they took, by those that were timed */
	uint64_t timed;
};

struct stats_kinds {
	bool are_counted; /* by one of the runtimes at least */
	uint32_t nr;
	struct stats_kind *kind; /* most time first */
};

/* Without memory there are none. */
void stats_kinds(const struct stats *s, unsigned nr, struct stats_kinds *to);
void stats_kinds_free(struct stats_kinds *k);

/* NULL: there is none of that name. */
const struct stats_kind *stats_kind_find(const struct stats_kinds *k,
					 const char *name);

#endif
