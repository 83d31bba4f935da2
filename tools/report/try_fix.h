/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf try --fix: a command as it is and with a change, in turns, beside what a
 * replay of one of its recordings predicts.
 */
#ifndef REPORT_TRY_FIX_H
#define REPORT_TRY_FIX_H

#include "report/fix.h"

#define MAX_TIMES 32

/* Walls of runs, in ns, and once they are all there, by length. */
struct walls {
	unsigned nr;
	uint64_t ns[MAX_TIMES];
};

struct try_fixed {
	const char *command, *text; /* of all changes */
	struct fix_list list;
	struct walls before, after;
	double gain; /* predicted; not if lacks */
	const char *lacks; /* why nothing is; NULL: it is */
};

/* The runs, and whose answer goes where. */
struct try_turns {
	char **command;
	const char *dir; /* for recordings */
	unsigned times;
	bool is_quiet, is_json;
	bool is_openmp; /* with one thread nothing of it is recorded */
	struct try_fixed fixed;
};

/* try_turns.c: runs, predicts and prints. The exit code. */
int try_take_turns(struct try_turns *t);

uint64_t walls_median(const struct walls *w);
/* A run of one side is as long as one of the other: no difference is seen. */
bool try_fix_overlaps(const struct try_fixed *t);
void try_fix_print(const struct try_fixed *t, FILE *out);
void try_fix_print_json(const struct try_fixed *t, FILE *out);

#endif
