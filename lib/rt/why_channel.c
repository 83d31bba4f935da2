/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks and threads that wait at channels. A task that a cancel lets go is
 * found by the tap of its event, under whose lock it stays; a thread, and a
 * task that no cancel lets go, by the list of its channel, under the lock of
 * that.
 */
#include "rt/why.h"

#include "core/runtime.h"
#include "task/again.h"

#include <stdio.h>

static void says_channel(struct why_row *r, const struct lkdf_channel *ch,
			 enum channel_side side)
{
	if (side == CHANNEL_VALUES)
		why_says(r, "for a value of channel \"%s\"", ch->name);
	else
		why_says(r, "for room in channel \"%s\" of %u value%s",
			 ch->name, ch->depth, ch->depth == 1 ? "" : "s");
}

void why_says_channel(struct why_row *r, const struct again_at *at)
{
	says_channel(r, at->ch, at->side);
}

static struct why_row *add_thread(struct why *y, enum channel_who who,
				  enum channel_side side)
{
	struct why_row *r = why_add(y, WHY_CHANNEL);

	if (r)
		snprintf(r->who, sizeof(r->who), "a %s in lkdf_channel_%s()",
			 who == CHANNEL_BODY ? "body of the blocking pool"
					     : "thread",
			 side == CHANNEL_VALUES ? "recv" : "send");
	return r;
}

/* Under the channel's lock. */
static void look_at_side(struct why *y, const struct lkdf_channel *ch,
			 enum channel_side side)
{
	const struct list *all = &ch->waiting[side], *l;
	const struct channel_waiter *w;
	struct why_row *r;
	unsigned nr = 0, looked = 0;

	lock_assert_held(&ch->lock);
	for (l = all->next; l != all && looked++ < WHY_LOOK; l = l->next) {
		w = container_of(l, const struct channel_waiter, list);
		if (w->who == CHANNEL_TASK && !w->task)
			continue;
		if (nr++ >= WHY_PER_QUEUE) {
			y->nr_more++;
			continue;
		}
		r = w->task ? why_add_task(y, WHY_CHANNEL, w->task)
			    : add_thread(y, w->who, side);
		if (r)
			says_channel(r, ch, side);
	}
}

static void look_at_channel(struct why *y, struct lkdf_channel *ch)
{
	lock_take(&ch->lock);
	look_at_side(y, ch, CHANNEL_VALUES);
	look_at_side(y, ch, CHANNEL_ROOM);
	lock_give(&ch->lock);
}

/* A channel that the user has put has ended: nobody waits there. */
void why_look_at_channels(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct handle *h;
	struct list *l;

	pthread_mutex_lock(&rt->lock);
	for (l = rt->handles.next; l != &rt->handles; l = l->next) {
		h = container_of(l, struct handle, list);
		if (h->sort == HANDLE_CHANNEL)
			look_at_channel(y, container_of(h, struct lkdf_channel,
							handle));
	}
	pthread_mutex_unlock(&rt->lock);
}
