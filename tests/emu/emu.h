/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An emulated device, by the public header only: queues with seeded order
 * (queues.h), and memory of its own that faults where the host touches it.
 * Kernels are functions that get the same bytes at another address.
 *
 * Each entry can be told to fail, each command to be held back, and the whole
 * device to be lost.
 */
#ifndef TESTS_EMU_EMU_H
#define TESTS_EMU_EMU_H

#include "tests/emu/queues.h"

#include <sys/mman.h>

static int emu_info(void *dev, struct lkdf_device_info *out)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_INFO);

	*out = e->info;
	out->size = sizeof(*out);
	out->node = -1;
	out->nr_queues = e->nr_queues;
	out->queue_copy_bytes = e->flags & EMU_TOGETHER ? EMU_COPY_BYTES : 0;
	out->memory = e->flags & EMU_OWN ? e->memory : 0;
	snprintf(out->name, sizeof(out->name), "emulated");
	return emu_leave(e, rc);
}

static void emu_map(struct emu *e)
{
	int fd = memfd_create("emu", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)e->memory))
		abort();
	e->base = mmap(NULL, e->memory, PROT_NONE, MAP_SHARED, fd, 0);
	e->alias = mmap(NULL, e->memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);
	if (e->base == MAP_FAILED || e->alias == MAP_FAILED)
		abort();
	close(fd);
}

static int emu_start(void *dev, unsigned nr_queues)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_START);
	unsigned i;

	if (rc)
		return emu_leave(e, rc);
	if (e->flags & EMU_OWN)
		emu_map(e);
	e->nr_threads = nr_queues < EMU_QUEUES ? nr_queues : EMU_QUEUES;
	for (i = 0; i < e->nr_threads; i++) {
		e->queue[i].e = e;
		e->queue[i].seed = e->seed + i;
		e->queue[i].is_ordered = e->flags & EMU_ORDERED && i >= 2;
		if (pthread_create(&e->queue[i].thread, NULL, emu_thread,
				   &e->queue[i]))
			abort();
		/* Else they have the launcher's name. */
		pthread_setname_np(e->queue[i].thread, "emu");
	}
	return emu_leave(e, 0);
}

static void emu_stop(void *dev)
{
	struct emu *e = dev;
	struct emu_command *c;
	unsigned i;

	emu_enter(e, EMU_STOP);
	pthread_mutex_lock(&e->lock);
	e->is_stopping = true;
	pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->lock);
	for (i = 0; i < e->nr_threads; i++)
		pthread_join(e->queue[i].thread, NULL);
	while ((c = e->done)) {
		e->done = c->next;
		free(c);
	}
	if (e->base) {
		munmap(e->base, e->memory);
		munmap(e->alias, e->memory);
	}
	emu_leave(e, 0);
}

/* Behind what lies before it. */
static uint64_t emu_align(uint64_t at, uint64_t align)
{
	align = align > EMU_GRAIN ? align : EMU_GRAIN;
	return (at + align - 1) / align * align;
}

static int emu_managed(struct emu *e, uint64_t bytes, void **device_ptr)
{
	*device_ptr = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	e->nr_managed++;
	return emu_leave(e, 0);
}

/* The first gap; blocks lie in order. */
static int emu_alloc(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
		     uint64_t align, void **device_ptr)
{
	struct emu *e = dev;
	uint64_t at = 0;
	unsigned i;
	int rc = emu_enter(e, EMU_ALLOC);

	if (!rc && mem == LKDF_MEM_MANAGED && e->flags & EMU_MANAGED)
		return emu_managed(e, bytes, device_ptr);
	if ((mem != LKDF_MEM_OWN && !rc) || align > 4096)
		abort();
	bytes = (bytes + EMU_GRAIN - 1) / EMU_GRAIN * EMU_GRAIN;
	for (i = 0; i < e->nr_blocks && at + bytes > e->block[i].at; i++)
		at = emu_align(e->block[i].at + e->block[i].bytes, align);
	if (!rc && (at + bytes > e->memory || e->nr_blocks == EMU_BLOCKS))
		rc = -ENOMEM;
	if (rc)
		return emu_leave(e, rc);
	memmove(&e->block[i + 1], &e->block[i],
		(e->nr_blocks++ - i) * sizeof(e->block[0]));
	e->block[i].at = at;
	e->block[i].bytes = bytes;
	memset(e->alias + at, 0xa5, bytes);
	*device_ptr = e->base + at;
	return emu_leave(e, 0);
}

