/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SEAL_CHOICES_H
#define SEAL_CHOICES_H

struct lkdf_graph;

/* For a graph that is being sealed, with control: graph/choice.h. 0 or -ENOMEM.
 */
int choices_make(struct lkdf_graph *g);

#endif
