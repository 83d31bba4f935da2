/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Replays a recording by list scheduling: bodies take as long as they took,
 * each becomes ready when what made it ready does so again, the program's
 * threads submit and wait as they did, and idle workers take the ready body
 * that began first in the recording. Then once more with a change. It does not
 * model channels, memory, places of work, and more than one thread that
 * submits.
 */
#ifndef REPORT_REPLAY_H
#define REPORT_REPLAY_H

#include "report/model.h"

#define REPLAY_LIMITS 64u
#define REPLAY_NONE UINT32_MAX

/* Where a body runs. */
enum replay_place {
	REPLAY_WORKER,
	REPLAY_ASIDE, /* the pool, a device, an operation: at once */
	REPLAY_JOIN, /* all blocks of a loop: takes no time */
};

struct replay_body {
	float length; /* ns of its own, without bodies within it */
	float offset; /* ns of by's own, when it makes this ready; < 0: its end
		       */
	uint32_t by, first, next; /* NONE; the bodies that it makes ready */
	uint32_t slice; /* NONE: of a join */
	uint16_t kind;
	uint8_t place, limit; /* 1 + number; 0: none */
	bool joins; /* ends after the bodies that it made ready meanwhile */
};

/* The program's threads: a body that they submit, or a wait of theirs. */
struct replay_step {
	uint64_t at, end; /* of the recording */
	uint32_t body; /* it submits; or whose end it waits for, or NONE */
	uint32_t name; /* of a wait: 1 + the call; 0: it submits */
};

/* By begin: the least ready body is that which began first. */
struct replay {
	const struct report *r;
	struct replay_body *body;
	struct replay_step *step;
	uint32_t nr_bodies, nr_steps;
	uint32_t limit_name[REPLAY_LIMITS], cap[REPLAY_LIMITS], nr_limits;
	float between; /* ns between two bodies on a worker */
	bool is_sure; /* the recording has what a replay needs */
};

/* A change; all 0: none. Numbers are 1 + a kind's, a limit's, a name's. */
struct change {
	uint32_t workers; /* 0: as many as there were */
	uint32_t scaled; /* the kind that takes .scale times as long */
	uint32_t first; /* goes first */
	uint32_t split; /* each body is one for each worker */
	uint32_t more; /* tokens of that limit for all */
	uint32_t no_wait; /* the program does not wait in that call */
	bool hurries; /* the program takes no time between its calls */
	double scale;
	const double *each; /* by kind: so many times as long; NULL: as it is */
};

/* Sets a change, and perhaps tokens of the replay; NULL, or why it cannot. */
typedef const char *change_fn(void *u, struct replay *p, struct change *c);

/*
 * gains.c: the part of the wall that such a change saves; r->no_gains says why
 * none is known. 0; -ENOMEM.
 */
int report_predict(struct report *r, change_fn *fn, void *u, double *gain);

/* 0; -ENOMEM. */
int replay_build(struct replay *p, const struct report *r);
void replay_free(struct replay *p);

/* Bodies that wait for another one, and how it was before. */
struct moved {
	uint32_t body, by;
	float offset;
};

struct apart {
	struct moved *moved;
	struct replay_step *step;
	uint32_t nr_moved, nr_steps;
};

/*
 * Until replay_together() bodies that waited last for data of that name wait
 * for what the first of them waited for. 0; -ENOMEM: nothing has changed.
 */
int replay_apart(struct replay *p, uint32_t name, struct apart *a);
void replay_together(struct replay *p, struct apart *a);

/* ns until the last body has ended; 0: it did not come to an end; < 0: -ENOMEM
 */
int64_t replay_run(const struct replay *p, const struct change *c);

#endif
