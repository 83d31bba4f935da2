/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels of sealed graphs that depend on each other are given to a device
 * that keeps its order one behind the other: bytes go there once and come back
 * once, and tasks on CPUs start as each kernel is over. Random graphs of
 * kernels and bodies compare with a model.
 */
#include "tests/api/device/region.h"

#define MAX_DATA 6

/* ---- a chain ------------------------------------------------------------ */

static bool is_early(const char *how)
{
	return strstr(how, "ordered") || strstr(how, driver_name());
}

static void a_chain_goes_ahead(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 0);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_graph *g;
	unsigned i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < CHAIN; i++)
		add_task(g, k, p, &use, 1, 1);
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(run(g, NULL), 0, "%s: a chain of kernels", how);
		is(device_first_wrong(d, DEVICE_NR, steps(0, i * CHAIN)), -1,
		   "%s: each after the other", how);
	}
	is(stat_of(rt, "lkdf.device.kernels"), 3 * CHAIN, "%s: each is counted",
	   how);
	if (is_early(how)) {
		is(stat_of(rt, "lkdf.device.ahead"), 3 * (CHAIN - 1),
		   "%s: all but the first were given ahead", how);
		ok(strstr(how, "host") ||
			   stat_of(rt, "lkdf.device.fetched_bytes") ==
				   3 * DEVICE_NR * sizeof(uint64_t),
		   "%s: bytes come back once in each run", how);
		ok(strstr(how, "host") ||
			   stat_of(rt, "lkdf.device.uploaded_bytes") ==
				   DEVICE_NR * sizeof(uint64_t),
		   "%s: and go there once in all", how);
	} else {
		is(stat_of(rt, "lkdf.device.ahead"), 0,
		   "%s: without order there is nothing ahead", how);
	}
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* A call of a driver waits where the queue is full: it never is. */
static void a_queue_is_never_full(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 0);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct lkdf_place *p;
	struct emu e;
	unsigned i;

	emu_init(&e, EMU_ORDERED, device_kernels);
	e.info.max_queue_ops = 16;
	p = emu_register(rt, &e);
	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < CHAIN; i++)
		add_task(g, k, p, &use, 1, 1);
	must(lkdf_graph_seal(g, NULL));
	emu_hold(&e);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	emu_until_held(&e, 12);
	is(lkdf_event_wait(done, 20000000), 1,
	   "a chain on a device that waits");
	is(atomic_load(&e.nr[EMU_LAUNCH]), 12,
	   "three quarters of what the queue takes are in it");
	emu_release(&e);
	is(lkdf_event_wait(done, -1), 0, "the rest follows");
	is(device_first_wrong(d, DEVICE_NR, steps(0, CHAIN)), -1,
	   "with the right result");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "full: close");
	emu_check(&e, "full");
}

/* ---- what is beside it -------------------------------------------------- */

/* Two steps, a copy that a CPU reads, and steps behind that are held. */
static void a_body_starts_as_its_kernel_ends(unsigned flags)
{
	struct lkdf_event done;
	struct held h;
	unsigned i;

	held_open(&h, flags, 0);
	add_step(&h, 0);
	add_step(&h, 0);
	add_copy(&h, 0, 1);
	add_see(&h, 1);
	for (i = 0; i < 5; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	emu_hold(&h.e);
	must(lkdf_graph_run(h.g, NULL, NULL, &done));
	emu_until_held(&h.e, 8);
	is(atomic_load(&h.e.nr[EMU_LAUNCH]), 8,
	   "all eight kernels are with the device");
	is(atomic_load(&seen), 0, "none has run");
	emu_let(&h.e, 3);
	while (!atomic_load(&seen))
		api_nap_ns(50000);
	is(atomic_load(&seen), 5, "three have run: the body behind has, too");
	is(atomic_load(&h.e.nr_run), 3, "and no other kernel");
	emu_release(&h.e);
	is(lkdf_event_wait(done, -1), 0, "and then the rest");
	is(device_first_wrong(h.d[0], DEVICE_NR, steps(0, 7)), -1,
	   "with the right result");
	held_close(&h, "a body behind");
}

static atomic_int is_blocked, may_go;

static int block_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_blocked, 1);
	while (!atomic_load(&may_go))
		api_nap_ns(50000);
	return 0;
}

