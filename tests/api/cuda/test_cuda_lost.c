/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels that fault lose the device, with the driver's error, for a second
 * runtime as well: at once, while the launcher sleeps, while a region is half
 * given, while a body has the data. Kernels that take long hold nothing up.
 * Each case is a process of its own.
 */
#include "tests/cuda/child.h"
#include "tests/cuda/text.h"

static const char wild[] = "extern \"C\" __global__ void f(unsigned long *x, "
			   "unsigned long y)\n"
			   "{ *(volatile unsigned long *)y = 1; }\n";

/* Its task and those behind it fail, and so does a second runtime's. */
static int run_wild(void)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = wild,
					.entry = "f" };
	struct lkdf *rt = api_open(driver_options("workers=2"));
	struct lkdf_kind *k = NULL;
	uint64_t address = 0xdead0000;
	struct lkdf_place *p;
	struct lkdf_data *d;
	int rc, second;

	if (lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1)
		return 2;
	device_is_real = true;
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "wild",
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { 1, 1, 1 }),
		&k));
	d = device_data(rt, NR, 1);
	rc = device_call(rt, k, p, d, &address);
	printf("# first %d: %s\n", rc, lkdf_errmsg());
	lkdf_data_put(d);
	lkdf_kind_put(k);
	if (device_close(rt))
		return 9;
	rt = api_open(driver_options("workers=2"));
	second = lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1
			 ? -ENODEV
			 : run_kernels(rt, p);
	printf("# second %d: %s\n", second, lkdf_errmsg());
	if (device_close(rt))
		return 9;
	return rc == -ENODEV && second ? 0 : 1;
}

static void a_fault_is_told(void)
{
	static struct child c;

	start_child(&c, run_wild);
	is(end_child(&c), 0,
	   "a kernel that faults, and a second runtime: both say -ENODEV");
	has(c.said, "ILLEGAL_ADDRESS", "the text has the driver's error");
	ok(strstr(c.said, "# second") &&
		   strstr(strstr(c.said, "# second"), "ILLEGAL_ADDRESS"),
	   "that of the second runtime has it, too, for its last task");
	printf("%s", c.said);
}

/* ---- kernels that take a while ------------------------------------------ */

#define LONG 2 /* is no address */

/* The first one sleeps; with y a wrong address it faults then. */
static const char slow[] =
	"extern \"C\" __global__ void f(unsigned long *x, unsigned long y)\n"
	"{\n"
	"	int nr = y == 2 ? 2000 : 300;\n"
	"	for (int i = 0; i < nr && !threadIdx.x; i++)\n"
	"		__nanosleep(1000000);\n"
	"	if (y > 2)\n"
	"		*(volatile unsigned long *)y = 1;\n"
	"}\n";

/* So many kernels behind it on the same data; how many end well. */
static int run_behind(uint64_t address, int nr, bool forks)
{
	struct lkdf *rt = api_open(driver_options("workers=2"));
	struct lkdf_kind *first, *add;
	struct lkdf_event *done = calloc((size_t)nr, sizeof(*done));
	int i, nr_right = 0, status;
	struct lkdf_place *p;
	struct lkdf_data *d;
	uint64_t one = 1;
	pid_t pid;

	must(-(lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1));
	device_is_real = true;
	first = text_kind(rt, "f", slow);
	add = device_kind(rt, "add");
	d = device_data(rt, NR, 1);
	device_submit(rt, first, p, d, &address);
	for (i = 0; i < nr; i++)
		done[i] = device_submit(rt, add, p, d, &one);
	pid = forks ? fork() : -1;
	if (!pid)
		_exit(7);
	if (forks && (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)))
		return -1;
	for (i = 0; i < nr; i++)
		nr_right += !lkdf_event_wait(done[i], -1);
	printf("# %s\n", lkdf_errmsg());
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(first);
	free(done);
	return device_close(rt) ? -1 : nr_right;
}

/* The launcher sleeps when the fault comes. */
static int run_late_fault(void)
{
	return run_behind(0xdead0000, 20, false) ? 1 : 0;
}

static int32_t add_task(struct lkdf_graph *g, struct lkdf_kind *k,
			struct lkdf_place *p, const struct lkdf_use *use,
			uint64_t arg)
{
	int32_t t = lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p,
						     .arg = &arg, .use = use,
						     .nr_use = 1));

	must(t < 0 ? t : 0);
	return t;
}

static atomic_int nr_bodies;

static int count_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_bodies, 1);
	return 0;
}

/* Of 601 kernels of a graph the first faults, when the card has few of them:
 * the run fails, and the body behind it is not called. */
