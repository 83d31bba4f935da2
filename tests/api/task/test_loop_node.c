/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which worker runs which part of a loop: parts of nodes, parts of workers, and
 * where a data has its bytes. Made-up machines, told by the threads' names.
 */
#include "tests/api/loop.h"

#include <pthread.h>
#include <semaphore.h>

/* Which thread ran an iteration: a worker's name is "lkdf/NODE.ID". */
struct owners {
	int node[6000], worker[6000];
};

static int note_owner(uint64_t begin, uint64_t end, void *u)
{
	struct owners *o = u;
	int node = -1, worker = -1;
	char name[16] = "";
	uint64_t i;

	pthread_getname_np(pthread_self(), name, sizeof(name));
	if (sscanf(name, "lkdf/%d.%d", &node, &worker) != 2)
		node = worker = -1;
	for (i = begin; i < end; i++) {
		o->node[i] = node;
		o->worker[i] = worker;
	}
	return 0;
}

/* Parts of 6000 iterations, ended by end[node]. */
static void static_parts_stay_on_their_node(const char *options,
					    const uint64_t *end, int nr,
					    uint64_t grain)
{
	struct lkdf *rt = api_open(options);
	struct owners *o = calloc(1, sizeof(*o));
	int round, node, bad = 0;
	uint64_t i;

	for (round = 0; round < 50; round++) {
		memset(o, 0xff, sizeof(*o));
		must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = note_owner,
					    .u = o, .range = { 0, 6000, grain },
					    .schedule = LKDF_SCHEDULE_STATIC)));
		for (i = 0, node = 0; i < 6000; i++) {
			while (node < nr && i >= end[node])
				node++;
			bad += o->node[i] != node;
		}
	}
	is(bad, 0, "%s: each node runs its own part", options);
	free(o);
	must(lkdf_close(rt));
}

/* All workers are in their part at once: then each has its own. */
struct meeting {
	struct owners owners;
	pthread_barrier_t all;
};

static int meet(uint64_t begin, uint64_t end, void *u)
{
	struct meeting *m = u;

	note_owner(begin, end, &m->owners);
	pthread_barrier_wait(&m->all);
	return 0;
}

static void each_worker_has_its_part(void)
{
	struct lkdf *rt = api_open("topology=numa:2 core:2,workers=4");
	struct meeting *m = calloc(1, sizeof(*m));
	int round, bad = 0;
	uint64_t i;

	pthread_barrier_init(&m->all, NULL, 4);
	for (round = 0; round < 20; round++) {
		must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .fn = meet, .u = m,
					    .range = { 0, 4000, 0 },
					    .schedule = LKDF_SCHEDULE_STATIC)));
		for (i = 0; i < 4000; i++)
			bad += m->owners.worker[i] != (int)(i / 1000);
	}
	pthread_barrier_destroy(&m->all);
	is(bad, 0, "a worker that is not busy runs its own part, as one block");
	free(m);
	must(lkdf_close(rt));
}

/* The first block of each worker; with it the gate opens. */
struct firsts {
	struct gate gate;
	atomic_ullong first[8];
};

static int note_first(uint64_t begin, uint64_t end, void *u)
{
	unsigned long long none = UINT64_MAX;
	struct firsts *f = u;
	struct owners o;

	(void)end;
	note_owner(0, 1, &o);
	if (o.worker[0] >= 0 && o.worker[0] < 8)
		atomic_compare_exchange_strong(&f->first[o.worker[0]], &none,
					       begin);
	atomic_store(&f->gate.open, 1);
	return 0;
}

static int touch_data(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	((char *)lkdf_ptr(c, 0))[0] = 1;
	return 0;
}

static sem_t held; /* a count of those at the gate */

static int tell_and_pass(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	sem_post(&held);
	gate_pass(arg);
	return 0;
}

/* Holds the workers of all nodes but one; nodes have one each. */
static void hold_others(struct lkdf *rt, int node, struct lkdf_kind *k,
			struct gate *gate)
{
	int i;

	for (i = 0; i < 3; i++)
		if (i != node)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = k, .arg = gate,
					      .place = lkdf_place_node(rt, i),
					      .flags = LKDF_PINNED),
					 NULL));
	sem_wait(&held);
	sem_wait(&held);
}

struct alone {
	struct firsts firsts;
	struct lkdf_data *data;
	uint64_t grain;
};

/* Others are held: all pieces are sent before the first is run. */
static int loop_alone(struct lkdf_ctx *c, void *arg)
{
	struct alone *a = arg;

	return lkdf_for_in(c, ATTR(lkdf_for_attr, .fn = note_first,
				   .u = &a->firsts, .data = a->data,
				   .range = { 0, 6000, a->grain }));
}

/* What a worker that is alone begins with: its own node's part. */
static uint64_t first_of(struct lkdf *rt, int node, struct lkdf_data *d,
			 uint64_t grain)
{
	struct lkdf_kind *k = api_kind(rt, "gate", tell_and_pass, 0, 0);
	struct lkdf_kind *loop = api_kind(rt, "loop", loop_alone, 0, 0);
	struct alone a = { .data = d, .grain = grain };
	int i;

	for (i = 0; i < 8; i++)
		atomic_store(&a.firsts.first[i], UINT64_MAX);
	hold_others(rt, node, k, &a.firsts.gate);
	must(api_call(rt, loop, &a));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(loop);
	lkdf_kind_put(k);
	return atomic_load(&a.firsts.first[node]);
}

static void blocks_begin_where_their_bytes_are(void)
{
	struct lkdf *rt = api_open("topology=numa:3 core:1,workers=3");
	struct lkdf_kind *k = api_kind(rt, "touch", touch_data, 0, 0);
	struct lkdf_data *d;
	int i;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = 1 << 20,
				   .home = lkdf_place_node(rt, 1)),
			      &d));
	for (i = 0; i < 3; i++) {
		is(first_of(rt, i, NULL, 1), 2000 * i,
		   "node %d begins with its third", i);
		is(first_of(rt, i, NULL, 0), 2000 * i,
		   "node %d does so without a grain", i);
	}
	is(first_of(rt, 1, d, 1), 2000, "also where the data has no bytes yet");
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .nr_use = 1,
			      .use = &(struct lkdf_use){ .data = d,
							 .mode = LKDF_WRITE }),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(first_of(rt, 1, d, 1), 0, "with all where it has all bytes");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	sem_init(&held, 0, 0);
	static const uint64_t thirds[] = { 2000, 4000, 6000 };
	static const uint64_t uneven[] = { 4000, 6000 };

	tap_start(60);
	static_parts_stay_on_their_node("topology=numa:3 core:1,workers=3",
					thirds, 3, 0);
	static_parts_stay_on_their_node("topology=numa:2 core:2,workers=3",
					uneven, 2, 10);
	each_worker_has_its_part();
	blocks_begin_where_their_bytes_are();
	return tap_end();
}
