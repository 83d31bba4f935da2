/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf run --openmp: liblkdf-gomp.so comes before the libgomp of the command.
 */
#ifndef RUN_OPENMP_H
#define RUN_OPENMP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * LD_PRELOAD for the command: the library and what is preloaded already. False:
 * the library is not there; text has its name then.
 */
bool openmp_preload(char *text, size_t size);

/* The library's file. False: it is not there. */
bool openmp_library(char *text, size_t size);

#endif
