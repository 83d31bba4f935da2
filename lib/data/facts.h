/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the bytes of data are by the board (signal/board.h), for those that
 * decide where tasks run. Bytes of a data that are large enough are watched
 * from the moment that they exist until they are freed or replaced. Idle
 * workers look again at what has moved; with the module, one that sleeps is
 * woken for it when all do.
 *
 * With one node, or on a made-up machine, nothing is watched, and all answers
 * are that nobody knows. Then what is noted in the data counts.
 */
#ifndef DATA_FACTS_H
#define DATA_FACTS_H

#include "data/data.h"
#include "signal/board.h"

#include <lkdf/signals.h>

struct executor;
struct frame;
struct seen;
struct worker;

/* After the heap. 0 or -ENOMEM. */
int facts_open(struct lkdf *rt);
void facts_close(struct lkdf *rt, bool is_child);

/* Nobody runs any more, but workers are there: they are left in peace. */
void facts_quiet(struct lkdf *rt);

/* The data has bytes at p. is_there: somebody has touched them by now. */
void facts_watch(struct lkdf_data *d, void *p, bool is_there);

/* It will not have them any more; nobody else uses it. */
void facts_forget(struct lkdf_data *d);

/* The node of most bytes of a part or the whole; -1: nobody knows. */
int facts_node(const struct lkdf_data *d, uint32_t part);

/* The node of all of them for certain; the number of nodes: on several; -1. */
int facts_fact(const struct lkdf_data *d, uint32_t part);

/* Counts them by node; false: nobody knows. */
bool facts_see(struct seen *s, const struct lkdf_data *d, uint32_t part);

/* The node, or the nearest one that has workers. */
int facts_home(const struct lkdf *rt, int node);

/* The source of the facts. */
enum lkdf_signal_source facts_source(const struct lkdf *rt);

/*
 * A task goes to the node as a fact says that this data is there: counted, and
 * told where the one before went to another. ex: or NULL.
 */
void facts_placed(struct executor *ex, struct lkdf_data *d, int node);

/* So with a block of a planned graph, each time. */
void facts_followed(struct executor *ex, struct lkdf_data *d, int node);

/* For lkdf_describe(): which tier it is; why there is no better one, or "". */
const char *facts_tier(const struct lkdf *rt);
const char *facts_why(const struct lkdf *rt);

/* Adds to what is known of a worker, or of all (-1): quota, watched bytes. */
void facts_tell(const struct lkdf *rt, int executor, struct lkdf_facts *out);

/* Work that idle workers do beside looking for work. */
bool facts_idle(struct worker *w);

#endif
