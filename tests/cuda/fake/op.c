/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What streams and graphs are lists of, and the one thread that calls the host
 * functions of all streams.
 */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/control.h"
#include "tests/cuda/fake/image.h"
#include "tests/cuda/fake/ptx.h"

#include <stdlib.h>
#include <string.h>

_Thread_local bool in_host_function;

/* The thread of host functions has a lock of its own. */
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_change = PTHREAD_COND_INITIALIZER;
static const struct op *host_op;
static bool host_is_there;

struct op *op_make(enum op_kind kind)
{
	struct op *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->kind = kind;
	return o;
}

struct op *op_copy(const struct op *from)
{
	struct op *o = op_make(from->kind);

	*o = *from;
	o->next = NULL;
	if (!from->bytes)
		return o;
	o->bytes = malloc(from->nr_bytes);
	if (!o->bytes)
		abort();
	memcpy(o->bytes, from->bytes, from->nr_bytes);
	if (o->kind == OP_COPY)
		o->from = o->bytes;
	return o;
}

void op_free(struct op *o)
{
	free(o->bytes);
	free(o);
}

bool op_may_run(const struct op *o)
{
	if (o->kind == OP_WAIT)
		return o->event->done >= o->record;
	if (o->kind == OP_WAIT_VALUE)
		return __atomic_load_n((uint32_t *)o->to, __ATOMIC_ACQUIRE) >=
		       o->value;
	return true;
}

static void *run_host(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "cuda-host");
	in_host_function = true;
	pthread_mutex_lock(&host_lock);
	for (;;) {
		while (!host_op)
			pthread_cond_wait(&host_change, &host_lock);
		pthread_mutex_unlock(&host_lock);
		host_op->fn(host_op->arg);
		pthread_mutex_lock(&host_lock);
		host_op = NULL;
		pthread_cond_broadcast(&host_change);
	}
	return NULL;
}

static void start_host(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run_host, NULL))
		abort();
	pthread_detach(t);
	host_is_there = true;
}

/* Streams take turns here, see host_is_busy. */
static void call_host(const struct op *o)
{
	pthread_mutex_lock(&host_lock);
	if (!host_is_there)
		start_host();
	host_op = o;
	pthread_cond_broadcast(&host_change);
	while (host_op == o)
		pthread_cond_wait(&host_change, &host_lock);
	pthread_mutex_unlock(&host_lock);
}

static unsigned last_carveout;

API int fake_cuda_carveout(void)
{
	return (int)__atomic_load_n(&last_carveout, __ATOMIC_ACQUIRE) - 1;
}

cu_result op_run(struct op *o)
{
	switch (o->kind) {
	case OP_KERNEL:
		__atomic_store_n(&last_carveout, o->carveout, __ATOMIC_RELEASE);
		return o->func->ptx ? ptx_run(o) : image_run(o);
	case OP_COPY:
		memmove(o->to, o->from, o->size);
		break;
	case OP_SET:
		memset(o->to, (int)o->value, o->size);
		break;
	case OP_WRITE:
		__atomic_store_n((uint32_t *)o->to, o->value, __ATOMIC_RELEASE);
		break;
	case OP_HOST:
		call_host(o);
		break;
	case OP_TAKE:
		memory_take(o);
		break;
	case OP_GIVE:
		memory_give(o);
		break;
	case OP_RECORD:
	case OP_WAIT:
	case OP_WAIT_VALUE:
		break;
	}
	return 0;
}
