/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random programs in the library against a sequential interpreter:
 *
 *	oracle [--programs N] [--seed S] [--base S] [--workers 1,2,4,8,0]
 *	       [--tasks MAX] [--repeat N] [--seconds N] [--watchdog N]
 *	       [--shrink 1] [--compare 0] [--data 0|1] [--devices 0|1|2]
 *	       [--narrow CAP] [--substitutes N] [--orders N] [--order S]
 *	       [--drop PARTS]
 *
 * --base is where the seeds begin, else ORACLE_BASE in the environment, else
 * 1. --seed runs one program, --repeat times. 0 workers is the serial mode,
 * in which each program runs once more: both must leave the same. --shrink
 * looks for the smallest number of tasks with which it fails, then for as
 * many calls, operations, tasks and edges as it still fails without, and
 * prints what is left; each try is a process of its own, so it may hang or
 * crash. --drop 1-4,7: without these parts, see drop.h. A third of the seeds
 * make programs with data: there --tasks are operations. --data takes those
 * only, or none of them. --devices: some of their tasks are kernels, 1: on
 * emulated devices, 2: on POCL, or CUDA with LKDF_TEST_DEVICE=cuda. Compiled
 * with ORACLE_DEVICES these two are 1, and --seconds 10. --narrow: all kinds
 * are at gates, each of which lets so many workers run their bodies.
 * --substitutes: so many workers more, which run for those that rest in
 * joins. --orders: each program runs in so many orders instead, each in a
 * runtime of its own with option order; --order: in that one. Kernels end when
 * their devices say, so with devices an order may not repeat itself.
 */
#include "tests/oracle/data_device.h"
#include "tests/oracle/drop.h"
#include "tests/oracle/options.h"
#include "tests/oracle/outcome.h"
#include "tests/oracle/shrink.h"
#include "tests/tap.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#ifdef ORACLE_DEVICES
#define DEVICES D_EMULATED
#define DATA 1
#define SHARE 4 /* of the programs */
#define SECONDS 10 /* at most */
#else
#define DEVICES D_NO_DEVICES
#define DATA (-1)
#define SHARE 1
#define SECONDS 0
#endif

/* With a sanitizer each takes several times as long. */
#if defined(__SANITIZE_THREAD__)
#define PROGRAMS (1600 / SHARE)
#elif defined(__SANITIZE_ADDRESS__)
#define PROGRAMS (4000 / SHARE)
#else
#define PROGRAMS (10000 / SHARE)
#endif

/* Fewer may have no run that goes solo, which is a matter of times. */
#define WAYS_PROGRAMS 2500

#define BATCHES 10

static struct {
	uint64_t seed; /* the program that runs now */
	int workers;
	uint32_t order; /* of option order; 0: none */
	const struct program *p; /* or */
	const struct d_program *data;
} at;

static bool has_opencl = true;

/* Of all runtimes with workers. */
static struct {
	uint64_t programs, is_static, is_solo, kernels;
} ran;

/* What the program that runs now has left in parallel and in serial mode. */
static struct outcome outcome[2];

/* The options that repeat it. */
static void print_options(const char *how)
{
	if (at.order)
		printf("# %s in an order; --seed %llu --order %u\n", how,
		       (unsigned long long)at.seed, at.order);
	else
		printf("# %s with %d workers; --seed %llu --workers %d "
		       "--repeat 1000\n",
		       how, at.workers, (unsigned long long)at.seed,
		       at.workers);
}

static void print_program(void)
{
	if (at.data)
		d_program_print(at.data);
	else
		program_print(at.p);
}

/* Between programs only; a program that hangs ends all. */
static void on_alarm(int sig)
{
	(void)sig;
	if (watchdog_waits())
		return;
	printf("not ok %d - program of seed %llu ends\n", ++tap_nr,
	       (unsigned long long)at.seed);
	print_options("hangs");
	print_program();
	if (at.data)
		d_print_missing();
	printf("%s1..%d\n", wrong_text(), tap_nr);
	fflush(stdout);
	signal(SIGALRM, SIG_DFL);
	alarm(HANG_TELLS_S);
	hang_tell();
	_exit(1);
}

static void on_log(void *u, int level, const char *text)
{
	(void)u;
	(void)level;
	if (strstr(text, "not put"))
		wrong(NULL, "%s", text);
}

static int open_runtime(int workers, const struct options *o, struct lkdf **out)
{
	const char *options;
	char text[128];
	size_t used;
	int rc;

	/*
	 * From 2 workers on, a machine of two nodes: programs have places. With
	 * one, runs go by their static order as soon as they can.
	 */
	if (workers)
		snprintf(text, sizeof(text), "workers=%d%s", workers,
			 workers > 1 ? ",topology=numa:2 core:4"
				     : ",static_runs=1");
	else
		snprintf(text, sizeof(text), "serial=yes");
	used = strlen(text);
	if (o->narrow)
		snprintf(text + used, sizeof(text) - used,
			 ",narrow=force,narrow_cap=%u", o->narrow);
	used = strlen(text);
	if (o->substitutes)
		snprintf(text + used, sizeof(text) - used, ",substitutes=%u",
			 o->substitutes);
	options = o->devices == D_OPENCL ? d_driver_options(text) : text;
	rc = lkdf_open_with(
		ATTR(lkdf_open_attr, .options = options, .log = on_log), out);
	if (!rc && o->devices && !d_devices_open(*out, o->devices))
		has_opencl = false;
	return rc;
}

