/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The memfds "lkdf:stats" of a running process, one for each runtime, mapped
 * read-only. The process may write anything into them at any time: numbers are
 * checked once and used from the copy.
 */
#ifndef TOOLS_STAT_STATS_MAP_H
#define TOOLS_STAT_STATS_MAP_H

#include <lkdf/format.h>

#include <stdbool.h>
#include <stddef.h>

struct stats_map {
	struct lkdf_stats_header header; /* a copy, checked */
	const char *base;
	size_t bytes;
};

/*
 * Up to max of them. How many; -EACCES: they may not be opened; -ESRCH: there
 * is no such process.
 */
int stats_map_open(int pid, struct stats_map *m, int max);
void stats_map_close(struct stats_map *m);

/* A copy of the block of an executor. */
void stats_map_block(const struct stats_map *m, uint32_t executor,
		     struct lkdf_stats_block *b);

/* A block with a label; the text is fit to be printed. */
struct stats_label {
	uint64_t address, bytes;
	char text[64];
};

/* Row i of the table, below header.label_cap; false: it is nobody's. */
bool stats_map_row(const struct stats_map *m, uint32_t i,
		   struct stats_label *l);

/* The block in which the address lies; false: in none that is listed. */
bool stats_map_label(const struct stats_map *m, uint64_t address,
		     struct stats_label *l);

/*
 * The key that hides addresses from other readers of the probe's maps; 0: none.
 * The program sets it while it opens the runtime, later than the rest of the
 * header, and before a thread of it registers.
 */
uint64_t stats_map_key(const struct stats_map *m);

/* The name with that number, "?" where there is none. */
void stats_map_name(const struct stats_map *m, uint32_t nr, char *to,
		    size_t size);

#endif
