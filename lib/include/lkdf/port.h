/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports: small values that travel from task to task inside a graph. A kind says
 * how many it has and how large their values are (struct lkdf_kind_attr); an
 * edge with LKDF_EDGE_PORT leads from an out port to an in port. The value lies
 * in the producer's slot: all readers see these bytes, and nothing is copied.
 */
#ifndef LKDF_PORT_H
#define LKDF_PORT_H

#include <lkdf/graph.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_PORTS 16 /* in ports of a kind; out ports of a kind */
#define LKDF_MAX_VALUE 4096 /* bytes of one value */

/**
 * lkdf_graph_port() - lkdf_graph_edge() with LKDF_EDGE_PORT
 * @g:    graph, not sealed
 * @from: task that makes the value
 * @out:  its out port, counting from 0
 * @to:   task that reads the value, after @from
 * @in:   its in port, counting from 0
 *
 * Several edges may lead to one in port: the body sees the value of the first
 * live one, in the order of adding.
 *
 * Return: as lkdf_graph_edge().
 */
int lkdf_graph_port(struct lkdf_graph *g, int32_t from, uint16_t out,
		    int32_t to, uint16_t in);

/**
 * lkdf_in() - the value at an in port
 * @c:    context of the body of a graph's task
 * @port: in port of its kind, counting from 0
 *
 * The body may read the value any number of times, until it has ended. Other
 * readers may see these bytes, so the body must not write them.
 *
 * Return: aligned as lkdf_out(); NULL where no edge to the port is live, there
 * is no such port, or the body is no graph's task.
 */
const void *lkdf_in(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_out() - room for the value at an out port
 * @c:    context of the body of a graph's task
 * @port: out port of its kind, counting from 0
 *
 * The room is zero before the first run and keeps the value of the last run or
 * iteration otherwise. A value for which the kind has an out_drop that is still
 * there is dropped first, and the room is zero then.
 *
 * Return: aligned to the largest power of two up to 64 that divides the value's
 * size, and to 16 at least; NULL where there is no such port, or the body is no
 * graph's task.
 */
void *lkdf_out(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_own() - the value at an in port is this body's from now on
 * @c:    context of the body of a graph's task
 * @port: in port of its kind
 *
 * The value's out_drop is not called for it any more: the body gives back what
 * the value stands for. A value without an out_drop may be owned, too.
 *
 * Return: 0; -EBUSY another body owns it already; -ENODATA no edge is live;
 * -EINVAL no such port.
 */
int lkdf_own(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_pass() - hand the value of an in port on as that of an out port
 * @c:   context of the body of a graph's task
 * @out: out port, with values as large as those of @in
 * @in:  in port
 *
 * The bytes are copied and the value is owned: the out_drop of @out counts.
 *
 * Return: 0; -EBUSY, -ENODATA as lkdf_own(); -EINVAL no such port, or sizes
 * differ.
 */
int lkdf_pass(const struct lkdf_ctx *c, unsigned out, unsigned in);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
