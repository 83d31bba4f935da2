/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device as a launcher sees it: a queue that takes jobs and calls back when
 * one is done. Behind it is a thread; with a GPU it would be a stream and a
 * callback on it.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <lkdf/base.h>

struct job {
	struct job *next;
	const double *in[2];
	double *out;
	uint64_t nr;
	struct lkdf_event done;
	void (*run)(struct job *j); /* on the device */
	void (*finish)(struct job *j); /* the callback, which owns the job */
};

struct device;

int device_open(struct device **out);

/* Does not wait. Jobs run in the order of the launches. */
void device_launch(struct device *d, struct job *j);

/* Ends after the jobs launched before; NULL: nothing. */
void device_close(struct device *d);

#endif
