/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From lkdf_device_done() to the task on a CPU that takes the result, with all
 * threads asleep and soon after the last one, against a thread that sleeps on a
 * raw futex, or polls a word. The device is one of this file: the launch is
 * noted, and the measuring thread says done.
 */
#include "tests/bench/suites/device.h"

#include <lkdf/device.h>
#include <lkdf/lkdf.h>

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASLEEP_NS 2000000
#define SOON_NS 5000
#define PER_ROUND 20

struct done {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct lkdf_kind *kernel, *task;
	struct lkdf_data *data;

	/* The launcher writes it, then sets is_launched. */
	struct lkdf_device_op op;
	atomic_bool is_launched;

	/* The thread that was woken, by lkdf or by hand. */
	_Atomic int64_t started_ns;

	/* The raw thread. */
	pthread_t thread;
	_Atomic uint32_t word;
	atomic_bool is_over, is_polling;

	struct samples lkdf[2], raw[2]; /* asleep, soon */
	int rc;
};

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void spin_for(int64_t ns)
{
	int64_t end = bench_now_ns() + ns;

	while (bench_now_ns() < end)
		relax();
}

/* ---- the raw thread ----------------------------------------------------- */

static void *raw_main(void *arg)
{
	struct done *d = arg;
	uint32_t seen = 0;

	while (!atomic_load(&d->is_over)) {
		while (atomic_load(&d->word) == seen) {
			if (atomic_load(&d->is_polling))
				relax();
			else
				syscall(SYS_futex, &d->word, FUTEX_WAIT_PRIVATE,
					seen, NULL, NULL, 0);
		}
		seen++;
		atomic_store(&d->started_ns, bench_now_ns());
	}
	return NULL;
}

static void wake_raw(struct done *d)
{
	atomic_fetch_add(&d->word, 1);
	syscall(SYS_futex, &d->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Until the one that was woken has written the time. */
static double latency_us(struct done *d, int64_t start)
{
	int64_t then;

	while (!(then = atomic_load(&d->started_ns)))
		relax();
	atomic_store(&d->started_ns, 0);
	return (double)(then - start) / 1e3;
}

static double raw_once(struct done *d, int64_t rest_ns)
{
	int64_t start;

	spin_for(rest_ns);
	start = bench_now_ns();
	if (atomic_load(&d->is_polling))
		atomic_fetch_add(&d->word, 1);
	else
		wake_raw(d);
	return latency_us(d, start);
}

/* ---- the device --------------------------------------------------------- */

static int get_info(void *dev, struct lkdf_device_info *out)
{
	(void)dev;
	strcpy(out->name, "bench");
	return 0;
}

static int launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op)
{
	struct done *d = dev;

	(void)queue;
	(void)l;
	d->op = op;
	atomic_store(&d->is_launched, true);
	return 0;
}

static void stop(void *dev)
{
	(void)dev;
}

static int task_body(struct lkdf_ctx *c, void *arg)
{
	struct done *d = *(struct done **)arg;

	(void)c;
	atomic_store(&d->started_ns, bench_now_ns());
	return 0;
}

static double refused(struct done *d, int rc)
{
	d->rc = bench_fail(rc, "device: %s", lkdf_errmsg());
	return NAN;
}

/* NAN: it was not submitted. */
static double lkdf_once(struct done *d, int64_t rest_ns)
{
	const struct lkdf_use use = { d->data, LKDF_RW, 0 };
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = d->kernel,
			       .place = d->place,
			       .use = &use,
			       .nr_use = 1 };
	int64_t start;
	int rc = d->rc ? d->rc : lkdf_submit(d->rt, NULL, &t, NULL);

	t.kind = d->task;
	t.place = NULL;
	t.arg = &d;
	if (!rc)
		rc = lkdf_submit(d->rt, NULL, &t, NULL);
	if (rc)
		return d->rc ? NAN : refused(d, rc);
	while (!atomic_load(&d->is_launched))
		relax();
	atomic_store(&d->is_launched, false);
	spin_for(rest_ns);
	start = bench_now_ns();
	lkdf_device_done(d->op, 0);
	return latency_us(d, start);
}

/* ---- the whole ---------------------------------------------------------- */

