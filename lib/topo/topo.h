/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine as this process may use it: nodes, CPUs, cores, L3 groups and
 * distances, taken once at open from hwloc, or without it from /sys. All
 * indices are dense and start at 0; the operating system's numbers stand beside
 * them. Nothing changes after topo_open, so any thread may read without a lock.
 *
 * Only CPUs are listed that the cgroup's cpuset, the affinity of the calling
 * thread and the option all allow. A node is listed when it has such a CPU or
 * memory this process may use. The scheduling is not decided here, except the
 * plain dealing of workers to CPUs (place.c).
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topo_cpu {
	int os_cpu;
	int node; /* index into topo.node */
	int core; /* index, over the whole machine */
	int l3; /* index into topo.l3 */
	int smt; /* 0: first allowed thread of its core */
};

struct topo_node {
	int os_node;
	int nr_cpus, nr_cores; /* allowed ones; both 0 on a node of memory */
	int first_cpu; /* its CPUs are first_cpu .. first_cpu + nr_cpus - 1 */
	uint64_t mem_bytes; /* 0: none, or none this process may use */
};

/* CPUs that share a last cache; where it is unknown, those of one node. */
struct topo_l3 {
	uint64_t bytes; /* 0: unknown */
	int nr_cpus;
};

#define TOPO_DISTANCE_LOCAL 10
#define TOPO_DISTANCE_REMOTE 20

/* The source begins with it where hwloc cannot look. */
#define TOPO_PLAIN "no hwloc: "

struct topo {
	int nr_nodes, nr_cpus, nr_cores, nr_l3;
	struct topo_node *node; /* by os_node */
	/*
	 * By node; within a node the first threads of all its cores, core by
	 * core, then the second ones.
	 */
	struct topo_cpu *cpu;
	struct topo_l3 *l3;
	int *distance; /* nr_nodes * nr_nodes, row is the reader */
	int quota; /* CPUs of the cgroup's quota, rounded up; 0: none */
	int quota_milli; /* the same in thousandths of a CPU */
	bool is_synthetic; /* not this machine: never pin, never mbind */
	/* "sysfs", "hwloc 2.9.0", "synthetic numa:2 ...", "no hwloc: WHY". */
	char source[128];
};

struct topo_attr {
	/*
	 * NULL or "": this machine. Else hwloc's synthetic syntax, with an
	 * optional full matrix after it: "numa:2 core:4 distances:10,21,21,10"
	 * (one thread per core where "pu:" is left out); or "xml:FILE".
	 */
	const char *synthetic;
	const char *cpus; /* "0,2-5"; NULL or "": all that are allowed */
	const char *without_hwloc; /* why; NULL: hwloc may look */
	bool asks_hwloc; /* though no machine is made up */
	bool keeps; /* this machine, for who opens next: see kept.h */
	/* For tests; NULL: "/proc", "/sys", "/sys/fs/cgroup". */
	const char *proc_root, *sys_root, *cgroup_root;
};

/*
 * Return: 0; -EINVAL: the CPU list or the synthetic text, or no CPU is left;
 * -EPERM: a synthetic text without hwloc; -ENOMEM; -EIO: hwloc cannot read the
 * machine. May block on files in /sys.
 */
int topo_open(const struct topo_attr *a, struct topo **out);

/* Frees what topo_open() made; accepts NULL. */
void topo_close(struct topo *t);

/* Node indices; 10 is local. Need not be symmetric. */
static inline int topo_distance(const struct topo *t, int from, int to)
{
	return t->distance[from * t->nr_nodes + to];
}

/* Nodes that have CPUs. */
int topo_cpu_nodes(const struct topo *t);

#define TOPO_MAX_WORKERS 1024

/*
 * The default is one worker per core, but not more than TOPO_MAX_WORKERS and,
 * unless some are reserved for a quota that is raised, than the quota; at least
 * 1.
 */
int topo_default_workers(const struct topo *t, bool reserves);

/* How CPUs were dealt to workers. */
enum topo_deal {
	TOPO_DEAL_OWN, /* each worker has a CPU that nobody else has */
	TOPO_DEAL_SHARED, /* each has one, but some of them were taken */
	TOPO_DEAL_CROWDED, /* there are more workers than CPUs */
};

/*
 * Deals nr_workers >= 1 workers to CPUs: cpu_index[w] is an index into cpu,
 * and workers of one node are neighbours. Nodes get workers in proportion to
 * their cores, or the same number each with is_per_node; few workers are
 * spread over the nodes. Within a node every core gets its first worker
 * before any gets a second one. CPU i with is_taken[i] is somebody else's: the
 * workers get those that are left, if these are enough, else the CPUs are
 * dealt as if none were taken. is_taken NULL: none is. After a crowded deal the
 * caller must not pin the workers.
 */
enum topo_deal topo_place_workers(const struct topo *t, int nr_workers,
				  bool is_per_node, const bool *is_taken,
				  int *cpu_index);

/*
 * The machine as a tree with distances; format is "text" or "json". worker
 * may be NULL, else worker[w] is the index of the CPU of worker w.
 * Return: 0, *out is malloc'ed; -EINVAL: the format; -ENOMEM.
 */
int topo_describe(const struct topo *t, const char *format, const int *worker,
		  int nr_workers, char **out);

/*
 * CPU quota of the calling process's cgroup, version 1 or 2, the least over its
 * ancestors, in thousandths of a CPU, rounded up; 0: none. A file that cannot
 * be read does not limit. NULL roots: "/proc", "/sys/fs/cgroup".
 */
int topo_read_quota_milli(const char *proc_root, const char *cgroup_root);

/* For a topology that nobody else reads yet. */
static inline void topo_set_quota(struct topo *t, int milli)
{
	t->quota_milli = milli;
	t->quota = milli / 1000 + (milli % 1000 != 0);
}

/* The quota in whole CPUs, rounded up. */
int topo_read_quota(const char *proc_root, const char *cgroup_root);

/*
 * Asks the kernel directly: are nodes, their CPUs and distances as in t?
 * Return: 0: they agree; 1: they don't, why says where; -EIO: the files can
 * not be read. sys_root NULL: "/sys".
 */
int topo_check_sysfs(const struct topo *t, const char *sys_root, char *why,
		     size_t size);

#endif
