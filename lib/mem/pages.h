/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the pages of a range are. The sources, best first: whoever can count
 * them in the kernel (the attribute query); move_pages(2) page by page
 * (mem/pages_ask.h); numa_maps, which is exact for whole mappings and
 * knows the hidden pages; records of what we bound ourselves, used where
 * move_pages(2) is refused. Nothing is brought in, moved or kept.
 *
 * Hidden pages of a part of a mapping: what numa_maps counts for the mapping
 * less what was located in it is spread over all hidden pages of it, and what
 * is then left over those that may be the zero page. That is exact where those
 * are all on one node and nothing is left, else it is marked as estimated.
 */
#ifndef MEM_PAGES_H
#define MEM_PAGES_H

#include "mem/pages_ask.h"

#include <lkdf/pages.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is bound to a node for as long as the call lasts. */
struct pages_own {
	uint64_t start, end;
	uint32_t node;
};

struct pages_attr {
	int32_t pid; /* 0: this process */
	uint64_t start, end;
	uint32_t nr_nodes; /* at least so many entries in bytes_on_node */
	bool want_kinds; /* numa_maps in any case, for hugetlb */
	const struct pages_own *own; /* ascending, without overlap */
	size_t nr_own;
	const char *proc_root; /* NULL: "/proc" */
	/*
	 * Counts whole pages of this process into t: by node, the zero page as
	 * absent, as vague those that are absent or that AutoNUMA has hinted.
	 * NULL, or not 0: the other sources are asked.
	 */
	int (*query)(void *u, uint64_t start, uint64_t end,
		     struct pages_tally *t);
	void *query_u;
};

typedef int (*pages_fn)(void *u, const struct lkdf_mapping *m);

/*
 * Return: 0; what fn returned; -EFAULT: nothing is mapped; -ESRCH; -EPERM,
 * -ENOSYS: every source was refused; -ENOMEM; -errno of /proc.
 */
int pages_walk(const struct pages_attr *a, pages_fn fn, void *u);

#endif
