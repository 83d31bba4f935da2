/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files of one process below /proc: their path, and one function call for
 * each line. pid 0 is this process.
 */
#ifndef MEM_PROCFILE_H
#define MEM_PROCFILE_H

#include <stddef.h>
#include <stdint.h>

/* Without its newline. 0: go on; 1: enough; < 0: ends the reading. */
typedef int (*procfile_fn)(void *u, char *line);

/* root NULL: "/proc". -ENAMETOOLONG. */
int procfile_path(const char *root, int32_t pid, const char *name, char *path,
		  size_t size);

/*
 * A last line without newline is a file cut short: -EBADMSG.
 * Return: 0; what fn returned below 0; -errno of open or read; -ENOMEM.
 */
int procfile_lines(const char *root, int32_t pid, const char *name,
		   procfile_fn fn, void *u);

#endif
