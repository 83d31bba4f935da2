/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/part/part.h"

#include "sched/notify.h"

static bool call_part(struct sched *s, const struct part *p)
{
	bool is_parking = false;
	struct worker *w;
	int i;

	check(p->first >= 0 && p->nr > 0 && p->first + p->nr <= s->nr_workers);
	for (i = p->first; i < p->first + p->nr; i++) {
		w = &s->workers[i];
		/* [part.b] after the link is public; pairs with [part.c].
		 * A worker is called once for each time that it sleeps. */
		if (a_load(&w->is_parking, seq_cst))
			is_parking |= a_xchg(&w->is_parking, 0, relaxed) != 0;
	}
	if (is_parking)
		park_call(&p->node->park);
	return is_parking;
}

bool part_push(struct sched *s, unsigned id, struct worker *from,
	       struct link *link, bool is_bound)
{
	struct part *p = part_in(s)->parts[id];

	a_store(&link->next, NULL, relaxed);
	backlog_append(is_bound ? &p->bound : &p->wish, link, link);
	if (from && part_has(p, from))
		worker_mark(from, DEQUE_PART);
	return call_part(s, p) || (!is_bound && notify_any(s, p->node));
}

static bool take_item(struct backlog *b, uint64_t *item)
{
	struct link *link = backlog_take(b, 1);

	if (link)
		*item = link_item(link);
	return link != NULL;
}

bool part_pop(struct worker *w, uint64_t *item)
{
	struct part *p;

	for (p = part_first(w->node); p; p = p->next) {
		if (!part_has(p, w))
			continue;
		if (take_item(&p->bound, item) || take_item(&p->wish, item))
			return true;
	}
	return false;
}

bool part_help(struct sched_node *node, uint64_t *item)
{
	struct part *p;

	for (p = part_first(node); p; p = p->next)
		if (take_item(&p->wish, item))
			return true;
	return false;
}

/* Work of a node's parts that the worker may run. */
static struct link *
dig_node(struct worker *w, struct sched_node *node, uint32_t nr, bool turns,
	 bool (*fits)(const struct link *link, const void *u), const void *u)
{
	struct link *link = NULL;
	struct part *p;

	for (p = part_first(node); p && !link; p = p->next) {
		if (node == w->node && part_has(p, w))
			link = backlog_dig(&p->bound, nr, turns, fits, u);
		if (!link)
			link = backlog_dig(&p->wish, nr, turns, fits, u);
	}
	return link;
}

struct link *part_dig(struct worker *w, uint32_t nr, bool turns,
		      bool (*fits)(const struct link *link, const void *u),
		      const void *u)
{
	struct sched *s = w->sched;
	struct link *link = NULL;
	int i;

	for (i = 0; i < s->nr_nodes && !link; i++)
		link = dig_node(w, &s->nodes[i], nr, turns, fits, u);
	return link;
}

struct link *part_dig_bound(struct worker *w, uint32_t nr,
			    bool (*fits)(const struct link *link,
					 const void *u))
{
	struct link *link = NULL;
	struct part *p;

	for (p = part_first(w->node); p && !link; p = p->next)
		if (part_has(p, w))
			link = backlog_dig(&p->bound, nr, false, fits, NULL);
	return link;
}

bool part_asks(struct worker *w, bool has_to_be_bound)
{
	struct part *p;

	for (p = part_first(w->node); p; p = p->next) {
		if (!part_has(p, w))
			continue;
		if (!backlog_is_empty(&p->bound) ||
		    (!has_to_be_bound && !backlog_is_empty(&p->wish)))
			return true;
	}
	return false;
}

bool part_has_wish(struct sched_node *node)
{
	struct part *p;

	for (p = part_first(node); p; p = p->next)
		if (!backlog_is_empty(&p->wish))
			return true;
	return false;
}
