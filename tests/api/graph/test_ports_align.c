/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A value at a port is aligned as any type of its size may ask: to the largest
 * power of two, up to 64, that divides the size, and to 16 at least; in its
 * slot and for the next call.
 */
#include "tests/api/port.h"

static const uint32_t sizes[] = { 1, 24, 32, 40, 64, 96, 100, 128, 4096 };

#define NR_SIZES (sizeof(sizes) / sizeof(*sizes))

/* Of each task: the address bits that must be 0. */
static struct looks {
	uintptr_t mask;
	atomic_int nr_wrong, nr_calls;
} looks[NR_SIZES];

static int look(struct lkdf_ctx *c, void *arg)
{
	struct looks *l = arg;
	uintptr_t at = (uintptr_t)lkdf_in(c, 0) | (uintptr_t)lkdf_out(c, 0);

	atomic_fetch_add(&l->nr_calls, 1);
	if (!at || at & l->mask)
		atomic_fetch_add(&l->nr_wrong, 1);
	return 0;
}

static uintptr_t mask_of(uint32_t size)
{
	uintptr_t mask = 15;

	while (mask < 63 && size % (2 * mask + 2) == 0)
		mask = 2 * mask + 1;
	return mask;
}

static void add_task(struct lkdf *rt, struct lkdf_graph *g, size_t i)
{
	struct lkdf_kind *k;
	int task;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "look", .fn = look,
				   .nr_in = 1, .in_size = &sizes[i],
				   .nr_out = 1, .out_size = &sizes[i]),
			      &k));
	looks[i].mask = mask_of(sizes[i]);
	task = must(lkdf_graph_add(g, k, &looks[i], NULL, 0));
	must(lkdf_graph_edge(g, ATTR(lkdf_edge,
				     .flags = LKDF_EDGE_PORT | LKDF_EDGE_NEXT,
				     .from = task, .to = task)));
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf_graph *g;
	struct lkdf *rt;
	size_t i;

	tap_start(30);
	rt = api_open("workers=2");
	g = api_graph(rt, 2);
	for (i = 0; i < NR_SIZES; i++)
		add_task(rt, g, i);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), 0, "three runs");
	for (i = 0; i < NR_SIZES; i++) {
		is(looks[i].nr_wrong, 0, "%u bytes: on a multiple of %zu",
		   sizes[i], (size_t)looks[i].mask + 1);
		is(looks[i].nr_calls, 3, "%u bytes: in each call", sizes[i]);
	}
	lkdf_graph_put(g);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
