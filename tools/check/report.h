/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reports of the thread sanitizer, judged as those of tasks. */
#ifndef TOOLS_CHECK_REPORT_H
#define TOOLS_CHECK_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#define REPORT_NAME 320

/* Why a report is left out: what it says need not be so. */
enum report_none {
	NONE_NOT, /* it is told */
	NONE_LOCK, /* both sides hold one mutex or token */
	NONE_OWN, /* bytes of a thread's own, which fibers share */
	NONE_STARTED, /* a thread that a body has started, but see --atomics */
	NONE_COUNTED, /* what a last reference frees: its count orders that */
	NONE_COPY, /* bytes of a reduction, of which each body has its own */
	NONE_LIBRARY, /* a library whose own orders are not seen */
	NR_NONE
};

/* Two accesses, or what else the sanitizer tells of. */
struct report {
	char first[REPORT_NAME], second[REPORT_NAME]; /* who; "": not known */
	char place[REPORT_NAME]; /* file, line and function */
	char label[REPORT_NAME]; /* of the bytes; "": they have none */
	char advice[2 * REPORT_NAME]; /* the call that would order the two */
	bool is_race;
	enum report_none none;
};

struct reports {
	/* The caller sets them: --atomics, and what runtimes have noted. */
	bool hears_atomics;
	const char *notes;
	unsigned nr, nr_none[NR_NONE]; /* told, and left out */
	unsigned nr_failed; /* the sanitizer gave up */
	char (*seen)[4 * REPORT_NAME]; /* pairs that were told */
	struct report *report; /* the first one of each pair */
	unsigned nr_seen;
	unsigned *count; /* of each */
};

/* Reads one report; false: it is none. */
bool report_read(const struct reports *all, const char *text, struct report *r);

/* Tells on out what is new in the log. */
void reports_tell(struct reports *all, char *log, FILE *out);

/* The reason, as text. */
const char *report_why(enum report_none none);

/* How often each pair was told, where that was more than once. */
void reports_end(struct reports *all, FILE *out);

#endif
