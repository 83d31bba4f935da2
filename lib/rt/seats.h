/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which CPU each worker of a runtime gets, and whether its thread is bound to
 * it or to its node. Runtimes of one process know of each other: the second
 * gets CPUs that the first does not have, if there are enough of them.
 */
#ifndef RT_SEATS_H
#define RT_SEATS_H

struct lkdf;
struct sched_setup;

/*
 * How many workers a runtime has by its options, in serial mode one; with
 * substitutes, of which serial mode has none. -EINVAL: too many.
 */
int seats_count(const struct lkdf *rt);
int seats_count_all(const struct lkdf *rt, int nr_regular);

/*
 * After the pools. Sets cpu_index, bind and is_crowded of a; cpu_index is the
 * caller's to free. 0; -ENOMEM.
 */
int seats_take(struct lkdf *rt, struct sched_setup *a);

/* Its workers are not bound any more. */
void seats_give(struct lkdf *rt);

#endif
