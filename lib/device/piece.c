/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/piece.h"

#include "base/util.h"

#include <stdlib.h>

static void free_piece(struct device_piece *p)
{
	free(p->launch);
	free(p->op);
	free(p);
}

struct device_piece *piece_create(struct device *d, uint32_t nr)
{
	struct device_piece *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->p.size = sizeof(p->p);
	p->p.nr = nr;
	p->device = d;
	p->launch = calloc(nr, sizeof(*p->launch));
	p->op = calloc(nr, sizeof(*p->op));
	if (!p->launch || !p->op) {
		free_piece(p);
		return NULL;
	}
	list_push(&d->pieces, &p->list);
	p->is_listed = true;
	return p;
}

static void drop_piece(struct device *d, struct device_piece *p)
{
	list_del(&p->list);
	p->is_listed = false;
	if (d->ops.drop_piece && !a_load(&d->is_lost, relaxed))
		d->ops.drop_piece(d->dev, &p->p);
}

static void forget_here(void *executor, struct blocking_item *item)
{
	struct device_piece *p = container_of(item, struct device_piece, item);

	(void)executor;
	if (p->is_listed)
		drop_piece(p->device, p);
	free_piece(p);
}

void piece_forget(struct device_piece *p)
{
	if (!p->is_listed) {
		free_piece(p);
		return;
	}
	p->item.run = forget_here;
	device_push(p->device, DEVICE_NOW, &p->item);
}

void piece_drop_all(struct device *d)
{
	while (!list_is_empty(&d->pieces))
		drop_piece(d, container_of(d->pieces.next, struct device_piece,
					   list));
}

bool piece_look(struct device *d, void *executor)
{
	struct list *l, *next;
	struct device_hold *h;
	bool has_moved = false;

	for (l = d->holds.next; l != &d->holds; l = next) {
		next = l->next;
		h = container_of(l, struct device_hold, list);
		has_moved |= h->look(executor, h);
	}
	return has_moved;
}
