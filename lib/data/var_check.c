/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option check: the orders of a var. It has a token for each way to use it: a
 * use comes after all uses of other ways, and of its own where it goes alone.
 * That is what the queue gives, whose groups are uses of one way.
 */
#include "data/var_check.h"

#include "check/fiber.h"
#include "data/data.h"

/*
 * Parts of a reduction lie in one copy here. The tool that reads the notes
 * drops reports of its bytes; without notes the parts have an order.
 */
static bool is_alone(const struct var *v, unsigned turn)
{
	if (turn == TURN_REDUCE)
		return !v->reduction || !v->reduction->is_noted;
	return turn == TURN_WRITE;
}

static uint64_t *tokens_of(struct var *v)
{
	if (!v->check)
		v->check = check_tokens(NR_TURNS + 1);
	return v->check;
}

uint64_t *var_held(struct var *v)
{
	return tokens_of(v) ? &v->check[TURN_HELD] : NULL;
}

void var_hear(struct check *ch, struct var *v, unsigned turn)
{
	unsigned i;

	for (i = 0; tokens_of(v) && i < NR_TURNS; i++)
		if (i != turn || is_alone(v, turn))
			check_acquire(ch, &v->check[i]);
}

void var_tell(struct check *ch, struct var *v, unsigned turn)
{
	if (tokens_of(v))
		check_release(ch, &v->check[turn]);
}

void var_forget(struct var *v)
{
	check_forget(v->check);
	v->check = NULL;
}
