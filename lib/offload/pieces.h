/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pieces of a sealed graph: kernels of one device that wait for each other and,
 * directly or not, for the same tasks that are none. So when the first of a
 * piece may begin all others may be given to the device with it, whatever the
 * clock says, and none waits for a task on a CPU that it would not wait for
 * alone. Kernels that hang together are cut at PIECE_MOST of them.
 *
 *	kernel, kernel, kernel -> task -> kernel, kernel
 *	one piece, with a member that tells | another piece
 *
 * A task on a CPU behind a kernel ends no piece: the device tells that kernel's
 * end. Made once, when the graph is sealed.
 */
#ifndef OFFLOAD_PIECES_H
#define OFFLOAD_PIECES_H

#include "graph/graph.h"
#include "task/kind.h"

enum member_flag {
	MEMBER_ENTERS = 1, /* waits for none of its piece */
	MEMBER_COMES = 2, /* waits for a task that is no such kernel, or for
			   * none: it is not given before its task is ready */
	MEMBER_TELLS = 4, /* such a task waits for it */
};

struct member {
	uint32_t index; /* of its record */
	uint32_t flags; /* enum member_flag */
};

struct piece {
	uint32_t first, nr; /* of the members */
	uint32_t nr_entering;
	uint32_t nr_edges; /* from kernels of other pieces, or of none */
};

struct pieces {
	uint32_t nr, nr_members;
	struct piece *piece;
	struct member *member; /* piece by piece, none before what it waits
				* for */
	uint32_t *of; /* by index of a record: its piece + 1; 0: none */
};

/* Is there an edge between kernels that go together, if there is one? */
static inline bool pieces_join(const struct rec *from, const struct rec *to)
{
	return from->flags & REC_LEADS && to->flags & REC_FOLLOWS &&
	       from->kind->kernel && to->kind->kernel &&
	       to->kind->home == from->kind->home &&
	       !((to->flags ^ from->flags) & REC_CLASS);
}

/* For a graph whose kernels are marked; sets g->pieces, or NULL: no memory, or
 * none.
 */
void pieces_make(struct lkdf_graph *g);

#endif
