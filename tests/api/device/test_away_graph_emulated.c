/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Results that kernels of sealed graphs leave on a device (test_away_graph.c),
 * where the device is told what to do: two devices in turn, ranges, bytes that
 * are held back or lost.
 */
#include "tests/api/device/away.h"
#include "tests/api/why.h"

static int32_t add_use(struct lkdf_graph *g, struct lkdf_kind *k,
		       struct lkdf_place *p, struct lkdf_data *d, uint32_t mode,
		       uint64_t arg)
{
	const struct lkdf_use use = { d, mode, 0 };
	int32_t t = lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .arg = &arg,
						     .place = p, .use = &use,
						     .nr_use = 1));

	must(t < 0 ? t : 0);
	return t;
}

static void two_devices_of_a_graph(const char *options, unsigned flags)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *step = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, NR, 1);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p[2];
	struct emu e[2];
	uint64_t i, value = 1;

	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | flags, device_kernels);
		p[i] = emu_register(rt, &e[i]);
	}
	for (i = 0; i < 8; i++)
		add_use(g, step, p[i / 2 % 2], d, LKDF_RW, i);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, LKDF_ATTR(lkdf_run, .times = 3)), 0,
	   "%s: kernels on two devices in turn", options);
	for (i = 0; i < 24; i++)
		value = 3 * value + i % 8;
	is(fetched(rt), 11, "%s: it moves when the other one wants it",
	   options);
	is(device_first_wrong(d, NR, value), -1, "%s: it is right", options);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(step);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e[0], options);
	emu_check(&e[1], options);
}

/* A kernel that could be given ahead reads what another device has. */
static void ahead_waits_for_another_device(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *step = device_kind(rt, "step");
	struct lkdf_kind *copy = device_kind(rt, "copy");
	struct lkdf_data *d[2] = { device_data(rt, NR, 1),
				   device_data(rt, NR, 2) };
	const struct lkdf_use use[] = { { d[0], LKDF_READ, 0 },
					{ d[1], LKDF_WRITE, 0 } };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p[2];
	uint64_t one = 1;
	struct emu e[2];
	int32_t first;
	int i;

	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_ORDERED, device_kernels);
		p[i] = emu_register(rt, &e[i]);
	}
	first = add_use(g, step, p[1], d[0], LKDF_RW, 1);
	must(lkdf_graph_order(g, first,
			      add_use(g, step, p[0], d[1], LKDF_RW, 1)));
	must(lkdf_graph_add_task(g, LKDF_TASK(.kind = copy, .place = p[0],
					      .arg = &one, .use = use,
					      .nr_use = 2)) < 0);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a kernel reads from another device");
	is(device_first_wrong(d[1], NR, 5), -1, "what that has written");
	is(api_run(g, NULL, NULL), 0, "and again");
	is(device_first_wrong(d[1], NR, 14), -1, "as it is then");
	lkdf_graph_put(g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(step);
	lkdf_kind_put(copy);
	is(device_close(rt), 0, "close");
	emu_check(&e[0], "ahead");
	emu_check(&e[1], "ahead");
}

static atomic_ullong range_seen;

static void note_range(struct emu *e, const struct lkdf_launch *l)
{
	(void)e;
	atomic_store(&range_seen, l->range[0]);
}

/* A kernel of the graph says how many items the next one has. */
static void a_range_of_a_graph_comes_home(void)
{
	static const struct emu_kernel kernels[] = { { "add", device_add },
						     { "note", note_range },
						     { NULL, NULL } };
	const struct lkdf_code code = { .device = "emu", .image = "note" };
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *add = device_kind(rt, "add"), *note = NULL;
	struct lkdf_data *d = device_data(rt, NR, 1);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN | EMU_ORDERED, kernels);
	p = emu_register(rt, &e);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "note", .arg_size = 8),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_USE),
		&note));
	add_use(g, add, p, d, LKDF_RW, 4);
	add_use(g, note, p, d, LKDF_READ, 0);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a kernel writes a range");
	is(atomic_load(&range_seen), 5, "the next one has it");
	is(api_run(g, NULL, NULL), 0, "and again");
	is(atomic_load(&range_seen), 9, "as it was written then");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(note);
	is(device_close(rt), 0, "close");
	emu_check(&e, "range");
}

