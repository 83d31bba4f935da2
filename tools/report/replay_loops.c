/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loops of the program, in a replay. */
#include "report/replay_build.h"

#include <errno.h>
#include <stdlib.h>

/* Blocks that nobody's body has made ready, by loop. */
static bool is_root_block(const struct replay *p, const struct replay_body *x)
{
	return x->by == REPLAY_NONE && x->slice != REPLAY_NONE &&
	       p->r->kind[x->kind].is_loop;
}

struct loop {
	uint64_t ready, end;
	uint32_t body; /* that joins its blocks */
	uint16_t kind;
};

struct loops {
	struct loop *loop; /* by ready */
	uint32_t nr, most;
};

/* The loop of a block; a new one has a body of its own. NULL: no room. */
static struct loop *loop_of(struct replay *p, struct loops *all,
			    const struct slice *s, bool *is_new)
{
	struct loop *l = all->loop + all->nr;

	*is_new = false;
	while (l-- > all->loop && l->ready >= s->ready)
		if (l->ready == s->ready && l->kind == s->kind)
			return l;
	if (all->nr == all->most)
		return NULL;
	*is_new = true;
	l = &all->loop[all->nr++];
	*l = (struct loop){ s->ready, s->end, p->nr_bodies, s->kind };
	p->body[p->nr_bodies++] = (struct replay_body){
		.by = REPLAY_NONE,
		.slice = REPLAY_NONE,
		.kind = s->kind,
		.place = REPLAY_JOIN,
		.offset = -1,
		.joins = true,
	};
	return l;
}

/* Steps that submit blocks go; the first of a loop submits the loop. */
static void gather_loops(struct replay *p, struct loops *all)
{
	struct replay_body *x;
	const struct slice *s;
	struct loop *l = NULL;
	uint32_t i, k = 0;
	bool is_new;

	for (i = 0; i < p->nr_steps; i++) {
		x = &p->body[p->step[i].body];
		if (p->step[i].name || !is_root_block(p, x)) {
			p->step[k++] = p->step[i];
			continue;
		}
		s = &p->r->slice[x->slice];
		l = loop_of(p, all, s, &is_new);
		if (!l) {
			p->step[k++] = p->step[i];
			continue;
		}
		if (is_new)
			p->step[k++] = (struct replay_step){ .at = s->ready,
							     .body = l->body };
		l->end = s->end > l->end ? s->end : l->end;
		x->by = l->body;
		x->offset = 0;
	}
	p->nr_steps = k;
}

/* A wait within a loop is that for its end. */
static void drop_waits(struct replay *p, const struct loops *all)
{
	const struct loop *l = all->loop, *end = l + all->nr;
	struct replay_step *s;

	for (s = p->step; l < end && s < p->step + p->nr_steps; s++) {
		while (l + 1 < end && l[1].ready <= s->at)
			l++;
		if (!s->name || s->at < l->ready || s->at >= l->end)
			continue;
		s->end = s->at;
		s->body = REPLAY_NONE;
	}
}

/*
 * Loops that the program begins: their blocks are no bodies that it submits any
 * more, but a loop is, for which it waits.
 */
int replay_join_loops(struct build *b)
{
	struct loops all = { .most = 1 };
	struct replay *p = b->p;
	const struct loop *l;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < b->r->nr_loops; i++)
		all.most += (uint32_t)b->r->loop[i].nr;
	all.loop = calloc(all.most, sizeof(*all.loop));
	if (!all.loop)
		return -ENOMEM;
	qsort(p->step, p->nr_steps, sizeof(*p->step), replay_by_time);
	gather_loops(p, &all);
	drop_waits(p, &all);
	for (l = all.loop; l < all.loop + all.nr && !rc; l++)
		rc = replay_add_step(
			b, &(struct replay_step){
				   .at = l->ready,
				   .end = l->end,
				   .body = l->body,
				   .name = 1 + b->r->kind[l->kind].name,
			   });
	free(all.loop);
	return rc;
}
