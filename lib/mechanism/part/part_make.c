/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Making parts while the workers run: a part is added to its node's list and to
 * the table of all, and stays in both until the workers are gone.
 */
#include "mechanism/part/part.h"

#include "base/err.h"
#include "mechanism/quota/quota.h"
#include "mem/region.h"

#include <errno.h>

static size_t table_size(void)
{
	return MAX_PARTS * sizeof(struct part *);
}

static struct part *find_part(struct sched_node *node, int first, int nr)
{
	struct part *p;

	for (p = part_first(node); p; p = p->next)
		if (p->first == first && p->nr == nr)
			return p;
	return NULL;
}

/*
 * The last of its workers that a quota would put on standby stays, for
 * nobody else runs what is bound to the part.
 */
static void exempt_worker(struct sched *s, const struct part *p)
{
	struct worker *least = &s->workers[p->first];
	int i;

	for (i = p->first; i < p->first + p->nr; i++)
		if (quota_of(&s->workers[i])->rank < quota_of(least)->rank)
			least = &s->workers[i];
	a_store(&quota_of(least)->is_exempt, 1, relaxed);
	quota_stir(quota_in(s));
}

static int create_part(struct sched *s, int first, int nr, struct part **out)
{
	struct part_sched *all = part_in(s);
	struct part *p;

	if (all->nr_parts == MAX_PARTS)
		return err(-ENOSPC, "place: there are %d parts already",
			   MAX_PARTS);
	if (!all->parts)
		all->parts = region_alloc(table_size());
	p = all->parts ? region_alloc(sizeof(*p)) : NULL;
	if (!p)
		return err(-ENOMEM, "place: no memory for a part of %d workers",
			   nr);
	p->node = s->workers[first].node;
	p->first = first;
	p->nr = nr;
	p->id = all->nr_parts;
	p->next = part_first(p->node);
	all->parts[all->nr_parts++] = p;
	/* [part.made] all of it, before its first push looks at is_parking;
	 * pairs with [part.first]. */
	a_store(&part_at(p->node)->parts, p, seq_cst);
	exempt_worker(s, p);
	*out = p;
	return 0;
}

int part_get(struct sched *s, int first, int nr, struct part **out)
{
	struct part *p = find_part(s->workers[first].node, first, nr);

	check(nr > 0 && first + nr <= s->nr_workers);
	if (!p)
		return create_part(s, first, nr, out);
	*out = p;
	return 0;
}

void part_free_all(struct sched *s)
{
	struct part_sched *all = part_in(s);
	unsigned i;

	for (i = 0; i < all->nr_parts; i++)
		region_free(all->parts[i], sizeof(*all->parts[i]));
	region_free(all->parts, table_size());
	all->parts = NULL;
	all->nr_parts = 0;
}