static int make(struct done *d)
{
	static const char init[64];
	static int function;
	const struct lkdf_device_ops ops = { .size = sizeof(ops),
					     .flags = LKDF_DEVICE_HOST_MEMORY,
					     .name = "bench",
					     .info = get_info,
					     .stop = stop,
					     .launch = launch };
	const struct lkdf_code code = { .device = "bench",
					.function = &function };
	const struct lkdf_kind_attr kernel = { .size = sizeof(kernel),
					       .name = "kernel" };
	const struct lkdf_kind_attr task = { .size = sizeof(task),
					     .name = "task",
					     .fn = task_body,
					     .arg_size = sizeof(d) };
	const struct lkdf_data_attr data = { .size = sizeof(data),
					     .bytes = sizeof(init),
					     .init = init };
	const struct lkdf_kernel_attr a = {
		.size = sizeof(a), .kind = &kernel, .code = &code, .nr_code = 1
	};
	int rc = lkdf_place_register(d->rt, &ops, d, &d->place);

	if (!rc)
		rc = lkdf_kind_create_kernel(d->rt, &a, &d->kernel);
	if (!rc)
		rc = lkdf_kind_create(d->rt, &task, &d->task);
	if (!rc)
		rc = lkdf_data_create(d->rt, &data, &d->data);
	return rc ? bench_fail(rc, "device: %s", lkdf_errmsg()) : 0;
}

static int done_open(struct done *d)
{
	int rc;

	memset(d, 0, sizeof(*d));
	rc = bench_open(1, NULL, &d->rt);
	if (!rc)
		rc = make(d);
	return rc ? rc : -pthread_create(&d->thread, NULL, raw_main, d);
}

static void done_close(struct done *d)
{
	atomic_store(&d->is_over, true);
	wake_raw(d);
	pthread_join(d->thread, NULL);
	lkdf_scope_wait(d->rt, NULL, -1);
	lkdf_data_put(d->data);
	lkdf_kind_put(d->kernel);
	lkdf_kind_put(d->task);
	lkdf_close(d->rt);
}

static void sample_asleep(struct done *d)
{
	unsigned i;

	for (i = 0; i < PER_ROUND; i++) {
		samples_add(&d->raw[0], raw_once(d, ASLEEP_NS));
		samples_add(&d->lkdf[0], lkdf_once(d, ASLEEP_NS));
	}
}

/* The first one of each wakes a sleeper and is dropped. */
static void sample_soon(struct done *d)
{
	unsigned i;

	atomic_store(&d->is_polling, true);
	wake_raw(d);
	latency_us(d, 0);
	for (i = 0; i < PER_ROUND; i++)
		samples_add(&d->raw[1], raw_once(d, SOON_NS));
	atomic_store(&d->is_polling, false);
	lkdf_once(d, ASLEEP_NS);
	for (i = 0; i < PER_ROUND; i++)
		samples_add(&d->lkdf[1], lkdf_once(d, SOON_NS));
}

static void done_row(struct bench *b, const struct done *d, unsigned i,
		     const char *name, const char *peer, double bar)
{
	struct bench_row *row = report_add(&b->report, 1, "us", "%s", name);

	row_value(row, &d->lkdf[i], 1);
	row->floor = samples_median(&d->raw[i]);
	snprintf(row->peer, sizeof(row->peer), "%s", peer);
	row->peer_value = row->floor;
	row_ratio(row, &d->lkdf[i], &d->raw[i]);
	/* Single wake-ups scatter; the median of hundreds does not. */
	row->spread /= sqrt(d->lkdf[i].nr);
	if (bar > 0)
		device_judge(b, row, BAR_AT_MOST, bar, &d->raw[i]);
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 5 : 12;
}

double device_done_steps(const struct bench *b)
{
	return rounds_of(b);
}

int device_done_rows(struct bench *b)
{
	struct done d;
	unsigned i;
	int rc = done_open(&d);

	if (rc)
		return rc;
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !d.rc; i++) {
		bench_round(b, "done");
		sample_asleep(&d);
		sample_soon(&d);
	}
	if (!d.rc) {
		done_row(b, &d, 0, "done/asleep", "futex", 1.5);
		/* A launcher does not spin for who waits: told, not judged. */
		done_row(b, &d, 1, "done/soon", "poll", 0);
	}
	done_close(&d);
	return d.rc;
}
