/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs PTX. Each access is checked against the memory that the card has; a
 * branch back sleeps for a while, since such a kernel waits for something.
 */
#include "tests/cuda/fake/ptx.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACK_US 20

struct machine {
	const struct op *op;
	uint64_t *registers;
	unsigned char *shared;
	unsigned thread[3], block[3];
};

static uint64_t value_of(const struct machine *m, const struct ptx_operand *o)
{
	switch (o->kind) {
	case PTX_NUMBER:
		return o->number;
	case PTX_REGISTER:
		return m->registers[o->number];
	case PTX_TIME:
		return (uint64_t)now_ns();
	case PTX_THREAD:
		return m->thread[o->number];
	case PTX_BLOCK:
		return m->block[o->number];
	case PTX_BLOCK_SIZE:
		return m->op->block[o->number];
	case PTX_GRID:
		return m->op->grid[o->number];
	}
	return 0;
}

static uint64_t cut(uint64_t v, unsigned size)
{
	return size < 8 ? v & ((1ull << (8 * size)) - 1) : v;
}

static bool compare(enum ptx_compare how, uint64_t a, uint64_t b)
{
	switch (how) {
	case PTX_EQ:
		return a == b;
	case PTX_NE:
		return a != b;
	case PTX_LT:
		return a < b;
	case PTX_LE:
		return a <= b;
	case PTX_GT:
		return a > b;
	case PTX_GE:
		return a >= b;
	}
	return false;
}

/* 0, or the fault of an access there. */
static cu_result check_address(uint64_t at, unsigned size)
{
	bool is_there;

	fake_lock();
	is_there = range_has((uintptr_t)at, size);
	fake_unlock();
	if (!is_there)
		return 700;
	return at % size ? 716 : 0;
}

static cu_result access_memory(struct machine *m, const struct ptx_step *s)
{
	uint64_t at = value_of(m, &s->a) + (uint64_t)s->offset, v;
	void *p = (void *)(uintptr_t)at;
	cu_result r = 0;

	if (s->is_shared)
		p = m->shared + at;
	else
		r = check_address(at, s->size);
	if (r)
		return r;
	if (s->what == PTX_LOAD) {
		v = s->size == 4
			    ? __atomic_load_n((uint32_t *)p, __ATOMIC_ACQUIRE)
			    : __atomic_load_n((uint64_t *)p, __ATOMIC_ACQUIRE);
		m->registers[s->to] = v;
		return 0;
	}
	v = value_of(m, &s->b);
	if (s->size == 4)
		__atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t compute(const struct machine *m, const struct ptx_step *s)
{
	uint64_t a = value_of(m, &s->a), b = value_of(m, &s->b), v = 0;

	switch (s->what) {
	case PTX_MOVE:
		return cut(a, s->size);
	case PTX_ADD:
		return cut(a + b, s->size);
	case PTX_SUB:
		return cut(a - b, s->size);
	case PTX_MUL:
		return cut(a * b, s->size);
	case PTX_SET:
		return compare(s->compare, cut(a, s->size), cut(b, s->size));
	default: /* a parameter */
		memcpy(&v, m->op->bytes + s->offset, s->size);
		return v;
	}
}

/* The step after this one; *r: its fault. */
static unsigned run_step(struct machine *m, unsigned i, cu_result *r)
{
	const struct ptx_code *c = m->op->func->ptx;
	const struct ptx_step *s = &c->steps[i];

	if (s->guard >= 0 && !m->registers[s->guard] != s->is_not)
		return i + 1;
	switch (s->what) {
	case PTX_BRANCH:
		if (s->to <= i)
			usleep(BACK_US);
		return s->to;
	case PTX_RETURN:
		return c->nr_steps;
	case PTX_TRAP:
		*r = 719;
		break;
	case PTX_ASSERT:
		*r = 710;
		break;
	case PTX_LOAD:
	case PTX_STORE:
		*r = access_memory(m, s);
		break;
	case PTX_NOTHING:
		break;
	default:
		m->registers[s->to] = compute(m, s);
	}
	return i + 1;
}

static cu_result run_thread(struct machine *m)
{
	const struct ptx_code *c = m->op->func->ptx;
	cu_result r = 0;
	unsigned i = 0;

	while (i < c->nr_steps && !r)
		i = run_step(m, i, &r);
	return r;
}

static void place(unsigned at[3], size_t i, const unsigned size[3])
{
	at[0] = (unsigned)(i % size[0]);
	at[1] = (unsigned)(i / size[0] % size[1]);
	at[2] = (unsigned)(i / size[0] / size[1]);
}

cu_result ptx_run(const struct op *o)
{
	const unsigned *g = o->grid, *b = o->block;
	size_t nr_threads = (size_t)b[0] * b[1] * b[2];
	size_t n = nr_threads * g[0] * g[1] * g[2], i;
	struct machine m = { .op = o };
	cu_result r = 0;

	if (!o->func->ptx->nr_steps)
		return 0;
	m.registers = calloc(o->func->ptx->nr_registers + 1, 8);
	m.shared = calloc(1, (size_t)o->func->shared + o->shared + 8);
	if (!m.registers || !m.shared)
		abort();
	for (i = 0; i < n && !r; i++) {
		place(m.thread, i % nr_threads, b);
		place(m.block, i / nr_threads, g);
		r = run_thread(&m);
	}
	free(m.registers);
	free(m.shared);
	return r;
}
