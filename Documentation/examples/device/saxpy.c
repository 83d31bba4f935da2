/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device of one's own, complete: memory that the host does not use, a thread
 * for each queue, and kernels that are C functions. A driver of a real card has
 * the same functions, with the calls of the card's library in them.
 *
 * The program runs y = a x + y on the device, between a body on a CPU that
 * fills x and one that adds up y.
 *
 *   cc saxpy.c -llkdf -lpthread -o saxpy
 *
 * Prints:
 *   toy: 2 queues, 16 MiB
 *   sum of 1000 elements: 2498500, right
 */
#include <lkdf/device.h>
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR 1000
#define NR_QUEUES 4 /* upload, fetch, and two for kernels */
#define MEMORY (16 << 20)

/* ---- the device --------------------------------------------------------- */

typedef void (*toy_kernel)(const struct lkdf_launch *l);

/* A command: a copy, or a kernel with its arguments. */
struct command {
	struct command *next;
	struct lkdf_device_op op;
	struct lkdf_transfer copy;
	int to_host;
	struct lkdf_launch launch;
	struct lkdf_arg arg[LKDF_MAX_PARAMS];
	char value[LKDF_MAX_PARAMS][16];
};

struct queue {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct command *first, **last;
	int is_stopping;
};

struct toy {
	struct queue queue[NR_QUEUES];
	unsigned nr_started;
};

static void run_command(struct command *c)
{
	char *there = (char *)c->copy.device_ptr + c->copy.offset;

	if (c->launch.size)
		((toy_kernel)c->launch.function)(&c->launch);
	else if (c->to_host)
		memcpy(c->copy.host, there, c->copy.bytes);
	else
		memcpy(there, c->copy.host, c->copy.bytes);
}

static void *queue_main(void *arg)
{
	struct queue *q = arg;
	struct command *c;

	pthread_mutex_lock(&q->lock);
	while (q->first || !q->is_stopping) {
		c = q->first;
		if (!c) {
			pthread_cond_wait(&q->wake, &q->lock);
			continue;
		}
		q->first = c->next;
		if (!q->first)
			q->last = &q->first;
		pthread_mutex_unlock(&q->lock);
		run_command(c);
		lkdf_device_done(c->op, 0);
		free(c);
		pthread_mutex_lock(&q->lock);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static int push(struct toy *t, unsigned queue, struct command *c)
{
	struct queue *q = &t->queue[queue];

	pthread_mutex_lock(&q->lock);
	*q->last = c;
	q->last = &c->next;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int toy_info(void *dev, struct lkdf_device_info *out)
{
	(void)dev;
	strcpy(out->name, "toy");
	out->memory = MEMORY;
	out->nr_queues = NR_QUEUES - 2;
	return 0;
}

static int toy_start(void *dev, unsigned nr_queues)
{
	struct toy *t = dev;
	struct queue *q;
	int rc;

	while (t->nr_started < nr_queues) {
		q = &t->queue[t->nr_started];
		pthread_mutex_init(&q->lock, NULL);
		pthread_cond_init(&q->wake, NULL);
		q->last = &q->first;
		rc = pthread_create(&q->thread, NULL, queue_main, q);
		if (rc)
			return -rc;
		t->nr_started++;
	}
	return 0;
}

static void toy_stop(void *dev)
{
	struct toy *t = dev;
	struct queue *q;
	unsigned i;

	for (i = 0; i < t->nr_started; i++) {
		q = &t->queue[i];
		pthread_mutex_lock(&q->lock);
		q->is_stopping = 1;
		pthread_cond_signal(&q->wake);
		pthread_mutex_unlock(&q->lock);
		pthread_join(q->thread, NULL);
	}
}

static int toy_alloc(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
		     uint64_t align, void **device_ptr)
{
	(void)dev;
	(void)mem;
	*device_ptr = aligned_alloc(align, (bytes + align - 1) / align * align);
	return *device_ptr ? 0 : -12; /* ENOMEM */
}

static void toy_free(void *dev, void *device_ptr)
{
	(void)dev;
	free(device_ptr);
}

static int copy(struct toy *t, unsigned queue, const struct lkdf_transfer *tr,
		struct lkdf_device_op op, int to_host)
{
	struct command *c = calloc(1, sizeof(*c));

	if (!c)
		return -12;
	c->op = op;
	c->copy = *tr;
	c->to_host = to_host;
	return push(t, queue, c);
}

static int toy_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		      struct lkdf_device_op op)
{
	return copy(dev, queue, t, op, 0);
}

static int toy_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
		     struct lkdf_device_op op)
{
	return copy(dev, queue, t, op, 1);
}

/* Arguments are the library's when the call has returned: copies are ours. */
static int toy_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		      struct lkdf_device_op op)
{
	struct command *c = calloc(1, sizeof(*c));
	unsigned i;

	if (!c)
		return -12;
	c->op = op;
	c->launch = *l;
	c->launch.arg = c->arg;
	for (i = 0; i < l->nr_arg; i++) {
		c->arg[i] = l->arg[i];
		if (l->arg[i].sort != LKDF_ARG_BYTES)
			continue;
		memcpy(c->value[i], l->arg[i].value, l->arg[i].bytes);
		c->arg[i].value = c->value[i];
	}
	return push(dev, queue, c);
}

