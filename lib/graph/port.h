/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports of a graph's tasks. Each out port has a slot in each frame, where its
 * value lies; an in port knows the slots of those who may have made its value.
 * Where an edge may be dead though its target runs, the edge has a byte in the
 * frame that says whether it was live: struct control writes it.
 *
 * Values for a task's own next call lie in the graph, not in a frame: calls of
 * one task follow one another, whatever runs they are of.
 */
#ifndef GRAPH_PORT_H
#define GRAPH_PORT_H

#include "graph/graph.h"

struct lkdf_diag;

#define PORT_ALIGN 16 /* of a value at least */
#define NO_PORT UINT32_MAX

/* As it was given. */
struct port_given {
	uint32_t from, to;
	uint16_t out, in, branch;
	uint8_t flags; /* CONTROL_BRANCH, CONTROL_BACK or 0 */
	bool is_next;
	uint32_t live; /* byte of the frame that says so; NO_PORT: always is */
	void *init; /* of a value for the next call; NULL: zero */
};

/* Constant after seal. */
struct port_source {
	uint32_t slot; /* offset in the frame's bytes */
	uint32_t live; /* as above */
};

struct port_in {
	uint32_t first, nr; /* sources, in the order of adding */
	uint32_t next; /* offset in the graph's bytes; NO_PORT: none */
	uint32_t size;
};

struct port_out {
	uint32_t slot; /* offset in the frame's bytes */
	uint32_t next; /* the same in the graph's; NO_PORT: none */
	uint32_t size;
	uint32_t state; /* number of its byte in the frame; NO_PORT: none */
	void (*drop)(void *value);
};

struct ports {
	/* The builder's thread until seal. */
	struct array given; /* struct port_given */

	/* Set at seal, constant afterwards. */
	uint32_t *first_in, *first_out; /* by index, one more at the end */
	struct port_in *in;
	struct port_out *out;
	struct port_source *source;
	uint32_t nr_indices, nr_in, nr_out, nr_bytes, nr_live, nr_states;
	bool has_hooks; /* something is to be done when a task is resolved */

	/* Calls of one task follow one another: whoever resolves it. */
	char *next;
};

/* The graph's, made when the first task with ports is added. */
struct ports *ports_of(struct lkdf_graph *g);
void ports_free(struct lkdf_graph *g);

/* given: checked; size: of its init. 0 or -ENOMEM. */
int port_add(struct lkdf_graph *g, const struct port_given *given,
	     const void *init, uint32_t size);

/* At seal, before the edges of control are ordered: 0 or -errno. */
int ports_order(struct lkdf_graph *g, struct lkdf_diag *why);

/* At seal, when records have their index. 0 or -ENOMEM. */
int ports_index(struct lkdf_graph *g);

#endif
