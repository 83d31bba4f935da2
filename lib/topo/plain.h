/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine without hwloc, as /sys tells it: where hwloc would abort, loop or
 * find no memory (minimal chroots and sandboxes without /sys, a masked
 * directory of nodes, a filter that refuses sched_getaffinity()), and in a
 * program with raised rights, since hwloc takes code and files from variables
 * of its own.
 */
#ifndef TOPO_PLAIN_H
#define TOPO_PLAIN_H

#include <stdbool.h>

struct machine;
struct topo_attr;

struct plain_cpus {
	int *os; /* grows, upwards; free() it */
	int nr;
};

/* CPUs of this thread's affinity. 0 with at least one CPU, or -errno. */
int plain_affinity(struct plain_cpus *c);

/*
 * *why hwloc must not look at this machine; NULL: it may. The text is constant.
 * sys_root NULL: "/sys". Return: 0 or -ENOMEM.
 */
int plain_reason(const char *sys_root, const char **why);

enum plain_which {
	PLAIN_AFFINITY, /* CPUs that this thread may use */
	PLAIN_ONLINE, /* all that are online */
};

/*
 * Nodes and CPUs that /sys tells. Where the kernel does not tell the affinity,
 * the CPUs are those that are online, and where it does not tell these either,
 * as many as sysconf() says. Return: 0 or -ENOMEM.
 */
int plain_machine(const struct topo_attr *a, enum plain_which which,
		  struct machine *m);

/*
 * Gives the CPUs of the machine their nodes; one node for all where /sys does
 * not say. Return: 0 or -ENOMEM.
 */
int plain_nodes(const struct topo_attr *a, struct machine *m);

/*
 * The list of nodes whose memory the cgroup leaves, with the line's end; "" and
 * false: nobody tells. proc_root NULL: "/proc".
 */
#define PLAIN_LINE 4096
bool plain_mems(const char *proc_root, char line[PLAIN_LINE]);

/*
 * A machine that runs has memory, whatever /proc and /sys tell: where no node
 * has any, the first one gets what sysconf() tells. Return: whether it did.
 */
bool plain_add_memory(struct machine *m);

#endif
