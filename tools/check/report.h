/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reports of the thread sanitizer, judged as those of tasks. */
#ifndef TOOLS_CHECK_REPORT_H
#define TOOLS_CHECK_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#define REPORT_NAME 320

/* Two accesses, or what else the sanitizer tells of. */
struct report {
	char first[REPORT_NAME], second[REPORT_NAME]; /* who; "": not known */
	char place[REPORT_NAME]; /* file, line and function */
	bool is_race;
	/* Both hold one mutex or token, or the bytes are a thread's own. */
	bool is_none;
};

struct reports {
	unsigned nr, nr_none; /* told, and left out */
	char (*seen)[3 * REPORT_NAME]; /* pairs that were told */
	unsigned nr_seen;
	unsigned *count; /* of each */
};

/* Reads one report, which it changes; false: it is none. */
bool report_read(char *text, struct report *r);

/* Tells on out what is new in the log. */
void reports_tell(struct reports *all, char *log, FILE *out);

/* How often each pair was told, where that was more than once. */
void reports_end(struct reports *all, FILE *out);

#endif
