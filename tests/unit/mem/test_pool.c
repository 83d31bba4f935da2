/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pools and magazines: no object is out twice, memory keeps its type, the cap
 * holds, and what one magazine frees another one gets.
 */
#include "mem/pool.h"
#include "tests/tap.h"

#include <pthread.h>

#define SIZE 128
#define MANY 5000
#define NR_THREADS 3
#define NR_ROUNDS 200
#define NR_HELD 150

struct object {
	void *of_pool; /* while it is free */
	uint64_t magic;
	_Atomic(uint32_t) is_out;
};

#define MAGIC 0x6f626a656374ull

static void init_object(void *p)
{
	struct object *o = p;

	o->magic = MAGIC;
}

/* Not out before, and of the type; 1: a fault. */
static int take(struct object *o)
{
	return a_xchg(&o->is_out, 1, relaxed) != 0 || o->magic != MAGIC;
}

static int give(struct magazine *m, struct object *o)
{
	int bad = a_xchg(&o->is_out, 0, relaxed) != 1;

	magazine_put(m, o);
	return bad;
}

static void no_object_is_out_twice(void)
{
	static struct object *out[MANY];
	struct magazine m;
	struct pool p;
	int i, nr = 0, nr_bad = 0;

	pool_init(&p, SIZE, UINT64_MAX, init_object);
	magazine_init(&m, &p);
	is(pool_nr_objects(&p), 0, "a new pool has made none");
	for (; nr < MANY && (out[nr] = magazine_get(&m)); nr++)
		nr_bad += take(out[nr]);
	is(nr, MANY, "5000 objects");
	is(nr_bad, 0, "all different, all set up");
	ok(pool_nr_objects(&p) >= MANY, "the pool has made as many");
	for (i = 0; i < nr; i++)
		nr_bad += (uintptr_t)out[i] % CACHE_LINE != 0;
	is(nr_bad, 0, "each starts a cache line");
	for (i = 0; i < nr; i++)
		nr_bad += give(&m, out[i]);
	is(nr_bad, 0, "all go back");
	ok(m.nr < 2 * POOL_BATCH, "the magazine keeps less than two batches");
	magazine_fini(&m);
	pool_fini(&p);
}

static void memory_keeps_its_type(void)
{
	struct object *out[2 * POOL_BATCH];
	int i, round, nr_bad = 0;
	struct magazine m;
	uint64_t nr_made;
	struct pool p;

	pool_init(&p, SIZE, UINT64_MAX, init_object);
	magazine_init(&m, &p);
	for (i = 0; i < 2 * POOL_BATCH; i++)
		out[i] = magazine_get(&m);
	nr_made = pool_nr_objects(&p);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 2 * POOL_BATCH; i++)
			magazine_put(&m, out[i]);
		/* Stale pointers: the rest of the object is as it was. */
		for (i = 0; i < 2 * POOL_BATCH; i++)
			nr_bad += out[i]->magic != MAGIC;
		for (i = 0; i < 2 * POOL_BATCH; i++)
			out[i] = magazine_get(&m);
	}
	is(nr_bad, 0, "freed objects are still objects");
	is(pool_nr_objects(&p), nr_made, "and are used again, none is made");
	magazine_fini(&m);
	pool_fini(&p);
}

static void cap_holds(void)
{
	uint64_t nr = 0, cap = 1024;
	struct object *first, *o;
	struct magazine m;
	struct pool p;

	pool_init(&p, SIZE, cap, NULL);
	magazine_init(&m, &p);
	first = magazine_get(&m);
	for (o = first; o; o = magazine_get(&m))
		nr++;
	ok(nr > 0 && nr <= cap, "%llu objects of at most %llu",
	   (unsigned long long)nr, (unsigned long long)cap);
	is(pool_nr_objects(&p), nr, "all that were made are out");
	ok(!magazine_has(&m), "the magazine is empty");
	if (first)
		magazine_put(&m, first);
	ok(magazine_get(&m) == first, "one that came back is given again");
	ok(magazine_get(&m) == NULL, "and no other");
	magazine_fini(&m);
	pool_fini(&p);
}

