/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All mechanisms of workers, in the order in which an idle worker asks them for
 * work. Each row is a folder beside this file, and a slot of data[]: a worker,
 * a node and the scheduler have the mechanism's data there. A mechanism alone
 * uses its slot, through functions of its header: X_of() is the data of a
 * worker, X_at() that of a node, and X_in() that of a scheduler.
 */
#ifndef MECHANISM_ROWS_H
#define MECHANISM_ROWS_H

#include "sched/mechanism.h"

#define MECHANISMS(ROW)                                                 \
	ROW(home, HOME) /* what came to the worker's node */            \
	ROW(crew, CREW) /* a loop that idle workers of a node share */  \
	ROW(gate, GATE) /* kinds that few workers run at once */        \
	ROW(victims, VICTIMS) /* other workers' deques */               \
	ROW(nodes, NODES) /* what came to other nodes */                \
	ROW(part, PART) /* work of some of a node's workers */          \
	ROW(holdoff, HOLDOFF) /* a worker keeps its work for a while */ \
	ROW(publish, PUBLISH) /* private work behind a long body */     \
	ROW(due, DUE) /* a member of a gang comes before other work */  \
	ROW(far, FAR) /* planned work of other nodes */                 \
	ROW(client, CLIENT) /* threads that submit need a CPU */        \
	ROW(lend, LEND) /* a seat while its worker rests in a join */   \
	ROW(team, TEAM) /* CPUs for a body's own threads */             \
	ROW(unpin, UNPIN) /* a CPU that other threads have */           \
	ROW(quota, QUOTA) /* workers that have a CPU */

#define ROW_SLOT(name, NAME) SLOT_##NAME,
enum mechanism_slot {
	MECHANISMS(ROW_SLOT) NR_MECHANISMS
};
#undef ROW_SLOT

/* In the same order. Ends with NULL. */
extern const struct mechanism *const mechanism_rows[];

#endif
