/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/intake.h"

#include "sched/notify.h"
#include "sched/sched.h"

/* Links that the deques of a worker refused, the last first. */
struct overflow {
	unsigned deques; /* a bit for each that has some */
	bool is_of_join; /* children may be among it */
	struct link *first[NR_DEQUES], *last[NR_DEQUES];
};

/* Before all that overflowed before it. */
static void overflow_add(struct overflow *o, unsigned deque, struct link *link)
{
	check(deque < NR_DEQUES);
	if (!(o->deques & 1u << deque)) {
		o->deques |= 1u << deque;
		o->first[deque] = NULL;
		o->last[deque] = link;
	}
	a_store(&link->next, o->first[deque], relaxed);
	o->first[deque] = link;
}

/*
 * To where all find it; then it is public, and who makes work public wakes who
 * may take it.
 */
static void overflow_leave(struct worker *w, struct sched_node *node,
			   struct overflow *o)
{
	bool has_woken;
	unsigned i;

	check(o->deques && !(o->deques >> NR_DEQUES));
	for (i = 0; i < NR_DEQUES; i++) {
		if (!(o->deques & 1u << i))
			continue;
		if (o->is_of_join)
			backlog_prepend(&node->backlog[i], o->first[i],
					o->last[i]);
		else
			backlog_append(&node->backlog[i], o->first[i],
				       o->last[i]);
		has_woken = i == DEQUE_BOUND ? notify_bound(node)
					     : notify_any(w->sched, node);
		if (has_woken)
			worker_has_woken(w);
	}
}

static struct link *reverse_links(struct link *link)
{
	struct link *next, *before = NULL;

	for (; link; link = next) {
		next = a_load(&link->next, relaxed);
		a_store(&link->next, before, relaxed);
		before = link;
	}
	return before;
}

/* Links to our deques in turn: what comes last is popped first. */
static void take_links(struct worker *w, struct link *link, bool is_bound,
		       struct overflow *o)
{
	struct link *next;
	unsigned deque;

	for (; link; link = next) {
		next = a_load(&link->next, relaxed);
		deque = is_bound ? DEQUE_BOUND : link->class;
		if (!worker_push(w, deque, link_item(link)))
			overflow_add(o, deque, link);
	}
}

/*
 * Takes all that has come. We pop the oldest first; of_join: the youngest,
 * which are children of the body that joins, before those of bodies below it.
 */
static bool take_inbox(struct worker *w, struct sched_node *node, bool is_bound,
		       bool of_join)
{
	struct link *link =
		inbox_take_all(is_bound ? &node->bound : &node->inbox);
	struct overflow o;

	if (!link)
		return false;
	o.deques = 0;
	o.is_of_join = of_join;
	take_links(w, of_join ? reverse_links(link) : link, is_bound, &o);
	if (unlikely(o.deques))
		overflow_leave(w, node, &o);
	return true;
}

/* Not more than fits: what is in a backlog stays there until it can go. */
static __attribute__((noinline)) bool
take_some(struct worker *w, struct sched_node *node, unsigned deque)
{
	struct backlog *b = &node->backlog[deque];
	struct overflow none = { .deques = 0 };
	struct link *link;
	uint32_t nr;

	nr = (uint32_t)min_u64(deque_room(&w->deque[deque]), BACKLOG_TAKE);
	/* The others stay where spare threads find them, see task/urgent.h. */
	if (deque == CLASS_SPARE)
		nr = (uint32_t)min_u64(nr, 1);
	link = backlog_take(b, nr);
	take_links(w, link, deque == DEQUE_BOUND, &none);
	check(!none.deques);
	if (deque == CLASS_SPARE)
		deque_share_all(&w->deque[deque]);
	return link != NULL;
}

static inline bool take_backlog(struct worker *w, struct sched_node *node,
				unsigned deque)
{
	return unlikely(a_load(&node->backlog[deque].first, relaxed)) &&
	       take_some(w, node, deque);
}

bool intake_any(struct worker *w, struct sched_node *node)
{
	bool has_some = take_inbox(w, node, false, false);
	unsigned i;

	for (i = 0; i < NR_CLASSES; i++)
		has_some |= take_backlog(w, node, i);
	return has_some;
}

unsigned intake_has(struct sched_node *node)
{
	unsigned found = 0, i;

	if (!inbox_is_empty(&node->inbox))
		found |= 1u << CLASS_NORMAL;
	for (i = 0; i < NR_DEQUES; i++)
		if (i != DEQUE_BOUND && !backlog_is_empty(&node->backlog[i]))
			found |= 1u << i;
	return found;
}

bool intake_all(struct worker *w, struct sched_node *node)
{
	bool has_bound = take_inbox(w, node, true, false);

	has_bound |= take_backlog(w, node, DEQUE_BOUND);
	return intake_any(w, node) || has_bound;
}

bool worker_take_new(struct worker *w)
{
	bool has_bound = take_inbox(w, w->node, true, true);

	return take_inbox(w, w->node, false, true) || has_bound;
}

bool worker_take_home(struct worker *w)
{
	bool has_some = w->sched->calls.has_news(w);

	/* It stays where it is until this worker pops it. */
	if (has_some)
		worker_mark(w, DEQUE_PART);
	w->looks.look_at = w->looks.nr_picks + INBOX_EVERY;
	has_some |= intake_all(w, w->node);
	if (a_load(&w->node->backlog[CLASS_SPARE].first, relaxed))
		worker_look_soon(w);
	return has_some;
}
