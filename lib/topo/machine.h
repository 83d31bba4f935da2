/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The raw machine as plain numbers: plain.c reads it from /sys. The only file
 * that sees hwloc is machine.c. CPUs are
 * already cut to what the cgroup and the affinity of the calling thread allow;
 * nodes are all there are.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* From here on keys of cores and L3 groups that nobody tells of. */
#define MACHINE_NO_OBJECT (1 << 24)

struct topo_attr;

struct machine_node {
	int os_node;
	uint64_t mem_bytes; /* that this process may use */
};

struct machine_cpu {
	int os_cpu;
	int node; /* index into machine.node */
	int core, l3; /* keys: equal means shared; in the machine's order */
	uint64_t l3_bytes;
};

struct machine {
	int nr_nodes, nr_cpus;
	struct machine_node *node; /* by os_node */
	struct machine_cpu *cpu;
	int *distance; /* nr_nodes * nr_nodes */
	bool is_this_system;
	char source[96]; /* "sysfs", "hwloc 2.9.0", or why it is without */
};

/*
 * synthetic is hwloc's part of the text, NULL for this machine.
 * Return: 0; -EINVAL: synthetic; -ENOMEM; -EIO.
 */
int machine_load(const struct topo_attr *a, const char *synthetic,
		 struct machine *m);

/* Accepts a half-loaded one. */
void machine_fini(struct machine *m);

#endif
