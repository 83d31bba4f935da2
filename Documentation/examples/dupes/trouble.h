/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files that could not be read, and the reasons: every directory and file of
 * it, in the order of their paths. They are told on stderr and in the JSON
 * object.
 */
#ifndef DUPES_TROUBLE_H
#define DUPES_TROUBLE_H

#include "tree.h"
#include <stdio.h>

struct trouble {
	char *path;
	int err; /* errno; ESTALE: it changed */
	bool is_argument; /* of the command */
};

struct troubles {
	struct trouble *trouble;
	size_t nr, nr_arguments;
};

/* -ENOMEM: the list is not complete. */
int troubles_init(struct troubles *ts, const struct tree *t);
void troubles_fini(struct troubles *ts);

/* Lines; of arguments only, or all. */
void troubles_text(const struct troubles *ts, bool all, FILE *f);
void troubles_json(const struct troubles *ts, FILE *f);

#endif
