/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The board over the module's map, without a module: the device is a file that
 * this program writes as lkdf_kmod.h says, and the calls are functions of ours.
 */
#include "signal/board.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BASE ((uintptr_t)1 << 44)
#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)
#define BLOCK (64 * KIB)
#define STRIDE 192
#define DESC_OFF 128
#define WORDS_OFF (DESC_OFF + 256 * STRIDE)
#define ALL_BLOCKS 65536

static const int os_node[] = { 0, 1, 2, 3 };
static char device[64];
static struct board board;

/* The made-up module. */
static struct fake {
	char *map;
	uint32_t nr_regions, nr_blocks, used;
	uint16_t there[1024]; /* words, by block from BASE on */
	/* Makes it behave in that way. */
	int info_error, setup_error, max_memory, refresh_error;
	uint16_t abi_major;
	uint64_t features, cookie_off, magic;
	uint32_t blocks_a_call;
	unsigned nr_refreshed, nr_calls;
} fake;

static struct lkdf_map_desc *desc_of(uint32_t id)
{
	return (void *)(fake.map + DESC_OFF + (size_t)id * STRIDE);
}

static uint16_t *words_of(const struct lkdf_map_desc *d)
{
	return (uint16_t *)(fake.map + d->blocks_off);
}

static int fake_info(struct lkdf_kmod_info *info)
{
	info->abi_major = fake.abi_major;
	info->features = fake.features;
	info->max_regions = 256;
	info->max_blocks = 1 << 22;
	info->min_block_shift = 12;
	return fake.info_error;
}

static int fake_setup(int fd, struct lkdf_kmod_setup *req)
{
	struct lkdf_map_header *h;
	size_t bytes;

	if (fake.setup_error)
		return fake.setup_error;
	if (fake.max_memory && req->nr_blocks > (uint32_t)fake.max_memory)
		return -ENOMEM;
	bytes = WORDS_OFF + req->nr_blocks * 2;
	if (ftruncate(fd, (off_t)bytes))
		return -errno;
	fake.map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fake.map == MAP_FAILED)
		return -errno;
	h = (void *)fake.map;
	*h = (struct lkdf_map_header){
		.magic = fake.magic,
		.abi_major = LKDF_KMOD_ABI_MAJOR,
		.desc_stride = STRIDE,
		.nr_regions = req->nr_regions,
		.desc_off = DESC_OFF,
		.blocks_off = WORDS_OFF,
		.nr_blocks = req->nr_blocks,
	};
	fake.nr_regions = req->nr_regions;
	fake.nr_blocks = req->nr_blocks;
	fake.used = 0;
	req->map_bytes = bytes;
	return 0;
}

static int fake_add(struct lkdf_kmod_region *req)
{
	uint32_t nr = (uint32_t)((req->len - 1) >> req->block_shift) + 1, i;
	struct lkdf_map_desc *d;

	for (i = 0; i < fake.nr_regions && desc_of(i)->state; i++)
		;
	if (i == fake.nr_regions || fake.used + nr > fake.nr_blocks)
		return -ENOSPC;
	d = desc_of(i);
	*d = (struct lkdf_map_desc){
		.start = req->addr,
		.len = req->len,
		.cookie = req->cookie + fake.cookie_off,
		.block_shift = req->block_shift,
		.nr_blocks = nr,
		.blocks_off = WORDS_OFF + 2 * fake.used,
		.nr_stale = nr,
	};
	fake.used += nr;
	for (req->id = i, i = 0; i < nr; i++)
		words_of(d)[i] = LKDF_BLOCK_STALE | LKDF_BLOCK_EMPTY;
	__atomic_store_n(&d->state, LKDF_MAP_LIVE, __ATOMIC_RELEASE);
	return 0;
}

static int fake_refresh(struct lkdf_kmod_refresh *req)
{
	struct lkdf_map_desc *d = desc_of(req->id);
	uint32_t i = (uint32_t)req->resume_block, nr = 0;
	uint16_t *word = words_of(d), *there;

	if (fake.refresh_error)
		return fake.refresh_error;
	there = fake.there + (d->start - BASE) / BLOCK;
	for (; i < d->nr_blocks && nr < fake.blocks_a_call; i++, nr++) {
		if (!(word[i] & LKDF_BLOCK_UNSETTLED))
			continue;
		d->nr_stale -= word[i] & LKDF_BLOCK_STALE ? 1 : 0;
		__atomic_store_n(&word[i], there[i], __ATOMIC_RELAXED);
		fake.nr_refreshed++;
	}
	if (i == d->nr_blocks)
		d->all_stale = 0;
	req->resume_block = i;
	return 0;
}

