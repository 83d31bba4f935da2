/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ONE table of who tells what: where pages are (board.h) and how workers
 * fare (workers.h). The first one that opens tells about pages; each tells its
 * own facts about workers.
 */
#ifndef SIGNAL_SOURCES_H
#define SIGNAL_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct board;
struct workers;
struct workers_own;

struct signal_source {
	const char *name, *help;
	bool has_rights; /* needs some: only where signal=auto */
	/* 0; 1: it cannot be used, and the board says why; -ENOMEM. */
	int (*open_pages)(struct board *b);
	int (*open_workers)(struct workers *b);
	void (*close_workers)(struct workers *b);
	/* An executor calls it, on its thread. */
	void (*enter)(struct workers *b, int executor,
		      const struct workers_own *own);
};

/* All sources of signals, the best first, and their number. */
const struct signal_source *signal_sources(size_t *nr);

#endif
