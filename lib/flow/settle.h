/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records by node, for graphs in which tasks have places. See settle.c.
 */
#ifndef FLOW_SETTLE_H
#define FLOW_SETTLE_H

#include "flow/graph.h"

/* Once, by seal, after everything else is laid out. 0 or -ENOMEM. */
int settle(struct lkdf_graph *g);

/* Records of a further frame: nothing in them, on the right pages. */
struct rec *settle_map(const struct lkdf_graph *g);

#endif
