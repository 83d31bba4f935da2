/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names under which tools show the constructs of a program. gcc makes a
 * function of the block of each region and task, f._omp_fn.0, which nobody has
 * written: it is named by the function that holds the construct, and by its
 * number there. A name is found once, and stays.
 */
#ifndef GOMP_NAMES_H
#define GOMP_NAMES_H

#define NAME_ROOM 64

/* The name of a function that gcc has made: "f, region 1", "f, task 2". */
const char *name_region(const void *fn);
const char *name_task(const void *fn);

/* The construct from which a call returns there: "f, line 7, region 1". */
const char *name_loop(const void *from);

#endif
