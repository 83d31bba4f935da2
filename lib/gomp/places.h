/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places: sets of CPUs to which threads are bound, in regions with OMP_PLACES,
 * OMP_PROC_BIND or GOMP_CPU_AFFINITY. The list of them is libgomp's, which has
 * read these variables; which thread is at which place is decided here. A
 * runtime of lkdf binds no worker then: its workers are on all CPUs of the list
 * and threads of a region go to their places when it begins.
 */
#ifndef GOMP_PLACES_H
#define GOMP_PLACES_H

#include "gomp/gomp.h"

/* omp_proc_bind_t, and the clause of a region. */
enum bind {
	BIND_FALSE,
	BIND_TRUE,
	BIND_PRIMARY,
	BIND_CLOSE,
	BIND_SPREAD,
};

/* How many there are; 0: threads are not bound to places. */
unsigned places_nr(void);

/* libgomp is there, and reads the variables. */
bool places_are_read(void);

/*
 * libgomp was given places that it could not make, as ll_caches where the
 * kernel does not show caches. Without OMP_PROC_BIND it binds nothing then.
 */
bool places_failed(void);

/* CPUs that the process had before its first thread was bound. 0: not bound. */
int places_nr_cpus(void);

/* This thread's; -1: none. */
int places_here(void);

/* Where threads of a region may be; the parent's, and all at first. */
void places_begin(struct team *t, unsigned clause);

/* This thread is that one of the region: it goes to its place. */
void places_enter(const struct team *t, unsigned num, struct part *out);

/*
 * The calling thread may run on all of them, so that a runtime that it opens
 * has their CPUs; and on those of its place again.
 */
void places_widen(void);
void places_narrow(void);

#endif
