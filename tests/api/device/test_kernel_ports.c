/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports of kernels: values at in ports are parameters and the range, also one
 * of 0 items; out ports have what came, owned once where it stands for
 * something; the device is told of results that nobody takes; what is wrong is
 * refused by name.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR
#define RUNS 20

/* x[i] += by, for the items of the range. */
static void add_range(struct emu *e, const struct lkdf_launch *l)
{
	uint64_t *x = emu_at(e, l, 0), by, i;

	memcpy(&by, l->arg[1].value, sizeof(by));
	for (i = 0; i < l->range[0] * l->range[1] * l->range[2]; i++)
		x[i] += by;
}

static const struct emu_kernel kernels[] = {
	{ "add", add_range },
	{ NULL, NULL },
};

/* What a source puts out: a parameter, the range, something that is neither. */
struct aside {
	uint64_t run, *count;
};

static const uint32_t sizes[] = { sizeof(uint64_t), 3 * sizeof(uint64_t),
				  sizeof(struct aside) };

static _Atomic(uint64_t) nr_dropped;

static void drop_aside(void *value)
{
	struct aside *a = value;

	if (a->count)
		atomic_fetch_add(&nr_dropped, 1);
}

static const lkdf_drop_fn drops[] = { NULL, NULL, drop_aside };

/* The runs so far; every fifth has no items, others 4 more each. */
static int source(struct lkdf_ctx *c, void *arg)
{
	uint64_t run = (*(uint64_t *)arg)++, *range = lkdf_out(c, 1);
	struct aside *a = lkdf_out(c, 2);

	*(uint64_t *)lkdf_out(c, 0) = run + 1;
	range[0] = run % 5 ? 4 * (run % 5) : 0;
	range[1] = range[2] = 1;
	a->run = run;
	a->count = arg;
	return 0;
}

static uint64_t seen, wrong;

static int sink(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *by = lkdf_in(c, 0), *range = lkdf_in(c, 1);
	const struct aside *a = lkdf_in(c, 2);

	(void)arg;
	wrong += *by != seen + 1 || a->run != seen || range[1] != 1 ||
		 range[0] != 4 * (seen % 5);
	seen++;
	return 0;
}

static struct lkdf_kind *add_kind(struct lkdf *rt, const lkdf_drop_fn *drop)
{
	const struct lkdf_code code[] = {
		{ .device = "emu", .image = "add" },
		{ .device = driver_name(),
		  .image = driver_text(device_text),
		  .entry = "do_add" },
	};
	const struct lkdf_param param[] = { { .from = LKDF_PARAM_USE },
					    { .from = LKDF_PARAM_PORT } };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "add", .nr_in = 3,
					      .nr_out = 3, .in_size = sizes,
					      .out_size = sizes,
					      .out_drop = drop),
			    .code = code, .nr_code = 2, .param = param,
			    .nr_param = 2, .range_from = LKDF_RANGE_PORT,
			    .range_at = 1),
		&k));
	return k;
}

/* source -> add -> add[ -> sink]; all ports from one to the next. */
static struct lkdf_graph *chain(struct lkdf *rt, struct lkdf_place *p,
				struct lkdf_data *d, uint64_t *count,
				const lkdf_drop_fn *drop, bool has_sink)
{
	struct lkdf_kind *k[3] = { NULL, add_kind(rt, drop), NULL };
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	uint16_t port;
	int i;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "source", .fn = source,
					.nr_out = 3, .out_size = sizes,
					.out_drop = drop),
			      &k[0]));
	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "sink", .fn = sink, .nr_in = 3,
					.in_size = sizes),
			      &k[2]));
	must(lkdf_graph_add(g, k[0], count, NULL, 0));
	for (i = 0; i < 2; i++)
		must(lkdf_graph_add_task(g,
					 LKDF_TASK(.kind = k[1], .place = p,
						   .use = &use, .nr_use = 1)));
	if (has_sink)
		must(lkdf_graph_add(g, k[2], NULL, NULL, 0));
	for (i = 0; i < 2 + has_sink; i++)
		for (port = 0; port < 3; port++)
			must(lkdf_graph_port(g, i, port, i + 1, port));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
	return g;
}

