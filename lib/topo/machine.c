/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * This machine is read from /sys, see plain.c: hwloc would load its plug-ins
 * first, with the libraries of X11 and OpenCL, four times the instructions of
 * all else that a first open does. hwloc is asked for machines that are made up
 * or described in a file, and where the environment has a variable of hwloc's.
 *
 * hwloc without I/O devices (its default), memory attributes and CPU kinds,
 * which would be most of the load time, and without its own binding of this
 * thread. Plug-ins for displays and GPUs stay off. Types we don't look at are
 * kept all the same: a node takes its CPUs from the object it hangs on, so
 * without groups and packages all nodes would have all CPUs.
 *
 * hwloc counts the CPUs near a node without CPUs (memory behind a link, high
 * bandwidth memory) as that node's, so a CPU can be in two nodes. Then the
 * kernel's own list decides; where there is none (synthetic, XML), the node
 * with the fewest CPUs, and of equals the one with the lowest number.
 */
#include "topo/machine.h"

#include "base/err.h"
#include "topo/kept.h"
#include "topo/plain.h"
#include "topo/sysfs.h"
#include "topo/topo.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const unwanted[] = {
	"x86", "pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero",
};

static int machine_fault(const char *what)
{
	if (errno == ENOMEM)
		return err(-ENOMEM, "topo: hwloc: %s: out of memory", what);
	return err(-EIO, "topo: hwloc: %s failed: %s", what, strerror(errno));
}

static int no_memory(void)
{
	return err(-ENOMEM, "topo: no memory for the topology");
}

static int set_source(hwloc_topology_t hw, const char *text)
{
	int rc;

	if (!strncmp(text, "xml:", 4))
		rc = hwloc_topology_set_xml(hw, text + 4);
	else
		rc = hwloc_topology_set_synthetic(hw, text);
	if (rc)
		return err(-EINVAL, "topo: synthetic=%s: hwloc refuses it: %s",
			   text, strerror(errno));
	return 0;
}

static int configure_hwloc(hwloc_topology_t hw)
{
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
			      HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
			      HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
			      HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
	size_t i;

	if (hwloc_topology_set_flags(hw, flags))
		return machine_fault("configuration");
	/* A type that is not there is no fault. */
	for (i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		hwloc_topology_set_components(
			hw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
			unwanted[i]);
	return 0;
}

static int load_machine(const char *synthetic, hwloc_topology_t *out)
{
	hwloc_topology_t hw;
	int rc;

	errno = 0;
	if (hwloc_topology_init(&hw))
		return err(-ENOMEM, "topo: hwloc: init failed");
	rc = configure_hwloc(hw);
	if (!rc && synthetic)
		rc = set_source(hw, synthetic);
	if (!rc && hwloc_topology_load(hw))
		rc = machine_fault("load");
	if (rc) {
		hwloc_topology_destroy(hw);
		return rc;
	}
	*out = hw;
	return 0;
}

static int by_os_node(const void *a, const void *b)
{
	const struct machine_node *x = a, *y = b;

	return (x->os_node > y->os_node) - (x->os_node < y->os_node);
}

static int read_nodes(struct machine *m, hwloc_topology_t hw)
{
	hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(hw);
	hwloc_obj_t obj = NULL;
	int n;

	n = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_NUMANODE);
	if (n <= 0)
		return err(-EIO, "topo: hwloc: the machine has no nodes");
	m->node = calloc((size_t)n, sizeof(*m->node));
	if (!m->node)
		return no_memory();
	while ((obj = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE,
						 obj)) &&
	       m->nr_nodes < n) {
		struct machine_node *node = &m->node[m->nr_nodes++];

		node->os_node = (int)obj->os_index;
		if (hwloc_bitmap_isset(allowed, obj->os_index))
			node->mem_bytes = obj->attr->numanode.local_memory;
	}
	qsort(m->node, (size_t)m->nr_nodes, sizeof(*m->node), by_os_node);
	return 0;
}

static int node_index(const struct machine *m, unsigned os_node)
{
	int i;

	for (i = 0; i < m->nr_nodes; i++) {
		if (m->node[i].os_node == (int)os_node)
			return i;
	}
	return -1;
}

static int add_range(void *u, int first, int last)
{
	hwloc_bitmap_t set = u;

	return hwloc_bitmap_set_range(set, (unsigned)first, last) ? -ENOMEM : 0;
}

