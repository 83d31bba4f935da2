/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The inbox: whatever is pushed is taken exactly once, with its contents, and
 * a link can be pushed again as soon as it has been taken.
 */
#include "mc.h"
#include "sched/inbox.h"

#define NR_LINKS 3

struct parcel {
	struct link link;
	int payload; /* plain: the inbox must order it */
	int taken;
};

static struct inbox inbox;
static struct parcel parcel[NR_LINKS];

static void init(void)
{
	int i;

	a_store(&inbox.head, NULL, relaxed);
	for (i = 0; i < NR_LINKS; i++) {
		a_store(&parcel[i].link.next, NULL, relaxed);
		plain_store(&parcel[i].payload, 0);
		plain_store(&parcel[i].taken, 0);
	}
}

static void push(int i)
{
	plain_store(&parcel[i].payload, plain_load(&parcel[i].payload) + 1);
	inbox_push(&inbox, &parcel[i].link);
}

static struct link *take_some(void)
{
	struct link *link = inbox_take_all(&inbox), *all = link;
	struct parcel *p;

	for (; link; link = a_load(&link->next, relaxed)) {
		p = container_of(link, struct parcel, link);
		mc_assert(plain_load(&p->payload) == plain_load(&p->taken) + 1);
		plain_store(&p->taken, plain_load(&p->taken) + 1);
		mc_see("taken");
	}
	return all;
}

static void rest_once(void)
{
	int i;

	take_some();
	for (i = 0; i < 2; i++)
		mc_assert(plain_load(&parcel[i].taken) == 1);
}

static void two_push_two_take(int id)
{
	if (id < 2)
		push(id);
	else
		take_some();
}

static void push_again(int id)
{
	struct link *link;

	if (id == 0) {
		push(0);
		push(1);
	} else {
		link = take_some();
		if (link && !a_load(&link->next, relaxed)) {
			mc_see("again");
			plain_store(
				&container_of(link, struct parcel, link)
					 ->payload,
				container_of(link, struct parcel, link)->taken +
					1);
			inbox_push(&inbox, link);
		}
	}
}

static void none_lost(void)
{
	struct parcel *p;
	int i;

	take_some();
	for (i = 0; i < 2; i++) {
		p = &parcel[i];
		mc_assert(plain_load(&p->taken) == plain_load(&p->payload));
	}
}

static const struct mc_scenario table[] = {
	{ .name = "two push, two take",
	  .nr_threads = 4,
	  .bound = 3,
	  .init = init,
	  .thread = two_push_two_take,
	  .final = rest_once,
	  .must_see = { "taken" } },
	{ .name = "a link is pushed again",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init,
	  .thread = push_again,
	  .final = none_lost,
	  .must_see = { "taken", "again" } },
};

MC_MAIN(table)
