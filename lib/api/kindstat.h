/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies by kind of a runtime with option kinds: "kind.NAME.bodies", "...ns"
 * and "...timed" without the "lkdf." before it. Kinds of one name are one.
 */
#ifndef API_KINDSTAT_H
#define API_KINDSTAT_H

#include <stdint.h>

struct lkdf;

/* 0; -ENOENT: no such name, or kinds are not counted. */
int kindstat_find(const struct lkdf *rt, const char *name, uint64_t *out);

/* All of kinds whose bodies have begun, with the "lkdf.". */
void kindstat_each(const struct lkdf *rt,
		   void (*fn)(void *u, const char *name, uint64_t v), void *u);

#endif
