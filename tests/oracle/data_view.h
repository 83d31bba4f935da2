/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is known of each variable while a program is interpreted: which parts
 * are written, and why their values are not what they should be. Children see
 * a view of their own below that of their parent.
 */
#ifndef TESTS_ORACLE_DATA_VIEW_H
#define TESTS_ORACLE_DATA_VIEW_H

#include "tests/oracle/data_program.h"

enum d_turn {
	D_TURN_NONE,
	D_TURN_READ,
	D_TURN_WRITE, /* alone */
	D_TURN_COMMUTE,
	D_TURN_REDUCE,
};

/* Uses of one task of the same thing, as one. */
struct d_eff {
	const struct d_program *p;
	uint8_t var, part, turn;
	bool reads, writes, is_weak, ends, is_untouched;
};

struct d_view {
	struct d_view *up; /* of the parent; NULL: there is none */
	struct d_slot {
		uint16_t errors; /* 0: the value is there */
		bool has_value; /* here: written by a task of this view */
		bool is_written; /* by somebody who has taken his place */
		bool is_weak; /* the parent does not wait for it */
	} slot[D_VARS][D_PARTS]; /* what is not split has one */

	/* Who came last: of the whole, of each part. */
	struct d_group {
		uint8_t turn;
		bool is_bad; /* one of them has not succeeded */
		bool was_bad; /* before the first of them */
	} group[D_VARS][D_PARTS + 1];
};

/* At most D_USES; returns how many. */
uint32_t d_effective(const struct d_program *p, const struct d_task *t,
		     struct d_eff *eff);

/* The slots of what is used: first, end. */
uint32_t d_eff_slots(const struct d_eff *u, uint32_t *end);

/* A view of children: what their parent's uses are. */
void d_view_cover(struct d_view *below, const struct d_eff *eff, uint32_t nr);

bool d_view_is_written(const struct d_view *v, const struct d_eff *u);
void d_view_set_written(struct d_view *v, const struct d_eff *u);

/* Why it may not be read; in this view alone. */
uint16_t d_view_errors(const struct d_view *v, const struct d_eff *u);
uint16_t d_view_errors_here(const struct d_view *v, const struct d_eff *u);

/* It was written, or with errors should have been. below: of a weak parent. */
void d_view_publish(struct d_view *v, const struct d_eff *u, uint16_t errors,
		    const struct d_view *below);

/* After a run of a graph: what it has written, with the errors of the run. */
void d_view_take(struct d_view *v, const struct d_view *from,
		 const struct d_eff *u, uint16_t errors);

/*
 * Members of a group may go in any order. False: so it is not determined who
 * of them is skipped. *starts: it is the first of its group.
 */
bool d_view_join_group(struct d_view *v, const struct d_eff *u, bool is_bad,
		       bool *starts);
void d_view_end_groups(struct d_view *v, const struct d_eff *u);
void d_view_forget_groups(struct d_view *v);

/* Of variables of one producer whose bytes a run drops: how many are made. */
uint32_t d_nr_produced(const struct d_program *p, uint32_t node, bool has_run);

#endif
