/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/pages.h>

#include "api/border.h"
#include "data/facts.h"
#include "mem/heap_ranges.h"
#include "topo/topo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fill_attr(struct lkdf *rt, int32_t pid, const void *addr,
		     uint64_t bytes, struct pages_attr *a)
{
	uint64_t start = (uint64_t)(uintptr_t)addr;
	const struct topo *t;
	int rc, i;

	rc = border_runtime(rt);
	if (rc)
		return rc;
	if (pid < 0)
		return err(
			-EINVAL,
			"pages: process %d: expected a number, 0 for this one",
			pid);
	if (!bytes || bytes > UINT64_MAX - start)
		return err(-EINVAL, "pages: %" PRIu64 " bytes at %#" PRIx64,
			   bytes, start);
	*a = (struct pages_attr){ .pid = pid, .start = start };
	a->end = start + bytes;
	a->nr_nodes = 1;
	t = rt->topo;
	for (i = 0; !t->is_synthetic && i < t->nr_nodes; i++)
		a->nr_nodes = (uint32_t)max_u64(
			a->nr_nodes, (uint64_t)t->node[i].os_node + 1);
	return 0;
}

/* As pages_walk(), with what we have bound ourselves. */
static int walk_pages(struct lkdf *rt, struct pages_attr *a, pages_fn fn,
		      void *u)
{
	struct pages_own *own = NULL;
	int rc = 0;

	if (!a->pid || a->pid == getpid())
		rc = heap_ranges(rt->heap, a->start, a->end, &own, &a->nr_own);
	if (rc)
		return err(rc, "pages: no memory for what is bound");
	a->own = own;
	if (!a->pid || a->pid == getpid()) {
		a->query = board_count;
		a->query_u = rt->board;
	}
	rc = pages_walk(a, fn, u);
	free(own);
	return rc;
}

struct sum {
	uint64_t *bytes_on_node;
	unsigned nr, needed;
};

static int add_mapping(void *u, const struct lkdf_mapping *m)
{
	struct sum *s = u;
	unsigned i;

	for (i = 0; i < m->nr_nodes && i < s->nr; i++)
		s->bytes_on_node[i] += m->bytes_on_node[i];
	if (m->nr_nodes > s->needed)
		s->needed = m->nr_nodes;
	return 0;
}

int lkdf_pages(struct lkdf *rt, int32_t pid, const void *addr, uint64_t bytes,
	       uint64_t *bytes_on_node, unsigned nr)
{
	struct sum sum = { bytes_on_node, nr, 0 };
	struct pages_attr a;
	int rc;

	rc = fill_attr(rt, pid, addr, bytes, &a);
	if (rc)
		return rc;
	if (nr && !bytes_on_node)
		return err(-EINVAL, "pages: bytes_on_node is NULL");
	if (nr)
		memset(bytes_on_node, 0, nr * sizeof(*bytes_on_node));
	rc = walk_pages(rt, &a, add_mapping, &sum);
	return rc ? rc : (int)sum.needed;
}

int lkdf_pages_walk(struct lkdf *rt, int32_t pid, const void *addr,
		    uint64_t bytes,
		    int (*fn)(void *u, const struct lkdf_mapping *m), void *u)
{
	struct pages_attr a;
	int rc;

	rc = fill_attr(rt, pid, addr, bytes, &a);
	if (rc)
		return rc;
	if (!fn)
		return err(-EINVAL, "pages: fn is NULL");
	a.want_kinds = true;
	return walk_pages(rt, &a, fn, u);
}