static int run_region_fault(void)
{
	struct lkdf *rt = api_open(driver_options("workers=2"));
	struct lkdf_kind *first, *add, *last;
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct lkdf_place *p;
	struct lkdf_data *d;
	struct lkdf_use use = { NULL, LKDF_RW, 0 };
	int rc, i;

	must(-(lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1));
	device_is_real = true;
	first = text_kind(rt, "f", slow);
	add = device_kind(rt, "add");
	last = api_kind(rt, "last", count_body, sizeof(uint64_t), 0);
	use.data = d = device_data(rt, NR, 1);
	must(lkdf_graph_create(rt, NULL, &g));
	add_task(g, first, p, &use, 0xdead0000);
	for (i = 0; i < 600; i++)
		add_task(g, add, p, &use, 1);
	add_task(g, last, NULL, &use, 0);
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	rc = lkdf_event_wait(done, -1);
	printf("# region %d: %s\n", rc, lkdf_errmsg());
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(first);
	lkdf_kind_put(add);
	lkdf_kind_put(last);
	if (device_close(rt))
		return 9;
	return rc == -ENODEV && !atomic_load(&nr_bodies) ? 0 : 1;
}

static atomic_bool is_held, is_lost;

/* Writes all words when the card is lost. */
static int hold_body(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);
	int i;

	(void)arg;
	atomic_store(&is_held, true);
	while (!atomic_load(&is_lost))
		usleep(1000);
	for (i = 0; i < NR; i++)
		x[i] = 2;
	return 0;
}

/* A fault while a task on a CPU has the data, which comes from the card: the
 * task ends well, the kernel behind it fails, and so does who reads then. */
static int run_held_fault(void)
{
	struct lkdf *rt = api_open(driver_options("workers=2"));
	struct lkdf_kind *add, *hold, *late;
	struct lkdf_event held, behind;
	struct lkdf_data *d, *other;
	uint64_t one = 1, address = 0xdead0000;
	struct lkdf_place *p;
	int rc, rc_held, rc_behind, rc_data;

	must(-(lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1));
	device_is_real = true;
	add = device_kind(rt, "add");
	late = text_kind(rt, "f", slow);
	hold = api_kind(rt, "hold", hold_body, sizeof(uint64_t), 0);
	d = device_data(rt, NR, 0);
	other = device_data(rt, NR, 0);
	must(device_call(rt, add, p, d, &one));
	held = device_submit(rt, hold, NULL, d, &one);
	behind = device_submit(rt, add, p, d, &one);
	while (!atomic_load(&is_held))
		usleep(1000);
	rc = device_call(rt, late, p, other, &address);
	atomic_store(&is_lost, true);
	rc_held = lkdf_event_wait(held, -1);
	rc_behind = lkdf_event_wait(behind, -1);
	rc_data = check_data(d);
	printf("# fault %d, held %d, behind %d, data %d: %s\n", rc, rc_held,
	       rc_behind, rc_data, lkdf_errmsg());
	lkdf_data_put(d);
	lkdf_data_put(other);
	lkdf_kind_put(add);
	lkdf_kind_put(hold);
	lkdf_kind_put(late);
	if (device_close(rt))
		return 9;
	return rc == -ENODEV && !rc_held && rc_behind == -ENODEV &&
			       rc_data == -ENODEV
		       ? 0
		       : 1;
}

/* A launch waits where 1022 ops lie in its stream. */
static int run_many_behind(void)
{
	return run_behind(LONG, 2000, false) == 2000 ? 0 : 1;
}

static int run_fork(void)
{
	return run_behind(0, 20, true) == 20 ? 0 : 1;
}

static void slow_kernels_hold_nothing_up(void)
{
	static struct child c[5];
	int i;

	start_child(&c[0], run_late_fault);
	start_child(&c[1], run_many_behind);
	start_child(&c[2], run_fork);
	start_child(&c[3], run_region_fault);
	start_child(&c[4], run_held_fault);
	is(end_child(&c[0]), 0, "20 kernels behind one that faults late fail");
	has(c[0].said, "cuda", "the text names the device");
	is(end_child(&c[1]), 0, "2000 kernels behind one of 2 s are right");
	is(end_child(&c[2]), 0, "a fork beside a kernel changes nothing");
	is(end_child(&c[3]), 0,
	   "a fault while a region is half given fails its run");
	has(c[3].said, "ILLEGAL_ADDRESS", "with the driver's error");
	is(end_child(&c[4]), 0, "a fault while a body has the data");
	for (i = 0; i < 5; i++)
		printf("%s", c[i].said);
}

int main(void)
{
	tap_start(240);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	a_fault_is_told();
	slow_kernels_hold_nothing_up();
	return tap_end();
}
