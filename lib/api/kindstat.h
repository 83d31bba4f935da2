/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The facts of kinds, without the "lkdf." before it; kinds of one name are one.
 * With option kinds bodies are counted: "kind.NAME.bodies", "...ns" and
 * "...timed". Without it as well: the shortest body that was timed, as
 * "...alone_ns", and of the last window "...futex_ppm" and "...word" if the
 * probe has seen the kind wait in futex words.
 */
#ifndef API_KINDSTAT_H
#define API_KINDSTAT_H

#include <stdint.h>

struct lkdf;

/* 0; -ENOENT: no such name, or that is not known of the kind. */
int kindstat_find(struct lkdf *rt, const char *name, uint64_t *out);

/* All that is known of kinds whose bodies have begun, with the "lkdf.". */
void kindstat_each(struct lkdf *rt,
		   void (*fn)(void *u, const char *name, uint64_t v), void *u);

#endif
