/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf pages --move: pages of a process, those of some ranges or of blocks with
 * a label, go to a node. The places of pages are asked before and after, so
 * that what is told has happened.
 */
#ifndef TOOLS_PAGES_MOVE_H
#define TOOLS_PAGES_MOVE_H

#include <lkdf/lkdf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOVE_NODES 1024
#define MOVE_WHYS 8

struct pages_move {
	/* The user's request. */
	int pid, node;
	bool is_dry; /* nothing is moved */

	/* Bytes: whole pages. */
	uint64_t absent, there, moved, refused;
	uint64_t from[MOVE_NODES]; /* of moved, or of what would be */
	struct move_why {
		int error; /* errno; 0: it stayed, and nobody says why */
		uint64_t bytes;
	} why[MOVE_WHYS];
	unsigned nr_whys;
	uint64_t nr_blocks; /* with the label */
	int error; /* of the call as a whole: -errno */
};

/* The pages of [from, to), which are mapped at least in part. 0 or -errno. */
int pages_move_range(struct pages_move *m, struct lkdf *rt, uint64_t from,
		     uint64_t to);

/* The whole pages of all blocks with that label. 0, -errno; -ENOENT: none. */
int pages_move_label(struct pages_move *m, struct lkdf *rt, const char *label);

void pages_move_text(const struct pages_move *m);
void pages_move_json(const struct pages_move *m);

#endif
