/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/scratch.h"

#include "base/err.h"
#include "check/fiber.h"
#include "core/runtime.h"
#include "mem/region.h"
#include "topo/topo.h"

#include <errno.h>

/* In front of the bytes. */
struct scratch {
	_Alignas(CACHE_LINE) struct scratch *older;
	size_t size; /* of the region */
};

static void *bytes_of(struct scratch *s)
{
	return s + 1;
}

/* Threads of the blocking pool are not bound to a node. */
static void prefer_node(const struct executor *ex, struct scratch *s,
			size_t size)
{
	const struct lkdf *rt = ex->rt;

	if (ex->worker && rt->topo->nr_nodes > 1 && !rt->topo->is_synthetic)
		region_prefer(s, size, rt->topo->node[ex->node].os_node);
}

void *scratch_get(struct executor *ex, size_t size)
{
	struct scratch *s = ex->scratch;
	size_t have = s ? s->size - sizeof(*s) : 0, need;
	const struct lkdf *rt = ex->rt;

	if (unlikely(rt->check != NULL))
		return check_scratch(rt->check, size);
	if (size <= have)
		return bytes_of(s);
	if (size > SIZE_MAX / 4) {
		err(-ENOMEM, "scratch: %zu bytes", size);
		return NULL;
	}
	need = round_up(max_u64(size, 2 * have) + sizeof(*s), REGION_PAGE);
	s = region_map(need);
	if (!s) {
		err(-ENOMEM, "scratch: no memory for %zu bytes", size);
		return NULL;
	}
	prefer_node(ex, s, need);
	s->size = need;
	s->older = ex->scratch;
	ex->scratch = s;
	return bytes_of(s);
}

void scratch_free(struct executor *ex)
{
	struct scratch *s = ex->scratch, *older;

	for (; s; s = older) {
		older = s->older;
		region_unmap(s, s->size);
	}
	ex->scratch = NULL;
}