/* As drivers do: until nothing runs, and nothing is launched meanwhile. */
static void emu_wait(struct emu *e)
{
	pthread_mutex_lock(&e->lock);
	if (e->nr_busy)
		atomic_fetch_add(&e->nr_waited, 1);
	while (e->nr_busy)
		pthread_cond_wait(&e->wake, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static void emu_free(void *dev, void *device_ptr)
{
	struct emu *e = dev;
	uint64_t at = (uint64_t)((char *)device_ptr - e->base);
	unsigned i;

	emu_enter(e, EMU_FREE);
	if (e->flags & EMU_WAITS)
		emu_wait(e);
	if (at >= e->memory) {
		free(device_ptr);
		e->nr_managed--;
		emu_leave(e, 0);
		return;
	}
	for (i = 0; i < e->nr_blocks && e->block[i].at != at; i++)
		;
	if (i == e->nr_blocks)
		abort();
	memmove(&e->block[i], &e->block[i + 1],
		(--e->nr_blocks - i) * sizeof(e->block[0]));
	emu_leave(e, 0);
}

static int emu_find(struct emu *e, const struct lkdf_code *c, void **function,
		    char *log, uint32_t log_size)
{
	const struct emu_kernel *k = e->kernels;
	const char *name = c->entry ? c->entry : c->image;

	while (k && k->name && strcmp(k->name, name))
		k++;
	if (!k || !k->name) {
		snprintf(log, log_size, "1:1: error: no kernel %s", name);
		return -ENOEXEC;
	}
	*function = (void *)(uintptr_t)k;
	return 0;
}

static int emu_build(void *dev, const struct lkdf_code *c,
		     const struct lkdf_launch *like, void **function, char *log,
		     uint32_t log_size)
{
	struct emu *e = dev;
	bool is_aside = e->flags & EMU_BUILDS;
	int rc = is_aside ? emu_count(e, EMU_BUILD) : emu_enter(e, EMU_BUILD);

	(void)like;
	while (atomic_load(&e->build_is_held))
		api_nap_ns(50000);
	if (!rc)
		rc = emu_find(e, c, function, log, log_size);
	return is_aside ? rc : emu_leave(e, rc);
}

static void emu_drop(void *dev, void *function)
{
	struct emu *e = dev;

	(void)function;
	emu_enter(e, EMU_DROP);
	emu_leave(e, 0);
}

static void emu_copy(struct emu *e, struct emu_command *c)
{
	(void)e;
	memcpy(c->to, c->from, c->bytes);
}

static int emu_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		      struct lkdf_device_op op)
{
	struct emu *e = dev;
	struct emu_command *c = emu_command(op);

	c->run = emu_copy;
	c->from = t->host;
	c->to = e->alias + ((char *)t->device_ptr - e->base) + t->offset;
	c->bytes = t->bytes;
	c->is_quiet = t->flags & LKDF_LAUNCH_QUIET;
	atomic_fetch_add(&e->nr_quiet, c->is_quiet);
	atomic_fetch_add(&e->bytes_up, t->bytes);
	return emu_give(e, EMU_UPLOAD, queue, c);
}

static int emu_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
		     struct lkdf_device_op op)
{
	struct emu *e = dev;
	struct emu_command *c = emu_command(op);

	c->run = emu_copy;
	c->from = e->alias + ((char *)t->device_ptr - e->base) + t->offset;
	c->to = t->host;
	c->bytes = t->bytes;
	if (t->flags)
		abort();
	atomic_fetch_add(&e->bytes_down, t->bytes);
	return emu_give(e, EMU_FETCH, queue, c);
}

/* Within the device, in both of which there is a block. */
static int emu_within(void *dev, unsigned queue,
		      const struct lkdf_device_copy *t,
		      struct lkdf_device_op op)
{
	struct emu *e = dev;
	struct emu_command *c = emu_command(op);

