/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "top/holder.h"

#include <inttypes.h>

const struct top_row *top_holder(const struct top *t, const struct top_row *row)
{
	const struct top_row *r;

	for (r = t->row; r < t->row + t->nr_rows; r++)
		if (row->holder_tid && r->is_started &&
		    r->runtime == row->runtime && r->tid == row->holder_tid)
			return r;
	return NULL;
}

static void fill_holder(struct top_page *p, const struct top *t,
			const struct top_row *row)
{
	const struct top_row *holder = top_holder(t, row);

	page_line(p, CLI_FAINT);
	page_cell(p, 0, "worker %u sleeps at futex word 0x%" PRIx64,
		  row->executor, row->word);
	if (holder && holder->kind == LKDF_EXECUTOR_WORKER)
		page_cell(p, 0, ", which worker %u holds", holder->executor);
	else if (row->holder_tid)
		page_cell(p, 0, ", which thread %u holds", row->holder_tid);
	else
		page_cell(p, 0, "; who holds it is not known");
	if (holder && holder->by_tid)
		page_cell(p, 0, ", whose CPU has thread %u, %s", holder->by_tid,
			  holder->by);
}

static void fill_preemptor(struct top_page *p, const struct top_row *row)
{
	page_line(p, CLI_FAINT);
	page_cell(p, 0, "worker %u waits for a CPU, which thread %u has, ",
		  row->executor, row->by_tid);
	page_name(p, 0, row->by);
}

void top_fill_holders(struct top_page *p, const struct top *t)
{
	const struct top_row *row;

	for (row = t->row; row < t->row + t->nr_rows; row++) {
		if (!row->is_started || row->kind != LKDF_EXECUTOR_WORKER)
			continue;
		if (row->word)
			fill_holder(p, t, row);
		else if (row->by_tid)
			fill_preemptor(p, row);
	}
}
