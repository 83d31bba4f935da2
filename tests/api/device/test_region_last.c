/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph's last kernel is over before the kernel in front of it, whose bytes
 * come back later. The launcher counts the one in front, and sends the last one
 * to the worker, which ends the run: also if it does so before the launcher
 * goes on. This program has a syscall() of its own, in which the launcher, when
 * it has woken the worker, stands still until the run is over.
 */
#include "tests/api/api.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <lkdf/device.h>
#include <stdarg.h>

#define NR 3 /* kernels */
#define ROUNDS 20

static atomic_int is_armed, is_still, has_ended, is_asleep, has_seen, nr_still;

/* What this thread is. */
static __thread bool is_launcher, is_worker;

/* ---- the launcher's wakes ----------------------------------------------- */

static bool is_futex(long nr, long op, int a, int b)
{
	int call = (int)op & FUTEX_CMD_MASK;

	return nr == SYS_futex && (call == a || call == b);
}

/* A run that does not end has no other bound. */
static void stand_still(void)
{
	int i;

	atomic_store(&is_still, 1);
	atomic_fetch_add(&nr_still, 1);
	for (i = 0; i < 400 && !atomic_load(&has_ended); i++)
		api_nap_ns(50000);
	atomic_store(&is_still, 0);
}

long syscall(long nr, ...)
{
	long (*next)(long, ...) =
		(long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6], rc;
	bool sleeps;
	va_list ap;
	int i;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	sleeps = is_worker && is_futex(nr, a[1], FUTEX_WAIT, FUTEX_WAIT_BITSET);
	if (sleeps)
		atomic_store(&is_asleep, 1);
	rc = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (sleeps)
		atomic_store(&is_asleep, 0);
	if (is_launcher && atomic_load(&is_armed) &&
	    is_futex(nr, a[1], FUTEX_WAKE, FUTEX_WAKE_BITSET))
		stand_still();
	return rc;
}

/* ---- a device that ends nothing by itself ------------------------------- */

/* By the size of the data. */
#define SMALL 64
#define LARGE 128

struct device {
	struct lkdf_device_op op[NR], small, large;
	atomic_int nr, nr_small, nr_large; /* launches and fetches under way */
};

static int get_info(void *dev, struct lkdf_device_info *out)
{
	(void)dev;
	out->memory = 1 << 20;
	strcpy(out->name, "hand");
	return 0;
}

static int alloc(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
		 uint64_t align, void **device_ptr)
{
	(void)dev;
	(void)align;
	if (mem != LKDF_MEM_OWN)
		return -ENOMEM;
	*device_ptr = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	return 0;
}

static void give_back(void *dev, void *device_ptr)
{
	(void)dev;
	free(device_ptr);
}

/* The values do not matter here. */
static int upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		  struct lkdf_device_op op)
{
	(void)dev;
	(void)queue;
	(void)t;
	return lkdf_device_done(op, 0);
}

static int fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
		 struct lkdf_device_op op)
{
	struct device *d = dev;

	(void)queue;
	if (t->bytes == LARGE) {
		d->large = op;
		atomic_fetch_add(&d->nr_large, 1);
	} else {
		d->small = op;
		atomic_fetch_add(&d->nr_small, 1);
	}
	return 0;
}

static int launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op)
{
	struct device *d = dev;

	(void)queue;
	(void)l;
	is_launcher = true;
	d->op[atomic_load(&d->nr)] = op;
	atomic_fetch_add(&d->nr, 1);
	return 0;
}

static void stop(void *dev)
{
	(void)dev;
}

static struct lkdf_place *add_device(struct lkdf *rt, struct device *d)
{
	const struct lkdf_device_ops ops = {
		.size = sizeof(ops),
		.flags = LKDF_DEVICE_ORDERED | LKDF_DEVICE_RANGES,
		.name = "hand",
		.info = get_info,
		.alloc = alloc,
		.free = give_back,
		.upload = upload,
		.fetch = fetch,
		.launch = launch,
		.stop = stop,
	};
	struct lkdf_place *p = NULL;

	must(lkdf_place_register(rt, &ops, d, &p));
	return p;
}

