/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's counts of a worker's thread, laid over what the worker did.
 * Between two samples the time in run queues is taken from bodies, from
 * io_uring_enter(2) and from idle time with something ready, in proportion; the
 * time asleep beyond what was idle is taken from bodies. Nothing is taken that
 * is not there, so the classes stay disjoint and their sum stays the same.
 */
#ifndef REPORT_SAMPLES_H
#define REPORT_SAMPLES_H

#include "report/model.h"

struct samples {
	const struct report *r;
	const struct lane *lane;
	uint32_t next; /* sample that ends the row */
	uint64_t (*row)[NR_TIME_CLASSES]; /* before sample 0, 1 .. after last */
	uint64_t *now; /* the row that is filled */
	uint64_t *faults; /* of the rows, in bodies */
	bool has_failed; /* no memory: all goes into one row */
	uint64_t spare[NR_TIME_CLASSES];
};

/* kernel.c: steps of system time, spread over the samples between them. */
void kernel_spread(struct lane *l);
/* System time and page faults of bodies between two times. */
uint64_t kernel_part(const struct lane *l, uint64_t from, uint64_t to,
		     const uint64_t *row, uint64_t cpu_ns, uint64_t *faults);

void samples_start(struct samples *s, const struct report *r,
		   const struct lane *l);
/* A span ended at @end and was added to @now. */
void samples_span(struct samples *s, uint64_t end);
/* Corrects and adds up: l->time, l->taken. Return: 0; -ENOMEM. */
int samples_finish(struct samples *s, struct lane *l);
void samples_fini(struct samples *s);

#endif
