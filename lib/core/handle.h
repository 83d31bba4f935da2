/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Objects that the user has created and has to put: kinds, graphs, scopes,
 * limits and channels. A runtime lists them, so that close names those that
 * were not put. They stay in memory then, and a put that comes after close is
 * told, not followed.
 */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include "base/list.h"

#include <stdint.h>

struct lkdf;

enum handle_sort {
	HANDLE_KIND,
	HANDLE_GRAPH,
	HANDLE_SCOPE,
	HANDLE_LIMIT,
	HANDLE_CHANNEL,
};

/* Embedded in each. */
struct handle {
	/* Under the runtime's lock; NULL: the user has none. */
	struct list list;

	/* Set when it is listed, constant until the runtime closes. */
	uint8_t sort; /* enum handle_sort */
	bool is_orphan; /* the runtime has closed */
};

/* The user has it from now on. */
void handle_add(struct lkdf *rt, struct handle *h, enum handle_sort sort);

/*
 * The user puts it: true; false: its runtime, which @rt was, has closed, and
 * that was told. what: the call.
 */
bool handle_drop(struct lkdf *rt, struct handle *h, const char *what);

/* A put of something whose runtime has closed: one line on standard error. */
void handle_tell_orphan(const char *what);

#endif
