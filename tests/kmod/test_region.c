/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions: words of blocks, generations, histograms; what marks blocks and
 * what does not. Events of other kinds are in test_events.c.
 */
#include "device.h"

#include <poll.h>

#define NODE LKDF_BLOCK_NODE
#define STALE LKDF_BLOCK_STALE
#define EMPTY LKDF_BLOCK_EMPTY
#define PARTIAL LKDF_BLOCK_PARTIAL
#define MIXED LKDF_BLOCK_MIXED

static unsigned node[2];
static struct device d;
static struct reader r;
static struct reader_counts counts;
static char *m;

/* len bytes on the first node, watched in blocks of 1 << shift, refreshed. */
static void prepare(size_t len, unsigned shift)
{
	two_nodes(node);
	d = make_device(4, 4096);
	m = small_memory(len);
	touch_on(m, len, node[0]);
	r = watch(&d, m, len, shift);
	ASSERT_EQ(refresh(&d, &r, 0), r.desc->nr_blocks);
}

static unsigned word(size_t block)
{
	return reader_word(&r, m + (block << r.shift));
}

static int is_readable(void)
{
	struct pollfd p = { .fd = d.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

static void count(void)
{
	ASSERT_EQ(reader_counts(&r, d.nr_nodes, &counts), 0);
}

TEST(the_header_describes_the_map)
{
	struct device dev = make_device(3, 100);
	struct lkdf_map_header *h = (void *)dev.map;

	EXPECT_EQ(h->magic, LKDF_MAP_MAGIC);
	EXPECT_EQ(memcmp(dev.map, "lkdfmap", 8), 0);
	EXPECT_EQ(h->abi_major, LKDF_KMOD_ABI_MAJOR);
	EXPECT_EQ(h->header_size, sizeof(*h));
	EXPECT_EQ(h->nr_regions, 3);
	EXPECT_EQ(h->nr_blocks, 128);
	EXPECT_EQ(h->desc_off, sizeof(*h));
	EXPECT_EQ(h->desc_stride % 64, 0);
	EXPECT(h->desc_stride >= LKDF_MAP_PAGES_OFF + 8 * h->nr_nodes);
	EXPECT_EQ(h->blocks_off, h->desc_off + 3 * h->desc_stride);
	EXPECT_EQ(h->bytes, dev.map_bytes);
	EXPECT(h->blocks_off + 2 * h->nr_blocks <= h->bytes);
	EXPECT_EQ(h->state, 0);
}

TEST(a_new_region_is_stale_and_empty)
{
	size_t i;

	d = make_device(2, 100);
	m = small_memory(MIB);
	r = watch(&d, m, MIB, 16);
	EXPECT_EQ(r.desc->state, LKDF_MAP_LIVE);
	EXPECT_EQ(r.desc->start, (uintptr_t)m);
	EXPECT_EQ(r.desc->len, MIB);
	EXPECT_EQ(r.desc->nr_blocks, 16);
	EXPECT_EQ(r.desc->cookie, (uintptr_t)m ^ MIB);
	EXPECT_EQ(r.desc->nr_stale, 16);
	EXPECT(r.desc->gen != r.desc->snap_gen);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(word(i), STALE | EMPTY);
	EXPECT_EQ(reader_settled(&r, m), -1);
	EXPECT(is_readable());
}

TEST(a_refresh_writes_words_and_histogram)
{
	two_nodes(node);
	d = make_device(2, 100);
	m = small_memory(8 * MIB);
	touch_on(m, 4 * MIB, node[0]);
	touch_on(m + 4 * MIB, 2 * MIB, node[1]);
	r = watch(&d, m, 8 * MIB, HUGE_SHIFT);
	EXPECT_EQ(refresh(&d, &r, 0), 4);
	EXPECT_EQ(word(0), node[0]);
	EXPECT_EQ(word(1), node[0]);
	EXPECT_EQ(word(2), node[1]);
	EXPECT_EQ(word(3), EMPTY);
	EXPECT_EQ(node_of(&r, m + 5 * MIB), node[1]);
	EXPECT_EQ(reader_settled(&r, m + 5 * MIB), node[1]);
	EXPECT_EQ(reader_settled(&r, m + 7 * MIB), -1);
	count();
	EXPECT_EQ(counts.pages[node[0]], 1024);
	EXPECT_EQ(counts.pages[node[1]], 512);
	EXPECT_EQ(counts.present, 1536);
	EXPECT_EQ(counts.absent, 512);
	EXPECT_EQ(counts.snap_gen, reader_gen(&r));
	EXPECT_EQ(r.desc->nr_stale, 0);
	EXPECT(!is_readable());
}

TEST(moved_blocks_are_marked_and_only_they)
{
	uint64_t gen;

	prepare(8 * MIB, HUGE_SHIFT);
	gen = reader_gen(&r);
	ASSERT_EQ(move_memory(m, 2 * MIB, PAGE, node[1]), 512);
	EXPECT(reader_gen(&r) > gen);
	EXPECT_EQ(word(0), node[0] | STALE);
	EXPECT_EQ(word(1), node[0]);
	EXPECT_EQ(r.desc->nr_stale, 1);
	EXPECT_EQ(r.desc->all_stale, 0);
	EXPECT(is_readable());
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(0), node[1]);
	EXPECT(!is_readable());
	count();
	EXPECT_EQ(counts.pages[node[0]], 1536);
	EXPECT_EQ(counts.pages[node[1]], 512);
	EXPECT_EQ(counts.snap_gen, reader_gen(&r));
}

TEST(a_block_on_two_nodes_is_mixed)
{
	prepare(4 * MIB, HUGE_SHIFT);
	ASSERT_EQ(move_memory(m, MIB / 2, PAGE, node[1]), 128);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(0), node[0] | MIXED);
	EXPECT_EQ(word(1), node[0]);
	ASSERT_EQ(move_memory(m, 3 * MIB / 2, PAGE, node[1]), 384);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(0), node[1] | MIXED);
}

