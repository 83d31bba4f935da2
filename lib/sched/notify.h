/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Telling idle workers of work. Every node has a park word of its own, so that
 * its idle workers do not disturb other nodes, and so that work which is bound
 * to a node wakes a worker there.
 *
 * The argument of park.h holds for each sleeper and its own node's word: a
 * thread that publishes work reads the words afterwards, and a thread that goes
 * to sleep writes its word before it looks for work. A spinner anywhere will
 * look at all work that is bound to no node, therefore it is enough for that;
 * when it turns busy as the last of its node, it tells others of what is left.
 */
#ifndef SCHED_NOTIFY_H
#define SCHED_NOTIFY_H

#include "sched/worker.h"

/*
 * After work was made public: wakes a sleeper, nearest to the node first,
 * unless somebody looks for work. On a node with planned work, whose spinners
 * elsewhere may not take it, one there, and others not often: see far.h. True
 * if it woke one.
 */
bool notify_any(struct sched *s, struct sched_node *node);

/* News of a node that all its workers are too busy for: wakes one elsewhere. */
void notify_others(struct sched *s, struct sched_node *node);

/* As notify_any(), for work that only workers of the node may take. */
bool notify_bound(struct sched_node *node);

/*
 * The worker has found work, and others sleep: it makes public what it has, and
 * wakes several of its node at once if the body takes longer than a wake-up.
 * False: nobody was woken.
 */
bool notify_tree(struct worker *w, uint64_t item);

/*
 * After so many items were made public at the node, whose bodies outlast a
 * wake-up: sees to it that a fourth as many workers look for work there. How
 * many it woke.
 */
uint32_t notify_first(struct sched_node *node, uint32_t nr_items);

/* Does anybody sleep? Does anybody look for work? */
bool notify_has_sleeper(struct sched *s);
bool notify_has_spinner(struct sched *s);

/* Wakes all: for stopping. */
void notify_all(struct sched *s);

#endif