/* The only worker is in a body while the device goes through a chain. */
static void kernels_between_need_no_worker(unsigned flags, const char *how)
{
	struct lkdf_kind *block;
	struct lkdf_event done;
	struct lkdf_use use;
	struct held h;
	unsigned i;

	held_open_with(&h, "workers=1", flags, 0);
	block = api_kind(h.rt, "block", block_body, sizeof(uint64_t), 0);
	use = (struct lkdf_use){ h.d[1], LKDF_READ, 0 };
	add_step(&h, 0);
	add_copy(&h, 0, 1);
	add_task(h.g, block, NULL, &use, 1, 0);
	for (i = 0; i < 8; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	atomic_store(&is_blocked, 0);
	atomic_store(&may_go, 0);
	emu_hold(&h.e);
	must(lkdf_graph_run(h.g, NULL, NULL, &done));
	emu_until_held(&h.e, 10);
	emu_let(&h.e, 2);
	while (!atomic_load(&is_blocked))
		api_nap_ns(50000);
	emu_release(&h.e);
	for (i = 0; i < 200000 && stat_of(h.rt, "lkdf.device.ahead") < 8; i++)
		api_nap_ns(50000);
	is(stat_of(h.rt, "lkdf.device.ahead"), 8,
	   "%s: the copy, and all but the last behind it, end without it", how);
	is(lkdf_event_wait(done, 1000000), 1, "%s: the last one waits", how);
	atomic_store(&may_go, 1);
	is(lkdf_event_wait(done, -1), 0, "%s: the run ends", how);
	is(device_first_wrong(h.d[0], DEVICE_NR, steps(0, 9)), -1,
	   "%s: each ran once", how);
	lkdf_kind_put(block);
	held_close(&h, how);
}

/* A body between two kernels: the second one waits for it. */
static void a_body_between_is_waited_for(void)
{
	struct held h;
	struct lkdf_use use;
	uint64_t expected;
	unsigned i;

	held_open(&h, EMU_OWN | EMU_WILD, 0);
	for (i = 0; i < 20; i++) {
		add_step(&h, 0);
		add_copy(&h, 0, 1);
		add_see(&h, 1);
		add_step(&h, 1);
		add_step(&h, 2);
	}
	use = (struct lkdf_use){ h.d[1], LKDF_READ, 0 };
	add_task(h.g, h.see, NULL, &use, 1, 0);
	must(lkdf_graph_seal(h.g, NULL));
	expected = steps(0, 20);
	is(run(h.g, NULL), 0, "kernels and bodies in turn");
	is(device_first_wrong(h.d[0], DEVICE_NR, expected), -1,
	   "steps of the first are right");
	is(device_first_wrong(h.d[1], DEVICE_NR, 3 * (expected + 1) + 1), -1,
	   "what was copied and changed is right");
	is(atomic_load(&seen), (unsigned)(3 * (expected + 1) + 1),
	   "the body has seen it");
	held_close(&h, "bodies between");
}

/* Room for two of three data at a time. */
static void little_room_ends_a_region(void)
{
	uint64_t x[3] = { 0 };
	struct held h;
	unsigned i;

	held_open(&h, EMU_OWN | EMU_WILD, 2 * DEVICE_NR * sizeof(uint64_t));
	for (i = 0; i < 12; i++) {
		add_step(&h, i % 3);
		add_copy(&h, i % 3, (i + 1) % 3);
		x[i % 3] = 3 * x[i % 3] + 1;
		x[(i + 1) % 3] = x[i % 3] + 1;
	}
	must(lkdf_graph_seal(h.g, NULL));
	is(run(h.g, NULL), 0, "kernels of more data than there is room for");
	for (i = 0; i < 3; i++)
		is(device_first_wrong(h.d[i], DEVICE_NR, x[i]), -1,
		   "have the right result");
	held_close(&h, "little room");
}

/* ---- random graphs ------------------------------------------------------ */

static int step_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < DEVICE_NR; i++)
		x[i] = 3 * x[i] + *(uint64_t *)arg;
	return 0;
}

static int copy_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *from = lkdf_ptr(c, 0), *to = lkdf_ptr(c, 1), i;

	for (i = 0; i < DEVICE_NR; i++)
		to[i] = from[i] + *(uint64_t *)arg;
	return 0;
}

struct program {
	struct lkdf_kind *kind[2][2]; /* step, copy; device, CPU */
	struct lkdf_data *d[MAX_DATA];
	uint64_t model[MAX_DATA];
	struct lkdf_graph *g;
	unsigned nr_data, nr_tasks, bodies; /* of ten */
	unsigned char op[80], from[80], to[80];
};

