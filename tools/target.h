/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The process that a verb looks at: -p PID|NAME. */
#ifndef TOOLS_TARGET_H
#define TOOLS_TARGET_H

#include <stddef.h>

/* By number or by the name of its command; NULL is refused. 0 or an exit code,
 * and then it has been said why. */
int target_find(const char *verb, const char *name, int *pid);

/* Calls fn for each process, with the name of its command. */
void target_each(void (*fn)(void *u, int pid, const char *name), void *u);

/* The name of its command, "?" where it is gone. */
void target_name(int pid, char *to, size_t size);

#endif
