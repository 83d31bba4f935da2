/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The inbox: taken whole, the youngest first; and pushed by several threads
 * while one takes, nothing is lost and nothing comes twice.
 */
#include "sched/inbox.h"
#include "tests/tap.h"

#include <pthread.h>

#define NR_THREADS 3
#define NR_LINKS 20000

struct item {
	struct link link;
	_Atomic(uint32_t) nr_seen;
};

struct pusher {
	pthread_t thread;
	struct inbox *in;
	struct item *items;
};

static struct link *next_of(struct link *link)
{
	return a_load(&link->next, relaxed);
}

static void take_gives_the_youngest_first(void)
{
	struct item item[3];
	struct inbox in;
	struct link *at;

	memset(&in, 0, sizeof(in));
	memset(item, 0, sizeof(item));
	ok(inbox_is_empty(&in), "a zeroed inbox is empty");
	ok(inbox_take_all(&in) == NULL, "and gives nothing");
	inbox_push(&in, &item[0].link);
	inbox_push(&in, &item[1].link);
	inbox_push(&in, &item[2].link);
	ok(!inbox_is_empty(&in), "with three links it is not empty");
	at = inbox_take_all(&in);
	ok(at == &item[2].link, "the last pushed comes first");
	at = next_of(at);
	ok(at == &item[1].link, "then the second");
	at = next_of(at);
	ok(at == &item[0].link, "then the first");
	ok(next_of(at) == NULL, "and that is the end");
	ok(inbox_is_empty(&in), "nothing is left");
	ok(inbox_take_all(&in) == NULL, "a second take gives nothing");
}

static void link_goes_round(void)
{
	struct item item[2];
	struct inbox in;
	struct link *at;

	memset(&in, 0, sizeof(in));
	memset(item, 0, sizeof(item));
	item[0].link.class = 2;
	item[0].link.flags = 77;
	inbox_push(&in, &item[1].link);
	inbox_push(&in, &item[0].link);
	inbox_take_all(&in);
	inbox_push(&in, &item[0].link);
	at = inbox_take_all(&in);
	ok(at == &item[0].link, "a link that was taken may be pushed again");
	ok(next_of(at) == NULL, "its old neighbour does not come with it");
	is(at->class, 2, "its class is kept");
	is(at->flags, 77, "its flags are kept");
}

static void *push_all(void *arg)
{
	struct pusher *p = arg;
	int i;

	for (i = 0; i < NR_LINKS; i++)
		inbox_push(p->in, &p->items[i].link);
	return NULL;
}

static int take_some(struct inbox *in)
{
	struct link *at = inbox_take_all(in), *next;
	int nr = 0;

	for (; at; at = next) {
		next = next_of(at);
		a_add(&container_of(at, struct item, link)->nr_seen, 1,
		      relaxed);
		nr++;
	}
	return nr;
}

static void nothing_is_lost(void)
{
	struct pusher pusher[NR_THREADS];
	struct item *items;
	int i, nr = 0, nr_bad = 0;
	struct inbox in;

	memset(&in, 0, sizeof(in));
	items = calloc(NR_THREADS * NR_LINKS, sizeof(*items));
	if (!ok(items != NULL, "memory for the links"))
		return;
	for (i = 0; i < NR_THREADS; i++) {
		pusher[i].in = &in;
		pusher[i].items = items + (size_t)i * NR_LINKS;
		pthread_create(&pusher[i].thread, NULL, push_all, &pusher[i]);
	}
	while (nr < NR_THREADS * NR_LINKS)
		nr += take_some(&in);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(pusher[i].thread, NULL);
	for (i = 0; i < NR_THREADS * NR_LINKS; i++)
		nr_bad += a_load(&items[i].nr_seen, relaxed) != 1;
	is(nr_bad, 0, "each link of three threads is taken once");
	ok(inbox_is_empty(&in), "and none is left");
	free(items);
}

int main(void)
{
	tap_start(60);
	take_gives_the_youngest_first();
	link_goes_round();
	nothing_is_lost();
	return tap_end();
}
