/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The process that a verb looks at: -p PID|NAME. */
#ifndef TOOLS_STAT_TARGET_H
#define TOOLS_STAT_TARGET_H

#include <stddef.h>

/* By number or by the name of its command; NULL is refused. 0 or an exit code,
 * and then it has been said why. */
int target_find(const char *verb, const char *name, int *pid);

/*
 * Says why nothing of its runtimes is to be seen: rc is 0 where it has none, or
 * what refused them, -errno. An exit code.
 */
int target_refuse(const char *verb, int pid, int rc);

/* Calls fn for each process, with the name of its command. */
void target_each(void (*fn)(void *u, int pid, const char *name), void *u);

/* The name of its command, "?" where it is gone. */
void target_name(int pid, char *to, size_t size);

#endif