TEST(changes_of_protection_mark_nothing)
{
	uint64_t gen;

	prepare(4 * MIB, HUGE_SHIFT);
	gen = reader_gen(&r);
	ASSERT_EQ(mprotect(m, 4 * MIB, PROT_READ), 0);
	ASSERT_EQ(mprotect(m, 4 * MIB, PROT_READ | PROT_WRITE), 0);
	touch(m, 4 * MIB);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT_EQ(word(0), node[0]);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT(!is_readable());
}

TEST(first_touch_is_not_announced_and_empty_blocks_are_looked_at_again)
{
	uint64_t gen;

	two_nodes(node);
	d = make_device(1, 100);
	m = small_memory(4 * MIB);
	touch_on(m, 2 * MIB, node[0]);
	bind_memory(m + 2 * MIB, 2 * MIB, node[1]);
	r = watch(&d, m, 4 * MIB, HUGE_SHIFT);
	refresh(&d, &r, 0);
	gen = reader_gen(&r);
	touch(m + 2 * MIB, MIB);
	EXPECT_EQ(reader_gen(&r), gen);
	EXPECT_EQ(word(1), EMPTY);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(1), node[1] | PARTIAL);
	EXPECT_EQ(reader_settled(&r, m + 2 * MIB), -1);
	touch(m + 2 * MIB, 2 * MIB);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(1), node[1]);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 0);
}

TEST(dropped_memory_is_marked_and_becomes_empty)
{
	prepare(4 * MIB, HUGE_SHIFT);
	ASSERT_EQ(madvise(m, 2 * MIB, MADV_DONTNEED), 0);
	EXPECT_EQ(word(0), node[0] | STALE);
	EXPECT_EQ(word(1), node[0]);
	refresh(&d, &r, LKDF_KMOD_STALE_ONLY);
	EXPECT_EQ(word(0), EMPTY);
	count();
	EXPECT_EQ(counts.absent, 512);
	EXPECT_EQ(counts.present, 512);
}

TEST(large_events_set_one_word_for_the_region)
{
	uint64_t epoch;
	size_t len = 32 * MIB;
	struct lkdf_map_header *h;
	size_t i, nr = 0;

	two_nodes(node);
	d = make_device(2, 8192);
	h = (void *)d.map;
	m = small_memory(len);
	touch_on(m, len, node[0]);
	r = watch(&d, m, len, 12);
	refresh(&d, &r, 0);
	epoch = h->epoch;
	ASSERT_EQ(madvise(m, len, MADV_DONTNEED), 0);
	EXPECT_EQ(r.desc->all_stale, 1);
	EXPECT_EQ(r.desc->nr_stale, 8192);
	EXPECT_EQ(reader_settled(&r, m), -1);
	EXPECT_EQ(node_of(&r, m), node[0]);
	EXPECT(h->epoch > epoch);
	EXPECT(is_readable());
	touch(m, len);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 8192);
	EXPECT_EQ(r.desc->all_stale, 0);
	EXPECT(!is_readable());
	for (i = 0; i < len; i += PAGE)
		nr += reader_settled(&r, m + i) == (int)node[0];
	EXPECT_EQ(nr, 8192);
}

