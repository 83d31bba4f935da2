/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The executors that hold the words in which workers sleep. */
#ifndef TOOLS_TOP_HOLDER_H
#define TOOLS_TOP_HOLDER_H

#include "top/page.h"
#include "top/top.h"

/* The executor that holds the row's word; NULL: another thread, or unknown. */
const struct top_row *top_holder(const struct top *t,
				 const struct top_row *row);

/* A line for each worker that sleeps in a lock, as lkdf why has it. */
void top_fill_holders(struct top_page *p, const struct top *t);

#endif