static int sum_here(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *from = lkdf_ptr(c, 0);
	uint64_t *to = lkdf_ptr(c, 1), i;

	for (i = 0; i < NR; i++)
		to[i] += from[i] + *(uint64_t *)arg;
	return 0;
}

/* By its function on a CPU, where both of its uses are away. */
static void a_kernel_on_a_cpu_waits_for_all(bool of_graph)
{
	const char *how = of_graph ? "in a graph" : "submitted";
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *sum = device_kind_with(rt, "copy", sum_here);
	struct lkdf_data *d[2] = { device_data(rt, NR, 1),
				   device_data(rt, NR, 2) };
	const struct lkdf_use use[] = { { d[0], LKDF_READ, 0 },
					{ d[1], LKDF_RW, 0 } };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p, *node;
	struct lkdf_event done;
	uint64_t one = 1;
	struct emu e;
	int rc;

	emu_init(&e, EMU_OWN | EMU_WILD, device_kernels);
	p = emu_register(rt, &e);
	must(-(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) < 1));
	const struct lkdf_task *t =
		LKDF_TASK(.kind = sum, .arg = &one, .place = node, .use = use,
			  .nr_use = 2);

	if (of_graph) {
		add_use(g, add, p, d[0], LKDF_RW, 1);
		add_use(g, add, p, d[1], LKDF_RW, 1);
		must(-(lkdf_graph_add_task(g, t) < 0));
		must(lkdf_graph_seal(g, NULL));
		rc = api_run(g, NULL, NULL);
	} else {
		must(call(rt, add, p, d[0], LKDF_RW, 1));
		must(call(rt, add, p, d[1], LKDF_RW, 1));
		must(lkdf_submit(rt, NULL, t, &done));
		rc = lkdf_event_wait(done, -1);
	}
	is(rc, 0, "%s: a kernel runs on a CPU", how);
	is(device_first_wrong(d[1], NR, 6), -1, "%s: and has both uses", how);
	lkdf_graph_put(g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(add);
	lkdf_kind_put(sum);
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&e, how);
}

/* While bytes are on their way the worker runs others, and says why. */
static void a_task_of_a_graph_waits_for_them(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *see = api_kind(rt, "see", expect_all, 8, 0);
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_data *other = device_data(rt, NR, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	add_use(g, see, NULL, d, LKDF_READ, 1);
	add_use(g, add, p, d, LKDF_RW, 1);
	must(lkdf_graph_seal(g, NULL));
	must(call(rt, add, p, d, LKDF_RW, 1));
	emu_hold(&e);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	emu_until_held(&e, 1);
	is(call(rt, here, NULL, other, LKDF_RW, 1), 0,
	   "the worker runs others while bytes are on their way");
	has(why_until(rt, "task \"see#0\" of graph"),
	    "waits for the bytes of data of 512 bytes to come home from device "
	    "emu",
	    "and what it waits for");
	emu_release(&e);
	is(lkdf_event_wait(done, -1), 0, "then it has them");
	is(device_first_wrong(d, NR, 2), -1, "and a kernel changes them");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(other);
	lkdf_kind_put(add);
	lkdf_kind_put(see);
	lkdf_kind_put(here);
	is(device_close(rt), 0, "close");
	emu_check(&e, "waits");
}

static atomic_int told;

static int note_error(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_store(&told, lkdf_input_error(c, 0));
	return 0;
}

static int set_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < NR; i++)
		x[i] = *(uint64_t *)arg;
	return 0;
}

