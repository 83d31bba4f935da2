/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/thread.h"

#include "base/atomic.h"
#include "base/lock_owner.h"
#include "base/util.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__thread struct thread *thread_record
	__attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_key;

/* Threads that have no memory for one of their own. */
static struct thread no_memory;

/*
 * Records of so many threads at a time, whose first call allocates nothing. In
 * a forked child those of threads that are not there stay taken.
 */
static struct {
	_Alignas(CACHE_LINE) struct thread thread;
} spares[32];
static _Atomic(uint32_t) spares_taken; /* a bit for each */

/* NULL: all are taken. */
static struct thread *take_spare(void)
{
	uint32_t taken = a_load(&spares_taken, relaxed), bit;

	do {
		if (taken == UINT32_MAX)
			return NULL;
		bit = ~taken & (taken + 1);
		/* [thread.take] it is empty; pairs with [thread.give]. */
	} while (!a_cas(&spares_taken, &taken, taken | bit, acquire, relaxed));
	return &spares[__builtin_ctz(bit)].thread;
}

static struct thread *record_new(void)
{
	struct thread *t = take_spare();

	return t ? t : calloc(1, sizeof(*t));
}

static void record_free(struct thread *t)
{
	uintptr_t at = (uintptr_t)t - (uintptr_t)spares;

	if (at >= sizeof(spares)) {
		free(t);
		return;
	}
	memset(t, 0, sizeof(*t));
	/* [thread.give] after it was emptied; pairs with [thread.take]. */
	a_and(&spares_taken, ~(1u << at / sizeof(spares[0])), release);
}

static void record_end(void *record)
{
	thread_retire();
	thread_record = NULL;
	record_free(record);
}

static void key_create(void)
{
	has_key = pthread_key_create(&key, record_end) == 0;
}

/*
 * The stand-in is shared by all threads that have no memory: their texts may
 * mix, and none of them can be a worker, which gets its record before it
 * starts.
 */
struct thread *thread_record_create(void)
{
	struct thread *t;

	lock_owner_learn();
	pthread_once(&once, key_create);
	if (!has_key)
		return &no_memory;
	t = record_new();
	if (!t)
		return &no_memory;
	if (pthread_setspecific(key, t)) {
		record_free(t);
		return &no_memory;
	}
	thread_record = t;
	return t;
}

void thread_adopt(struct thread *record)
{
	thread_record = record;
	lock_owner_learn();
}

void thread_forked(void)
{
	struct thread *old = thread_record, *t = old;

	if (!old)
		return;
	if (old->executor) {
		thread_record = NULL;
		t = thread_record_create();
		if (t == &no_memory)
			return;
		*t = *old;
	}
	t->executor = NULL;
	t->loop = t->loop_task = NULL;
	t->current = NULL;
}

void thread_retire(void)
{
	if (thread_record && thread_record->stock_end)
		thread_record->stock_end(thread_record);
	if (thread_record && thread_record->memory_end)
		thread_record->memory_end(thread_record);
}

bool thread_is_shared(const struct thread *t)
{
	return t == &no_memory;
}
