/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SEAL_REGIONS_H
#define SEAL_REGIONS_H

struct lkdf_graph;

/* For a graph that is being sealed, with control: graph/region.h. 0 or -ENOMEM.
 */
int regions_make(struct lkdf_graph *g);

#endif