	c->run = emu_copy;
	c->from = e->alias + ((char *)t->from - e->base) + t->from_offset;
	c->to = e->alias + ((char *)t->to - e->base) + t->to_offset;
	c->bytes = t->bytes;
	atomic_fetch_add(&e->bytes_within, t->bytes);
	return emu_give(e, EMU_COPY, queue, c);
}

static void emu_set(struct emu *e, struct emu_command *c)
{
	(void)e;
	memset(c->to, c->byte, c->bytes);
}

static int emu_fill(void *dev, unsigned queue, const struct lkdf_device_fill *f,
		    struct lkdf_device_op op)
{
	struct emu *e = dev;
	struct emu_command *c = emu_command(op);

	c->run = emu_set;
	c->to = e->alias + ((char *)f->device_ptr - e->base) + f->offset;
	c->bytes = f->bytes;
	c->byte = (int)f->value;
	return emu_give(e, EMU_FILL, queue, c);
}

static void emu_call(struct emu *e, struct emu_command *c)
{
	const struct emu_kernel *k = c->launch.function;

	emu_error = 0;
	k->fn(e, &c->launch);
	c->error = emu_error;
}

/* Arguments are the library's until the call returns. */
static int emu_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		      struct lkdf_device_op op)
{
	struct emu_command *c = emu_command(op);
	unsigned i;

	c->run = emu_call;
	c->launch = *l;
	c->launch.arg = c->arg;
	c->is_quiet = l->flags & LKDF_LAUNCH_QUIET;
	atomic_fetch_add(&((struct emu *)dev)->nr_quiet, c->is_quiet);
	if (queue < 2 || l->nr_arg > LKDF_MAX_PARAMS)
		abort();
	for (i = 0; i < l->nr_arg; i++) {
		c->arg[i] = l->arg[i];
		if (l->arg[i].sort != LKDF_ARG_BYTES)
			continue;
		if (l->arg[i].bytes > sizeof(c->value[0]))
			abort();
		memcpy(c->value[i], l->arg[i].value, l->arg[i].bytes);
		c->arg[i].value = c->value[i];
	}
	return emu_give(dev, EMU_LAUNCH, queue, c);
}

static void *emu_queue_of(void *dev, unsigned queue)
{
	struct emu *e = dev;

	emu_enter(e, EMU_QUEUE);
	emu_leave(e, 0);
	return &e->queue[queue];
}

static int emu_mark(void *dev, unsigned queue, struct lkdf_device_op op)
{
	return emu_give(dev, EMU_MARK, queue, emu_command(op));
}

static int emu_poll(void *dev)
{
	struct emu *e = dev;
	struct emu_command *c;
	int rc = emu_enter(e, EMU_POLL), nr = 0;

	pthread_mutex_lock(&e->lock);
	if (!rc && e->flags & EMU_LATE && e->is_lost)
		rc = emu_now_ns() - e->lost_ns < 250000000 ? 1 : -ENODEV;
	pthread_mutex_unlock(&e->lock);
	if (rc)
		return emu_leave(e, rc < 0 ? rc : 0);
	for (;; nr++) {
		pthread_mutex_lock(&e->lock);
		c = e->done;
		if (c)
			e->done = c->next;
		pthread_mutex_unlock(&e->lock);
		if (!c)
			return emu_leave(e, nr);
		emu_say_done(e, c);
		free(c);
	}
}

static int emu_arm(void *dev, void (*wake)(void *u), void *u)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_ARM);
	bool has_some;

	pthread_mutex_lock(&e->lock);
	has_some = e->done != NULL;
	e->wake_fn = has_some ? NULL : wake;
	e->wake_u = u;
	pthread_mutex_unlock(&e->lock);
	if (has_some)
		wake(u);
	return emu_leave(e, rc);
}

static int emu_needs(void *dev, void *function, struct lkdf_kernel_needs *out)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_NEEDS);

	(void)function;
	*out = e->needs;
	return emu_leave(e, rc);
}

