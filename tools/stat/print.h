/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A look at the counters of a process, and the ways to print it. */
#ifndef TOOLS_STAT_PRINT_H
#define TOOLS_STAT_PRINT_H

#include "stat/stats.h"

#include <stdio.h>

/* Sums over runtimes and executors, by the first runtime's table. */
struct stat_look {
	int pid;
	char command[64];
	const struct stats *stats;
	unsigned nr_stats;
	double seconds; /* since the first look, or since the start */
	uint32_t nr;
	uint64_t value[LKDF_MAX_COUNTERS];
};

void stat_look(struct stat_look *l);

void stat_print_text(const struct stat_look *l, bool is_verbose);
void stat_print_json(const struct stat_look *l);

/* The growth since before; separator NULL: columns. */
void stat_print_interval(const struct stat_look *l,
			 const struct stat_look *before, const char *separator);

/* Values, not what came: "counter,value,unit". */
void stat_print_csv(const struct stat_look *l, const char *separator);

/* OpenMetrics 1.0 text. */
void stat_print_metrics(const struct stat_look *l, FILE *out);

#endif
