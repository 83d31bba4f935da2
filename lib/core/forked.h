/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A forked child has the parent's runtimes in its memory, but none of their
 * threads: they are dead, and every call that needs them says so. The thread
 * that forked may have been in a body; in the child it is the user's.
 */
#ifndef CORE_FORKED_H
#define CORE_FORKED_H

struct lkdf;

/* 0; -EOWNERDEAD: the runtime is the parent's. */
int forked_refuse(const struct lkdf *rt);

/*
 * In the child, on the thread that forked. Its executor has no worker any more:
 * so spawn and join take their slow ways, where they ask.
 */
void forked_child(void);

#endif
