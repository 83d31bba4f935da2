/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The request of a kernel of a sealed graph is made once for each frame: each
 * run gives the device the same one, with what has changed between the runs.
 * The device is one of this file, which does all at once and keeps order.
 */
#include "tests/api/api.h"

#include <lkdf/device.h>

#define NR 12 /* kernels of a chain */
#define RUNS 5

struct log {
	const struct lkdf_launch *launch[NR]; /* by kernel, of the last run */
	uint64_t range[NR], value[NR];
	atomic_uint nr; /* launches */
	int fails_at; /* that launch is refused; -1: none */
};

struct value {
	uint64_t range[3], index, value;
};

static int get_info(void *dev, struct lkdf_device_info *out)
{
	(void)dev;
	strcpy(out->name, "log");
	return 0;
}

static int launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		  struct lkdf_device_op op)
{
	struct log *log = dev;
	struct value v;
	int nr = (int)atomic_fetch_add(&log->nr, 1);

	(void)queue;
	if (nr == log->fails_at)
		return -EIO;
	/* Behind the use, if there is one. */
	memcpy(&v, l->arg[l->nr_arg - 1].value, sizeof(v));
	log->launch[v.index] = l;
	log->range[v.index] = l->range[0];
	log->value[v.index] = v.value;
	return lkdf_device_done(op, 0);
}

static void stop(void *dev)
{
	(void)dev;
}

static struct lkdf_place *add_device(struct lkdf *rt, struct log *log)
{
	const struct lkdf_device_ops ops = {
		.size = sizeof(ops),
		.flags = LKDF_DEVICE_HOST_MEMORY | LKDF_DEVICE_ORDERED |
			 LKDF_DEVICE_RANGES,
		.name = "log",
		.info = get_info,
		.launch = launch,
		.stop = stop,
	};
	struct lkdf_place *p = NULL;

	memset(log, 0, sizeof(*log));
	log->fails_at = -1;
	must(lkdf_place_register(rt, &ops, log, &p));
	return p;
}

/* A chain, whose arguments are read where they are when a run begins. */
static struct lkdf_graph *make_chain(struct lkdf *rt, struct lkdf_place *p,
				     struct lkdf_data *d, struct value *v)
{
	static int function;
	const struct lkdf_code code = { .device = "log",
					.function = &function };
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE },
		{ .from = LKDF_PARAM_TASK, .bytes = sizeof(*v) },
	};
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_kind *k = NULL;
	uint64_t i;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "step",
					      .flags = LKDF_SHARED),
			    .code = &code, .nr_code = 1, .param = param,
			    .nr_param = 2, .range_from = LKDF_RANGE_TASK),
		&k));
	for (i = 0; i < NR; i++) {
		v[i] = (struct value){ { 8, 1, 1 }, i, 0 };
		must(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .arg = &v[i],
						      .place = p, .use = &use,
						      .nr_use = 1)));
	}
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	return g;
}

static struct lkdf_data *make_data(struct lkdf *rt)
{
	struct lkdf_data *d = NULL;
	uint64_t zero[8] = { 0 };

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(zero), .init = zero),
		&d));
	return d;
}

static bool are_distinct(const struct log *log)
{
	int i, j;

	for (i = 0; i < NR; i++)
		for (j = 0; j < i; j++)
			if (log->launch[i] == log->launch[j])
				return false;
	return true;
}

static int nr_others(const struct log *log, const struct log *before)
{
	int i, nr = 0;

	for (i = 0; i < NR; i++)
		nr += log->launch[i] != before->launch[i];
	return nr;
}

/* Arguments and ranges of kernel i that are not those of the run. */
static int nr_wrong(const struct log *log, uint64_t range, uint64_t value)
{
	int i, nr = 0;

	for (i = 0; i < NR; i++)
		nr += log->range[i] != range || log->value[i] != value;
	return nr;
}

/* Two frames take runs in turns. */
static void each_run_has_the_same_requests(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct log log, before[2];
	struct lkdf_place *p = add_device(rt, &log);
	struct lkdf_data *d = make_data(rt);
	struct value v[NR];
	struct lkdf_graph *g = make_chain(rt, p, d, v);
	int i, j, wrong = 0, others = 0;

	for (i = 0; i < RUNS; i++) {
		for (j = 0; j < NR; j++)
			v[j].value = (uint64_t)i;
		must(api_run(g, NULL, NULL));
		wrong += nr_wrong(&log, 8, (uint64_t)i);
		/* The first kernel has a task of its own in each run. */
		if (i >= 2)
			others += nr_others(&log, &before[i % 2]);
		before[i % 2] = log;
	}
	ok(are_distinct(&log), "%s: each kernel has a request of its own",
	   options);
	is(others, 0, "%s: which each run of the frame gives again", options);
	is(wrong, 0, "%s: with the argument of the run", options);
	for (j = 0; j < NR; j++)
		v[j].range[0] = 5;
	must(api_run(g, NULL, NULL));
	is(nr_wrong(&log, 5, RUNS - 1), 0, "%s: another range is seen",
	   options);
	v[3].range[0] = 0;
	atomic_store(&log.nr, 0);
	for (i = 0; i < 4; i++)
		must(api_run(g, NULL, NULL));
	is(atomic_load(&log.nr), 4 * (NR - 1),
	   "%s: and an empty one, which is not launched", options);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	is(lkdf_close(rt), 0, "%s: close", options);
}

/* A request that has failed is as good as new. */
static void a_run_after_an_error_is_whole(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct log log;
	struct lkdf_place *p = add_device(rt, &log);
	struct lkdf_data *d = make_data(rt);
	struct value v[NR];
	struct lkdf_graph *g = make_chain(rt, p, d, v);
	int i, failed = 0, wrong = 0;

	for (i = 0; i < 2 * NR; i++) {
		/* Else it has the error of the run before. */
		must(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL));
		must(lkdf_data_release(d));
		atomic_store(&log.nr, 0);
		log.fails_at = i % 2 ? i / 2 : -1;
		failed += api_run(g, NULL, NULL) == -EIO;
		if (!(i % 2))
			wrong += nr_wrong(&log, 8, 0) ||
				 atomic_load(&log.nr) != NR;
	}
	is(failed, NR, "%s: a launch that is refused fails the run", options);
	is(wrong, 0, "%s: the next run is whole", options);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	is(lkdf_close(rt), 0, "%s: close", options);
}

int main(void)
{
	static const char *const options[] = { "workers=2", "workers=1",
					       "serial=yes" };
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		each_run_has_the_same_requests(options[i]);
		a_run_after_an_error_is_whole(options[i]);
	}
	return tap_end();
}
