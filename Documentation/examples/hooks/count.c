/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A library for LKDF_HOOKS: it counts loops, kernels, blocks and copies of a
 * runtime, and prints the counts when the runtime is closed.
 *
 *	LKDF_HOOKS=build/examples/hooks_count.so program
 */
#include <inttypes.h>
#include <lkdf/hooks.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct counts {
	_Atomic(uint64_t) loops, iterations, open; /* open: not ended yet */
	_Atomic(uint64_t) blocks, bytes, freed;
	_Atomic(uint64_t) copies, copied, copying; /* not ended yet */
	_Atomic(uint64_t) kernels, running; /* not ended yet */
};

static void *count_open(void)
{
	return calloc(1, sizeof(struct counts));
}

static void count_close(void *u)
{
	struct counts *c = u;

	if (!c)
		return;
	fprintf(stderr,
		"hooks: %" PRIu64 " loops over %" PRIu64 " iterations, %" PRIu64
		" not ended\n"
		"hooks: %" PRIu64 " blocks of %" PRIu64 " bytes, %" PRIu64
		" freed\n"
		"hooks: %" PRIu64 " copies of %" PRIu64 " bytes, %" PRIu64
		" not ended\n"
		"hooks: %" PRIu64 " kernels, %" PRIu64 " not ended\n",
		c->loops, c->iterations, c->open, c->blocks, c->bytes, c->freed,
		c->copies, c->copied, c->copying, c->kernels, c->running);
	free(c);
}

static void count_loop(void *u, const char *label, uint64_t id, uint64_t begin,
		       uint64_t end)
{
	struct counts *c = u;

	if (!c)
		return;
	if (getenv("HOOKS_VERBOSE"))
		fprintf(stderr, "hooks: loop %" PRIu64 " %s\n", id, label);
	c->loops++;
	c->open++;
	c->iterations += end - begin;
}

static void say_end(uint64_t id)
{
	if (getenv("HOOKS_VERBOSE"))
		fprintf(stderr, "hooks: end %" PRIu64 "\n", id);
}

static void count_end(void *u, uint64_t id)
{
	struct counts *c = u;

	if (!c)
		return;
	say_end(id);
	c->open--;
}

static void count_alloc(void *u, const void *p, uint64_t bytes, int node,
			const char *label)
{
	struct counts *c = u;

	(void)p;
	if (!c)
		return;
	if (label && getenv("HOOKS_VERBOSE"))
		fprintf(stderr, "hooks: block %s on node %d\n", label, node);
	c->blocks++;
	c->bytes += bytes;
}

static void count_device(void *u, const void *p, uint32_t device, uint32_t mem)
{
	(void)u;
	(void)p;
	if (getenv("HOOKS_VERBOSE"))
		fprintf(stderr,
			"hooks: that block is of kind %u of device %u\n", mem,
			device);
}

static void count_free(void *u, const void *p)
{
	struct counts *c = u;

	(void)p;
	if (c)
		c->freed++;
}

static void count_copy(void *u, const char *label, uint64_t id, int node,
		       uint64_t bytes)
{
	struct counts *c = u;

	if (!c)
		return;
	if (getenv("HOOKS_VERBOSE"))
		fprintf(stderr,
			"hooks: copy %" PRIu64 " %s of %" PRIu64
			" bytes to node %d\n",
			id, label, bytes, node);
	c->copies++;
	c->copying++;
	c->copied += bytes;
}

static void count_copied(void *u, uint64_t id)
{
	struct counts *c = u;

	if (!c)
		return;
	say_end(id);
	c->copying--;
}

static void count_kernel(void *u, const char *label, uint64_t id,
			 uint32_t device)
{
	struct counts *c = u;

	if (!c)
		return;
	if (getenv("HOOKS_VERBOSE"))
		fprintf(stderr, "hooks: kernel %" PRIu64 " %s on device %u\n",
			id, label, device);
	c->kernels++;
	c->running++;
}

static void count_done(void *u, uint64_t id)
{
	struct counts *c = u;

	if (!c)
		return;
	say_end(id);
	c->running--;
}

extern const struct lkdf_hooks lkdf_hooks;
__attribute__((visibility("default"))) const struct lkdf_hooks lkdf_hooks = {
	.size = sizeof(struct lkdf_hooks),
	.version = LKDF_HOOKS_VERSION,
	.open = count_open,
	.close = count_close,
	.loop_begin = count_loop,
	.loop_end = count_end,
	.alloc = count_alloc,
	.alloc_device = count_device,
	.free = count_free,
	.copy_begin = count_copy,
	.copy_end = count_copied,
	.kernel_begin = count_kernel,
	.kernel_end = count_done,
};
