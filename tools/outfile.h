/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file that a verb makes: written beside its name and renamed when it is
 * whole, so that a verb that fails, or that reads the file it is to write,
 * leaves what was there. A file that is not regular (a pipe, a terminal,
 * /dev/null) is written in place.
 */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *f;
	const char *path; /* NULL: standard output */
	char temp[PATH_MAX]; /* "": written in place */
};

/* path: NULL or "-" is standard output. 0 or -errno. */
int outfile_open(struct outfile *o, const char *path);

/* The name for messages. */
const char *outfile_name(const struct outfile *o);

/* All was written: 0 and the file has its name; -errno, and it has not. */
int outfile_commit(struct outfile *o);

/* Removes what was written. */
void outfile_abort(struct outfile *o);

#endif