static void cap_below_a_chunk_gives_none(void)
{
	struct magazine m;
	struct pool p;

	pool_init(&p, SIZE, 10, NULL);
	magazine_init(&m, &p);
	ok(magazine_get(&m) == NULL, "memory comes in chunks: ten is none");
	is(pool_nr_objects(&p), 0, "nothing was made");
	pool_fini(&p);
}

static void batches_go_between_magazines(void)
{
	struct object *out[4 * POOL_BATCH];
	struct magazine a, b;
	uint64_t nr_made;
	struct pool p;
	int i, nr_old = 0, j;
	struct object *o;

	pool_init(&p, 65536, UINT64_MAX, init_object);
	magazine_init(&a, &p);
	magazine_init(&b, &p);
	for (i = 0; i < 4 * POOL_BATCH; i++)
		out[i] = magazine_get(&a);
	nr_made = pool_nr_objects(&p);
	for (i = 0; i < 4 * POOL_BATCH; i++)
		magazine_put(&a, out[i]);
	magazine_fini(&a);
	is(a.nr, 0, "an ended magazine holds none");
	for (i = 0; i < 4 * POOL_BATCH; i++) {
		o = magazine_get(&b);
		for (j = 0; j < 4 * POOL_BATCH; j++)
			nr_old += o == out[j];
	}
	is(nr_old, 4 * POOL_BATCH, "the other magazine gets the very same");
	is(pool_nr_objects(&p), nr_made, "none was made");
	magazine_fini(&b);
	pool_fini(&p);
}

static void large_objects_have_room(void)
{
	struct magazine m;
	unsigned char *o;
	struct pool p;
	int i, nr = 0;

	pool_init(&p, 4096, UINT64_MAX, NULL);
	magazine_init(&m, &p);
	for (i = 0; i < 3 * POOL_BATCH; i++) {
		o = magazine_get(&m);
		if (!o)
			break;
		memset(o, i, 4096);
		nr++;
	}
	is(nr, 3 * POOL_BATCH, "objects of 4096 bytes can be filled");
	magazine_fini(&m);
	pool_fini(&p);
}

struct user {
	pthread_t thread;
	struct pool *pool;
	int nr_bad;
};

static void *use(void *arg)
{
	struct object *held[NR_HELD];
	struct user *u = arg;
	struct magazine m;
	int round, i;

	magazine_init(&m, u->pool);
	for (round = 0; round < NR_ROUNDS; round++) {
		for (i = 0; i < NR_HELD; i++) {
			held[i] = magazine_get(&m);
			u->nr_bad += !held[i] || take(held[i]);
		}
		for (i = 0; i < NR_HELD; i++)
			u->nr_bad += give(&m, held[i]);
	}
	magazine_fini(&m);
	return NULL;
}

static void threads_share_a_pool(void)
{
	struct user user[NR_THREADS];
	int i, nr_bad = 0;
	struct pool p;

	pool_init(&p, SIZE, UINT64_MAX, init_object);
	for (i = 0; i < NR_THREADS; i++) {
		user[i].pool = &p;
		user[i].nr_bad = 0;
		pthread_create(&user[i].thread, NULL, use, &user[i]);
	}
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(user[i].thread, NULL);
		nr_bad += user[i].nr_bad;
	}
	is(nr_bad, 0, "three threads never hold the same object");
	pool_fini(&p);
}

int main(void)
{
	tap_start(60);
	no_object_is_out_twice();
	memory_keeps_its_type();
	cap_holds();
	cap_below_a_chunk_gives_none();
	batches_go_between_magazines();
	large_objects_have_room();
	threads_share_a_pool();
	return tap_end();
}
