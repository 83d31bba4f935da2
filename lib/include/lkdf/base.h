/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All other public headers include this one. It declares the opaque types, the
 * event value, the error text and, through errno.h, the error numbers.
 *
 * Conventions of the whole interface: calls return 0 or a count on success and
 * a negative errno on failure; lkdf_errmsg() then has the reason. Out
 * parameters come last and are untouched on failure. Attribute structs start
 * with their own size; a field of 0 means the default; the library copies what
 * they point to unless the comment says otherwise. An unknown flag or mode, or
 * a pad that is not 0, gives -EINVAL. A known flag that this version does not
 * support gives -EOPNOTSUPP. Times are int64_t nanoseconds; -1 means no limit,
 * and less than -1 gives -EINVAL. "node" is a NUMA node.
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

/* A completion, past or future. A value of 16 bytes, passed by value. */
struct lkdf_event {
	void *slot;
	uint64_t gen;
};

/*
 * No event. Initialise variables with it, and pass it where an event is
 * optional.
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
 * Return: the text, "" if no call of this thread has failed; never NULL. It is
 * valid until the next call of this thread that fails.
 */
const char *lkdf_errmsg(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
