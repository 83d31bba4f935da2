/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Doubly linked lists through their members: a circle with the head in it. A
 * member of no list is a circle of its own, so it may be taken out again. The
 * lock is whoever owns the head's.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_del(struct list *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
	list_init(l);
}

/* First of the list. */
static inline void list_push(struct list *head, struct list *l)
{
	l->next = head->next;
	l->prev = head;
	head->next->prev = l;
	head->next = l;
}

/* Last of the list. */
static inline void list_append(struct list *head, struct list *l)
{
	list_push(head->prev, l);
}

#endif
