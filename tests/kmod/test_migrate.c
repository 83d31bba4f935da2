/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Migration against refresh: one thread moves pages and knows where each one
 * is, two refresh, two read. While nothing is being moved, a settled word that
 * is not what the pages say is wrong and trusted; there must be none.
 * LKDF_SNAPSHOTS: refreshes wanted, and a hundredth as many moves (20000);
 * LKDF_SECONDS: at most (40); LKDF_WHOLE: fewer refreshes are a failure.
 */
#include "device.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define NR_PAGES 64
#define MAX_BLOCKS NR_PAGES

static unsigned node[2];
static struct device d;
static struct reader r;
static char *m;
static unsigned pages_of_block;

/* The mover writes: odd while it moves, and what the words must be. */
static unsigned phase;
static unsigned want[MAX_BLOCKS];
static int is_over;

/* Anyone adds. */
static unsigned long nr_snapshots, nr_walked, nr_retries, nr_again, nr_trusted,
	nr_in_flight, nr_wrong, nr_moves;

static unsigned long get(unsigned long *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void add(unsigned long *n, unsigned long k)
{
	__atomic_fetch_add(n, k, __ATOMIC_RELAXED);
}

static int over(void)
{
	return __atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

/* What a settled word of a block says, from where its pages are. */
static unsigned word_of(const int *at)
{
	unsigned on[2] = { 0, 0 };
	unsigned i;

	for (i = 0; i < pages_of_block; i++) {
		if (at[i] != (int)node[0] && at[i] != (int)node[1])
			return LKDF_BLOCK_EMPTY;
		on[at[i] == (int)node[1]]++;
	}
	if (on[0] && on[1])
		return node[on[1] > on[0]] | LKDF_BLOCK_MIXED;
	return node[on[1] > 0];
}

static void ask_where(int *at)
{
	void *pages[NR_PAGES];
	int i;

	for (i = 0; i < NR_PAGES; i++)
		pages[i] = m + i * PAGE;
	syscall(SYS_move_pages, 0, (long)NR_PAGES, pages, NULL, at, 0);
}

static void *mover(void *arg)
{
	unsigned seed = 1, i, first, nr;
	int at[NR_PAGES];

	(void)arg;
	while (!over()) {
		__atomic_store_n(&phase, phase + 1, __ATOMIC_SEQ_CST);
		first = rand_r(&seed) % NR_PAGES;
		nr = 1 + rand_r(&seed) % (NR_PAGES - first);
		move_memory(m + first * PAGE, nr * PAGE, PAGE,
			    node[rand_r(&seed) % 2]);
		ask_where(at);
		for (i = 0; i < NR_PAGES / pages_of_block; i++)
			__atomic_store_n(&want[i],
					 word_of(at + i * pages_of_block),
					 __ATOMIC_RELAXED);
		__atomic_store_n(&phase, phase + 1, __ATOMIC_SEQ_CST);
		add(&nr_moves, 1);
		usleep(rand_r(&seed) % 300);
	}
	return NULL;
}

static void *refresher(void *arg)
{
	struct lkdf_kmod_refresh req = { .size = sizeof(req) };

	while (!over()) {
		req.flags = arg ? LKDF_KMOD_STALE_ONLY : 0;
		req.id = id_of(&d, &r);
		req.resume_block = 0;
		if (ioctl(d.fd, LKDF_KMOD_REFRESH, &req)) {
			add(&nr_again, 1);
			continue;
		}
		add(&nr_snapshots, 1);
		add(&nr_walked, req.walked);
		add(&nr_retries, req.retries);
		sched_yield();
	}
	return NULL;
}

/* One block; counts what it saw if nothing moved meanwhile. */
static void look(unsigned block)
{
	unsigned before, word, wanted, is_stale;

	before = __atomic_load_n(&phase, __ATOMIC_SEQ_CST);
	if (before & 1)
		return;
	is_stale = __atomic_load_n(&r.desc->all_stale, __ATOMIC_ACQUIRE);
	word = __atomic_load_n(&r.words[block], __ATOMIC_ACQUIRE);
	wanted = __atomic_load_n(&want[block], __ATOMIC_ACQUIRE);
	if (before != __atomic_load_n(&phase, __ATOMIC_SEQ_CST))
		return;
	if (is_stale || word & LKDF_BLOCK_UNSETTLED) {
		add(&nr_in_flight, !(word & LKDF_BLOCK_STALE));
		return;
	}
	add(&nr_trusted, 1);
	word &= LKDF_BLOCK_NODE | LKDF_BLOCK_MIXED;
	if (word != wanted) {
		add(&nr_wrong, 1);
		printf("# block %u says %04x, its pages say %04x\n", block,
		       word, wanted);
	}
}

static void *looker(void *arg)
{
	unsigned i;

	(void)arg;
	while (!over()) {
		for (i = 0; i < NR_PAGES / pages_of_block; i++)
			look(i);
		usleep(100);
	}
	return NULL;
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

static void stress(unsigned shift)
{
	unsigned long enough = number("LKDF_SNAPSHOTS", 20000);
	time_t end = time(NULL) + number("LKDF_SECONDS", 40);
	pthread_t threads[5];
	int i, at[NR_PAGES];

	two_nodes(node);
	pages_of_block = 1U << (shift - 12);
	m = small_memory(HUGE_SIZE);
	touch_on(m, NR_PAGES * PAGE, node[0]);
	d = make_device(1, MAX_BLOCKS);
	r = watch(&d, m, NR_PAGES * PAGE, shift);
	ask_where(at);
	for (i = 0; i < (int)(NR_PAGES / pages_of_block); i++)
		want[i] = word_of(at + i * pages_of_block);
	pthread_create(&threads[0], NULL, mover, NULL);
	pthread_create(&threads[1], NULL, refresher, NULL);
	pthread_create(&threads[2], NULL, refresher, &d);
	pthread_create(&threads[3], NULL, looker, NULL);
	pthread_create(&threads[4], NULL, looker, NULL);
	while (time(NULL) < end &&
	       (get(&nr_snapshots) < enough || get(&nr_moves) < enough / 100))
		usleep(10000);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	printf("# %lu snapshots, %lu blocks, %lu moves, %lu retries, %lu again, "
	       "%lu times in flight, %lu times trusted, %lu wrong\n",
	       nr_snapshots, nr_walked, nr_moves, nr_retries, nr_again,
	       nr_in_flight, nr_trusted, nr_wrong);
	EXPECT(nr_snapshots > 0 && nr_moves > 0 && nr_trusted > 0);
	if (getenv("LKDF_WHOLE"))
		EXPECT(nr_snapshots >= enough);
	EXPECT_EQ(nr_wrong, 0);
	/* In the end everything settles and is right. */
	ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
	ask_where(at);
	for (i = 0; i < (int)(NR_PAGES / pages_of_block); i++)
		EXPECT_EQ(r.words[i], word_of(at + i * pages_of_block));
}

TEST_LIMIT(no_word_of_four_pages_is_wrong_and_trusted, 3600)
{
	stress(14);
}

TEST_LIMIT(no_word_of_one_page_is_wrong_and_trusted, 3600)
{
	stress(12);
}