static void tell_runs(struct lkdf *rt, int workers)
{
	uint64_t nr = 0, is_static = 0, is_solo = 0, kernels = 0;

	lkdf_stat(rt, "lkdf.runs", &nr);
	lkdf_stat(rt, "lkdf.runs.static", &is_static);
	lkdf_stat(rt, "lkdf.runs.solo", &is_solo);
	lkdf_stat(rt, "lkdf.device.kernels", &kernels);
	ran.is_static += is_static;
	ran.is_solo += is_solo;
	ran.kernels += kernels;
	printf("# %d workers: %llu runs, %llu by their static order, %llu "
	       "solo\n",
	       workers, (unsigned long long)nr, (unsigned long long)is_static,
	       (unsigned long long)is_solo);
}

/* Did runs go by all the ways that they may go, beside kernels? */
static void check_ways(const struct options *o)
{
	const char *how = "runs beside kernels went solo, and by their static "
			  "order";

	if (o->devices != D_EMULATED || o->has_seed || o->orders)
		return;
	if (ran.programs < WAYS_PROGRAMS) {
		skip(how, "too few programs");
		return;
	}
	ok(ran.is_solo && ran.is_static && ran.kernels, "%s", how);
}

static void tell(void)
{
	print_program();
	print_options("fails");
	printf("%s", wrong_text());
}

static bool try_in(struct lkdf *rt, int workers, const struct program *p,
		   const struct options *o, struct outcome *to)
{
	bool good;

	at.workers = workers;
	watchdog_set(o->watchdog);
	good = world_try(rt, workers, p, o->compares ? to : NULL);
	watchdog_set(0);
	return good;
}

/* NULL: without what is dropped it means nothing. */
static struct d_program *make_data(const struct options *o, uint64_t seed)
{
	struct d_program *p = d_program_create(seed, o->tasks, o->devices);
	bool *is_dropped, has_meaning = true;

	if (o->drop) {
		is_dropped = shrink_parse(o->drop, d_program_nr_parts(p));
		has_meaning = d_program_drop(p, is_dropped);
		free(is_dropped);
	}
	if (has_meaning)
		return p;
	d_program_destroy(p);
	return NULL;
}

static void make_program(struct program *p, const struct options *o,
			 uint64_t seed)
{
	bool *is_dropped;

	program_create(p, seed, o->tasks);
	if (o->drop) {
		is_dropped = shrink_parse(o->drop, program_nr_parts(p));
		program_drop(p, is_dropped);
		free(is_dropped);
	}
	if (at.order)
		program_of_one_thread(p);
}

/* rt[0] is in serial mode. */
static bool try_data(struct lkdf **rt, const struct options *o, uint64_t seed,
		     uint32_t r)
{
	struct d_program *p = make_data(o, seed);
	bool good;

	if (!p)
		return true;
	at.seed = seed;
	at.data = p;
	at.workers = o->workers[r];
	watchdog_set(o->watchdog);
	good = d_world_try(rt[r + 1], p);
	if (good && at.workers && o->compares)
		good = d_world_try(rt[0], p);
	watchdog_set(0);
	if (!good)
		tell();
	d_program_destroy(p);
	at.data = NULL;
	wrong_reset();
	return good;
}

/* The same for a program without data. */
static bool try_one(struct lkdf **rt, const struct options *o, uint64_t seed,
		    uint32_t r)
{
	int workers = o->workers[r];
	struct program p;
	bool good;

	make_program(&p, o, seed);
	at.seed = seed;
	at.p = &p;
	good = try_in(rt[r + 1], workers, &p, o, &outcome[0]);
	if (good && workers && o->compares)
		good = try_in(rt[0], 0, &p, o, &outcome[1]) &&
		       outcome_same(&outcome[0], &outcome[1]);
	if (!good)
		tell();
	outcome_reset(&outcome[0]);
	outcome_reset(&outcome[1]);
	program_destroy(&p);
	wrong_reset();
	return good;
}

/* Alone in a runtime, so that the order does not depend on what ran before. */
static bool try_order(const struct options *o, uint64_t seed, uint32_t order)
{
	struct options serial = *o;
	struct lkdf *rt[2] = { NULL, NULL };
	char text[32];
	bool good;

	serial.workers[0] = 0;
	at.order = order;
	snprintf(text, sizeof(text), "order=%u", order);
	if (lkdf_open_with(ATTR(lkdf_open_attr, .options = text, .log = on_log),
			   &rt[1])) {
		wrong(NULL, "%s: %s", text, lkdf_errmsg());
		return false;
	}
	if (o->devices)
		d_devices_open(rt[1], o->devices);
	good = seed_has_data(seed) ? try_data(rt, &serial, seed, 0)
				   : try_one(rt, &serial, seed, 0);
	good = !lkdf_close(rt[1]) && good;
	if (o->devices)
		d_devices_close();
	return good;
}

