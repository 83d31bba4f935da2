/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All other public headers need this one: the opaque nouns, the event value,
 * the error text, and the names of errors, which calls return negative.
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

#include <errno.h>
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
struct lkdf_channel;
struct lkdf_ctx;

/* A completion that has happened or will; 16 bytes, passed by value. */
struct lkdf_event {
	void *slot;
	uint64_t gen;
};

/*
 * No event: for calls that take one or none, and before an event is made.
 */
#ifdef __cplusplus
#define LKDF_EVENT_NONE (lkdf_event())
#else
#define LKDF_EVENT_NONE ((struct lkdf_event){ NULL, 0 })
#endif

/*
 * The address of a struct of type T that lives until the end of the block, with
 * its size set and the fields given as designated initialisers; all others are
 * 0. C only: LKDF_ATTR(lkdf_graph_attr, .name = "sums", .inflight = 2).
 */
#define LKDF_ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

/* The version of this header; lkdf_version() is that of the library in use. */
#define LKDF_VERSION_MAJOR 0
#define LKDF_VERSION_MINOR 1
#define LKDF_VERSION_PATCH 0
#define LKDF_VERSION_NUMBER                                   \
	(LKDF_VERSION_MAJOR << 16 | LKDF_VERSION_MINOR << 8 | \
	 LKDF_VERSION_PATCH)

/**
 * lkdf_version() - the version of the library in use
 *
 * Context: any thread, without a runtime.
 * Return: major << 16 | minor << 8 | patch, as LKDF_VERSION_NUMBER was when the
 * library was built.
 */
unsigned lkdf_version(void);

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
