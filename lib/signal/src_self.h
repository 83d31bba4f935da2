/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Facts that a thread may know of itself without any rights: its CPU time and
 * context switches by getrusage(2), how long it waited for a CPU by its
 * schedstat file. The kernel splits CPU time into user and system by what each
 * tick finds, so a share of less than some ticks says little.
 */
#ifndef SIGNAL_SRC_SELF_H
#define SIGNAL_SRC_SELF_H

struct workers;
struct workers_mark;
struct workers_own;

int src_self_open(struct workers *b);
void src_self_close(struct workers *b);
void src_self_enter(struct workers *b, int executor,
		    const struct workers_own *own);

/* Its thread looks: 1 to 2 us. */
void src_self_look(struct workers *b, int executor);

/* Times of all threads of the process. */
void src_self_mark(struct workers_mark *m);

#endif
