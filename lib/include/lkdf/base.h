/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What every other public header needs: the opaque nouns, the event value and
 * the error text.
 *
 * Conventions of the whole interface: 0 or a count on success, -errno on
 * failure with the reason in lkdf_errmsg(); out parameters come last and are
 * untouched on failure; attribute structs start with their own size, zero
 * means default, and what they point to is copied unless said otherwise. Flags
 * and modes that the library does not know, and a pad that is not 0, give
 * -EINVAL; those that it knows and has not built yet -EOPNOTSUPP.
 * Times are int64_t nanoseconds, -1 for ever; less than -1 gives -EINVAL.
 * "node" is a NUMA node.
 */
#ifndef LKDF_BASE_H
#define LKDF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf;
struct lkdf_kind;
struct lkdf_graph;
struct lkdf_data;
struct lkdf_scope;
struct lkdf_place;
struct lkdf_limit;
struct lkdf_ctx;

/* One completion that has happened or will; 16 bytes, passed by value. */
struct lkdf_event {
	void *slot;
	uint64_t gen;
};

/**
 * lkdf_errmsg() - why the last call of this thread failed
 *
 * Context: any thread, does not block.
 * Return: text of this thread, "" if nothing failed; valid until its next
 * failing call. Never NULL.
 */
const char *lkdf_errmsg(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
