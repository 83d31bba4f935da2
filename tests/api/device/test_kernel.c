/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels are tasks: submitted, spawned and of graphs, they run on the device
 * of their place, in the order of their uses, and what they write is there for
 * whoever comes after them.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR

/* 3 x + i, for i from 0 on. */
static uint64_t after_steps(uint64_t x, uint64_t nr)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		x = 3 * x + i;
	return x;
}

/* Body on a CPU: x = 3 x + value for all of use 0. */
static int step_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < NR; i++)
		x[i] = 3 * x[i] + *(uint64_t *)arg;
	return 0;
}

static void a_kernel_runs(struct lkdf *rt, struct lkdf_place *p,
			  const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, NR, 5);
	uint64_t arg = 7;

	is(device_call(rt, k, p, d, &arg), 0, "%s: a kernel ends well", how);
	is(device_first_wrong(d, NR, 12), -1, "%s: it has added 7 to all", how);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void kernels_and_bodies_keep_their_order(struct lkdf *rt,
						struct lkdf_place *p,
						const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_kind *here =
		api_kind(rt, "here", step_here, sizeof(uint64_t), 0);
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t i;

	for (i = 0; i < 40; i++)
		lkdf_event_put(device_submit(rt, i % 3 ? k : here,
					     i % 3 ? p : NULL, d, &i));
	is(device_first_wrong(d, NR, after_steps(1, 40)), -1,
	   "%s: kernels and bodies of one data keep their order", how);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(here);
}

static void readers_wait_for_what_is_written(struct lkdf *rt,
					     struct lkdf_place *p,
					     const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "copy");
	struct lkdf_data *d[10];
	struct lkdf_event done;
	uint64_t i;

	for (i = 0; i < 10; i++)
		d[i] = device_data(rt, NR, i ? 77 : 1);
	for (i = 0; i + 1 < 10; i++) {
		const struct lkdf_use use[] = { { d[i], LKDF_READ, 0 },
						{ d[i + 1], LKDF_WRITE, 0 } };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &i, .place = p,
					   .use = use, .nr_use = 2),
				 &done));
		lkdf_event_put(done);
	}
	is(device_first_wrong(d[9], NR, 1 + 36), -1,
	   "%s: what is written goes from data to data", how);
	for (i = 0; i < 10; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
}

static void parts_are_operands(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, 4 * NR, 0);
	struct lkdf_event done;
	uint64_t i, *x, wrong = 0;
	void *bytes;

	must(lkdf_data_split(d, 4, NR * sizeof(uint64_t)));
	for (i = 1; i <= 4; i++) {
		const struct lkdf_use use = { d, LKDF_RW, (uint32_t)i };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &i, .place = p,
					   .use = &use, .nr_use = 1),
				 &done));
		lkdf_event_put(done);
	}
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < (uint64_t)4 * NR; i++)
		wrong += x[i] != i / NR + 1;
	lkdf_data_release(d);
	is(wrong, 0, "%s: kernels use parts", how);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* The task of a graph's body spawns a kernel and is done after it. */
struct nested {
	struct lkdf_kind *kind;
	struct lkdf_place *place;
	struct lkdf_data *data;
};

static int spawn_kernels(struct lkdf_ctx *c, void *arg)
{
	const struct nested *n = arg;
	const struct lkdf_use use = { n->data, LKDF_RW, 0 };
	uint64_t i;
	int rc = 0;

	for (i = 0; i < 5 && !rc; i++)
		rc = lkdf_spawn_task(c,
				     LKDF_TASK(.kind = n->kind, .arg = &i,
					       .place = n->place, .use = &use,
					       .nr_use = 1),
				     NULL);
	return rc ? rc : lkdf_join(c);
}

