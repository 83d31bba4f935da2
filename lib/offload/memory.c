/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parameters that are memory and no uses: constants, which stay on a device as
 * copies of data do, parts of the task's argument, and memory for the time of
 * the task.
 */
#include "offload/maker.h"

#include "base/err.h"
#include "device/offhost.h"
#include "mem/heap.h"

#include <errno.h>

static bool is_memory(const struct lkdf_param *p)
{
	return p->from == LKDF_PARAM_MEMORY ||
	       p->from == LKDF_PARAM_TASK_MEMORY ||
	       p->from == LKDF_PARAM_SCRATCH || p->from == LKDF_PARAM_ZEROED;
}

uint32_t maker_count_memory(const struct kernel *k)
{
	uint32_t i, nr = k->arg_by_memory;

	for (i = 0; k->param && i < k->attr.nr_param; i++)
		nr += is_memory(&k->param[i]);
	/* Both levels over all items have them, beside the parts. */
	return k->fold.block ? 2 * nr + 2 : nr;
}

void maker_add_operand(struct maker *m, uint32_t operand)
{
	struct device_req *r = &m->r->req;
	uint32_t i = r->launch.nr_arg++;

	r->operand_of[i] = operand;
	r->arg[i] = (struct lkdf_arg){
		.sort = LKDF_ARG_MEMORY,
		.mode = r->operand[operand].mode ? LKDF_READ : LKDF_RW,
		.bytes = r->operand[operand].bytes,
	};
}

/* Memory of the host, until the request is freed. */
static void *host_memory(struct maker *m, uint64_t bytes)
{
	struct heap *h = m->k->rt->heap;
	struct kernel_req *r = m->r;
	void *p = heap_new(h, heap_thread_cache(h), bytes);

	if (p)
		r->memory[r->nr_memory++] = p;
	return p;
}

static bool is_on_host(const struct maker *m)
{
	return device_has(m->d, LKDF_DEVICE_HOST_MEMORY);
}

static int no_memory(const struct maker *m, uint64_t bytes)
{
	return err(-ENOMEM, "kernel %s: no %llu bytes for the time of a task",
		   m->k->name, (unsigned long long)bytes);
}

int maker_add_scratch(struct maker *m, uint64_t bytes, uint32_t *operand)
{
	struct device_req *r = &m->r->req;
	struct device_operand *o = &r->operand[r->nr_operand];

	o->bytes = bytes;
	if (is_on_host(m)) {
		o->host = host_memory(m, bytes);
		if (!o->host)
			return no_memory(m, bytes);
	}
	*operand = r->nr_operand++;
	return 0;
}

/* A device gets the zeroes of the kind; the host's memory is written. */
static int add_zeroed(struct maker *m, const struct lkdf_param *p)
{
	struct device_operand *o;
	uint32_t operand;
	int rc = maker_add_scratch(m, p->bytes, &operand);

	if (rc)
		return rc;
	maker_add_operand(m, operand);
	o = &m->r->req.operand[operand];
	if (is_on_host(m)) {
		memset(o->host, 0, p->bytes);
		return 0;
	}
	o->host = (char *)(uintptr_t)p->value;
	o->mode = LKDF_READ;
	o->is_zero = true;
	return 0;
}

/* Both levels of a scan read the same bytes: a copy has one use in a request.
 */
static bool find_read(const struct device_req *r, const void *bytes,
		      uint64_t nr, const struct copies *copies,
		      uint32_t *operand)
{
	const struct device_operand *o = r->operand;
	uint32_t i;

	for (i = 0; i < r->nr_operand; i++, o++)
		if (o->host == bytes && o->bytes == nr && o->copies == copies &&
		    o->mode == LKDF_READ && !o->is_zero)
			break;
	*operand = i;
	return i < r->nr_operand;
}

static void add_read(struct maker *m, const void *bytes, uint64_t nr,
		     struct copies *copies, uint32_t part)
{
	struct device_req *r = &m->r->req;
	struct device_operand *o;
	uint32_t operand;

	if (is_on_host(m))
		copies = NULL;
	if (!find_read(r, bytes, nr, copies, &operand)) {
		o = &r->operand[r->nr_operand++];
		o->host = (char *)(uintptr_t)bytes;
		o->bytes = nr;
		o->mode = LKDF_READ;
		o->copies = copies;
		o->is_kept = copies != NULL;
		o->part = copies ? part : 0;
	}
	maker_add_operand(m, operand);
}

void maker_add_arg(struct maker *m)
{
	if (m->k->arg_by_memory)
		add_read(m, m->arg, m->k->arg_size, NULL, 0);
	else
		maker_add_bytes(m, m->arg, m->k->arg_size);
}

int maker_add_memory(struct maker *m, uint32_t i)
{
	const struct lkdf_param *p = &m->k->param[i];
	uint32_t operand;
	int rc;

	switch (p->from) {
	case LKDF_PARAM_MEMORY:
		add_read(m, p->value, p->bytes, m->k->constants, i);
		return 0;
	case LKDF_PARAM_TASK_MEMORY:
		add_read(m, m->arg + p->first,
			 p->bytes ? p->bytes : m->k->arg_size - p->first, NULL,
			 0);
		return 0;
	case LKDF_PARAM_ZEROED:
		return add_zeroed(m, p);
	}
	rc = maker_add_scratch(m, p->bytes, &operand);
	if (!rc)
		maker_add_operand(m, operand);
	return rc;
}
