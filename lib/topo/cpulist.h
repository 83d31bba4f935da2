/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lists of numbers as the kernel writes them: "0,2-5". Parsing calls a
 * function for each range, so nothing is allocated and no size is assumed.
 */
#ifndef TOPO_CPULIST_H
#define TOPO_CPULIST_H

#include <stddef.h>

/* No machine numbers a CPU or a node as high as this. */
#define CPULIST_MAX (1 << 20)

/* Returning non-zero ends the parsing with that value. */
typedef int (*cpulist_fn)(void *u, int first, int last);

/*
 * White space before and after the list is skipped, an empty list is valid.
 * Return: 0; what fn returned; -EINVAL, and *at (if not NULL) is the offset
 * of the first character that does not fit.
 */
int cpulist_parse(const char *text, cpulist_fn fn, void *u, size_t *at);

/* Writes sorted numbers as a list, "..." at the end if cut; returns buf. */
const char *cpulist_text(const int *v, int nr, char *buf, size_t size);

#endif
