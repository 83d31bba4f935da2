/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file that a verb makes: written beside its name and renamed when it is
 * whole, so that a verb that fails leaves what was there. A file that is not
 * regular (a pipe, a terminal, /dev/null) is written in place.
 */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *path; /* NULL: standard output */
	char temp[PATH_MAX]; /* "": written in place */
};

/*
 * A name beside path for what is half written, of 64 random bits. 0;
 * -ENAMETOOLONG: it has no room; -errno.
 */
int outfile_temp(const char *path, char *to, size_t size);

/* path: NULL or "-" is standard output. 0 or -errno. */
int outfile_open(struct outfile *o, const char *path);

/* Is it the file that is read, by whatever name? path NULL: it is not. */
bool outfile_is(const char *path, FILE *in);

/* The name for messages. */
const char *outfile_name(const struct outfile *o);

/* All was written: 0 and the file has its name; -errno, and it has not. */
int outfile_commit(struct outfile *o);

/* Removes what was written. */
void outfile_abort(struct outfile *o);

#endif
