/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Changes of lkdf try --fix: another number of workers, and numbers of objects
 * that have names, which the option fix of the library sets.
 */
#ifndef REPORT_FIX_H
#define REPORT_FIX_H

#include "report/replay.h"

#define MAX_FIXES 16u

enum fix_verb {
	FIX_WORKERS,
	FIX_TOKENS,
	FIX_WINDOW,
	FIX_DEPTH,
	FIX_GRAIN,
	FIX_PRIORITY,
	NR_FIX_VERBS
};

struct fix {
	enum fix_verb verb;
	char name[64]; /* "" of workers */
	char value[32];
	char text[128]; /* as it was given */
};

struct fix_list {
	unsigned nr;
	struct fix fix[MAX_FIXES];
	bool is_bound; /* the prediction is the most that it may gain */
};

/* NULL, or what is wrong; the library checks values. */
const char *fix_parse(struct fix_list *l, const char *text);
/* "limit": what has the name of such a change. */
const char *fix_object(const struct fix *f);
/* An object got it in that recording, or it needs none. */
bool fix_is_made(const struct fix *f, const struct report *r);
/* The value of the option fix behind before; "": there is none. */
void fix_option(const struct fix_list *l, const char *before, char *to,
		size_t size);

/* The part of the wall that all of them save; as report_predict(). */
int fix_predict(struct fix_list *l, struct report *r, double *gain);

#endif
