/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's account of nodes and CPUs in /sys/devices/system, without hwloc:
 * for the cross-check, where hwloc gives one CPU to two nodes, and where hwloc
 * may not look. sys_root NULL: "/sys".
 */
#ifndef TOPO_SYSFS_H
#define TOPO_SYSFS_H

#include "topo/cpulist.h"

#include <stdint.h>

/*
 * Calls fn for each range of CPUs of a node.
 * Return: 0; what fn returned; -ENOENT: no such node; -EINVAL: bad list;
 * -ENOMEM.
 */
int sysfs_node_cpus(const char *sys_root, int os_node, cpulist_fn fn, void *u);

/* Calls fn for each range of nodes that are online; returns as above. */
int sysfs_online_nodes(const char *sys_root, cpulist_fn fn, void *u);

/* Bytes of memory of a node; 0: none, or the kernel does not tell. */
uint64_t sysfs_node_memory(const char *sys_root, int os_node);

/*
 * Distances from a node to the nr nodes that are online, in ascending order.
 * Return: 0; -EINVAL: there are fewer, or one is not above 0; -errno.
 */
int sysfs_node_distances(const char *sys_root, int os_node, int *row, int nr);

/* Calls fn for each range of CPUs that are online; returns as above. */
int sysfs_online_cpus(const char *sys_root, cpulist_fn fn, void *u);

/* Calls fn for each range of CPUs of its core; returns as above. */
int sysfs_core(const char *sys_root, int os_cpu, cpulist_fn fn, void *u);

/*
 * Calls fn for each range of CPUs that share its cache of level 3, whose size
 * goes into *bytes. Return: 0, also where the kernel does not tell which CPUs
 * these are; -ENOENT: it tells of no such cache.
 */
int sysfs_l3(const char *sys_root, int os_cpu, uint64_t *bytes, cpulist_fn fn,
	     void *u);

/*
 * The node of a device on PCI, "0000:3b:00.0", also with more digits in front
 * of the first colon; -1: the kernel does not tell.
 */
int sysfs_pci_node(const char *sys_root, const char *bus);

#endif
