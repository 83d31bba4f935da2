/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The rank of a program of MPI, in names of files. */
#ifndef API_RANK_H
#define API_RANK_H

#include <stddef.h>

/*
 * Writes the rank for each %r of the text; %% and a letter are two characters,
 * as trace/name.c has it. -ENAMETOOLONG: it is as it was.
 */
int rank_put(char *text, size_t size);

#endif
