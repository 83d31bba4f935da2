/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/task_branches.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

static bool task_chooses(const struct control_edge *e)
{
	return e->flags & (CONTROL_BRANCH | CONTROL_BACK);
}

/* Edges of one task, sorted by branch. Each branch once. */
static void list_branches(struct looper *p, const struct control_edge *e,
			  uint32_t nr)
{
	struct control *c = p->c;
	struct branches *b = &c->branches[p->nr_choosing];
	uint32_t i;

	b->first = p->nr_listed;
	for (i = 0; i < nr; i++) {
		if (!task_chooses(&e[i]) ||
		    (p->nr_listed > b->first &&
		     c->branch[p->nr_listed - 1] == e[i].branch))
			continue;
		c->branch[p->nr_listed++] = e[i].branch;
	}
	b->nr = p->nr_listed - b->first;
	p->nr_choosing += b->nr != 0;
}

/* The number of branches that are 0, 1, 2 ... as far as they go. */
static uint8_t nr_dense(const uint16_t *number, uint32_t nr)
{
	if (number[0])
		return 0;
	nr = branches_dense(number, nr);
	return (uint8_t)(nr < CONTROL_ANY_VALUE ? nr : CONTROL_ANY_VALUE - 1);
}

void task_branches_find(struct looper *p, struct control_edge *first,
			const struct control_edge *e, uint32_t nr)
{
	struct control *c = p->c;
	uint32_t at = p->nr_choosing;

	list_branches(p, e, nr);
	first->nr_dense = CONTROL_ANY_VALUE;
	if (p->nr_choosing == at)
		return;
	first->branches = at + 1;
	first->nr_dense =
		nr_dense(&c->branch[c->branches[at].first], c->branches[at].nr);
}

bool task_branches_alloc(struct looper *p)
{
	uint32_t i, nr = 0;

	for (i = 0; i < p->nr_edges; i++)
		nr += task_chooses(&p->edge[i]);
	p->c->branches = calloc(nr + 1ul, sizeof(*p->c->branches));
	p->c->branch = calloc(nr + 1ul, sizeof(*p->c->branch));
	return p->c->branches && p->c->branch;
}

int task_branches_check(struct looper *p, const struct control_edge *e,
			uint32_t nr)
{
	const struct control_edge *last = NULL;
	uint32_t i, left, last_left = 0;

	for (i = 0; i < nr; i++) {
		if (!task_chooses(&e[i]))
			continue;
		left = e[i].flags & CONTROL_EXIT ? e[i].loop : NO_LOOP;
		if (last && last->branch == e[i].branch && last_left != left) {
			p->why->path[0] = (int32_t)e->from;
			p->why->nr = 1;
			return err(-EINVAL,
				   "graph %s: branch %u of %s both stays in a "
				   "loop and leaves it",
				   p->g->name, e[i].branch,
				   loops_name(p, e->from).text);
		}
		last = &e[i];
		last_left = left;
	}
	return 0;
}
