/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A data: a domain (data/var.h) and its bytes. The bytes come with the first
 * task that needs them, on that task's node, or where the user said. A use that
 * goes alone may replace them.
 *
 * The last reference sends a last writer down the queue; when its turn comes
 * nobody can use the data any more, and it is freed.
 */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "base/list.h"
#include "base/log.h"
#include "core/failure.h"
#include "core/item.h"
#include "data/claim.h"
#include "ring/blocking.h"
#include "sched/inbox.h"

#include <lkdf/data.h>

#define DATA_NAME 64
#define DATA_TEXT 96
#define DATA_MAX_BYTES ((uint64_t)1 << 40)
#define DATA_MAX_PARTS (1u << 20)

#define DATA_MOVES (LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE)

struct copies;
struct executor;
struct lkdf;
struct replicas;

/* Copies of a var for LKDF_REDUCE, by executor. */
struct reduction {
	struct link_call call; /* while it is to be combined */

	/* Set when made, constant afterwards. */
	struct lkdf_data *data;
	struct var *var;
	uint32_t part;
	uint32_t nr;

	bool is_noted; /* option check: lkdf check knows of the copy */

	struct copy {
		/* The executor; whoever goes alone. */
		_Alignas(CACHE_LINE) void *bytes;
		bool is_touched;
	} copy[];
};

/* A thread of the user holds it, or waits for it. */
struct acquisition {
	struct acquisition *next;
	const void *thread;
	uint32_t mode;
	bool is_held; /* the thread has been told */
	struct blocking_item bytes; /* while they come home, see offhost.h */
	_Atomic(uint32_t) is_there; /* futex; given up: the last one frees */
	struct claim claim; /* one use */
};

/* Memory of data that were created in one call. */
struct data_slab {
	_Alignas(CACHE_LINE) _Atomic(uint32_t) nr_left; /* data that live */
};

struct lkdf_data {
	_Alignas(CACHE_LINE) struct domain domain;

	/* Set under lock, before domain.at. */
	bool is_mapped; /* page by page where they are touched first */

	/* Set at create, constant afterwards. */
	uint32_t flags;
	struct lkdf *rt;
	struct replicas *replicas; /* NULL: none are made, see replica.h */

	/* Any thread; beside what is looked at when a graph adds a use. */
	_Atomic(uint32_t) nr_refs;
	_Atomic(uint32_t) seen_as; /* var of a graph, a guess: see access.c */

	/* Set at create, constant afterwards. */
	int (*reduce)(void *acc, const void *x, uint64_t bytes);
	uint64_t bytes, align;
	bool is_wrapped;
	int home; /* node; -1: that of the first writer */
	void (*drop)(void *bytes);
	void (*neutral)(void *acc, uint64_t bytes);
	char name[DATA_NAME];
	struct data_slab *slab; /* it lies in; NULL: it has memory of its own */

	/* Under the domain's lock until parts are used. */
	uint64_t stride;

	/* Set under lock, then constant but for whoever goes alone. */
	_Atomic(int32_t) node; /* of the bytes; -1: unknown */
	_Atomic(bool) has_strays; /* pages that are not where the heap knows */
	_Atomic(int32_t) watch; /* 1 + its range on the board; 0: none */
	_Atomic(int32_t) told; /* 1 + node in the last event of it; 0: none */

	/* Any thread. */
	_Atomic(struct copies *) copies; /* on devices; NULL: there were none */

	/* Under the runtime's data lock. */
	struct list all;
	struct acquisition *acquisitions;
	/* Behind it lies the claim of the last writer, with one use. */
};

/* The bytes of a data and the claim of its last writer. */
#define DATA_CELL                                                  \
	(sizeof(struct lkdf_data) +                                \
	 round_up_const(sizeof(struct claim) + sizeof(struct use), \
			CACHE_LINE))

int data_create(struct lkdf *rt, const struct lkdf_data_attr *a,
		struct lkdf_data **out);

/* nr of them without a name or bytes of the user's; all, or none and NULLs. */
int data_create_many(struct lkdf *rt, const struct lkdf_data_attr *a,
		     uint32_t nr, struct lkdf_data **out);

/* Into the list of all, under its name. 0, -EEXIST, -ENOMEM. */
int data_publish(struct lkdf_data *d);

/* Into the list of all: nr data without names. */
void data_publish_many(struct lkdf *rt, struct lkdf_data *const *d,
		       uint32_t nr);

/* Now, or when devices have let go of it. */
void data_destroy(struct lkdf_data *d);

int data_find(struct lkdf *rt, const char *name, struct lkdf_data **out);
int data_at(struct lkdf *rt, const void *addr, struct lkdf_data **out);
int data_split(struct lkdf_data *d, uint32_t nr, uint64_t stride);
void data_get(struct lkdf_data *d);
void data_put(struct lkdf_data *d);

/*
 * Those that were not put: says so, and frees all but the structs, whose
 * runtime is NULL from then on. No task lives.
 */
void data_report_leaks(struct lkdf *rt);

/* A put of one of those. */
void data_put_orphan(struct lkdf_data *d);

/* A thread of the user has acquired one of them, or waits for it: which. */
bool data_is_held(struct lkdf *rt, char text[DATA_TEXT]);

/* In a forked child: frees them without a word. */
void data_abandon(struct lkdf *rt);

/* "x" or "data of 64 bytes", and which part. */
const char *data_text(const struct lkdf_data *d, uint32_t part,
		      char text[DATA_TEXT]);

/*
 * The bytes, made now if there are none: on node; -1: the one this thread
 * runs on; DATA_FIRST_TOUCH: page by page where they are touched first, if they
 * are pages. NULL: no memory, err() has said so.
 */
#define DATA_FIRST_TOUCH (-2)
void *data_bytes(struct lkdf_data *d, int node);

/* Nobody uses them any more; the user's are only dropped. */
void data_free_bytes(struct lkdf_data *d);

/* A block for all its bytes, on that node; NULL: there is no memory. */
void *data_block(struct lkdf_data *d, int node);
void data_free_block(struct lkdf_data *d, void *p);

/* The one that has been its bytes. */
void data_free_own(struct lkdf_data *d, void *p);

/* Where a part lies in the bytes, and how long it is. */
uint64_t data_offset(const struct lkdf_data *d, uint32_t part);
uint64_t data_size(const struct lkdf_data *d, uint32_t part);

/* The executor's copy of a part or the whole; NULL: no memory. */
void *reduction_copy(struct executor *ex, struct lkdf_data *d, uint32_t part);

/* Makes a part, or the whole, ready for LKDF_REDUCE. 0 or -ENOMEM. */
int reduction_prepare(struct lkdf_data *d, uint32_t part);
void reduction_free(struct reduction *r);

/*
 * Bytes that nobody has written yet become neutral: before somebody combines
 * copies into them, or writes what others may reduce into. 0 or -ENOMEM.
 */
int reduction_begin(struct lkdf_data *d, uint32_t part);

/* All touched copies into the bytes; then none is. 0 or the user's error. */
int reduction_combine(struct reduction *r);

/* Its bytes follow the tasks of graphs, or are copied for them: follow.h. */
static inline bool data_follows(const struct lkdf_data *d)
{
	return d->replicas || d->flags & LKDF_DATA_MIGRATE;
}

#endif
