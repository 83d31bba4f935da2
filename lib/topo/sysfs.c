/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads devices/system/node/: "online" lists the nodes, node<N>/cpulist their
 * CPUs, node<N>/distance one number per online node in ascending order. A
 * kernel without NUMA has no such directory: that is one node 0 with all CPUs.
 */
#include "topo/sysfs.h"

#include "base/err.h"
#include "topo/topo.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_DIR "devices/system/node"
#define CPU_DIR "devices/system/cpu"
#define PCI_DIR "bus/pci/devices"

/* The kernel numbers the caches of a CPU from 0: two of level 1 and more. */
#define NR_CACHES 8

/* A read that does not fill the text is the last: a file of the kernel gives
 * all that it has in one. */
static int read_rest(int fd, char **text)
{
	size_t used = 0, size = 4096;
	char *grown;
	ssize_t nr;

	for (;; size *= 2) {
		grown = realloc(*text, size);
		if (!grown)
			return -ENOMEM;
		*text = grown;
		nr = read(fd, grown + used, size - used - 1);
		if (nr < 0)
			return -EIO;
		used += (size_t)nr;
		grown[used] = '\0';
		if (used + 1 < size)
			return 0;
	}
}

/* The whole file as a string, malloc'ed. NULL, and *rc says why. */
static char *read_text(const char *path, int *rc)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	*rc = fd < 0 ? -errno : read_rest(fd, &text);
	if (fd >= 0)
		close(fd);
	if (!*rc)
		return text;
	free(text);
	return NULL;
}

/* A file of one node, or with os_node < 0 of the directory above. */
static char *read_node(const char *sys_root, int os_node, const char *name,
		       int *rc)
{
	char path[PATH_MAX], node[32] = "";

	if (os_node >= 0)
		snprintf(node, sizeof(node), "node%d/", os_node);
	if (snprintf(path, sizeof(path), "%s/" NODE_DIR "/%s%s",
		     sys_root ? sys_root : "/sys", node,
		     name) >= (int)sizeof(path)) {
		*rc = -ENAMETOOLONG;
		return NULL;
	}
	return read_text(path, rc);
}

int sysfs_node_cpus(const char *sys_root, int os_node, cpulist_fn fn, void *u)
{
	char *text;
	int rc;

	text = read_node(sys_root, os_node, "cpulist", &rc);
	if (!text)
		return rc;
	rc = cpulist_parse(text, fn, u, NULL);
	free(text);
	return rc;
}

int sysfs_online_nodes(const char *sys_root, cpulist_fn fn, void *u)
{
	char *text;
	int rc;

	text = read_node(sys_root, -1, "online", &rc);
	if (!text)
		return rc;
	rc = cpulist_parse(text, fn, u, NULL);
	free(text);
	return rc;
}

uint64_t sysfs_node_memory(const char *sys_root, int os_node)
{
	const char *at, name[] = "MemTotal:";
	uint64_t bytes = 0;
	char *text;
	int rc;

	text = read_node(sys_root, os_node, "meminfo", &rc);
	at = text ? strstr(text, name) : NULL;
	if (at)
		bytes = strtoull(at + strlen(name), NULL, 10) << 10;
	free(text);
	return bytes;
}

int sysfs_node_distances(const char *sys_root, int os_node, int *row, int nr)
{
	char *text, *at, *end;
	int i, rc;

	text = read_node(sys_root, os_node, "distance", &rc);
	for (i = 0, at = text; at && i < nr; i++, at = end) {
		row[i] = (int)strtol(at, &end, 10);
		if (end == at || row[i] <= 0) {
			rc = -EINVAL;
			break;
		}
	}
	free(text);
	return rc;
}

/* A file of the CPUs' directory. */
static char *read_cpu(const char *sys_root, const char *name, int *rc)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" CPU_DIR "/%s",
		 sys_root ? sys_root : "/sys", name);
	return read_text(path, rc);
}

static int read_cpu_list(const char *sys_root, const char *name, cpulist_fn fn,
			 void *u)
{
	char *text;
	int rc;

	text = read_cpu(sys_root, name, &rc);
	if (!text)
		return rc;
	rc = cpulist_parse(text, fn, u, NULL);
	free(text);
	return rc;
}

int sysfs_online_cpus(const char *sys_root, cpulist_fn fn, void *u)
{
	return read_cpu_list(sys_root, "online", fn, u);
}

int sysfs_pci_node(const char *sys_root, const char *bus)
{
	const char *at = strncmp(bus, "0000", 4) || strcspn(bus, ":") != 8
				 ? bus
				 : bus + 4;
	char path[PATH_MAX], *text;
	int rc, node = -1;

	snprintf(path, sizeof(path), "%s/" PCI_DIR "/%s/numa_node",
		 sys_root ? sys_root : "/sys", at);
	text = read_text(path, &rc);
	if (text && sscanf(text, "%d", &node) != 1)
		node = -1;
	free(text);
	return node < 0 ? -1 : node;
}

int sysfs_core(const char *sys_root, int os_cpu, cpulist_fn fn, void *u)
{
	char name[64];

	snprintf(name, sizeof(name), "cpu%d/topology/thread_siblings_list",
		 os_cpu);
	return read_cpu_list(sys_root, name, fn, u);
}

/* The number in a file of a cache; 0: there is none. Sizes end with K. */
static uint64_t cache_number(const char *sys_root, int os_cpu, int index,
			     const char *name)
{
	char path[64], *text;
	uint64_t number = 0;
	int rc;

	snprintf(path, sizeof(path), "cpu%d/cache/index%d/%s", os_cpu, index,
		 name);
	text = read_cpu(sys_root, path, &rc);
	if (text)
		number = strtoull(text, NULL, 10);
	free(text);
	return number;
}

