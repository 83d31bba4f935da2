/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Emulated devices for programs in C++, which does not take emu.h. Their memory
 * faults where the host touches it, and their queues are wild.
 */
#include "tests/emu/emu.h"

struct lkdf_place *emu_device_add(struct lkdf *rt);
void emu_device_give(void *queue, void (*fn)(void *arg), void *arg);

/* y += a x */
static void axpy(struct emu *e, const struct lkdf_launch *l)
{
	int64_t *x = emu_at(e, l, 0), *y = emu_at(e, l, 1);
	uint64_t i;
	int a;

	memcpy(&a, l->arg[2].value, sizeof(a));
	for (i = 0; i < l->range[0]; i++)
		y[i] += a * x[i];
}

/* y = is it another number than x? */
static void pair(struct emu *e, const struct lkdf_launch *l)
{
	int64_t *x = emu_at(e, l, 0), *y = emu_at(e, l, 1);

	*y = *x != *y;
}

static const struct emu_kernel kernels[] = {
	{ "axpy", axpy },
	{ "pair", pair },
	{ NULL, NULL },
};

/* Until the program ends: its runtime stops them. */
static struct emu emu[2];
static unsigned nr_emu;

struct lkdf_place *emu_device_add(struct lkdf *rt)
{
	struct emu *e = &emu[nr_emu++ % 2];

	emu_init(e, EMU_OWN | EMU_WILD, kernels);
	return emu_register(rt, e);
}

/* What a queue does for enqueue(). */
struct call {
	struct emu_command command;
	void (*fn)(void *arg);
	void *arg;
};

static void call(struct emu *e, struct emu_command *c)
{
	const struct call *own = (const struct call *)c;

	(void)e;
	own->fn(own->arg);
}

void emu_device_give(void *queue, void (*fn)(void *arg), void *arg)
{
	struct emu_queue *q = queue;
	struct call *c = calloc(1, sizeof(*c));

	c->command.run = call;
	c->fn = fn;
	c->arg = arg;
	emu_push(q->e, (unsigned)(q - q->e->queue), &c->command);
}
