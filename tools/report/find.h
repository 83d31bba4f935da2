/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rules that make findings: find.c, find_starved.c, find_bytes.c, find_bound.c,
 * find_futex.c, find_io.c, find_gang.c, devices.c, kernel.c, limits.c, loops.c,
 * narrow.c, order.c, pool.c, submission.c, waits.c.
 */
#ifndef REPORT_FIND_H
#define REPORT_FIND_H

#include "report/model.h"

/* The share of worker time in which workers starved for that reason. */
double find_part(const struct report *r, enum starve why);

/* A new finding, to be filled in. */
struct finding *find_add(struct report *r, const char *id,
			 enum finding_sort sort, double cost);
double find_share(const struct report *r, enum time_class c);
/* The kind for which a number is greatest; NULL: all are 0. */
const struct kind *find_most(const struct report *r,
			     double (*number)(const struct kind *));
/* Its name; "?" without one. */
const char *find_kind_name(const struct report *r, const struct kind *k);
/* In bodies and on a CPU, in the kernel or not. */
double find_in_bodies(const struct report *r);
/* A share of worker time is not worth telling, unless all is asked for. */
bool find_is_small(const struct report *r, double share, double least);

/* Below, or above, that share of worker time the probe or schedstat is the only
 * source. */
#define LEAST_SEEN 0.01
#define MOST_SEEN 0.9

/* The evidence comes from there, and the finding says so; NULL: by its id. */
void find_source(struct finding *f, const char *source);
/* Those that have said none. */
void find_sources(struct report *r);
/* The source of the time that threads had no CPU. */
const char *find_cpu_source(const struct report *r);

/* CPU time of workers inside futex(2), in bodies: of the finding of a word. */
uint64_t find_futex_cpu(const struct report *r);

/* For find_most(): of kinds that wait for workers, not for threads of the pool.
 */
double find_waited(const struct kind *k);

void find_starved(struct report *r);
void find_futex(struct report *r);
void find_kernel(struct report *r);
void find_remote(struct report *r);
void find_bounds(struct report *r);
void find_lost(struct report *r);
/* Each that returns something: told, if no replay refutes it. */
bool find_held(struct report *r);
void find_io(struct report *r);
void find_enter(struct report *r);
bool find_full(struct report *r);
void find_narrow(struct report *r);
void find_pool(struct report *r);
bool find_submission(struct report *r);
bool find_uneven(struct report *r);
bool find_serial(struct report *r);
/* teams.c: the cost of the time between regions, if that is told. */
double find_between(struct report *r);
/* A load of the program's own rhythm: idle time is no fault. */
bool find_is_service(const struct report *r);

/* A change was replayed, and gains less than what is worth telling. */
bool find_is_refuted(const struct report *r, const char *verb,
		     const char *object);
/* The cause is gone in a replay: its gain is the rank, and may refute it. */
void find_weigh(const struct report *r, struct finding *f, const char *verb);
/* The gain of the change that a finding proposes, if that was replayed. */
void find_predict(const struct report *r, struct finding *f, const char *verb,
		  const char *object);

/* Most of the run is a chain of tasks that wait for the same data: told, at
 * that cost. */
bool find_order(struct report *r, double cost);

/* Behind what why says so far: for which data, or port, steps of one kind on
 * the chain waited. */
void find_put_order(const struct report *r, struct finding *f);

/* Regions are so small that their threads do not pay: told. */
bool find_region(struct report *r);

/* Workers starve while a device is at work: told. */
bool find_device(struct report *r);

/* Likewise threads of the blocking pool, which is no fault: told. */
bool find_pool_busy(struct report *r);

/* Behind what why says so far: how many CPUs workers had and wanted, who got
 * them, and what to do. */
void find_put_cpus(const struct report *r, struct finding *f);

#endif