TEST(blocks_larger_than_one_look_are_counted_whole)
{
	size_t len = 40 * MIB;

	prepare(len, 24);
	count();
	EXPECT_EQ(r.desc->nr_blocks, 3);
	EXPECT_EQ(counts.pages[node[0]], len / PAGE);
	EXPECT_EQ(word(0), node[0]);
	EXPECT_EQ(word(2), node[0]);
	ASSERT_EQ(move_memory(m + 20 * MIB, MIB, PAGE, node[1]), 256);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(1), node[0] | MIXED);
	count();
	EXPECT_EQ(counts.pages[node[1]], 256);
}

TEST(a_refresh_stops_after_max_blocks_and_goes_on)
{
	struct lkdf_kmod_refresh req = { .size = sizeof(req), .max_blocks = 3 };

	prepare(2 * MIB, 16);
	req.id = id_of(&d, &r);
	ASSERT_EQ(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), 0);
	EXPECT_EQ(req.walked, 3);
	EXPECT_EQ(req.resume_block, 3);
	EXPECT_EQ(req.gen, reader_gen(&r));
	req.max_blocks = 0;
	ASSERT_EQ(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), 0);
	EXPECT_EQ(req.walked, 29);
	EXPECT_EQ(req.resume_block, 32);
	/* Nothing is stale: all blocks are dealt with without a look. */
	req.flags = LKDF_KMOD_STALE_ONLY;
	req.resume_block = 0;
	ASSERT_EQ(ioctl(d.fd, LKDF_KMOD_REFRESH, &req), 0);
	EXPECT_EQ(req.walked, 0);
	EXPECT_EQ(req.resume_block, 32);
}

TEST(a_region_may_have_holes_and_a_short_last_block)
{
	size_t len = 2 * MIB + 5 * PAGE;

	two_nodes(node);
	d = make_device(1, 100);
	m = small_memory(4 * MIB);
	touch_on(m, 4 * MIB, node[0]);
	munmap(m + MIB, MIB / 2);
	r = watch(&d, m, len, 19);
	EXPECT_EQ(r.desc->nr_blocks, 5);
	EXPECT_EQ(refresh(&d, &r, 0), 5);
	EXPECT_EQ(word(1), node[0]);
	EXPECT_EQ(word(2), EMPTY);
	EXPECT_EQ(word(3), node[0]);
	EXPECT_EQ(word(4), node[0]);
	count();
	EXPECT_EQ(counts.error, 128);
	EXPECT_EQ(counts.present, len / PAGE - 128);
	/* A hole inside of a large block, and a block that begins in one. */
	EXPECT_EQ(call_del(d.fd, 0), 0);
	r = watch(&d, m + MIB + 8 * PAGE, MIB, 20);
	EXPECT_EQ(refresh(&d, &r, 0), 1);
	count();
	EXPECT_EQ(counts.error, 120);
	EXPECT_EQ(counts.present, 136);
	EXPECT_EQ(reader_word(&r, m + MIB + 8 * PAGE), node[0] | PARTIAL);
}

TEST(deleted_regions_give_their_blocks_back)
{
	int i, id;

	d = make_device(2, 64);
	m = small_memory(MIB);
	for (i = 0; i < 50; i++) {
		id = call_add(d.fd, m, 64 * PAGE, 12);
		ASSERT(id >= 0);
		r = reader_of(&d, id);
		ASSERT_EQ(call_del(d.fd, id), 0);
		EXPECT_EQ(r.desc->state, LKDF_MAP_FREE);
	}
	EXPECT(!is_readable());
}

TEST(a_huge_page_that_moves_marks_its_block_once)
{
	uint64_t gen;

	two_nodes(node);
	d = make_device(1, 100);
	m = map_memory(4 * HUGE_SIZE, HUGE_SIZE);
	madvise(m, 4 * HUGE_SIZE, MADV_HUGEPAGE);
	touch_on(m, 4 * HUGE_SIZE, node[0]);
	r = watch(&d, m, 4 * HUGE_SIZE, HUGE_SHIFT);
	refresh(&d, &r, 0);
	count();
	if (counts.huge != 2048)
		SKIP("the kernel gave %lu huge base pages", counts.huge);
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_HUGE);
	gen = reader_gen(&r);
	if (move_memory(m, HUGE_SIZE, HUGE_SIZE, node[1]) != 1)
		SKIP("no free huge page on node %u", node[1]);
	EXPECT(reader_gen(&r) - gen <= 4);
	EXPECT_EQ(word(0), node[0] | LKDF_BLOCK_HUGE | STALE);
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
	EXPECT_EQ(word(0), node[1] | LKDF_BLOCK_HUGE);
}
