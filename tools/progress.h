/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A line on standard error that says how far it is and how long it will take.
 * Nothing is shown unless that is a terminal, nor in the first half second.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_on, is_shown;
	int64_t start_ns, shown_ns;
	double total, done;
};

void progress_start(struct progress *p, double total, bool is_quiet);
void progress_step(struct progress *p, double by, const char *what);
/* Takes the line away again. */
void progress_end(struct progress *p);

#endif