int sysfs_l3(const char *sys_root, int os_cpu, uint64_t *bytes, cpulist_fn fn,
	     void *u)
{
	char name[64];
	int i;

	for (i = 0; i < NR_CACHES; i++) {
		if (cache_number(sys_root, os_cpu, i, "level") == 3)
			break;
	}
	if (i == NR_CACHES)
		return -ENOENT;
	*bytes = cache_number(sys_root, os_cpu, i, "size") << 10;
	snprintf(name, sizeof(name), "cpu%d/cache/index%d/shared_cpu_list",
		 os_cpu, i);
	read_cpu_list(sys_root, name, fn, u);
	return 0;
}

/* A check in progress: it ends at the first difference. */
struct checker {
	const struct topo *t;
	const char *sys_root;
	char *why;
	size_t size;
	int os_node; /* node whose CPUs are being looked at */
	int *os_of; /* online nodes in ascending order */
	int nr_online, nr_checked; /* nr_checked: allowed CPUs seen */
};

__attribute__((format(printf, 2, 3))) static int
say_differ(const struct checker *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->why, c->size, fmt, ap);
	va_end(ap);
	return 1;
}

static int index_of(const struct topo *t, int os_node)
{
	int i;

	for (i = 0; i < t->nr_nodes; i++) {
		if (t->node[i].os_node == os_node)
			return i;
	}
	return -1;
}

static int add_online(void *u, int first, int last)
{
	struct checker *c = u;
	int *grown, i;

	grown = realloc(c->os_of, (size_t)(c->nr_online + last - first + 1) *
					  sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->os_of = grown;
	for (i = first; i <= last; i++)
		c->os_of[c->nr_online++] = i;
	return 0;
}

/* The kernel says: these CPUs are on c->os_node. */
static int check_cpus(void *u, int first, int last)
{
	struct checker *c = u;
	const struct topo_cpu *cpu;
	int i, os;

	for (i = 0; i < c->t->nr_cpus; i++) {
		cpu = &c->t->cpu[i];
		if (cpu->os_cpu < first || cpu->os_cpu > last)
			continue;
		c->nr_checked++;
		os = c->t->node[cpu->node].os_node;
		if (os != c->os_node)
			return say_differ(c,
					  "CPU %d: hwloc says node %d, sysfs "
					  "node %d",
					  cpu->os_cpu, os, c->os_node);
	}
	return 0;
}

/* The row of one node: as many numbers as there are online nodes. */
static int check_row(struct checker *c, const char *text)
{
	int from = index_of(c->t, c->os_node), to, i;
	const char *s = text;
	char *end;
	long v;

	for (i = 0; i < c->nr_online; i++, s = end) {
		v = strtol(s, &end, 10);
		if (end == s)
			return say_differ(c,
					  "node %d: sysfs has %d distances for "
					  "%d nodes",
					  c->os_node, i, c->nr_online);
		to = index_of(c->t, c->os_of[i]);
		if (from >= 0 && to >= 0 && v != topo_distance(c->t, from, to))
			return say_differ(c,
					  "distance %d to %d: hwloc says %d, "
					  "sysfs %ld",
					  c->os_node, c->os_of[i],
					  topo_distance(c->t, from, to), v);
	}
	return 0;
}

static int check_node(struct checker *c, int os_node)
{
	char *text;
	int rc;

	c->os_node = os_node;
	rc = sysfs_node_cpus(c->sys_root, os_node, check_cpus, c);
	if (rc)
		return rc;
	text = read_node(c->sys_root, os_node, "distance", &rc);
	if (!text)
		return rc;
	rc = check_row(c, text);
	free(text);
	return rc;
}

static bool is_online(const struct checker *c, int os_node)
{
	int i;

	for (i = 0; i < c->nr_online; i++) {
		if (c->os_of[i] == os_node)
			return true;
	}
	return false;
}

static int check_all(struct checker *c)
{
	int i, rc;

	for (i = 0; i < c->t->nr_nodes; i++) {
		if (!is_online(c, c->t->node[i].os_node))
			return say_differ(c, "node %d: hwloc has it, sysfs not",
					  c->t->node[i].os_node);
	}
	for (i = 0; i < c->nr_online; i++) {
		rc = check_node(c, c->os_of[i]);
		if (rc)
			return rc;
	}
	if (c->nr_checked != c->t->nr_cpus)
		return say_differ(c, "sysfs knows %d of %d CPUs", c->nr_checked,
				  c->t->nr_cpus);
	return 0;
}

static int check_no_numa(struct checker *c)
{
	if (c->t->nr_nodes == 1 && c->t->node[0].os_node == 0)
		return 0;
	return say_differ(c, "hwloc has %d nodes, sysfs none", c->t->nr_nodes);
}

int topo_check_sysfs(const struct topo *t, const char *sys_root, char *why,
		     size_t size)
{
	struct checker c = { .t = t, .sys_root = sys_root, .why = why };
	char *text;
	int rc;

	c.size = size;
	say_differ(&c, "%s", "");
	text = read_node(sys_root, -1, "online", &rc);
	if (rc == -ENOENT)
		return check_no_numa(&c);
	if (text)
		rc = cpulist_parse(text, add_online, &c, NULL);
	if (!rc)
		rc = check_all(&c);
	free(text);
	free(c.os_of);
	if (rc >= 0)
		return rc;
	return err(rc == -ENOMEM ? -ENOMEM : -EIO,
		   "topo: sysfs: cannot read %s/" NODE_DIR ": %s",
		   sys_root ? sys_root : "/sys", strerror(-rc));
}
