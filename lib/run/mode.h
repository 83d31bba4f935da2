/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The mode of a run: how workers go through its tasks. The worker that has the
 * run's link first asks the rows of a table, and the first that is for the run
 * has it until its end:
 *
 *	static     one worker goes by a recorded order; static_run.h
 *	regions    branches, and loops whose iterations go by bits; region_run.h
 *	control    branches; control_loop.c
 *	tokens     runs pass tokens on; plain.c
 *	transient  bytes come and go with the tasks; plain.c
 *	plain      all others; plain.c
 *
 * Two things are said of a run besides, and go with any mode: who keeps it
 * (solo_run.h), and where its bytes are (planned.h, rehome.h).
 */
#ifndef RUN_MODE_H
#define RUN_MODE_H

#include "run/burst.h"

struct run_mode {
	const char *name;

	/* A run begins. True: it goes so, and is prepared. */
	bool (*is_for)(struct worker *w, struct frame *f);

	/*
	 * A task that is ready, and what follows it. Returns an item that was
	 * taken and is for somebody else, or 0.
	 */
	uint64_t (*run)(struct burst *b, uint32_t index);

	/* A worker has the link. Returns the item to run next, or 0. */
	uint64_t (*start)(struct burst *b, struct frame *f);
};

extern const struct run_mode static_mode, regions_mode, control_mode,
	tokens_mode, transient_mode, plain_mode;

/* A run begins: sets its mode. */
void mode_choose(struct worker *w, struct frame *f);

/* Tasks of a run that has left its static order, or never had one. */
uint64_t mode_run_transient(struct burst *b, uint32_t index);

#endif
