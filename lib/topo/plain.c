/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine without hwloc, and why hwloc must not look: hwloc 2.9 counts CPUs
 * by growing a set until sched_getaffinity() takes it, for ever if a filter
 * refuses the call; it asserts that the directory of nodes has one; and without
 * a topology of CPUs in /sys it tells a node of 0 bytes.
 */
#include "topo/plain.h"

#include "topo/machine.h"
#include "topo/sysfs.h"
#include "topo/topo.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CPUs of the largest set that the kernel is asked to fill. */
#define SET_MIN 1024
#define SET_MAX (1 << 17)

static int add_range(void *u, int first, int last)
{
	struct plain_cpus *c = u;
	int *grown;

	grown = realloc(c->os,
			(size_t)(c->nr + last - first + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (c->os = grown; first <= last; first++)
		c->os[c->nr++] = first;
	return 0;
}

static int add_set(struct plain_cpus *c, const cpu_set_t *set, int nr)
{
	int i, rc = 0;

	for (i = 0; i < nr && !rc; i++)
		if (CPU_ISSET_S(i, CPU_ALLOC_SIZE(nr), set))
			rc = add_range(c, i, i);
	return rc;
}

int plain_affinity(struct plain_cpus *c)
{
	cpu_set_t *set;
	int nr, rc;

	for (nr = SET_MIN, rc = -EINVAL; nr <= SET_MAX && rc == -EINVAL;
	     nr *= 2) {
		set = CPU_ALLOC(nr);
		if (!set)
			return -ENOMEM;
		rc = sched_getaffinity(0, CPU_ALLOC_SIZE(nr), set) ? -errno : 0;
		if (!rc)
			rc = add_set(c, set, nr);
		CPU_FREE(set);
	}
	return !rc && !c->nr ? -ENOENT : rc;
}

static int read_cpus(const char *sys_root, enum plain_which which,
		     struct plain_cpus *c)
{
	int rc = -ENOENT;
	long nr;

	/* Another machine's /sys: our affinity says nothing of it. */
	if (!sys_root && which == PLAIN_AFFINITY)
		rc = plain_affinity(c);
	if (rc && rc != -ENOMEM)
		rc = sysfs_online_cpus(sys_root, add_range, c);
	if (rc != -ENOMEM && !c->nr) {
		nr = sysconf(_SC_NPROCESSORS_ONLN);
		rc = add_range(c, 0, nr > 0 ? (int)nr - 1 : 0);
	}
	return rc == -ENOMEM ? rc : 0;
}

/* Is there a directory prefix<number>, with sub inside? */
static bool has_numbered(const char *dir, const char *prefix, const char *sub)
{
	size_t len = strlen(prefix);
	char path[PATH_MAX];
	struct dirent *e;
	bool has_one = false;
	DIR *d = opendir(dir);

	while (d && !has_one && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, len) || e->d_name[len] < '0' ||
		    e->d_name[len] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", dir, e->d_name, sub);
		has_one = !access(path, F_OK);
	}
	if (d)
		closedir(d);
	return has_one;
}

int plain_reason(const char *sys_root, const char **why)
{
	const char *root = sys_root ? sys_root : "/sys";
	struct plain_cpus c = { NULL, 0 };
	char dir[PATH_MAX];
	int rc;

	*why = NULL;
	rc = plain_affinity(&c);
	free(c.os);
	if (rc == -ENOMEM)
		return rc;
	if (rc)
		*why = "sched_getaffinity is refused";
	snprintf(dir, sizeof(dir), "%s/devices/system/cpu", root);
	if (!*why && !has_numbered(dir, "cpu", "topology"))
		*why = "no CPUs in /sys/devices/system/cpu";
	snprintf(dir, sizeof(dir), "%s/devices/system/node", root);
	/* A kernel without NUMA has no such directory. */
	if (!*why && !access(dir, R_OK | X_OK) &&
	    !has_numbered(dir, "node", ""))
		*why = "/sys/devices/system/node is empty";
	return 0;
}

/* CPUs of a core, or with one cache. */
struct sharers {
	const struct machine *m;
	bool *has; /* by place in the machine */
	int lowest; /* also of CPUs that the machine does not have */
};

static int add_sharers(void *u, int first, int last)
{
	struct sharers *s = u;
	int i;

	s->lowest = first < s->lowest ? first : s->lowest;
	for (i = 0; i < s->m->nr_cpus; i++)
		s->has[i] |= s->m->cpu[i].os_cpu >= first &&
			     s->m->cpu[i].os_cpu <= last;
	return 0;
}

/* The CPU itself is one, whatever the kernel tells. */
static void begin_sharers(struct sharers *s, int cpu)
{
	memset(s->has, 0, (size_t)s->m->nr_cpus * sizeof(*s->has));
	s->has[cpu] = true;
	s->lowest = s->m->cpu[cpu].os_cpu;
}

/* The first CPU of a core is asked which others there are. */
static void fill_core(const char *sys_root, struct machine *m,
		      struct sharers *s, int cpu)
{
	int i;

	begin_sharers(s, cpu);
	sysfs_core(sys_root, m->cpu[cpu].os_cpu, add_sharers, s);
	for (i = cpu; i < m->nr_cpus; i++)
		if (s->has[i])
			m->cpu[i].core = s->lowest;
}

/* The first CPU with a cache is asked which others have it, too. */
static void fill_l3(const char *sys_root, struct machine *m, struct sharers *s,
		    int cpu)
{
	uint64_t bytes = 0;
	int i;

	begin_sharers(s, cpu);
	if (sysfs_l3(sys_root, m->cpu[cpu].os_cpu, &bytes, add_sharers, s)) {
		m->cpu[cpu].l3 = MACHINE_NO_OBJECT + m->cpu[cpu].node;
		return;
	}
	for (i = cpu; i < m->nr_cpus; i++) {
		if (!s->has[i])
			continue;
		m->cpu[i].l3 = s->lowest;
		m->cpu[i].l3_bytes = bytes;
	}
}

#define NOT_ASKED (-1)

static int fill_cpus(const char *sys_root, struct machine *m)
{
	struct sharers s = { .m = m };
	int i;

	s.has = calloc((size_t)m->nr_cpus + 1, sizeof(*s.has));
	if (!s.has)
		return -ENOMEM;
	for (i = 0; i < m->nr_cpus; i++)
		m->cpu[i].core = m->cpu[i].l3 = NOT_ASKED;
	for (i = 0; i < m->nr_cpus; i++) {
		if (m->cpu[i].l3 == NOT_ASKED)
			fill_l3(sys_root, m, &s, i);
		if (m->cpu[i].core == NOT_ASKED)
			fill_core(sys_root, m, &s, i);
	}
	free(s.has);
	return 0;
}

static int by_l3(const void *a, const void *b)
{
	const struct machine_cpu *x = a, *y = b;

	if (x->l3 != y->l3)
		return x->l3 < y->l3 ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->os_cpu > y->os_cpu) - (x->os_cpu < y->os_cpu);
}

/* Cores with the same L3 follow one another, as hwloc numbers them. */
static void number_cores(struct machine *m)
{
	int i, core, last = -1, nr = -1;

	qsort(m->cpu, (size_t)m->nr_cpus, sizeof(*m->cpu), by_l3);
	for (i = 0; i < m->nr_cpus; i++, last = core) {
		core = m->cpu[i].core;
		nr += core != last;
		m->cpu[i].core = nr;
	}
}

int plain_machine(const struct topo_attr *a, enum plain_which which,
		  struct machine *m)
{
	struct plain_cpus c = { NULL, 0 };
	int i, rc;

	rc = read_cpus(a->sys_root, which, &c);
	m->cpu = calloc((size_t)c.nr + 1, sizeof(*m->cpu));
	if (rc || !m->cpu) {
		free(c.os);
		return -ENOMEM;
	}
	m->nr_cpus = c.nr;
	for (i = 0; i < c.nr; i++)
		m->cpu[i].os_cpu = c.os[i];
	rc = plain_nodes(a, m);
	if (!rc)
		rc = fill_cpus(a->sys_root, m);
	number_cores(m);
	m->is_this_system = !a->sys_root;
	free(c.os);
	return rc;
}