static void children_are_kernels(struct lkdf *rt, struct lkdf_place *p,
				 const char *how)
{
	struct nested n = { device_kind(rt, "step"), p,
			    device_data(rt, NR, 1) };
	struct lkdf_kind *k = api_kind(rt, "parent", spawn_kernels, 0, 0);
	const struct lkdf_use use = { n.data, LKDF_RW, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &n, .use = &use,
				   .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: a parent joins kernels", how);
	is(device_first_wrong(n.data, NR, after_steps(1, 5)), -1,
	   "%s: they ran in order", how);
	lkdf_data_put(n.data);
	lkdf_kind_put(n.kind);
	lkdf_kind_put(k);
}

static void graphs_have_kernels(struct lkdf *rt, struct lkdf_place *p,
				const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_kind *here =
		api_kind(rt, "here", step_here, sizeof(uint64_t), 0);
	struct lkdf_data *d = device_data(rt, NR, 1);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t i, want = 1;
	int run;

	for (i = 0; i < 12; i++)
		must(lkdf_graph_add_task(
			g, LKDF_TASK(.kind = i % 4 ? k : here, .arg = &i,
				     .place = i % 4 ? p : NULL, .use = &use,
				     .nr_use = 1)));
	must(lkdf_graph_seal(g, NULL));
	for (run = 0; run < 20; run++) {
		if (api_run(g, NULL, NULL))
			break;
		want = after_steps(want, 12);
	}
	is(run, 20, "%s: a graph with kernels runs 20 times", how);
	is(device_first_wrong(d, NR, want), -1, "%s: in its order", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(here);
}

/* One producer, two kernels that read it, one that joins both. */
static void once_data_are_operands(struct lkdf *rt, struct lkdf_place *p,
				   const char *how)
{
	struct lkdf_kind *copy = device_kind(rt, "copy");
	struct lkdf_data *in = device_data(rt, NR, 1), *once[2], *out;
	struct lkdf_graph *g = api_graph(rt, 2);
	uint64_t i, arg[] = { 1, 10, 100 };
	int rc = 0, run;

	out = device_data(rt, NR, 0);
	for (i = 0; i < 2; i++)
		must(lkdf_data_create(rt,
				      ATTR(lkdf_data_attr,
					   .bytes = NR * sizeof(uint64_t),
					   .flags = LKDF_DATA_ONCE),
				      &once[i]));
	for (i = 0; i < 3; i++) {
		const struct lkdf_use use[] = {
			{ i ? once[i - 1] : in, LKDF_READ, 0 },
			{ i < 2 ? once[i] : out, LKDF_WRITE, 0 }
		};

		must(lkdf_graph_add_task(
			g, LKDF_TASK(.kind = copy, .arg = &arg[i], .place = p,
				     .use = use, .nr_use = 2)));
	}
	must(lkdf_graph_seal(g, NULL));
	for (run = 0; run < 10 && !rc; run++)
		rc = api_run(g, NULL, NULL);
	is(rc, 0, "%s: kernels use LKDF_DATA_ONCE", how);
	is(device_first_wrong(out, NR, 112), -1, "%s: it went through", how);
	lkdf_graph_put(g);
	lkdf_data_put(in);
	lkdf_data_put(out);
	lkdf_data_put(once[0]);
	lkdf_data_put(once[1]);
	lkdf_kind_put(copy);
}

static void kernels_commute(struct lkdf *rt, struct lkdf_place *p,
			    const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, NR, 0);
	const struct lkdf_use use = { d, LKDF_COMMUTE, 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	uint64_t i;

	for (i = 0; i < 10; i++) {
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &i, .place = p,
					   .use = &use, .nr_use = 1),
				 &done));
		lkdf_event_put(done);
		must(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .arg = &i,
						      .place = p, .use = &use,
						      .nr_use = 1)));
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "%s: kernels of a graph commute", how);
	is(device_first_wrong(d, NR, 90), -1, "%s: each one alone", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

int main(void)
{
	tap_start(60);
	device_each(a_kernel_runs);
	device_each(kernels_and_bodies_keep_their_order);
	device_each(readers_wait_for_what_is_written);
	device_each(parts_are_operands);
	device_each(children_are_kernels);
	device_each(graphs_have_kernels);
	device_each(once_data_are_operands);
	device_each(kernels_commute);
	return tap_end();
}