static struct lkdf_kind *make_kernel(struct lkdf *rt)
{
	static int function;
	const struct lkdf_code code = { .device = "hand",
					.function = &function };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "kernel"), .code = &code,
			    .nr_code = 1, .range_from = LKDF_RANGE_VALUE,
			    .range = { 8, 1, 1 }),
		&k));
	return k;
}

/* ---- a graph ------------------------------------------------------------ */

static int see_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	is_worker = true;
	atomic_store(&has_seen, 1);
	return 0;
}

static struct lkdf_data *make_data(struct lkdf *rt, uint64_t bytes, void *wrap)
{
	const char zero[LARGE] = "";
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = bytes, .wrap = wrap,
				   .init = wrap ? NULL : zero),
			      &d));
	return d;
}

static void add(struct lkdf_graph *g, struct lkdf_kind *k, struct lkdf_place *p,
		const struct lkdf_use *use, unsigned nr)
{
	must(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p, .use = use,
					      .nr_use = nr)));
}

/*
 * The first kernel, a body that reads what it wrote, and two behind it, of
 * which the first writes LARGE. When the body runs, that one's turn has come.
 */
static struct lkdf_graph *make_graph(struct lkdf *rt, struct lkdf_kind *k,
				     struct lkdf_place *p,
				     struct lkdf_data *const *d)
{
	struct lkdf_kind *see = api_kind(rt, "see", see_body, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	const struct lkdf_use first[] = { { d[0], LKDF_RW, 0 },
					  { d[1], LKDF_WRITE, 0 } };
	const struct lkdf_use second[] = { { d[0], LKDF_RW, 0 },
					   { d[2], LKDF_WRITE, 0 } };
	const struct lkdf_use read = { d[1], LKDF_READ, 0 };

	add(g, k, p, first, 2);
	add(g, see, NULL, &read, 1);
	add(g, k, p, second, 2);
	add(g, k, p, first, 1);
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(see);
	return g;
}

static void until(const atomic_int *value, int wanted)
{
	while (atomic_load(value) != wanted)
		api_nap_ns(20000);
}

static void end(struct lkdf_device_op op)
{
	must(lkdf_device_done(op, 0));
}

/* The bytes that the body reads come back. */
static void run_to_the_body(struct device *d)
{
	until(&d->nr, NR);
	end(d->op[0]);
	until(&d->nr_small, 1);
	end(d->small);
	until(&has_seen, 1);
}

/* The bytes of the second one come back when the last one is over. */
static void end_the_last_first(struct device *d)
{
	int i;

	end(d->op[1]);
	until(&d->nr_large, 1);
	for (i = 0; i < 500 && !atomic_load(&is_asleep); i++)
		api_nap_ns(20000);
	atomic_store(&is_armed, 1);
	end(d->op[2]);
	end(d->large);
}

static void run_once(struct lkdf_graph *g, struct device *d)
{
	struct lkdf_event done;
	int rc;

	atomic_store(&d->nr, 0);
	atomic_store(&d->nr_small, 0);
	atomic_store(&d->nr_large, 0);
	atomic_store(&has_seen, 0);
	atomic_store(&has_ended, 0);
	must(lkdf_graph_run(g, NULL, NULL, &done));
	run_to_the_body(d);
	end_the_last_first(d);
	rc = lkdf_event_wait(done, PATIENCE_NS / 4);
	atomic_store(&has_ended, 1);
	atomic_store(&is_armed, 0);
	until(&is_still, 0);
	must(rc == 1 ? -ETIMEDOUT : rc);
}

static void a_run_ends_though_the_launcher_is_late(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct device dev = { .nr = 0 };
	struct lkdf_place *p = add_device(rt, &dev);
	struct lkdf_kind *k = make_kernel(rt);
	/* What the program has wrapped comes back at once. */
	char bytes[LARGE];
	struct lkdf_data *d[] = { make_data(rt, SMALL, NULL),
				  make_data(rt, SMALL, NULL),
				  make_data(rt, LARGE, bytes) };
	struct lkdf_graph *g = make_graph(rt, k, p, d);
	int i;

	for (i = 0; i < ROUNDS; i++)
		run_once(g, &dev);
	ok(true, "%d runs have ended", i);
	printf("# in %d the launcher stood still\n", atomic_load(&nr_still));
	lkdf_graph_put(g);
	for (i = 0; i < 3; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	a_run_ends_though_the_launcher_is_late();
	return tap_end();
}
