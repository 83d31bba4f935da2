/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread outside the runtime that signals what bodies hold or wait for.
 */
#include "tests/oracle/world.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define MAX_ASKED (1u << 20)

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct cell **asked;
	uint32_t first, end;
	bool is_stopping;
} me = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

static void *thread_main(void *arg)
{
	struct cell *cell;

	(void)arg;
	pthread_mutex_lock(&me.lock);
	for (;;) {
		while (me.first == me.end && !me.is_stopping)
			pthread_cond_wait(&me.wake, &me.lock);
		if (me.first == me.end)
			break;
		cell = me.asked[me.first++ % MAX_ASKED];
		pthread_mutex_unlock(&me.lock);
		if ((uintptr_t)cell % 256 == 0)
			sched_yield();
		cell_signal(cell);
		pthread_mutex_lock(&me.lock);
	}
	pthread_mutex_unlock(&me.lock);
	return NULL;
}

void signaller_start(void)
{
	me.asked = malloc(MAX_ASKED * sizeof(*me.asked));
	if (!me.asked || pthread_create(&me.thread, NULL, thread_main, NULL))
		abort();
}

void signaller_stop(void)
{
	pthread_mutex_lock(&me.lock);
	me.is_stopping = true;
	pthread_cond_signal(&me.wake);
	pthread_mutex_unlock(&me.lock);
	pthread_join(me.thread, NULL);
	free(me.asked);
}

void signaller_ask(struct cell *cell)
{
	pthread_mutex_lock(&me.lock);
	if (me.end - me.first == MAX_ASKED)
		abort();
	me.asked[me.end++ % MAX_ASKED] = cell;
	pthread_cond_signal(&me.wake);
	pthread_mutex_unlock(&me.lock);
}
