/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A contestant that is a program of its own: asked by one line on its standard
 * input, answers by one line. Between questions it is stopped, so that its
 * spinning threads take nothing from the others.
 */
#ifndef TOOLS_BENCH_PEER_H
#define TOOLS_BENCH_PEER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define PEER_MAX_VALUES 8

struct peer {
	pid_t pid; /* 0: absent */
	FILE *ask, *answer;
	char why[96]; /* why it is absent, or what it last refused */
};

/* False: not built or does not start; then all questions give -ENOENT. */
bool peer_open(struct peer *p, const char *name);
void peer_close(struct peer *p);

/* How many numbers came into @out, or -errno. */
int peer_ask(struct peer *p, double *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Only asks. */
int peer_send(struct peer *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole life for one question: open, ask, close. */
int peer_ask_fresh(const char *name, double *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Where the programs lie: "DIR/NAME" that can be executed. */
bool peer_path(const char *name, char *to, size_t size);

#endif
