/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The data of one run: where the bytes of each use are, and the claim on what
 * lies outside of the graph. Bytes of LKDF_DATA_ONCE come and go in each run,
 * see transient.h.
 *
 * A run whose claim has to wait starts when it is granted. A call that repeats
 * keeps it from run to run while nobody else waits.
 */
#ifndef RUN_VALUES_H
#define RUN_VALUES_H

#include "data/claim.h"
#include "graph/graph.h"
#include "ring/blocking.h"
#include "run/transient.h"

struct offhost_once;
struct executor;
struct failure;
struct frame;
struct lkdf_ctx;
struct access_use;

/* A frame's own values. */
struct values {
	/* Set at seal, constant afterwards. */
	struct claim *claim;

	/* When the claim is there; of transient ones see there. */
	struct value *var; /* by var */
	_Atomic(uint32_t)
		*many; /* by var: readers that have left, see transient.h */

	/* Set at seal, constant afterwards. */
	struct heap *heap; /* the runtime's */
	/* The accesses's, by index; NULL: there are none. */
	const struct transient_task *transient_task;
	const struct transient_use *transient; /* the same, by use */

	/* By var: copies of transient ones on devices, see offhost_once.h;
	 * NULL: the graph has no data that may be away. */
	_Atomic(struct offhost_once *) *once;

	/* When the claim is there, while bytes come home: see data/offhost.h.
	 */
	struct blocking_item bytes;

	/* When the claim is there. */
	bool is_poisoned; /* some input is not there: see error */
	bool heals; /* what it writes had an error before */
	int *error; /* by use of the claim */

	/* Any worker: tasks that should have written last did not. */
	_Atomic(uint8_t) *is_dead; /* by use of the claim */
	_Atomic(uint32_t) *nr_untouched; /* the same: writers that were none */
	_Atomic(uint64_t) *nr_written; /* of a stream's holder: by all waves */
	_Atomic(uint8_t) *lost; /* the same: is_dead of some wave */

	_Atomic(uint8_t) has_bad; /* any worker: some use is */
	uint8_t *bad; /* who ends or resolves it; by use, NULL: see always.h */

	/* The task, before its body; NULL: see follow.h. */
	uint16_t *copy; /* by use of the graph: as in struct use */

	/* The task; then whoever resolves it. NULL: no use is MAYBE. */
	uint8_t *untouched; /* by use of the graph */
};

/* For each frame at seal. 0 or -ENOMEM. */
int values_create(struct frame *f);
void values_destroy(struct frame *f);

/* Bytes for what has none yet, before a run. 0 or -ENOMEM. */
int values_prepare(struct lkdf_graph *g);

/* Is it the claim of a run? Then its holder is the frame. */
/* The run that waits for bytes with that item; NULL: none does. */
const struct frame *values_of_bytes(const struct blocking_item *item);

bool values_has(const struct claim *c);

/* 1: the run may start; 0: it is started later; -ENODATA. */
int values_enter(struct executor *ex, struct frame *f);

/* The claim is there. */
void values_begin(struct frame *f);

/*
 * A wave of a stream begins, in its frame: the holder's claim, which has begun,
 * is that of all waves. It has ended. All of them have, before values_leave().
 */
void values_begin_wave(struct frame *f, const struct frame *holder);
void values_end_wave(struct frame *f, struct frame *holder);
void values_end_waves(struct frame *holder);

/* The run is over; error and failure as its own. */
void values_leave(struct executor *ex, struct frame *f, int error,
		  struct failure *failure);

/* Between two runs of one call: true: somebody waits, so leave and enter. */
bool values_are_wanted(const struct frame *f);

/* Between two runs of one call that keeps the claim. */
void values_count(struct frame *f);

/* A task that reads what is not there when the run starts. */
bool values_are_missing(const struct frame *f, uint32_t index);

/* The task failed or was skipped: so did what it should have written. */
void values_dead(struct frame *f, uint32_t index);

/* No branch chose the task: it has left all it writes as it was. */
void values_unchosen(struct frame *f, uint32_t index);

/* The body has left the use untouched. */
void values_untouched(struct frame *f, uint32_t index, unsigned use);
bool values_is_untouched(const struct frame *f, const struct access_use *u);

/* The body is over: what it has left untouched is no write. */
void values_count_untouched(struct frame *f, uint32_t index);

/*
 * The verdict that passes the edge, which may keep two uses apart and nothing
 * more; and what is read over it may be as bad as before.
 */
int values_passes(const struct frame *f, uint32_t from, uint32_t to,
		  int verdict);

/* Its successors are told. */
void values_forget_untouched(struct frame *f, uint32_t index);

/* The bytes of a use; NULL: there is no such use, or none. */
void *values_ptr(struct lkdf_ctx *c, unsigned use);

#endif