static int call(int fd, unsigned long request, void *arg)
{
	struct lkdf_kmod_region *region = arg;

	fake.nr_calls++;
	switch (request) {
	case LKDF_KMOD_INFO:
		return fake_info(arg);
	case LKDF_KMOD_SETUP:
		return fake_setup(fd, arg);
	case LKDF_KMOD_ADD:
		return fake_add(arg);
	case LKDF_KMOD_DEL:
		desc_of(region->id)->state = LKDF_MAP_FREE;
		return 0;
	case LKDF_KMOD_REFRESH:
		return fake_refresh(arg);
	}
	return -ENOTTY;
}

/* Pages of some blocks go to another node: the kernel marks them. */
static void move(int id, uint32_t from, uint32_t to, uint16_t node)
{
	struct lkdf_map_desc *d = desc_of((uint32_t)id);

	for (; from < to; from++) {
		fake.there[(d->start - BASE) / BLOCK + from] = node;
		__atomic_fetch_or(&words_of(d)[from], LKDF_BLOCK_STALE,
				  __ATOMIC_RELAXED);
		d->nr_stale++;
	}
}

/* Where the fake has no pages move_pages(2) has none either. */
static bool nowhere(void *const *page, unsigned nr, int *node)
{
	(void)page;
	while (nr)
		node[--nr] = -2;
	return true;
}

static struct board_attr attr(void)
{
	return (struct board_attr){
		.wish = BOARD_AUTO,
		.min_bytes = 64 * KIB,
		.nr_nodes = 4,
		.os_node = os_node,
		.device = device,
		.where = nowhere,
		.call = call,
	};
}

static void forget_fake(void)
{
	if (fake.map)
		munmap(fake.map, WORDS_OFF + fake.nr_blocks * 2);
	memset(&fake, 0, sizeof(fake));
	fake.abi_major = LKDF_KMOD_ABI_MAJOR;
	fake.features = LKDF_KMOD_F_REGION | LKDF_KMOD_F_POLL;
	fake.magic = LKDF_MAP_MAGIC;
	fake.blocks_a_call = 5;
}

static void start(void)
{
	const struct board_attr a = attr();

	is(board_open(&a, &board), 0, "a board opens");
}

static void stop(void)
{
	board_close(&board, false);
	forget_fake();
}

static struct board_span span(int id, uint64_t from, uint64_t bytes)
{
	return board_span(&board, id, (void *)(BASE + from), bytes);
}

static int most(int id, uint64_t from, uint64_t bytes)
{
	return board_most(&board, span(id, from, bytes));
}

static int fact(int id, uint64_t from, uint64_t bytes)
{
	return board_fact(&board, id, span(id, from, bytes));
}

/* Passes, until there is nothing stale or for a while. */
static void settle(int id)
{
	const struct timespec ms = { 0, 1000000 };
	int i;

	for (i = 0; i < 5000 && desc_of((uint32_t)id)->nr_stale; i++) {
		board_pass(&board, BOARD_NOW);
		nanosleep(&ms, NULL);
	}
}

static void words_are_the_kernels(void)
{
	uint32_t i, changes;
	int id;

	for (i = 0; i < 16; i++)
		fake.there[i] = i < 4 ? 1 : 2 | LKDF_BLOCK_HUGE;
	start();
	is(board.source->tier, BOARD_T2, "with a module it is tier 2");
	ok(board_fd(&board) >= 0, "which tells when pages have moved");
	id = board_add(&board, (void *)BASE, MIB, true);
	ok(id >= 0, "a range is watched");
	is(most(id, 0, 4 * BLOCK), 1, "the first part");
	is(most(id, 0, MIB), 2, "the whole");
	is(fact(id, 0, 4 * BLOCK), 1, "for certain");
	is(fact(id, 0, MIB), BOARD_SPREAD, "the whole is spread, for certain");
	changes = board_changes(&board);
	move(id, 0, 4, 3);
	ok(board_is_stale(&board, span(id, 0, MIB)), "moved pages are stale");
	is(most(id, 0, 4 * BLOCK), 1, "they are still said to be there");
	is(fact(id, 0, 4 * BLOCK), BOARD_NOWHERE, "but not for certain");
	fake.nr_refreshed = 0;
	settle(id);
	is(fake.nr_refreshed, 4, "only they are looked at");
	is(fact(id, 0, 4 * BLOCK), 3, "and are where they went");
	ok(board_changes(&board) != changes, "which is a change");
	changes = board_changes(&board);
	move(id, 0, 4, 3);
	settle(id);
	is(board_changes(&board), changes, "back at the same node is none");
	desc_of((uint32_t)id)->all_stale = 1;
	is(fact(id, 0, BLOCK), BOARD_NOWHERE, "all may be stale");
	board_del(&board, id);
	is(desc_of((uint32_t)id)->state, LKDF_MAP_FREE, "it is given back");
	stop();
}

