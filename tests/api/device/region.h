/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of regions share: graphs of kernels on an emulated device that
 * keeps its order and can be held, and a body that looks.
 */
#ifndef TESTS_API_DEVICE_REGION_H
#define TESTS_API_DEVICE_REGION_H

#include "tests/api/device/device.h"

#define CHAIN 200

__attribute__((unused)) static uint64_t stat_of(struct lkdf *rt,
						const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

__attribute__((unused)) static int32_t
add_task(struct lkdf_graph *g, struct lkdf_kind *k, struct lkdf_place *p,
	 const struct lkdf_use *use, unsigned nr, uint64_t arg)
{
	int32_t t = lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p,
						     .arg = &arg, .use = use,
						     .nr_use = nr));

	must(t < 0 ? t : 0);
	return t;
}

__attribute__((unused)) static int run(struct lkdf_graph *g,
				       struct lkdf_scope *s)
{
	struct lkdf_event done;

	must(lkdf_graph_run(g, s, NULL, &done));
	return lkdf_event_wait(done, -1);
}

__attribute__((unused)) static uint64_t steps(uint64_t v, unsigned nr)
{
	while (nr--)
		v = 3 * v + 1;
	return v;
}

static atomic_uint seen;

__attribute__((unused)) static int see_body(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);

	(void)arg;
	atomic_store(&seen, (unsigned)x[DEVICE_NR - 1]);
	return 0;
}

/* On a device of its own, held. */
struct held {
	struct lkdf *rt;
	struct lkdf_place *p;
	struct emu e;
	struct lkdf_kind *step, *copy, *see;
	struct lkdf_data *d[3];
	struct lkdf_graph *g;
};

__attribute__((unused)) static void held_open_with(struct held *h,
						   const char *options,
						   unsigned flags,
						   uint64_t memory)
{
	unsigned i;

	emu_init(&h->e, flags | EMU_ORDERED, device_kernels);
	h->e.nr_queues = 1;
	if (memory)
		h->e.memory = memory;
	h->rt = api_open(options);
	h->p = emu_register(h->rt, &h->e);
	h->step = device_kind(h->rt, "step");
	h->copy = device_kind(h->rt, "copy");
	h->see = api_kind(h->rt, "see", see_body, sizeof(uint64_t), 0);
	for (i = 0; i < 3; i++)
		h->d[i] = device_data(h->rt, DEVICE_NR, 0);
	must(lkdf_graph_create(h->rt, NULL, &h->g));
	atomic_store(&seen, 0);
}

__attribute__((unused)) static void held_open(struct held *h, unsigned flags,
					      uint64_t memory)
{
	held_open_with(h, "workers=2", flags, memory);
}

__attribute__((unused)) static void held_close(struct held *h, const char *how)
{
	unsigned i;

	lkdf_graph_put(h->g);
	for (i = 0; i < 3; i++)
		lkdf_data_put(h->d[i]);
	lkdf_kind_put(h->step);
	lkdf_kind_put(h->copy);
	lkdf_kind_put(h->see);
	is(device_close(h->rt), 0, "%s: close", how);
	emu_check(&h->e, how);
}

__attribute__((unused)) static int32_t add_step(struct held *h, unsigned i)
{
	const struct lkdf_use use = { h->d[i], LKDF_RW, 0 };

	return add_task(h->g, h->step, h->p, &use, 1, 1);
}

__attribute__((unused)) static int32_t add_copy(struct held *h, unsigned from,
						unsigned to)
{
	const struct lkdf_use use[] = { { h->d[from], LKDF_READ, 0 },
					{ h->d[to], LKDF_WRITE, 0 } };

	return add_task(h->g, h->copy, h->p, use, 2, 1);
}

__attribute__((unused)) static int32_t add_see(struct held *h, unsigned i)
{
	const struct lkdf_use use = { h->d[i], LKDF_READ, 0 };

	return add_task(h->g, h->see, NULL, &use, 1, 0);
}

#endif
