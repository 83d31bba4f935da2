/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A thread that runs jobs in order and knows nothing of lkdf. */
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct device {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *first, **last;
	bool is_closing;
	pthread_t thread;
};

static struct job *take(struct device *d)
{
	struct job *j;

	pthread_mutex_lock(&d->lock);
	while (!d->first && !d->is_closing)
		pthread_cond_wait(&d->changed, &d->lock);
	j = d->first;
	if (j) {
		d->first = j->next;
		if (!d->first)
			d->last = &d->first;
	}
	pthread_mutex_unlock(&d->lock);
	return j;
}

static void *serve(void *arg)
{
	struct device *d = arg;
	struct job *j;

	while ((j = take(d))) {
		j->run(j);
		j->finish(j);
	}
	return NULL;
}

int device_open(struct device **out)
{
	struct device *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	d->last = &d->first;
	rc = -pthread_create(&d->thread, NULL, serve, d);
	if (rc) {
		pthread_cond_destroy(&d->changed);
		pthread_mutex_destroy(&d->lock);
		free(d);
		return rc;
	}
	*out = d;
	return 0;
}

void device_launch(struct device *d, struct job *j)
{
	pthread_mutex_lock(&d->lock);
	j->next = NULL;
	*d->last = j;
	d->last = &j->next;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

void device_close(struct device *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->is_closing = true;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->changed);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
