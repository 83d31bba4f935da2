/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Objects that the user has created and has to put: kinds, graphs, scopes,
 * limits and channels. A runtime lists them, so that close names those that
 * were not put. They stay in memory then, and a put that comes after close is
 * told, not followed.
 *
 * An object that has ended stays in memory for a while: its grave. It belongs
 * to no runtime then, so that the checks of every call refuse it, and a second
 * put of it is told.
 */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include "base/list.h"

#include <stdint.h>

struct lkdf;

#ifdef LKDF_DEBUG
#define NR_GRAVES 4096
#else
#define NR_GRAVES 64
#endif

enum handle_sort {
	HANDLE_KIND,
	HANDLE_GRAPH,
	HANDLE_SCOPE,
	HANDLE_LIMIT,
	HANDLE_CHANNEL,
};

enum handle_state {
	HANDLE_OURS, /* of the library's own objects */
	HANDLE_USERS,
	HANDLE_PUT,
};

/* Embedded in each. */
struct handle {
	/* Under the runtime's lock. */
	struct list list;
	uint8_t state; /* enum handle_state */

	/* Set when it is listed, constant until the runtime closes. */
	uint8_t sort; /* enum handle_sort */
	bool is_orphan; /* the runtime has closed */
};

/* The user has it from now on. */
void handle_add(struct lkdf *rt, struct handle *h, enum handle_sort sort);

/*
 * The user puts it: true; false: its runtime, which @rt was, has closed, or it
 * was put before, and that was told. what: the call.
 */
bool handle_drop(struct lkdf *rt, struct handle *h, const char *what,
		 const char *name);

/* A put of something whose runtime has closed: one line on standard error. */
void handle_tell_orphan(const char *what);

/* A second put of an object: one line on standard error. */
void handle_tell_put(const char *what, const char *name);

/* Memory of objects that have ended, a ring. */
struct graves {
	/* Under the runtime's lock. */
	void *memory[NR_GRAVES];
	unsigned next; /* the oldest */
};

/*
 * Frees memory of malloc() later: an object that has ended and belongs to no
 * runtime any more.
 */
void handle_bury(struct lkdf *rt, void *memory);

/* The runtime closes, or is abandoned: no other thread is left. */
void graves_fini(struct graves *g);

#endif
