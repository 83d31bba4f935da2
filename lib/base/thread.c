/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>

__thread struct thread *thread_record
	__attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_key;

/* Threads that have no memory for one of their own. */
static struct thread no_memory;

static void record_free(void *record)
{
	thread_retire();
	thread_record = NULL;
	free(record);
}

static void key_create(void)
{
	has_key = pthread_key_create(&key, record_free) == 0;
}

/*
 * The stand-in is shared by all threads that have no memory: their texts may
 * mix, and none of them can be a worker, which gets its record before it
 * starts.
 */
struct thread *thread_record_create(void)
{
	struct thread *t;

	pthread_once(&once, key_create);
	if (!has_key)
		return &no_memory;
	t = calloc(1, sizeof(*t));
	if (!t)
		return &no_memory;
	if (pthread_setspecific(key, t)) {
		free(t);
		return &no_memory;
	}
	thread_record = t;
	return t;
}

void thread_adopt(struct thread *record)
{
	thread_record = record;
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
	t->nr_loops = 0;
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
