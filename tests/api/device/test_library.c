/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Handles of the program's libraries: each queue of a device has one of its
 * own, made by the first work that asks, kept for all later work of that queue,
 * and destroyed when the runtime closes. What cannot be made fails its task.
 */
#include "tests/api/device/device.h"

#define NR_QUEUES 3
#define NR_TASKS 24

/* A library of the program's; each handle has the queue that it is for. */
struct handle {
	void *queue;
	unsigned nr_used;
};

static struct lib {
	struct handle handle[8];
	unsigned nr_made, nr_destroyed;
	int error;
} lib;

static atomic_uint nr_wrong;
static int number, other;

static int make_handle(void *u, void *queue, void **handle)
{
	struct lib *l = u;

	if (l->error)
		return l->error;
	l->handle[l->nr_made].queue = queue;
	*handle = &l->handle[l->nr_made++];
	return 0;
}

static void destroy_handle(void *u, void *handle)
{
	struct lib *l = u;
	struct handle *h = handle;

	nr_wrong += !h->nr_used;
	l->nr_destroyed++;
}

static int use_handle(struct lkdf_ctx *c, void *arg, void *queue)
{
	void *handle = NULL, *again = NULL;
	struct handle *h;
	int rc = lkdf_library(c, number, &handle);

	(void)arg;
	if (rc)
		return rc;
	h = handle;
	nr_wrong += h->queue != queue;
	nr_wrong += lkdf_library(c, number, &again) || again != handle;
	nr_wrong += lkdf_library(c, other + 1, &again) != -EINVAL;
	h->nr_used++;
	return 0;
}

static int body_without(struct lkdf_ctx *c, void *arg)
{
	void *handle = NULL;

	(void)arg;
	return lkdf_library(c, number, &handle);
}

static struct lkdf_kind *enqueue_kind(struct lkdf *rt)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "use"),
			    .enqueue = use_handle),
		&k));
	return k;
}

static int call(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	return lkdf_event_wait(done, -1);
}

static void refusals(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_library_attr a = { .size = sizeof(a),
				       .create = make_handle };
	struct lkdf_kind *k = api_kind(rt, "body", body_without, 0, 0);

	is(lkdf_place_library(NULL, &a), -EINVAL, "no place");
	is(lkdf_place_library(p, NULL), -EINVAL, "no attributes");
	a.create = NULL;
	is(lkdf_place_library(p, &a), -EINVAL, "no create");
	a.create = make_handle;
	a.flags = 1;
	is(lkdf_place_library(p, &a), -EINVAL, "unknown flags");
	is(call(rt, k, NULL), -EINVAL, "a body has no handles");
	has(lkdf_errmsg(), "enqueue()", "the text says who has");
	lkdf_kind_put(k);
}

static void each_queue_has_a_handle(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_library_attr a = { .size = sizeof(a),
				       .name = "blas",
				       .create = make_handle,
				       .destroy = destroy_handle,
				       .u = &lib };
	struct lkdf_place *p = NULL;
	struct lkdf_kind *k;
	struct emu e;
	unsigned i;

	memset((void *)&lib, 0, sizeof(lib));
	nr_wrong = 0;
	emu_init(&e, 0, device_kernels);
	e.nr_queues = NR_QUEUES;
	p = emu_register(rt, &e);
	refusals(rt, p);
	number = lkdf_place_library(p, &a);
	ok(number >= 0, "%s: a library", options);
	other = lkdf_place_library(p, &a);
	is(other, number + 1, "and another one");
	k = enqueue_kind(rt);
	lib.error = -EACCES;
	is(call(rt, k, p), -EACCES,
	   "a handle that cannot be made: the task "
	   "fails");
	has(lkdf_errmsg(), "blas", "and says which library");
	is(lib.nr_made, 0, "none was made");
	lib.error = 0;
	for (i = 0; i < NR_TASKS; i++)
		is(call(rt, k, p), 0, "a task that uses its handle");
	is(lib.nr_made, NR_QUEUES, "each queue has one");
	is(lib.nr_destroyed, 0, "all are there");
	lkdf_kind_put(k);
	is(device_close(rt), 0, "the runtime closes");
	is(lib.nr_destroyed, NR_QUEUES, "and they are destroyed");
	is(nr_wrong, 0, "each was that of its queue");
	emu_check(&e, options);
}

int main(void)
{
	tap_start(60);
	each_queue_has_a_handle("workers=2");
	each_queue_has_a_handle("serial=yes");
	return tap_end();
}
