/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Brings a runtime up, part by part, and takes it down in reverse order.
 */
#ifndef RT_OPEN_H
#define RT_OPEN_H

#include "core/runtime.h"

/* It opens by the options; log, topology and hooks are there. */
int runtime_open(struct lkdf *rt);

/* Joins the workers; the root is empty. */
void runtime_close(struct lkdf *rt);

/* In a forked child: frees memory, joins nobody. */
void runtime_abandon(struct lkdf *rt);

#endif
