/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine without hwloc, where hwloc would abort, loop or find no memory:
 * minimal chroots and sandboxes without /sys, a masked directory of nodes, a
 * filter that refuses sched_getaffinity(). It has one node.
 */
#ifndef TOPO_PLAIN_H
#define TOPO_PLAIN_H

#include <stdint.h>

struct machine;

/*
 * *why hwloc must not look at this machine; NULL: it may. The text is constant.
 * sys_root NULL: "/sys". Return: 0 or -ENOMEM.
 */
int plain_reason(const char *sys_root, const char **why);

/*
 * Makes one node with the memory that sysconf() tells, and the CPUs of this
 * thread's affinity, else those that /sys or sysconf() tell. Return: 0 or
 * -ENOMEM.
 */
int plain_load(const char *sys_root, struct machine *m);

/* Bytes of memory according to sysconf(); 0: it does not tell. */
uint64_t plain_memory(void);

#endif
