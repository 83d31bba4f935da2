/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int flow_init(struct flow *f, const char *shape, uint32_t nr, uint64_t bytes)
{
	int rc;

	memset(f, 0, sizeof(*f));
	if (bytes < 16 || bytes % 8)
		return -EINVAL;
	rc = shape_init(&f->shape, shape, nr);
	if (rc)
		return rc;
	f->bytes = bytes;
	f->seed = 1;
	f->result = calloc(f->shape.nr_tasks, sizeof(*f->result));
	if (f->result)
		return 0;
	flow_fini(f);
	return -ENOMEM;
}

void flow_fini(struct flow *f)
{
	shape_fini(&f->shape);
	free(f->result);
	memset(f, 0, sizeof(*f));
}

void flow_task(struct flow *f, uint32_t task, const uint64_t *const *in,
	       unsigned nr_in, uint64_t *out)
{
	uint64_t last = f->bytes / 8 - 1;
	unsigned k;

	if (nr_in)
		memcpy(out, in[0], f->bytes);
	else
		memset(out, (int)(f->seed & 0xff), f->bytes);
	for (k = 1; k < nr_in; k++) {
		out[0] += in[k][0];
		out[last] += in[k][last];
	}
	out[0] += f->seed;
	out[last] += task;
	f->result[task] += out[0] + 3 * out[last] + 5 * out[task % last];
}

/* A stack of blocks that no task needs at that point of the serial order. */
struct pool {
	struct flow_serial *s;
	uint32_t *free, nr_free;
	uint32_t *block_of, *readers; /* by task */
};

static int pool_take(struct pool *p, uint32_t task)
{
	struct flow_serial *s = p->s;
	uint32_t nr = p->nr_free ? p->free[--p->nr_free] : s->nr_blocks;

	if (nr == s->nr_blocks) {
		s->block[nr] =
			aligned_alloc(64, (s->flow->bytes + 63) / 64 * 64);
		if (!s->block[nr])
			return -ENOMEM;
		memset(s->block[nr], 0, s->flow->bytes);
		s->nr_blocks++;
	}
	p->block_of[task] = nr;
	s->out[task] = s->block[nr];
	return 0;
}

static void pool_give(struct pool *p, uint32_t task)
{
	p->free[p->nr_free++] = p->block_of[task];
}

static int assign_blocks(struct pool *p)
{
	const struct shape *h = &p->s->flow->shape;
	uint32_t i, e;

	for (i = 0; i < h->nr_tasks; i++) {
		if (pool_take(p, i))
			return -ENOMEM;
		for (e = h->pred_at[i]; e < h->pred_at[i + 1]; e++) {
			p->s->in[e] = p->s->out[h->pred[e]];
			if (!--p->readers[h->pred[e]])
				pool_give(p, h->pred[e]);
		}
		p->readers[i] = h->succ_at[i + 1] - h->succ_at[i];
		if (!p->readers[i])
			pool_give(p, i);
	}
	return 0;
}

int flow_serial_init(struct flow_serial *s, struct flow *f)
{
	uint32_t nr = f->shape.nr_tasks;
	struct pool p = { .s = s };
	int rc = -ENOMEM;

	*s = (struct flow_serial){ .flow = f };
	s->block = calloc(nr, sizeof(uint64_t *));
	s->out = calloc(nr, sizeof(uint64_t *));
	s->in = calloc((size_t)f->shape.nr_edges + 1, sizeof(uint64_t *));
	p.free = calloc(3 * (size_t)nr, sizeof(*p.free));
	if (s->block && s->out && s->in && p.free) {
		p.block_of = p.free + nr;
		p.readers = p.block_of + nr;
		rc = assign_blocks(&p);
	}
	free(p.free);
	if (rc)
		flow_serial_fini(s);
	return rc;
}

void flow_serial_fini(struct flow_serial *s)
{
	uint32_t i;

	for (i = 0; i < s->nr_blocks; i++)
		free(s->block[i]);
	free((void *)s->block);
	free((void *)s->out);
	free((void *)s->in);
	memset(s, 0, sizeof(*s));
}

void flow_serial_run(struct flow_serial *s)
{
	void (*body)(struct flow * f, uint32_t task, const uint64_t *const *in,
		     unsigned nr_in, uint64_t *out) = flow_task;
	const struct shape *h = &s->flow->shape;
	uint32_t i;

	/* As every other contestant: the compiler does not know the body. */
	__asm__ volatile("" : "+r"(body));
	for (i = 0; i < h->nr_tasks; i++)
		body(s->flow, i, s->in + h->pred_at[i],
		     h->pred_at[i + 1] - h->pred_at[i], s->out[i]);
}

bool flow_is_right(struct flow_serial *s, uint64_t times)
{
	uint32_t i, nr = s->flow->shape.nr_tasks;
	uint64_t *have = s->flow->result, *want;
	bool good = true;

	want = calloc(nr, sizeof(*want));
	if (!want)
		return false;
	s->flow->result = want;
	flow_serial_run(s);
	for (i = 0; i < nr; i++)
		if (have[i] != want[i] * times)
			good = false;
	s->flow->result = have;
	memset(have, 0, nr * sizeof(*have));
	free(want);
	return good;
}
