/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Text that stands for a machine: hwloc's synthetic syntax, and after it an
 * optional full distance matrix, row by row: "numa:2 core:4
 * distances:10,21,21,10". hwloc insists on a level of threads; where "pu:" is
 * left out we add one per core.
 */
#ifndef TOPO_SYNTHETIC_H
#define TOPO_SYNTHETIC_H

#include <stddef.h>

struct machine;

/*
 * Copies hwloc's part to hw_text; *matrix is the text behind "distances:" or
 * NULL. Return: 0; -EINVAL: too long, or a machine that is too large.
 */
int synthetic_split(const char *text, char *hw_text, size_t size,
		    const char **matrix);

/*
 * Replaces the machine's distances. Return: 0; -EINVAL: not a number of
 * 1 .. 10000, or not as many as nodes squared.
 */
int synthetic_distances(const char *matrix, struct machine *m);

#endif
