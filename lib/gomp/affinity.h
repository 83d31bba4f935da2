/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Lines that say which thread runs where, by the program's format. */
#ifndef GOMP_AFFINITY_H
#define GOMP_AFFINITY_H

/* This thread's line, to standard error. */
void affinity_show(void);

#endif
