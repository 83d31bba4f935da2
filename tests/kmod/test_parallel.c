/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several threads at one map: no event is lost from the counts of events, and
 * no histogram is seen half written.
 */
#include "device.h"

#include <pthread.h>

#define NR_REGIONS 4
#define NR_ROUNDS 200

static struct device d;
static struct reader r[NR_REGIONS];
static char *m[NR_REGIONS];

static void *drop_and_touch(void *arg)
{
	char *memory = arg;
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		touch(memory, 16 * PAGE);
		madvise(memory, 16 * PAGE, MADV_DONTNEED);
	}
	return NULL;
}

/* The epoch belongs to the map, not to a region: another lock, or none. */
TEST_LIMIT(the_epoch_counts_every_event_of_every_region, 100)
{
	const volatile struct lkdf_map_header *header;
	pthread_t threads[NR_REGIONS];
	uint64_t gen = 0, epoch;
	int i;

	d = make_device(NR_REGIONS, NR_REGIONS * 32);
	header = (void *)d.map;
	for (i = 0; i < NR_REGIONS; i++) {
		m[i] = small_memory(16 * PAGE);
		r[i] = watch(&d, m[i], 16 * PAGE, 12);
		gen -= reader_gen(&r[i]);
	}
	epoch = header->epoch;
	for (i = 0; i < NR_REGIONS; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, drop_and_touch,
					 m[i]),
			  0);
	for (i = 0; i < NR_REGIONS; i++) {
		pthread_join(threads[i], NULL);
		gen += reader_gen(&r[i]);
	}
	EXPECT(gen >= NR_REGIONS * NR_ROUNDS);
	EXPECT_EQ(header->epoch - epoch, gen);
}

#define NR_PAGES 256

static int is_over;
static unsigned long nr_read, nr_torn;

static int over(void)
{
	return __atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

static void *read_counts(void *arg)
{
	struct reader_counts c;
	uint64_t on, i;

	(void)arg;
	while (!over()) {
		if (reader_counts(&r[0], d.nr_nodes, &c))
			continue;
		for (on = i = 0; i < d.nr_nodes && i < 64; i++)
			on += c.pages[i];
		__atomic_fetch_add(&nr_read, 1, __ATOMIC_RELAXED);
		if (on != c.present ||
		    c.present + c.absent + c.zero + c.error != NR_PAGES)
			__atomic_fetch_add(&nr_torn, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *move_to_and_fro(void *arg)
{
	const unsigned *node = arg;
	unsigned i;

	for (i = 0; !over(); i++)
		move_memory(m[0], NR_PAGES / 2 * PAGE, PAGE, node[i % 2]);
	return NULL;
}

TEST_LIMIT(a_histogram_is_never_seen_half_written, 100)
{
	pthread_t threads[3];
	unsigned node[2];
	int i;

	two_nodes(node);
	d = make_device(1, NR_PAGES);
	m[0] = small_memory(NR_PAGES * PAGE);
	touch_on(m[0], NR_PAGES * PAGE, node[0]);
	r[0] = watch(&d, m[0], NR_PAGES * PAGE, 12);
	ASSERT_EQ(refresh(&d, &r[0], 0), NR_PAGES);
	ASSERT_EQ(pthread_create(&threads[0], NULL, read_counts, NULL), 0);
	ASSERT_EQ(pthread_create(&threads[1], NULL, read_counts, NULL), 0);
	ASSERT_EQ(pthread_create(&threads[2], NULL, move_to_and_fro, node), 0);
	for (i = 0; i < NR_ROUNDS || !__atomic_load_n(&nr_read, 0); i++)
		refresh(&d, &r[0], i % 2 ? LKDF_KMOD_STALE_ONLY : 0);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("# %lu histograms were read\n", nr_read);
	EXPECT_EQ(nr_torn, 0);
}
