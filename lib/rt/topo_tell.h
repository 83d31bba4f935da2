/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine as a runtime tells it: nodes, caches, CPUs, and which workers
 * sit there. For calls and for tools. Any thread.
 */
#ifndef RT_TOPO_TELL_H
#define RT_TOPO_TELL_H

#include <stdbool.h>

struct lkdf;
struct text;

/* Text for people, or a JSON object. 0, -ENOMEM. */
int topo_tell(struct lkdf *rt, bool is_json, struct text *f);

#endif
