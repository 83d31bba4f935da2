/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The facts of several ranks: what ranks.c and facts.c share. */
#ifndef TESTS_MPI_RANKS_H
#define TESTS_MPI_RANKS_H

#include <lkdf/lkdf.h>
#include <lkdf/mpi.h>
#include <string.h>

struct message {
	struct lkdf_mpi *m;
	int value, seen;
};

extern int rank, size;

/* Rank 0 prints it if it holds on all ranks. */
void fact(int holds, const char *text, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends all ranks where that has failed. */
void must(int rc, const char *what);
/* Drops the reference, too. */
int wait_and_put(struct lkdf_event e);
/* Each rank sends bytes of its own. */
unsigned char byte_of(int from, size_t i);
/* With an argument of a pointer, LKDF_ALWAYS. */
struct lkdf_kind *make_kind(struct lkdf *rt, const char *name, lkdf_fn fn);

/* facts.c: functions in turn; then all facts, in a runtime with these options.
 */
void posted(struct lkdf_mpi *m);
void run_all(const char *options, int is_first);

/* figures.c */
void run_figures(void);

#endif