/*
 * The node's CPUs according to the kernel; left alone if it cannot tell.
 * Return: 0, -ENOMEM.
 */
static int ask_kernel(const char *sys_root, int os_node, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_t told = hwloc_bitmap_alloc();
	int rc;

	if (!told)
		return -ENOMEM;
	rc = sysfs_node_cpus(sys_root, os_node, add_range, told);
	if (!rc && hwloc_bitmap_copy(cpus, told))
		rc = -ENOMEM;
	hwloc_bitmap_free(told);
	return rc == -ENOMEM ? rc : 0;
}

static bool nodes_overlap(hwloc_bitmap_t *cpus, int nr)
{
	int i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < i; j++) {
			if (hwloc_bitmap_intersects(cpus[i], cpus[j]))
				return true;
		}
	}
	return false;
}

static void free_node_cpus(const struct machine *m, hwloc_bitmap_t *cpus)
{
	int i;

	for (i = 0; cpus && i < m->nr_nodes; i++)
		hwloc_bitmap_free(cpus[i]);
	free(cpus);
}

/* cpus[i] becomes the CPUs of node i; free with free_node_cpus. NULL: no
 * memory. */
static hwloc_bitmap_t *read_node_cpus(const struct machine *m,
				      const struct topo_attr *a,
				      hwloc_topology_t hw)
{
	hwloc_bitmap_t *cpus = calloc((size_t)m->nr_nodes, sizeof(*cpus));
	bool has_kernel = m->is_this_system || a->sys_root;
	hwloc_obj_t obj;
	int i, rc = 0;

	for (i = 0; cpus && i < m->nr_nodes && !rc; i++) {
		obj = hwloc_get_numanode_obj_by_os_index(
			hw, (unsigned)m->node[i].os_node);
		cpus[i] = hwloc_bitmap_dup(obj->cpuset);
		rc = cpus[i] ? 0 : -ENOMEM;
	}
	if (cpus && !rc && has_kernel && nodes_overlap(cpus, m->nr_nodes)) {
		for (i = 0; i < m->nr_nodes && !rc; i++)
			rc = ask_kernel(a->sys_root, m->node[i].os_node,
					cpus[i]);
	}
	if (rc) {
		free_node_cpus(m, cpus);
		return NULL;
	}
	return cpus;
}

/* A CPU that no node claims is counted to the first one. */
static int node_of(const struct machine *m, hwloc_bitmap_t *cpus, unsigned os)
{
	int i, weight, best = 0, best_weight = INT_MAX;

	for (i = 0; i < m->nr_nodes; i++) {
		if (!hwloc_bitmap_isset(cpus[i], os))
			continue;
		weight = hwloc_bitmap_weight(cpus[i]);
		if (weight < best_weight) {
			best_weight = weight;
			best = i;
		}
	}
	return best;
}

static void fill_cpu(hwloc_topology_t hw, hwloc_obj_t pu,
		     struct machine_cpu *cpu)
{
	hwloc_obj_t core, l3;

	core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
	l3 = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_L3CACHE, pu);
	cpu->os_cpu = (int)pu->os_index;
	cpu->core = core ? (int)core->logical_index
			 : MACHINE_NO_OBJECT + (int)pu->logical_index;
	cpu->l3 = l3 ? (int)l3->logical_index : MACHINE_NO_OBJECT + cpu->node;
	cpu->l3_bytes = l3 ? l3->attr->cache.size : 0;
}

static int read_cpus(struct machine *m, const struct topo_attr *a,
		     hwloc_topology_t hw)
{
	hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(hw);
	hwloc_bitmap_t *cpus = read_node_cpus(m, a, hw);
	hwloc_obj_t pu = NULL;
	int n, rc = 0;

	n = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PU);
	m->cpu = calloc((size_t)(n > 0 ? n : 1), sizeof(*m->cpu));
	if (!cpus || !m->cpu) {
		rc = no_memory();
		goto out;
	}
	while ((pu = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PU, pu)) &&
	       m->nr_cpus < n) {
		struct machine_cpu *cpu = &m->cpu[m->nr_cpus];

		if (!hwloc_bitmap_isset(allowed, pu->os_index))
			continue;
		cpu->node = node_of(m, cpus, pu->os_index);
		fill_cpu(hw, pu, cpu);
		m->nr_cpus++;
	}
out:
	free_node_cpus(m, cpus);
	return rc;
}

