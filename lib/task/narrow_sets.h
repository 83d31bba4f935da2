/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The sets of kinds that a runtime narrows, see narrowing.h: how kinds come
 * into them (narrow_sets.c), and bodies by kind while a set tries
 * (narrow_count.c). The worker that has closed the window has all of it, but
 * for what is marked.
 */
#ifndef TASK_NARROW_SETS_H
#define TASK_NARROW_SETS_H

#include "base/lock.h"
#include "core/runtime.h"
#include "task/kind.h"
#include "task/narrowing.h"

struct narrow_set {
	struct narrow narrow;
	struct gate *gate; /* NULL: none yet */
	uint32_t cap; /* the gate's */
	bool is_refused; /* no kind of it can have a gate */
	bool has_lost; /* its last trial */

	/* Under lock, for readers. */
	uint32_t nr_kinds, kind[NARROWED_KINDS];
	uint64_t word;
	uint32_t source;
	enum narrow_why why;

	/* Signs in this window. */
	bool is_stretched;
	uint32_t permille, nr_bodies, most_running;
	bool is_passed; /* most bodies were begun without a token */
	uint64_t nr_begun, nr_over; /* at its gate, until then */
	uint32_t age; /* windows since a sign */
};

/* A name's row, summed over executors. */
struct kind_tally {
	uint64_t bodies, ticks; /* by the last window of a trial */
	uint64_t weight; /* ticks of a body alone, for this trial; or 0 */
	uint64_t nr_alone, alone_ticks; /* one worker at a time ran them */
	uint32_t turn; /* kinds of one name are counted once in a window */
};

struct narrowing {
	/* Set at open, constant afterwards. */
	struct lkdf *rt;
	uint32_t nr_workers;
	uint64_t least_ticks; /* shorter bodies get no gate */

	/* Any thread. */
	_Atomic(uint32_t) active, nr_narrow;
	struct lock lock;

	struct narrow_set *trial; /* NULL: none tries */
	bool counts;
	struct kind_row *rows; /* NULL: those of option kinds are there */
	uint64_t *tasks; /* by worker: bodies so far */
	struct kind_tally tally[MAX_NAMES];
	uint8_t set_of[MAX_NAMES]; /* 1 + the index of a kind's set; 0: none */
	uint32_t turn;
	uint32_t nr_wordless;

	/* Gates of sets that were forgotten. */
	struct gate *spare[NARROWED_SETS];
	uint32_t nr_spare;

	uint32_t nr_sets;
	struct narrow_set set[NARROWED_SETS];
};

/* A window, as all sets see it. */
struct narrow_view {
	const struct window *win;
	uint32_t nr_active; /* workers that have begun a body */
	uint64_t nr_tasks; /* bodies of all kinds */
	uint64_t progress; /* while they are counted by kind */
	bool is_whole, has_words;
	bool expects_words; /* the probe will tell what kinds meet in */
};

/* Is the kind with that name in recordings in the set? */
bool set_has(const struct narrowing *n, const struct narrow_set *s,
	     uint32_t name);

/*
 * Looks at all kinds in this window: kinds with a sign come into a set, kinds
 * of a set with a gate have that gate, and while bodies are counted the view
 * gets the progress.
 */
void sets_look(struct narrowing *n, struct narrow_view *v);

/*
 * The window is over: sets without a sign for long are forgotten, and two that
 * have lost each on its own become one.
 */
void sets_age(struct narrowing *n);

/* Before there are threads: rows, which take no memory yet. 0 or -ENOMEM. */
int count_open(struct narrowing *n);

/* Bodies of all kinds are counted from now on. */
void count_begin(struct narrowing *n);
void count_end(struct narrowing *n);

/* No body runs any more. */
void count_free(struct narrowing *n);

/* While bodies are counted: those of a kind in this window. */
void count_bodies(struct narrowing *n, struct narrow_view *v,
		  struct narrow_set *s, const struct lkdf_kind *k,
		  uint64_t least_ticks);

/* While they are not: the kind may have been alone in the last trial. */
void count_learn(struct narrowing *n, struct lkdf_kind *k);

#endif
