/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker wakes up when a device says that the kernel is done which a task on
 * a CPU waits for, and not only behind the launcher: here the launcher is held
 * in a call of the device meanwhile. Where launchers do not spin, on few CPUs,
 * no worker is woken so early. The device is one of this file.
 */
#include "tests/api/api.h"

#include <lkdf/device.h>

/* A made-up machine has as many CPUs as the rule asks for. */
#define MACHINE "topology=numa:1 core:4 pu:1,workers=1"

struct slow {
	struct lkdf_device_op op[2]; /* of the launches, in order */
	atomic_int nr; /* launches that were begun */
	atomic_bool is_held; /* the second one does not return */
};

static int get_info(void *dev, struct lkdf_device_info *out)
{
	(void)dev;
	strcpy(out->name, "slow");
	out->nr_queues = 2;
	return 0;
}

static int launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op)
{
	struct slow *s = dev;
	int at = atomic_load(&s->nr);

	(void)queue;
	(void)l;
	s->op[at] = op;
	atomic_store(&s->nr, at + 1);
	while (at && atomic_load(&s->is_held))
		api_nap_ns(50000);
	return 0;
}

static void stop(void *dev)
{
	(void)dev;
}

static struct lkdf_place *add_device(struct lkdf *rt, struct slow *s)
{
	const struct lkdf_device_ops ops = {
		.size = sizeof(ops),
		.flags = LKDF_DEVICE_HOST_MEMORY,
		.name = "slow",
		.info = get_info,
		.launch = launch,
		.stop = stop,
	};
	struct lkdf_place *p = NULL;

	must(lkdf_place_register(rt, &ops, s, &p));
	return p;
}

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static uint64_t parks(struct lkdf *rt)
{
	uint64_t nr;

	must(lkdf_stat(rt, "lkdf.parks", &nr));
	return nr;
}

/* The worker has gone to sleep so often. False: not in time. */
static bool has_parked(struct lkdf *rt, uint64_t nr)
{
	int64_t end = api_now_ns() + PATIENCE_NS / 4;

	while (parks(rt) < nr && api_now_ns() < end)
		api_nap_ns(100000);
	return parks(rt) >= nr;
}

static void wait_for(struct slow *s, int nr)
{
	while (atomic_load(&s->nr) < nr)
		api_nap_ns(50000);
}

/* After the event, unless it is NULL. */
static struct lkdf_event give(struct lkdf *rt, struct lkdf_kind *k,
			      struct lkdf_place *p, struct lkdf_data *d,
			      const struct lkdf_event *after)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .place = p, .use = &use,
				   .nr_use = d != NULL, .after = after,
				   .nr_after = after != NULL),
			 &done));
	return done;
}

/* Until nothing happens any more: the worker sleeps. */
static uint64_t parks_at_rest(struct lkdf *rt)
{
	uint64_t nr, before;

	do {
		before = parks(rt);
		api_nap_ns(20000000);
		nr = parks(rt);
	} while (nr != before || !nr);
	return nr;
}

int main(void)
{
	static int function;
	const struct lkdf_code code = { .device = "slow",
					.function = &function };
	struct slow s = { .is_held = true };
	struct lkdf *rt = api_open(MACHINE);
	struct lkdf_place *p = add_device(rt, &s);
	struct lkdf_kind *k = NULL,
			 *body = api_kind(rt, "body", do_nothing, 0, 0);
	struct lkdf_event go, first, second, behind;
	struct lkdf_data *d = NULL;
	uint64_t zero[8] = { 0 }, nr;

	tap_start(60);
	must(lkdf_kind_create_kernel(rt,
				     LKDF_KERNEL(.kind = LKDF_KIND(.name = "k"),
						 .code = &code, .nr_code = 1),
				     &k));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(zero), .init = zero),
		&d));
	must(lkdf_event_create(rt, 1, 0, &go));
	first = give(rt, k, p, d, &go);
	behind = give(rt, body, NULL, d, NULL);
	must(lkdf_event_signal(go, 0));
	wait_for(&s, 1);
	second = give(rt, k, p, NULL, NULL);
	wait_for(&s, 2);
	nr = parks_at_rest(rt);
	must(lkdf_device_done(s.op[0], 0));
	ok(has_parked(rt, nr + 1),
	   "a worker looks for the task while the launcher is held");
	atomic_store(&s.is_held, false);
	is(lkdf_event_wait(first, PATIENCE_NS), 0, "the kernel ends");
	is(lkdf_event_wait(behind, PATIENCE_NS), 0, "and the body behind it");
	must(lkdf_device_done(s.op[1], 0));
	is(lkdf_event_wait(second, PATIENCE_NS), 0, "and the other kernel");
	lkdf_event_put(go);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(body);
	is(lkdf_close(rt), 0, "close");
	return tap_end();
}