static void copy_distances(struct machine *m, const struct hwloc_distances_s *d)
{
	unsigned i, j;
	int from, to;

	for (i = 0; i < d->nbobjs; i++) {
		for (j = 0; j < d->nbobjs; j++) {
			hwloc_uint64_t v = d->values[i * d->nbobjs + j];

			from = node_index(m, d->objs[i]->os_index);
			to = node_index(m, d->objs[j]->os_index);
			if (from >= 0 && to >= 0 && v > 0 && v <= INT_MAX)
				m->distance[from * m->nr_nodes + to] = (int)v;
		}
	}
}

static int read_distances(struct machine *m, hwloc_topology_t hw)
{
	size_t i, n = (size_t)m->nr_nodes;
	struct hwloc_distances_s *d;
	unsigned nr = 1;

	m->distance = calloc(n * n, sizeof(*m->distance));
	if (!m->distance)
		return no_memory();
	for (i = 0; i < n * n; i++)
		m->distance[i] = i % (n + 1) ? TOPO_DISTANCE_REMOTE
					     : TOPO_DISTANCE_LOCAL;
	if (hwloc_distances_get_by_type(
		    hw, HWLOC_OBJ_NUMANODE, &nr, &d,
		    HWLOC_DISTANCES_KIND_FROM_OS |
			    HWLOC_DISTANCES_KIND_MEANS_LATENCY,
		    0) ||
	    !nr)
		return 0;
	copy_distances(m, d);
	hwloc_distances_release(hw, d);
	return 0;
}

static int load_plain(const struct topo_attr *a, const char *why,
		      struct machine *m)
{
	snprintf(m->source, sizeof(m->source), TOPO_PLAIN "%s", why);
	if (plain_machine(a, PLAIN_AFFINITY, m)) {
		machine_fini(m);
		return no_memory();
	}
	plain_add_memory(m);
	return 0;
}

static void add_memory(struct machine *m)
{
	size_t used = strlen(m->source);

	if (plain_add_memory(m))
		snprintf(m->source + used, sizeof(m->source) - used,
			 ", memory of sysconf");
}

/* CPUs are all that the cgroup leaves. */
static int ask_hwloc(const struct topo_attr *a, const char *synthetic,
		     struct machine *m)
{
	hwloc_topology_t hw = NULL;
	const char *version;
	int rc = load_machine(synthetic, &hw);

	if (rc)
		return rc;
	version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(hw),
					     "hwlocVersion");
	snprintf(m->source, sizeof(m->source), "hwloc %s",
		 version ? version : HWLOC_VERSION);
	m->is_this_system = !synthetic && hwloc_topology_is_thissystem(hw);
	rc = read_nodes(m, hw);
	if (!rc && m->is_this_system)
		add_memory(m);
	if (!rc)
		rc = read_cpus(m, a, hw);
	if (!rc)
		rc = read_distances(m, hw);
	hwloc_topology_destroy(hw);
	return rc;
}

static int read_system(const struct topo_attr *a, struct machine *m)
{
	snprintf(m->source, sizeof(m->source), "sysfs");
	if (plain_machine(a, PLAIN_ONLINE, m))
		return no_memory();
	add_memory(m);
	return 0;
}

/* The machine as it was read the first time, or is now. */
static int recall_system(const struct topo_attr *a, struct machine *m)
{
	int rc;

	if (a->keeps && kept_copy(m))
		return 0;
	rc = read_system(a, m);
	if (!rc && m->is_this_system && a->keeps)
		kept_note(m);
	return rc;
}

int machine_load(const struct topo_attr *a, const char *synthetic,
		 struct machine *m)
{
	const char *why = a->without_hwloc;
	int rc = 0;

	memset(m, 0, sizeof(*m));
	if (synthetic && why)
		return err(-EPERM,
			   "topo: topology=%s needs hwloc, which this process "
			   "may not use: %s",
			   synthetic, why);
	if (!synthetic && !why && plain_reason(a->sys_root, &why))
		return no_memory();
	if (why)
		return load_plain(a, why, m);
	if (synthetic || a->asks_hwloc)
		rc = ask_hwloc(a, synthetic, m);
	else
		rc = recall_system(a, m);
	if (!rc && m->is_this_system && kept_cut(m))
		rc = no_memory();
	if (rc)
		machine_fini(m);
	return rc;
}

void machine_fini(struct machine *m)
{
	free(m->node);
	free(m->cpu);
	free(m->distance);
	memset(m, 0, sizeof(*m));
}