static void empty_blocks_are_looked_at_again(void)
{
	const struct timespec ms = { 0, 1000000 };
	int id, i;

	for (i = 0; i < 16; i++)
		fake.there[i] = LKDF_BLOCK_EMPTY;
	start();
	id = board_add(&board, (void *)BASE, MIB, false);
	settle(id);
	is(most(id, 0, MIB), BOARD_NOWHERE, "nobody has touched it");
	for (i = 0; i < 16; i++)
		fake.there[i] = 2 | (i ? 0 : LKDF_BLOCK_PARTIAL);
	for (i = 0; i < 5000 && most(id, 0, MIB) != 2; i++) {
		board_pass(&board, BOARD_IDLE);
		nanosleep(&ms, NULL);
	}
	is(most(id, 0, MIB), 2, "nobody tells, it is found");
	is(fact(id, 0, MIB), BOARD_NOWHERE, "a block in part is no fact");
	is(fact(id, BLOCK, BLOCK), 2, "another is");
	fake.there[0] = 2 | LKDF_BLOCK_MIXED;
	for (i = 0; i < 5000 && fact(id, 0, BLOCK) == BOARD_NOWHERE; i++) {
		board_pass(&board, BOARD_IDLE);
		nanosleep(&ms, NULL);
	}
	is(fact(id, 0, BLOCK), BOARD_SPREAD, "a mixed block is spread");
	fake.nr_refreshed = fake.nr_calls = 0;
	for (i = 0; i < 20; i++) {
		board_pass(&board, BOARD_IDLE);
		nanosleep(&ms, NULL);
	}
	is(fake.nr_calls, 0, "what is settled is left alone");
	board_del(&board, id);
	stop();
}

static void a_refresh_may_fail(void)
{
	int id;

	fake.there[0] = 1;
	start();
	fake.refresh_error = -EAGAIN;
	id = board_add(&board, (void *)BASE, BLOCK, true);
	is(most(id, 0, BLOCK), BOARD_NOWHERE, "-EAGAIN: nothing is known yet");
	fake.refresh_error = 0;
	settle(id);
	is(most(id, 0, BLOCK), 1, "later it is");
	board_del(&board, id);
	stop();
}

static void it_may_not_tell(void)
{
	fake.features = LKDF_KMOD_F_REGION;
	start();
	is(board_fd(&board), -1, "a module without poll is not listened to");
	stop();
}

static void without_it_there_is_tier_0(const char *what, const char *why)
{
	const struct board_attr a = attr();

	is(board_open(&a, &board), 0, "%s: a board opens", what);
	ok(board.source && board.source->tier == BOARD_T0, "%s: tier 0", what);
	is(board_fd(&board), -1, "%s: it does not tell", what);
	has(board.why, why, "%s: it says why", what);
	stop();
}

static void modules_that_cannot_be_used(void)
{
	char keep = device[0];

	fake.info_error = -ENOTTY;
	without_it_there_is_tier_0("no such call", "ioctl");
	fake.abi_major = 2;
	without_it_there_is_tier_0("another version", "version");
	fake.features = 0;
	without_it_there_is_tier_0("no regions", "version");
	fake.setup_error = -ENOMEM;
	without_it_there_is_tier_0("no memory", "ulimit");
	fake.magic = 7;
	without_it_there_is_tier_0("no map", "map");
	device[0] = '\0';
	without_it_there_is_tier_0("no device", "No such file");
	device[0] = keep;
}

static void little_memory_means_large_blocks(void)
{
	int id[3];

	fake.max_memory = 4096;
	start();
	ok(board.source && board.source->tier == BOARD_T2,
	   "half of the blocks are asked for until there is memory");
	fake.used = fake.nr_blocks - 40;
	id[0] = board_add(&board, (void *)BASE, 4 * MIB, false);
	ok(id[0] >= 0, "without room for all blocks");
	is(a_load(&board.range[id[0]].shift, relaxed), 17, "they are larger");
	fake.cookie_off = 1;
	is(board_add(&board, (void *)(BASE + 8 * MIB), 64 * KIB, false), -1,
	   "a region that is not ours is not taken");
	fake.cookie_off = 0;
	id[1] = board_add(&board, (void *)(BASE + 8 * MIB), 64 * KIB, false);
	ok(id[1] >= 0, "the next one is");
	board_del(&board, id[0]);
	board_del(&board, id[1]);
	stop();
}

int main(void)
{
	int fd;

	tap_start(60);
	snprintf(device, sizeof(device), "/tmp/lkdf-map-%d", (int)getpid());
	fd = open(device, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		printf("Bail out! cannot make %s\n", device);
		return 1;
	}
	close(fd);
	forget_fake();
	words_are_the_kernels();
	empty_blocks_are_looked_at_again();
	a_refresh_may_fail();
	it_may_not_tell();
	modules_that_cannot_be_used();
	little_memory_means_large_blocks();
	unlink(device);
	return tap_end();
}
