/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph's ring of frames: their memory, and what is set at seal.
 */
#ifndef SEAL_FRAMES_H
#define SEAL_FRAMES_H

struct lkdf_graph;

int frames_create(struct lkdf_graph *g);
void frames_destroy(struct lkdf_graph *g);

#endif
