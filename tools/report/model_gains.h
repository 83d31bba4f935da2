/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of the model that a replay makes: what changes gain. */
#ifndef REPORT_MODEL_GAINS_H
#define REPORT_MODEL_GAINS_H

#include <stdint.h>

/* A change that was replayed; the most gain first. */
#define MAX_GAINS 40u

struct gain {
	const char *verb; /* a fixed word, for programs */
	char object[64];
	uint32_t mode; /* "apart": enum lkdf_mode of most bodies that waited */
	uint64_t wall;
	double part; /* of the replayed wall */
};

/* The wall changes so if bodies of a kind take half or twice as long. */
#define MAX_WORTHS 8u
/* Next to nothing, of the wall. */
#define FREE_COST 0.005

struct worth {
	uint16_t kind;
	double half, twice; /* parts of the wall: less, more */
	double slack; /* so much longer, at most 1, costs next to nothing */
};

#define WORKERS_TRIED 6u

struct with_workers {
	uint32_t workers;
	uint64_t wall; /* 0: not replayed */
};

#endif
