/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rows of mechanisms for programs that link idle.c as it is shipped. The
 * program defines the functions of far.h that this row names; there is no
 * client, and no quota, so nobody stands by.
 */
#ifndef MC_ROWS_BELOW_H
#define MC_ROWS_BELOW_H

#include "mechanism/crew/crew.h"
#include "mechanism/due/due.h"
#include "mechanism/far/far.h"
#include "mechanism/gate/gate.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/home/home.h"
#include "mechanism/nodes/nodes.h"
#include "mechanism/part/part.h"
#include "mechanism/publish/publish.h"
#include "mechanism/victims/victims.h"
#include "quota_below.h"

void part_free_all(struct sched *s)
{
	(void)s;
	mc_fail("%s", __func__);
}

static void rows_sort(struct sched *s)
{
	static const struct mechanism far_row = {
		.name = "far",
		.nap = far_nap,
		.wakes_others = far_may_wake,
	};
	static const struct mechanism *const rows[] = {
		&home_mechanism,
		&crew_mechanism,
		&gate_mechanism,
		&victims_mechanism,
		&nodes_mechanism,
		&part_mechanism,
		&due_mechanism,
		&holdoff_mechanism,
		&publish_mechanism,
		&far_row,
		NULL,
	};

	if (!s->calls.keeps)
		mechanism_sort(&s->calls, rows, 1);
}

#endif
