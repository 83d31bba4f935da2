/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Find the NUMA nodes of the pages of a range, in this process or another one.
 * The library asks the kernel and does not fault in absent pages. Nodes have
 * the system's numbers, which may have gaps. Documentation/pages.rst describes
 * the sources and their limits.
 */
#ifndef LKDF_PAGES_H
#define LKDF_PAGES_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How exact an answer is. */
enum lkdf_mapping_flag {
	LKDF_MAPPING_SAMPLED = 1, /* from a sample of the pages */
	LKDF_MAPPING_ESTIMATED = 2, /* exact for the mapping, estimated for
				     * this part */
	LKDF_MAPPING_UNCHECKED = 4, /* absent pages may be hidden ones */
	LKDF_MAPPING_HUGETLB = 8, /* pages of a hugetlb pool */
};

/* The source of an answer. */
enum lkdf_pages_source {
	LKDF_PAGES_MOVE = 1, /* asked page by page */
	LKDF_PAGES_NUMA_MAPS = 2, /* numa_maps, exact for a whole mapping */
	LKDF_PAGES_OWN = 4, /* lkdf bound it there itself */
	LKDF_PAGES_KMOD = 8, /* the kernel module has counted, exact */
};

/*
 * A mapping, or the part of it that is in the range. The bytes on nodes, absent
 * and unknown add up to bytes.
 */
struct lkdf_mapping {
	uint32_t size, flags; /* LKDF_MAPPING_* */
	uint32_t sources; /* LKDF_PAGES_*; 0: nothing is present */
	uint32_t nr_nodes;
	const uint64_t *bytes_on_node; /* nr_nodes entries, by node number */
	uint64_t addr, bytes;
	uint64_t absent; /* never touched, swapped out, or the zero page */
	uint64_t unknown; /* present, but no source knows the node */
	const char *name; /* as in /proc/PID/maps; "" is anonymous */
};

/**
 * lkdf_pages() - count the bytes of a range on each node
 * @rt:            runtime
 * @pid:           process, or 0 for this one
 * @addr:          first byte, need not be aligned, in the address space of pid
 * @bytes:         at least 1; parts of the range that are not mapped are left
 *                 out
 * @bytes_on_node: bytes_on_node[n] becomes the bytes on the system's node n;
 *                 may be NULL if nr is 0
 * @nr:            entries of bytes_on_node; all are written on success
 *
 * The counts are exact for ranges up to 128 MiB and for whole mappings, unless
 * the system refuses a source; otherwise they are estimated from a sample of
 * the pages. With the kernel module (LKDF_CAP_KMOD) they are exact for all
 * ranges of this process. lkdf_pages_walk() returns how exact an answer is, and
 * how many bytes are absent. Pages may move while the call counts them. The
 * call reads files in /proc, which takes at least microseconds.
 *
 * Context: any thread, also in a body; does not wait for tasks.
 * Return: how many entries all nodes need, which may be more than nr: nodes
 * from nr on were not stored; -EINVAL; -EFAULT nothing is mapped there; -ESRCH
 * no such process; -EPERM or -ENOSYS the system refuses every source,
 * lkdf_errmsg() names them; -ENOMEM.
 */
int lkdf_pages(struct lkdf *rt, int32_t pid, const void *addr, uint64_t bytes,
	       uint64_t *bytes_on_node, unsigned nr);

/**
 * lkdf_pages_walk() - count the bytes of each mapping in a range
 * @rt:    runtime
 * @pid:   process, or 0 for this one
 * @addr:  first byte
 * @bytes: at least 1; NULL and UINT64_MAX take the whole process
 * @fn:    called for each mapping in ascending order; the mapping is borrowed
 *         for the call; a value other than 0 ends the walk and is returned
 * @u:     for fn
 *
 * For whole mappings the call uses numa_maps, if it can read it.
 *
 * Context: as lkdf_pages(); fn runs in it.
 * Return: as lkdf_pages(), or what fn returned.
 */
int lkdf_pages_walk(struct lkdf *rt, int32_t pid, const void *addr,
		    uint64_t bytes,
		    int (*fn)(void *u, const struct lkdf_mapping *m), void *u);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