static void values_are_parameters_and_ranges(struct lkdf *rt,
					     struct lkdf_place *p,
					     const char *how)
{
	struct lkdf_data *d = device_data(rt, NR, 0);
	uint64_t count = 0, i, run, want, bad = 0, *x;
	struct lkdf_graph *g = chain(rt, p, d, &count, NULL, true);
	struct lkdf_run r = { .size = sizeof(r), .times = RUNS };
	struct lkdf_event done;
	void *bytes;

	seen = wrong = 0;
	must(lkdf_graph_run(g, NULL, &r, &done));
	is(lkdf_event_wait(done, -1), 0, "%s: %d runs end well", how, RUNS);
	is(seen, RUNS, "%s: each value has come to the end", how);
	is(wrong, 0, "%s: as it was, also past a launch of no items", how);
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < NR; i++) {
		for (run = 0, want = 0; run < RUNS; run++)
			want += i < 4 * (run % 5) ? 2 * (run + 1) : 0;
		bad += x[i] != want;
	}
	must(lkdf_data_release(d));
	is(bad, 0, "%s: parameters and ranges were those of each run", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
}

static void what_stands_for_something_is_owned_once(struct lkdf *rt,
						    struct lkdf_place *p,
						    const char *how)
{
	struct lkdf_data *d = device_data(rt, NR, 0);
	uint64_t count = 0;
	struct lkdf_graph *g = chain(rt, p, d, &count, drops, true);
	struct lkdf_run r = { .size = sizeof(r), .times = RUNS };
	struct lkdf_event done;

	seen = wrong = 0;
	atomic_store(&nr_dropped, 0);
	must(lkdf_graph_run(g, NULL, &r, &done));
	is(lkdf_event_wait(done, -1), 0, "%s: values with a drop", how);
	is(seen, RUNS, "%s: come to the end", how);
	is(atomic_load(&nr_dropped), RUNS, "%s: and are dropped once each",
	   how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
}

static void both(struct lkdf *rt, struct lkdf_place *p, const char *how)
{
	values_are_parameters_and_ranges(rt, p, how);
	what_stands_for_something_is_owned_once(rt, p, how);
}

static void on_emulated_devices(void)
{
	static const unsigned flags[] = { 0, EMU_OWN, EMU_OWN | EMU_WILD };
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < 3; i++) {
		emu_init(&e, flags[i], kernels);
		rt = api_open(i == 2 ? "serial=yes" : "workers=2");
		p = emu_register(rt, &e);
		both(rt, p, i ? "own" : "host");
		is(atomic_load(&e.nr[EMU_FINALIZE]), 0,
		   "results that are taken are no matter of finalize");
		is(device_close(rt), 0, "close");
		emu_check(&e, "ports");
	}
}

static void finalize_is_for_results_that_nobody_takes(void)
{
	uint64_t count = 1; /* the first run has items */
	struct lkdf_graph *g;
	struct lkdf_place *p;
	struct lkdf_data *d;
	struct lkdf *rt;
	struct emu e;

	emu_init(&e, EMU_OWN, kernels);
	rt = api_open("workers=2");
	p = emu_register(rt, &e);
	d = device_data(rt, NR, 0);
	g = chain(rt, p, d, &count, NULL, false);
	is(api_run(g, NULL, NULL), 0, "a kernel at the end of a graph");
	is(atomic_load(&e.nr[EMU_FINALIZE]), 1,
	   "finalize is called for it, not for the one before");
	e.fail_error[EMU_FINALIZE] = -EIO;
	atomic_store(&e.fail_at[EMU_FINALIZE], 2);
	is(api_run(g, NULL, NULL), -EIO, "what finalize says is the error");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	is(device_close(rt), 0, "close");
	emu_check(&e, "finalize");
}

/* The kernel before it has run, and what it wrote is lost with the device. */
static void finalize_may_say_that_the_device_is_lost(void)
{
	struct lkdf_device_info info = { .size = sizeof(info) };
	uint64_t count = 1;
	struct lkdf_graph *g;
	struct lkdf_place *p;
	struct lkdf_data *d;
	struct lkdf *rt;
	struct emu e;

	emu_init(&e, EMU_OWN, kernels);
	rt = api_open("workers=2");
	p = emu_register(rt, &e);
	d = device_data(rt, NR, 0);
	g = chain(rt, p, d, &count, NULL, false);
	e.fail_error[EMU_FINALIZE] = -ENODEV;
	atomic_store(&e.fail_at[EMU_FINALIZE], 1);
	is(api_run(g, NULL, NULL), -ENODEV, "finalize: the device is lost");
	is(lkdf_place_info(p, &info), -ENODEV, "whoever asks for it is told");
	has(lkdf_errmsg(), "device emu is lost", "by name");
	is(api_run(g, NULL, NULL), -ENODEV, "the next run fails");
	is(atomic_load(&e.nr[EMU_FINALIZE]), 1, "and asks nothing of it");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	device_close(rt);
	e.is_lost = true;
	emu_check(&e, "lost in finalize");
}