/* A run, and the first fetch of it fails, or never ends. */
static int run_losing(struct lkdf_graph *g, struct emu *e, bool is_lost,
		      struct lkdf_error *why)
{
	struct lkdf_event done;

	if (is_lost)
		emu_hold(e);
	else
		atomic_store(&e->fail_at[EMU_FETCH], 1);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	if (is_lost) {
		emu_until_held(e, 1);
		emu_lose(e);
	}
	while (lkdf_event_error(done, why) == 1)
		api_nap_ns(50000);
	return lkdf_event_wait(done, -1);
}

/*
 * The bytes do not come home for a task of a graph: it fails by name, a task
 * with ALWAYS is told, and so is whoever reads them after the run, until
 * somebody writes them.
 */
static void bytes_of_a_graph_are_lost(bool late, bool is_lost)
{
	const int error = is_lost ? -ENODEV : -ENOLINK;
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *see = api_kind(rt, "see", expect_all, 8, 0);
	struct lkdf_kind *set = api_kind(rt, "set", set_here, 8, 0);
	struct lkdf_kind *note =
		api_kind(rt, "note", note_error, 8, LKDF_ALWAYS);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_data *other = device_data(rt, NR, 0);
	struct lkdf_graph *g[3] = { api_graph(rt, 1), api_graph(rt, 1),
				    api_graph(rt, 1) };
	struct lkdf_error why = { .size = sizeof(why) };
	struct lkdf_place *p;
	struct emu e;
	int i;

	emu_init(&e, EMU_OWN, device_kernels);
	e.fails_late = late;
	e.fail_error[EMU_FETCH] = -ENOLINK;
	p = emu_register(rt, &e);
	add_use(g[0], add, p, d, LKDF_RW, 1);
	add_use(g[1], see, NULL, d, LKDF_READ, 1);
	add_use(g[1], note, NULL, d, LKDF_READ, 1);
	add_use(g[1], add, p, d, LKDF_RW, 1);
	add_use(g[2], set, NULL, d, LKDF_WRITE, 7);
	add_use(g[2], see, NULL, d, LKDF_READ, 7);
	add_use(g[2], add, p, other, LKDF_RW, 1);
	for (i = 0; i < 3; i++)
		must(lkdf_graph_seal(g[i], NULL));
	is(api_run(g[0], NULL, NULL), 0, "a kernel");
	atomic_store(&told, 0);
	is(run_losing(g[1], &e, is_lost, &why), error,
	   "its bytes do not come home");
	has(why.why, "could not give them back", "by name");
	is(atomic_load(&told), error, "a task with ALWAYS is told");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), error,
	   "and whoever reads them later");
	has(lkdf_errmsg(), "could not give them back", "which the error says");
	is(api_run(g[2], NULL, NULL), is_lost ? -ENODEV : 0,
	   "a run that writes them");
	is(device_first_wrong(d, NR, 7), -1, "heals them");
	for (i = 0; i < 3; i++)
		lkdf_graph_put(g[i]);
	lkdf_data_put(d);
	lkdf_data_put(other);
	lkdf_kind_put(add);
	lkdf_kind_put(see);
	lkdf_kind_put(set);
	lkdf_kind_put(note);
	device_close(rt);
	emu_check(&e, "lost");
}

int main(void)
{
	tap_start(120);
	two_devices_of_a_graph("workers=2", EMU_WILD);
	two_devices_of_a_graph("workers=2", EMU_ORDERED);
	two_devices_of_a_graph("serial=yes", 0);
	ahead_waits_for_another_device();
	a_range_of_a_graph_comes_home();
	a_kernel_on_a_cpu_waits_for_all(false);
	a_kernel_on_a_cpu_waits_for_all(true);
	a_task_of_a_graph_waits_for_them();
	bytes_of_a_graph_are_lost(false, false);
	bytes_of_a_graph_are_lost(true, false);
	bytes_of_a_graph_are_lost(false, true);
	return tap_end();
}
