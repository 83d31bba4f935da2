/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's account of nodes in /sys/devices/system/node, without hwloc: for
 * the cross-check, and where hwloc gives one CPU to two nodes.
 */
#ifndef TOPO_SYSFS_H
#define TOPO_SYSFS_H

#include "topo/cpulist.h"

/*
 * Calls fn for each range of CPUs of a node; sys_root NULL: "/sys".
 * Return: 0; what fn returned; -ENOENT: no such node; -EINVAL: bad list;
 * -ENOMEM.
 */
int sysfs_node_cpus(const char *sys_root, int os_node, cpulist_fn fn, void *u);

/* Calls @fn for each range of CPUs that are online. */
int sysfs_online_cpus(const char *sys_root, cpulist_fn fn, void *u);

/* The lowest CPU of its core; the CPU itself where the kernel does not tell. */
int sysfs_core(const char *sys_root, int os_cpu);

#endif
