/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/backlog.h"

/* Under lock; what was made public is looked at by who goes to sleep. */
static void set_first(struct backlog *b, struct link *first)
{
	lock_assert_held(&b->lock);
	/* [backlog.first] before we look who sleeps; pairs with
	 * [backlog.look]. */
	a_store(&b->first, first, seq_cst);
}

void backlog_append(struct backlog *b, struct link *first, struct link *last)
{
	check(first && last);
	check(!a_load(&last->next, relaxed));
	a_store(&last->next, NULL, relaxed);
	lock_take(&b->lock);
	if (a_load(&b->first, relaxed))
		a_store(&plain_load(&b->last)->next, first, relaxed);
	else
		set_first(b, first);
	plain_store(&b->last, last);
	lock_give(&b->lock);
}

void backlog_prepend(struct backlog *b, struct link *first, struct link *last)
{
	struct link *head;

	check(first && last);
	lock_take(&b->lock);
	head = a_load(&b->first, relaxed);
	a_store(&last->next, head, relaxed);
	if (!head)
		plain_store(&b->last, last);
	set_first(b, first);
	lock_give(&b->lock);
}

struct link *backlog_take(struct backlog *b, uint32_t nr)
{
	struct link *link, *next, *taken = NULL;

	if (!nr || !a_load(&b->first, relaxed))
		return NULL;
	lock_take(&b->lock);
	for (link = a_load(&b->first, relaxed); link && nr; nr--) {
		next = a_load(&link->next, relaxed);
		a_store(&link->next, taken, relaxed);
		taken = link;
		link = next;
	}
	a_store(&b->first, link, relaxed);
	lock_give(&b->lock);
	return taken;
}

/* Under lock. */
static void unlink_behind(struct backlog *b, struct link *before,
			  struct link *link)
{
	struct link *next = a_load(&link->next, relaxed);

	lock_assert_held(&b->lock);
	check(a_load(before ? &before->next : &b->first, relaxed) == link);
	if (before)
		a_store(&before->next, next, relaxed);
	else
		a_store(&b->first, next, relaxed);
	if (!next)
		plain_store(&b->last, before);
}

/* Under lock: the first up to last_seen come last, if there are others. */
static void turn_backlog(struct backlog *b, struct link *last_seen)
{
	struct link *first = a_load(&b->first, relaxed);
	struct link *rest = a_load(&last_seen->next, relaxed);

	lock_assert_held(&b->lock);
	check(first && first != rest);
	if (!rest)
		return;
	a_store(&plain_load(&b->last)->next, first, relaxed);
	a_store(&last_seen->next, NULL, relaxed);
	plain_store(&b->last, last_seen);
	a_store(&b->first, rest, relaxed);
}

struct link *backlog_dig(struct backlog *b, uint32_t nr, bool turns,
			 bool (*fits)(const struct link *link, const void *u),
			 const void *u)
{
	struct link *link, *before = NULL;

	if (!a_load(&b->first, relaxed))
		return NULL;
	lock_take(&b->lock);
	link = a_load(&b->first, relaxed);
	while (link && !fits(link, u)) {
		before = link;
		link = --nr ? a_load(&link->next, relaxed) : NULL;
	}
	if (link)
		unlink_behind(b, before, link);
	if (turns && before)
		turn_backlog(b, before);
	lock_give(&b->lock);
	return link;
}
