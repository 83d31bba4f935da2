/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A line on the terminal that says how far the search is: nothing in the first
 * half second, nothing at all where stderr is no terminal.
 */
#ifndef DUPES_PROGRESS_H
#define DUPES_PROGRESS_H

#include "class.h"
#include "tree.h"

struct progress {
	bool is_on, is_shown;
	int64_t start_ns; /* of the search */
	int64_t read_ns; /* of reading files, 0: not begun */
};

int64_t clock_ns(void);
void progress_init(struct progress *p, bool quiet);

/* The walk goes on, files are being read, all is over. */
void progress_walk(struct progress *p, struct tree *t);
void progress_read(struct progress *p, struct reading *r);
void progress_end(struct progress *p, struct reading *r);

#endif
