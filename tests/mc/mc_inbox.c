/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The inbox: whatever is pushed is taken exactly once, with its contents, and
 * a link can be pushed again as soon as it has been taken. The same for the
 * backlog behind it, which gives the oldest first.
 */
#include "mc.h"
#include "sched/backlog.h"
#include "sched/inbox.h"

#define NR_LINKS 3

struct parcel {
	struct link link;
	int payload; /* plain: the inbox must order it */
	int taken;
};

static struct inbox inbox;
static struct backlog backlog;
static struct parcel parcel[NR_LINKS];

static void init(void)
{
	int i;

	a_store(&inbox.head, NULL, relaxed);
	a_store(&backlog.first, NULL, relaxed);
	a_store(&backlog.lock.word, 0, relaxed);
	plain_store(&backlog.last, NULL);
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

static struct link *open_all(struct link *link)
{
	struct link *all = link;
	struct parcel *p;

	for (; link; link = a_load(&link->next, relaxed)) {
		p = container_of(link, struct parcel, link);
		mc_assert(plain_load(&p->payload) == plain_load(&p->taken) + 1);
		plain_store(&p->taken, plain_load(&p->taken) + 1);
		mc_see("taken");
	}
	return all;
}

static struct link *take_some(void)
{
	return open_all(inbox_take_all(&inbox));
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

/* The oldest first: 0 before 1. */
static void append_two(void)
{
	plain_store(&parcel[0].payload, 1);
	plain_store(&parcel[1].payload, 1);
	a_store(&parcel[0].link.next, &parcel[1].link, relaxed);
	backlog_append(&backlog, &parcel[0].link, &parcel[1].link);
}

static void take_one(void)
{
	struct link *link = open_all(backlog_take(&backlog, 1));

	if (link)
		mc_see(link == &parcel[2].link ? "other" : "in turn");
	mc_assert(!link || !a_load(&link->next, relaxed));
	if (link == &parcel[1].link)
		mc_assert(a_load(&backlog.first, relaxed) != &parcel[0].link);
}

static bool is_middle(const struct link *link, const void *u)
{
	(void)u;
	return link == &parcel[1].link;
}

static void append_and_take(int id)
{
	if (id == 0) {
		append_two();
	} else if (id == 1) {
		plain_store(&parcel[2].payload, 1);
		backlog_append(&backlog, &parcel[2].link, &parcel[2].link);
		take_one();
	} else {
		take_one();
	}
}

static void append_three(void)
{
	append_two();
	plain_store(&parcel[2].payload, 1);
	backlog_prepend(&backlog, &parcel[2].link, &parcel[2].link);
}

static void dig(uint32_t nr, bool turns)
{
	struct link *link = backlog_dig(&backlog, nr, turns, is_middle, NULL);

	if (!link)
		return;
	mc_assert(link == &parcel[1].link);
	mc_see("dug");
	a_store(&link->next, NULL, relaxed);
	open_all(link);
}

static void dig_and_append(int id)
{
	if (id == 0)
		append_three();
	else
		dig(3, false);
}

/* One at a time: the others go to the end. */
static void turn_and_append(int id)
{
	int i;

	if (id == 0)
		append_three();
	for (i = 0; i < 3 && id != 0; i++)
		dig(1, true);
}

/* What is left comes the youngest first; then there is none. */
static void all_once(void)
{
	struct link *link = open_all(backlog_take(&backlog, NR_LINKS));
	int i;

	for (; link; link = a_load(&link->next, relaxed))
		if (link == &parcel[0].link)
			mc_assert(a_load(&link->next, relaxed) !=
				  &parcel[1].link);
	for (i = 0; i < NR_LINKS; i++)
		mc_assert(plain_load(&parcel[i].taken) == 1);
	mc_assert(backlog_is_empty(&backlog));
}

/* In any order. */
static void none_left(void)
{
	int i;

	open_all(backlog_take(&backlog, NR_LINKS));
	for (i = 0; i < NR_LINKS; i++)
		mc_assert(plain_load(&parcel[i].taken) == 1);
	mc_assert(backlog_is_empty(&backlog));
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
	{ .name = "two append to the backlog, two take",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 2,
	  .init = init,
	  .thread = append_and_take,
	  .final = all_once,
	  .timeouts = -1,
	  .must_see = { "taken", "in turn", "other" } },
	{ .name = "one digs in the backlog",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init,
	  .thread = dig_and_append,
	  .final = all_once,
	  .timeouts = -1,
	  .must_see = { "taken", "dug" } },
	{ .name = "one turns the backlog",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 2,
	  .init = init,
	  .thread = turn_and_append,
	  .final = none_left,
	  .timeouts = -1,
	  .must_see = { "taken", "dug" } },
};

MC_MAIN(table)