/* The orders of one program are chosen by its seed. */
static bool try_orders(const struct options *o, uint64_t seed)
{
	bool good = true;
	uint32_t i;

	if (o->order)
		good = try_order(o, seed, o->order);
	for (i = 0; i < o->orders && good; i++)
		good = try_order(o, seed,
				 1 + (uint32_t)(mix(seed + i) % 1000000));
	return good;
}

static int64_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* The first runtimes take most of the programs, those after 3 a few. */
static uint32_t choose(const struct options *o, uint64_t i)
{
	if (o->nr_workers > 3 && i % 16 == 0)
		return 3 + (uint32_t)(i / 16 % (o->nr_workers - 3));
	return (uint32_t)(i % (o->nr_workers < 3 ? o->nr_workers : 3));
}

static uint64_t choose_seed(const struct options *o, uint64_t i)
{
	uint64_t seed = o->has_seed ? o->seed : mix(o->base + i);

	while (!o->has_seed && o->data >= 0 && seed_has_data(seed) != o->data)
		seed = mix(seed);
	return seed;
}

static bool try_program(struct lkdf **rt, const struct options *o,
			uint64_t seed, uint64_t i)
{
	uint32_t r;

	if (o->orders || o->order)
		return try_orders(o, seed);
	r = choose(o, i);
	return seed_has_data(seed) ? try_data(rt, o, seed, r)
				   : try_one(rt, o, seed, r);
}

static void run_all(struct lkdf **rt, const struct options *o)
{
	uint64_t i, nr = o->has_seed ? o->repeat : o->programs, seed;
	int64_t end = now_s() + o->seconds;
	uint64_t nr_batch = 0, nr_bad = 0;

	for (i = 0; i < nr && !nr_bad; i++) {
		seed = choose_seed(o, i);
		nr_bad += !try_program(rt, o, seed, i);
		nr_batch++;
		ran.programs++;
		if (isatty(2) && i % 256 == 0)
			fprintf(stderr, "\r%llu ", (unsigned long long)i);
		if (o->seconds && now_s() >= end)
			nr = i + 1;
		if (nr_batch < o->programs / BATCHES && i + 1 < nr && !nr_bad)
			continue;
		ok(!nr_bad, "%llu programs do what the model does",
		   (unsigned long long)nr_batch);
		nr_batch = 0;
	}
}

/* False: there is nothing to do, as was said. */
static bool open_all(const struct options *o, struct lkdf **rt)
{
	uint32_t r;

	if (o->devices == D_OPENCL)
		d_opencl_begin();
	if (!is(open_runtime(0, o, &rt[0]), 0,
		"a runtime opens in serial mode"))
		return false;
	if (!has_opencl) {
		skip("programs on a driver's devices", "it has none");
		is(lkdf_close(rt[0]), 0, "it closes in serial mode");
		return false;
	}
	for (r = 0; r < o->nr_workers; r++) {
		if (!is(open_runtime(o->workers[r], o, &rt[r + 1]), 0,
			"a runtime opens with %d workers", o->workers[r]))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = {
		.programs = PROGRAMS,
		.base = base_seed(),
		.tasks = UINT32_MAX,
		.repeat = 1,
		.seconds = SECONDS,
		.watchdog = 20,
		.workers = { 1, 2, 4, 8, 0, 3, 7 },
		.nr_workers = 7,
		.compares = true,
		.data = DATA,
		.devices = DEVICES,
	};
	struct lkdf *rt[MAX_RUNTIMES + 1];
	uint32_t r;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i < argc; i += 2) {
		if (i + 1 < argc && options_parse(&o, argv[i], argv[i + 1]))
			continue;
		fprintf(stderr, "oracle: unknown option %s\n", argv[i]);
		return 2;
	}
	if (o.orders || o.order) {
		/* Those of drivers cost a second in each runtime. */
		if (o.devices == D_OPENCL)
			o.devices = D_EMULATED;
		o.nr_workers = 0;
	}
	if (o.shrinks)
		return options_shrink(&o, argv[0]);
	signal(SIGALRM, on_alarm);
	if (!open_all(&o, rt))
		return tap_end();
	signaller_start();
	printf("# base seed %llu\n", (unsigned long long)o.base);
	run_all(rt, &o);
	signaller_stop();
	for (r = 0; r < o.nr_workers; r++)
		tell_runs(rt[r + 1], o.workers[r]);
	check_ways(&o);
	d_devices_leave();
	for (r = 0; r < o.nr_workers; r++)
		is(lkdf_close(rt[r + 1]), 0, "it closes with %d workers",
		   o.workers[r]);
	is(lkdf_close(rt[0]), 0, "it closes in serial mode");
	d_devices_check();
	outcome_free(&outcome[0]);
	outcome_free(&outcome[1]);
	if (!ok(!wrong_text()[0], "every object was put"))
		printf("%s", wrong_text());
	return tap_end();
}