static int emu_finalize(void *dev, unsigned queue)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_FINALIZE);

	if (queue < 2)
		abort();
	return emu_leave(e, rc);
}

static int emu_pin(void *dev, void *host, uint64_t bytes)
{
	struct emu *e = dev;
	int rc = emu_enter(e, EMU_PIN);

	if ((uintptr_t)host % 4096 || !bytes)
		abort();
	e->nr_pinned += !rc;
	return emu_leave(e, rc);
}

static void emu_unpin(void *dev, void *host)
{
	struct emu *e = dev;

	(void)host;
	emu_enter(e, EMU_UNPIN);
	e->nr_pinned--;
	emu_leave(e, 0);
}

/* Its functions, for a test that takes some away. */
__attribute__((unused)) static struct lkdf_device_ops
emu_ops(const struct emu *e)
{
	bool is_own = e->flags & EMU_OWN;

	return (struct lkdf_device_ops){
		.size = sizeof(struct lkdf_device_ops),
		.flags = LKDF_DEVICE_RANGES |
			 (is_own ? 0 : LKDF_DEVICE_HOST_MEMORY) |
			 (e->flags & EMU_ORDERED ? LKDF_DEVICE_ORDERED : 0) |
			 (e->flags & EMU_CALLS ? LKDF_DEVICE_CALLS : 0) |
			 (e->flags & EMU_BUILDS ? LKDF_DEVICE_BUILDS : 0) |
			 (e->flags & EMU_QUIET ? LKDF_DEVICE_QUIET : 0) |
			 (e->flags & EMU_MANAGED ? LKDF_DEVICE_MANAGED : 0),
		.name = e->name ? e->name : "emu",
		.info = emu_info,
		.start = emu_start,
		.stop = emu_stop,
		.alloc = is_own ? emu_alloc : NULL,
		.free = is_own ? emu_free : NULL,
		.build = emu_build,
		.drop = emu_drop,
		.upload = is_own ? emu_upload : NULL,
		.fetch = is_own ? emu_fetch : NULL,
		.launch = emu_launch,
		.queue = emu_queue_of,
		.mark = emu_mark,
		.poll = e->flags & EMU_POLLS ? emu_poll : NULL,
		.arm = e->flags & EMU_ARMS ? emu_arm : NULL,
		.needs = e->needs.size ? emu_needs : NULL,
		.finalize = emu_finalize,
		.pin = e->flags & EMU_PINS ? emu_pin : NULL,
		.unpin = e->flags & EMU_PINS ? emu_unpin : NULL,
		.copy = is_own && e->flags & EMU_COPIES ? emu_within : NULL,
		.fill = is_own && e->flags & EMU_FILLS ? emu_fill : NULL,
	};
}

__attribute__((unused)) static void emu_init(struct emu *e, unsigned flags,
					     const struct emu_kernel *kernels)
{
	memset(e, 0, sizeof(*e));
	e->flags = flags;
	e->nr_queues = 2;
	e->seed = 1;
	e->memory = 1 << 20;
	e->kernels = kernels;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->wake, NULL);
}

__attribute__((unused)) static struct lkdf_place *emu_register(struct lkdf *rt,
							       struct emu *e)
{
	struct lkdf_device_ops ops = emu_ops(e);
	struct lkdf_place *p = NULL;

	must(lkdf_place_register(rt, &ops, e, &p));
	return p;
}

/*
 * After lkdf_close(): nothing was left over, and no two calls met. Of a lost
 * device memory is not freed, and what it says of its ops comes too late.
 */
__attribute__((unused)) static void emu_check(struct emu *e, const char *how)
{
	is(atomic_load(&e->nr[EMU_STOP]), 1, "%s: the device is stopped once",
	   how);
	is(e->is_lost ? 0 : e->nr_blocks + e->nr_managed + e->nr_pinned, 0,
	   "%s: all its memory is free", how);
	is(atomic_load(&e->nr_overlaps), 0, "%s: calls come one at a time",
	   how);
	is(e->is_lost ? 0 : atomic_load(&e->nr_stale), 0,
	   "%s: each op is done once", how);
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->wake);
}

#endif