static void draw(struct program *x, struct lkdf_place *p, unsigned *seed)
{
	struct lkdf_use use[2];
	unsigned i;

	x->nr_data = 1 + (unsigned)rand_r(seed) % MAX_DATA;
	x->nr_tasks = 1 + (unsigned)rand_r(seed) % 80;
	x->bodies = (unsigned)rand_r(seed) % 4;
	for (i = 0; i < x->nr_tasks; i++) {
		bool is_body = (unsigned)rand_r(seed) % 10 < x->bodies;

		x->op[i] = x->nr_data > 1 && rand_r(seed) % 2;
		x->to[i] = (unsigned char)((unsigned)rand_r(seed) % x->nr_data);
		x->from[i] = (unsigned char)((x->to[i] + 1) % x->nr_data);
		use[0] = (struct lkdf_use){ x->d[x->from[i]], LKDF_READ, 0 };
		use[1] = (struct lkdf_use){ x->d[x->to[i]], LKDF_WRITE, 0 };
		if (!x->op[i])
			use[0] =
				(struct lkdf_use){ x->d[x->to[i]], LKDF_RW, 0 };
		add_task(x->g, x->kind[x->op[i]][is_body], is_body ? NULL : p,
			 use, x->op[i] ? 2 : 1, i);
	}
}

static void model_run(struct program *x)
{
	unsigned i;

	for (i = 0; i < x->nr_tasks; i++)
		if (x->op[i])
			x->model[x->to[i]] = x->model[x->from[i]] + i;
		else
			x->model[x->to[i]] = 3 * x->model[x->to[i]] + i;
}

static bool runs_right(struct lkdf *rt, struct program *x, struct lkdf_place *p,
		       unsigned seed)
{
	struct lkdf_event done[4];
	bool is_right = true;
	unsigned i, k, s = seed;

	for (i = 0; i < MAX_DATA; i++) {
		x->d[i] = device_data(rt, DEVICE_NR, i);
		x->model[i] = i;
	}
	must(lkdf_graph_create(
		rt, LKDF_ATTR(lkdf_graph_attr, .inflight = 1 + seed % 3),
		&x->g));
	draw(x, p, &s);
	must(lkdf_graph_seal(x->g, NULL));
	for (k = 0; k < 4; k++) {
		must(lkdf_graph_run(x->g, NULL, NULL, &done[k]));
		model_run(x);
	}
	for (k = 0; k < 4; k++)
		is_right &= !lkdf_event_wait(done[k], -1);
	for (i = 0; i < x->nr_data; i++)
		is_right &=
			device_first_wrong(x->d[i], DEVICE_NR, x->model[i]) < 0;
	lkdf_graph_put(x->g);
	for (i = 0; i < MAX_DATA; i++)
		lkdf_data_put(x->d[i]);
	return is_right;
}

static void random_graphs_are_right(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	unsigned nr = device_is_real || HAS_SANITIZER ? 20 : 60;
	/* A busy machine has time for fewer. */
	int64_t end = api_now_ns() + 3 * SECOND;
	unsigned i, nr_right = 0;
	unsigned seed = (unsigned)getpid();
	struct program x;

	x.kind[0][0] = device_kind(rt, "step");
	x.kind[1][0] = device_kind(rt, "copy");
	x.kind[0][1] = api_kind(rt, "step here", step_here, 8, 0);
	x.kind[1][1] = api_kind(rt, "copy here", copy_here, 8, 0);
	for (i = 0; i < nr && (!i || api_now_ns() < end); i++)
		nr_right += runs_right(rt, &x, p, seed + i);
	is(nr_right, i, "%s: random graphs from seed %u", how, seed);
	for (i = 0; i < 4; i++)
		lkdf_kind_put(x.kind[i / 2][i % 2]);
}

int main(void)
{
	tap_start(120);
	device_each(a_chain_goes_ahead);
	a_queue_is_never_full();
	a_body_starts_as_its_kernel_ends(0);
	a_body_starts_as_its_kernel_ends(EMU_QUIET);
	kernels_between_need_no_worker(0, "no worker");
	kernels_between_need_no_worker(EMU_POLLS, "no worker, polls");
	a_body_between_is_waited_for();
	little_room_ends_a_region();
	device_each(random_graphs_are_right);
	return tap_end();
}