static const struct lkdf_device_ops toy_ops = {
	.size = sizeof(toy_ops),
	.flags = LKDF_DEVICE_RANGES,
	.name = "toy",
	.info = toy_info,
	.start = toy_start,
	.stop = toy_stop,
	.alloc = toy_alloc,
	.free = toy_free,
	.upload = toy_upload,
	.fetch = toy_fetch,
	.launch = toy_launch,
};

/* ---- the program -------------------------------------------------------- */

/* y = a x + y: parameters are x, y, a. */
static void saxpy(const struct lkdf_launch *l)
{
	const float *x = l->arg[0].value;
	float *y = (float *)l->arg[1].value, a;
	uint64_t i;

	memcpy(&a, l->arg[2].value, sizeof(a));
	for (i = 0; i < l->range[0]; i++)
		y[i] += a * x[i];
}

static int fill(struct lkdf_ctx *c, void *arg)
{
	float *x = lkdf_ptr(c, 0), *y = lkdf_ptr(c, 1);
	int i;

	(void)arg;
	for (i = 0; i < NR; i++) {
		x[i] = (float)i;
		y[i] = 1000;
	}
	return 0;
}

static int add_up(struct lkdf_ctx *c, void *arg)
{
	const float *y = lkdf_ptr(c, 0);
	double sum = 0;
	int i;

	(void)arg;
	for (i = 0; i < NR; i++)
		sum += y[i];
	printf("sum of %d elements: %.0f, %s\n", NR, sum,
	       sum == NR * 1000.0 + 3 * (NR - 1) * NR / 2.0 ? "right"
							    : "wrong");
	return 0;
}

/* Ends the program with the reason if a call has failed. */
static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "saxpy: %s\n", lkdf_errmsg());
	exit(1);
}

static struct lkdf_data *floats(struct lkdf *rt)
{
	struct lkdf_data *d;

	must(lkdf_data_create(
		rt, LKDF_ATTR(lkdf_data_attr, .bytes = NR * sizeof(float)),
		&d));
	return d;
}

int main(void)
{
	const struct lkdf_code code = { .device = "toy",
					.function = (void *)saxpy };
	struct lkdf_device_info info = { .size = sizeof(info) };
	struct lkdf_kind *fills, *sums, *kernel;
	const float a = 3;
	static struct toy toy;
	struct lkdf_place *place;
	struct lkdf_data *x, *y;
	struct lkdf *rt;

	must(lkdf_open(NULL, &rt));
	must(lkdf_place_register(rt, &toy_ops, &toy, &place));
	must(lkdf_place_info(place, &info));
	printf("%s: %u queues, %u MiB\n", info.name, info.nr_queues,
	       (unsigned)(info.memory >> 20));
	must(lkdf_kind_create(rt, LKDF_KIND(.name = "fill", .fn = fill),
			      &fills));
	must(lkdf_kind_create(rt, LKDF_KIND(.name = "sum", .fn = add_up),
			      &sums));
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "saxpy",
					      .arg_size = sizeof(a)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { NR, 1, 1 }),
		&kernel));
	x = floats(rt);
	y = floats(rt);
	const struct lkdf_use written[] = { { x, LKDF_WRITE, 0 },
					    { y, LKDF_WRITE, 0 } };
	const struct lkdf_use run[] = { { x, LKDF_READ, 0 },
					{ y, LKDF_RW, 0 } };
	const struct lkdf_use read = { y, LKDF_READ, 0 };

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = fills, .use = written, .nr_use = 2),
			 NULL));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = kernel, .arg = &a, .use = run,
				   .nr_use = 2, .place = place),
			 NULL));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = sums, .use = &read, .nr_use = 1),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(fills);
	lkdf_kind_put(sums);
	lkdf_kind_put(kernel);
	must(lkdf_close(rt));
	return 0;
}
