/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Nodes without hwloc. The machine's CPUs have their numbers; here they get
 * their nodes, and nodes get memory and distances. A CPU that no node claims is
 * counted to the first one.
 */
#include "topo/plain.h"

#include "topo/machine.h"
#include "topo/sysfs.h"
#include "topo/topo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t memory_of_system(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static int add_nodes(void *u, int first, int last)
{
	struct machine *m = u;
	struct machine_node *grown;

	grown = realloc(m->node, (size_t)(m->nr_nodes + last - first + 1) *
					 sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (m->node = grown; first <= last; first++)
		m->node[m->nr_nodes++] =
			(struct machine_node){ .os_node = first };
	return 0;
}

struct claim {
	struct machine *m;
	int node; /* whose CPUs they are */
};

static int claim_cpus(void *u, int first, int last)
{
	struct claim *c = u;
	int i;

	for (i = 0; i < c->m->nr_cpus; i++)
		if (c->m->cpu[i].os_cpu >= first && c->m->cpu[i].os_cpu <= last)
			c->m->cpu[i].node = c->node;
	return 0;
}

/* 0; -ENOMEM; -errno: the kernel does not tell all of a node. */
static int read_node(const struct topo_attr *a, struct machine *m, int i)
{
	int *row = &m->distance[i * m->nr_nodes];
	struct claim c = { m, i };
	int os = m->node[i].os_node, rc;

	rc = sysfs_node_cpus(a->sys_root, os, claim_cpus, &c);
	if (!rc)
		rc = sysfs_node_distances(a->sys_root, os, row, m->nr_nodes);
	m->node[i].mem_bytes = sysfs_node_memory(a->sys_root, os);
	return rc;
}

static int read_nodes(const struct topo_attr *a, struct machine *m)
{
	size_t nr;
	int i, rc;

	rc = sysfs_online_nodes(a->sys_root, add_nodes, m);
	if (rc || !m->nr_nodes)
		return rc ? rc : -ENOENT;
	nr = (size_t)m->nr_nodes;
	m->distance = calloc(nr * nr, sizeof(*m->distance));
	if (!m->distance)
		return -ENOMEM;
	for (i = 0; i < m->nr_nodes && !rc; i++)
		rc = read_node(a, m, i);
	return rc;
}

/* Instead of what was read. */
static int make_one(struct machine *m)
{
	int i;

	free(m->node);
	free(m->distance);
	m->node = calloc(1, sizeof(*m->node));
	m->distance = calloc(1, sizeof(*m->distance));
	if (!m->node || !m->distance)
		return -ENOMEM;
	m->nr_nodes = 1;
	m->distance[0] = TOPO_DISTANCE_LOCAL;
	for (i = 0; i < m->nr_cpus; i++)
		m->cpu[i].node = 0;
	return 0;
}

/* Nodes below next are cut already. */
struct cut {
	struct machine *m;
	int next;
};

/* Memory of the nodes from next on and before end is none. */
static void cut_nodes(struct cut *c, int end)
{
	int i;

	for (i = 0; i < c->m->nr_nodes; i++)
		if (c->m->node[i].os_node >= c->next &&
		    c->m->node[i].os_node < end)
			c->m->node[i].mem_bytes = 0;
}

/* Ranges come in ascending order. */
static int keep_range(void *u, int first, int last)
{
	struct cut *c = u;

	cut_nodes(c, first);
	c->next = last + 1;
	return 0;
}

bool plain_mems(const char *proc_root, char line[PLAIN_LINE])
{
	const char name[] = "Mems_allowed_list:";
	bool is_told = false;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/status",
		 proc_root ? proc_root : "/proc");
	f = fopen(path, "re");
	while (f && !is_told && fgets(line, PLAIN_LINE, f))
		is_told = !strncmp(line, name, strlen(name));
	if (f)
		fclose(f);
	if (is_told)
		memmove(line, line + strlen(name),
			strlen(line + strlen(name)) + 1);
	else
		line[0] = '\0';
	return is_told;
}

/* Memory of nodes that the cgroup's cpuset keeps from us is none. */
static void cut_memory(const struct topo_attr *a, struct machine *m)
{
	struct cut c = { m, 0 };
	char line[PLAIN_LINE];

	/* Another machine's /sys: what is allowed to us is not of it. */
	if (a->sys_root && !a->proc_root)
		return;
	if (plain_mems(a->proc_root, line) &&
	    !cpulist_parse(line, keep_range, &c, NULL))
		cut_nodes(&c, INT_MAX);
}

bool plain_add_memory(struct machine *m)
{
	int i;

	for (i = 0; i < m->nr_nodes; i++)
		if (m->node[i].mem_bytes)
			return false;
	m->node[0].mem_bytes = memory_of_system();
	return true;
}

int plain_nodes(const struct topo_attr *a, struct machine *m)
{
	int rc = read_nodes(a, m);

	if (rc && rc != -ENOMEM)
		rc = make_one(m);
	if (rc)
		return -ENOMEM;
	cut_memory(a, m);
	return 0;
}