struct wish {
	uint16_t first, nr; /* ports that are a parameter */
	uint16_t range_at, nr_in, nr_out;
};

static void refused(struct lkdf *rt, struct wish w, const char *part)
{
	const struct lkdf_code code = { .device = "emu", .image = "add" };
	const struct lkdf_param param = { .from = LKDF_PARAM_PORT,
					  .first = w.first,
					  .nr = w.nr };
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create_kernel(
		   rt,
		   LKDF_KERNEL(.kind = LKDF_KIND(.name = "k", .nr_in = w.nr_in,
						 .nr_out = w.nr_out,
						 .in_size = sizes,
						 .out_size = sizes + 1),
			       .code = &code, .nr_code = 1, .param = &param,
			       .nr_param = 1, .range_from = LKDF_RANGE_PORT,
			       .range_at = w.range_at),
		   &k),
	   -EINVAL, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
}

static void bad_ports_are_named(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = add_kind(rt, NULL);
	struct lkdf_event done;
	struct emu e;

	refused(rt, (struct wish){ 1, 2, 1, 2, 0 }, "parameter 0 is in port 2");
	refused(rt, (struct wish){ 0, 1, 3, 3, 0 }, "the range is in port 3");
	refused(rt, (struct wish){ 0, 1, 0, 3, 0 }, "in port 0 of 8 bytes");
	refused(rt, (struct wish){ 0, 1, 1, 3, 1 }, "out port 0 of 24 bytes");
	emu_init(&e, 0, kernels);
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .place = emu_register(rt, &e)),
			 &done));
	is(lkdf_event_wait(done, -1), -ENODATA, "a task of no graph");
	has(lkdf_errmsg(), "in port 1", "by name");
	lkdf_kind_put(k);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_close(rt);
}

static int count_waves(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return ++*(unsigned *)arg < 5 ? 0 : LKDF_END;
}

/* Its bytes would be on the device while other waves are under way. */
static void data_of_a_stage_there_is_refused(void)
{
	struct lkdf_data *d;
	struct lkdf_graph *g;
	struct lkdf_kind *source, *stage;
	struct lkdf_event done;
	struct lkdf *rt;
	struct emu e;
	unsigned nr = 0;
	int32_t t[2];

	emu_init(&e, EMU_OWN, device_kernels);
	rt = api_open("workers=2");
	source = api_kind(rt, "source", count_waves, 0, 0);
	stage = device_kind(rt, "add");
	d = device_data(rt, DEVICE_NR, 0);
	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .inflight = 2), &g));
	t[0] = lkdf_graph_add(g, source, &nr, NULL, 0);
	t[1] = lkdf_graph_add_task(
		g, LKDF_TASK(.kind = stage, .place = emu_register(rt, &e),
			     .arg = &(uint64_t){ 1 },
			     .use = &(struct lkdf_use){ d, LKDF_RW, 0 },
			     .nr_use = 1));
	must(lkdf_graph_order(g, t[0], t[1]));
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			  &done),
	   -EOPNOTSUPP, "data of a stage on a device is refused in a stream");
	has(lkdf_errmsg(), "which add#1 uses, would be on a device",
	    "the text names who uses it");
	is(nr, 0, "no wave begins");
	lkdf_graph_put(g);
	lkdf_kind_put(source);
	lkdf_kind_put(stage);
	lkdf_data_put(d);
	is(device_close(rt), 0, "close");
	emu_check(&e, "stage");
}

int main(void)
{
	tap_start(120);
	bad_ports_are_named();
	on_emulated_devices();
	finalize_is_for_results_that_nobody_takes();
	finalize_may_say_that_the_device_is_lost();
	data_of_a_stage_there_is_refused();
	device_driver(both, "workers=2", 0);
	device_driver(both, "serial=yes", 2);
	return tap_end();
}
