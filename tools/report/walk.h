/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Walks a lane from 0 to the end as spans that touch each other: in the
 * innermost body, in io_uring_enter(2), in a short gap, idle. A span ends at
 * the latest where a sample of the CPU time was taken.
 */
#ifndef REPORT_WALK_H
#define REPORT_WALK_H

#include "report/model.h"

enum walk_state {
	WALK_BODY,
	WALK_ENTER,
	WALK_SHORT, /* a gap below GAP_NS */
	WALK_IDLE
};

struct walk {
	const struct report *r;
	const struct lane *lane;
	uint32_t slice, enter, sample; /* the next ones */
	uint64_t at; /* from here on nothing has been told */
	uint64_t gap_begin, gap_end; /* around an idle or short span */
	uint32_t *open; /* slices, the innermost last */
	uint32_t nr_open, cap;

	/* The span last told. */
	uint64_t begin, end;
	enum walk_state state;
	uint32_t body; /* WALK_BODY: the innermost slice */
	uint32_t from_slice; /* [from_slice, slice) began with this span */
};

void walk_start(struct walk *w, const struct report *r, const struct lane *l);
/* 1: a span; 0: the end was told before; -ENOMEM. */
int walk_next(struct walk *w);
void walk_fini(struct walk *w);

#endif
