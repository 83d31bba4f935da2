/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports pass small values from task to task in a graph. A kind declares its
 * ports and the sizes of their values (struct lkdf_kind_attr); an edge with
 * LKDF_EDGE_PORT leads from an out port to an in port. The value stays in the
 * memory of its producer: all readers see the same bytes, without a copy.
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
 * lkdf_graph_port() - add an edge that passes a value
 * @g:    graph, not sealed
 * @from: task that makes the value
 * @out:  its out port, counting from 0
 * @to:   task that reads the value, after @from
 * @in:   its in port, counting from 0
 *
 * Several edges may lead to one in port. The body gets the value of the first
 * live one, in the order of adding.
 *
 * Return: as lkdf_graph_edge().
 */
int lkdf_graph_port(struct lkdf_graph *g, int32_t from, uint16_t out,
		    int32_t to, uint16_t in);

/**
 * lkdf_in() - get the value of an in port
 * @c:    context of the body of a graph's task
 * @port: in port of its kind, counting from 0
 *
 * The body may read the value until its task has ended. It must not write these
 * bytes, because other tasks may read them.
 *
 * Return: the value, aligned as by lkdf_out(); NULL: no edge to the port is
 * live, there is no such port, or the task is not in a graph.
 */
const void *lkdf_in(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_out() - get the memory for the value of an out port
 * @c:    context of the body of a graph's task
 * @port: out port of its kind, counting from 0
 *
 * Before the first run the memory is zero; later it has the value of the last
 * run or iteration. If the kind has an out_drop and the last value is still
 * there, the library drops it first and zeroes the memory.
 *
 * Return: the memory, aligned to the largest power of two up to 64 that divides
 * the size of the value, and at least to 16; NULL: there is no such port, or
 * the task is not in a graph.
 */
void *lkdf_out(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_own() - take over the value of an in port
 * @c:    context of the body of a graph's task
 * @port: in port of its kind
 *
 * The library does not call out_drop for this value any more: the body owns
 * what the value refers to, and frees it. The call also works for values
 * without an out_drop.
 *
 * Return: 0; -EBUSY another body has taken the value; -ENODATA no edge to the
 * port is live; -EINVAL no such port.
 */
int lkdf_own(const struct lkdf_ctx *c, unsigned port);

/**
 * lkdf_pass() - pass the value of an in port to an out port
 * @c:   context of the body of a graph's task
 * @out: out port, whose values have the size of those of @in
 * @in:  in port
 *
 * The call takes over the value, as lkdf_own() does, and copies the bytes to
 * @out. From then on the out_drop of @out applies.
 *
 * Return: 0; -EBUSY and -ENODATA as lkdf_own(); -EINVAL no such port, or the
 * sizes differ.
 */
int lkdf_pass(const struct lkdf_ctx *c, unsigned out, unsigned in);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
