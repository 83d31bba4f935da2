/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A strict reader of /proc/PID/numa_maps: one line for each mapping, with the
 * pages it has on each node:
 *
 *   7f0000000000 bind:1 anon=512 dirty=512 N1=512 kernelpagesize_kB=4
 *
 * Pages are counted in units of the kernelpagesize_kB of the same line: 2048
 * for hugetlb; a transparent huge page counts 512 of 4 kB. A mapping without
 * pages has no N and no kernelpagesize_kB. Where a mapping ends is not said,
 * see mem/vma.h. Some policies have a blank in their name: "prefer (many):0-1"
 * and "weighted interleave:0-3". Fields of kernels to come are skipped if they
 * read key=number; all else that does not fit is damage.
 */
#ifndef MEM_NUMA_MAPS_H
#define MEM_NUMA_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kernels are built with at most that many nodes. */
#define NUMA_MAPS_MAX_NODES 1024

struct numa_share {
	uint32_t node;
	uint64_t bytes;
};

struct numa_vma {
	uint64_t start, bytes; /* bytes: on all nodes */
	size_t first; /* its shares are share[first] .. */
	uint32_t nr_shares;
	bool is_hugetlb;
};

struct numa_maps {
	struct numa_vma *v; /* ascending */
	size_t nr, room;
	struct numa_share *share;
	size_t nr_shares, shares_room;
};

/*
 * Adds one line; m is unchanged after an error. If the kernel lists a mapping
 * twice because it grows during the read, the later line counts: it replaces
 * earlier lines that do not begin below it.
 *
 * Return: 0; -EBADMSG: damaged; -ENOMEM.
 */
int numa_maps_add(struct numa_maps *m, const char *line);

/*
 * The lines below address end; m is empty at first, the caller's
 * numa_maps_fini() frees it, also after an error.
 * Return: 0; -EBADMSG; -ENOMEM; -errno of the file.
 */
int numa_maps_read(const char *proc_root, int32_t pid, uint64_t end,
		   struct numa_maps *m);

/* The mapping that begins at start, or NULL. */
const struct numa_vma *numa_maps_find(const struct numa_maps *m,
				      uint64_t start);

void numa_maps_fini(struct numa_maps *m);

#endif
