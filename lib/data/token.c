/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Uses that commute go one at a time: whoever has the var's token. It is taken
 * when all else is there.
 */
#include "data/claim.h"

#include "core/runtime.h"

/* True: it is ours now. u: else it is called when the token is given back. */
static bool take_token(struct var *v, struct use *u)
{
	bool is_mine;

	lock_take(&v->domain->lock);
	is_mine = !v->has_token;
	if (is_mine) {
		v->has_token = true;
	} else if (u) {
		u->next = v->commuters;
		v->commuters = u;
	}
	lock_give(&v->domain->lock);
	return is_mine;
}

bool token_take(struct var *v)
{
	return take_token(v, NULL);
}

/* Under lock: the next one, or the one that option order picks, leaves. */
static struct use *pop_commuter(struct var *v)
{
	struct lkdf *rt = v->domain->rt; /* NULL in tests */
	struct use **at = &v->commuters, *u;
	uint64_t nr = 0;

	lock_assert_held(&v->domain->lock);
	if (rt && unlikely(rt->sched.order.is_on) && *at) {
		for (u = *at; u; u = u->next)
			nr++;
		for (nr = order_below(&rt->sched.order, nr); nr; nr--)
			at = &(*at)->next;
	}
	u = *at;
	if (u)
		*at = u->next;
	return u;
}

void token_give(struct var *v, struct news *n)
{
	struct use *next;
	struct claim *c;

	lock_take(&v->domain->lock);
	v->has_token = false;
	next = pop_commuter(v);
	lock_give(&v->domain->lock);
	if (!next)
		return;
	c = use_claim(next);
	c->last = (uint16_t)(next - c->use + 1);
	news_ready(n, c);
}

static void give_tokens(struct claim *c, struct use *end, struct news *n)
{
	struct use *u;

	for (u = c->first; u != end; u = u->after)
		if (use_takes_token(u))
			token_give(u->var, n);
}

/*
 * All or none, so that nobody who has one waits. False: it is the business of
 * whoever gives back the one that was taken.
 */
bool claim_take_tokens(struct claim *c, struct news *n)
{
	struct use *u = c->first;

	while (u) {
		if (!use_takes_token(u) || token_take(u->var)) {
			u = u->after;
			continue;
		}
		give_tokens(c, u, n);
		if (!take_token(u->var, u))
			return false;
		/* Free after all. */
		token_give(u->var, n);
		u = c->first;
	}
	return true;
}
