/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/edge_order.h"

#include "base/atomic.h"

enum edge_turn {
	EDGE_LEAVES,
	EDGE_STAYS,
	EDGE_CLOSES,
	NR_EDGE_TURNS,
};

/* A BACK edge that closes an outer loop leaves the inner ones. */
static enum edge_turn turn_of(const struct control_edge *e)
{
	if (e->flags & CONTROL_EXIT && !row_is_dropped("leaves"))
		return EDGE_LEAVES;
	return e->flags & CONTROL_BACK ? EDGE_CLOSES : EDGE_STAYS;
}

void edge_order_copy(struct control_edge *to, const struct control_edge *e,
		     uint32_t nr)
{
	enum edge_turn turn;
	uint32_t i;

	for (turn = EDGE_LEAVES; turn < NR_EDGE_TURNS; turn++)
		for (i = 0; i < nr; i++)
			if (turn_of(&e[i]) == turn)
				*to++ = e[i];
}

bool edge_order_holds(const struct control_edge *e, uint32_t nr)
{
	uint32_t i;

	for (i = 1; i < nr; i++)
		if (turn_of(&e[i - 1]) > turn_of(&e[i]))
			return false;
	return true;
}
