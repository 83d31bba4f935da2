/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * While all workers sleep another process moves pages that the module watches:
 * the map, which this test reads in its own memory, becomes fresh again though
 * nobody calls the library; not more often than the runtime may be woken.
 */
#include "kmod/uapi/lkdf_kmod.h"
#include "tests/vm/mem.h"

#include <lkdf/data.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BYTES (2 * MEM_MIB)
#define NR_PAGES (BYTES / MEM_PAGE)
#define MS 1000000
/* As lib/signal/listen.h. */
#define PAUSE_MS 64
#define STORM_MS 1500

static struct lkdf *rt;
static const volatile char *map; /* the kernel's */
static char *bytes;

/* ---- the map ------------------------------------------------------------- */

static const volatile char *find_map(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	const volatile char *found = NULL;
	unsigned long start;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, LKDF_KMOD_DEVICE) &&
		    sscanf(line, "%lx-", &start) == 1)
			found = (const volatile char *)start;
	if (f)
		fclose(f);
	return found;
}

/* That of our bytes; NULL: it is not watched. */
static const volatile struct lkdf_map_desc *find_desc(void)
{
	const volatile struct lkdf_map_header *h = (const volatile void *)map;
	const volatile struct lkdf_map_desc *d;
	unsigned i;

	for (i = 0; i < h->nr_regions; i++) {
		d = (const volatile void *)(map + h->desc_off +
					    (size_t)i * h->desc_stride);
		if (d->state == LKDF_MAP_LIVE && d->start == (uintptr_t)bytes)
			return d;
	}
	return NULL;
}

/* All blocks are settled and on that node. */
static bool is_known(const volatile struct lkdf_map_desc *d, int node)
{
	const volatile uint16_t *word =
		(const volatile uint16_t *)(map + d->blocks_off);
	unsigned i;

	if (d->all_stale)
		return false;
	for (i = 0; i < d->nr_blocks; i++)
		if (word[i] & (LKDF_BLOCK_UNSETTLED | LKDF_BLOCK_MIXED) ||
		    (word[i] & LKDF_BLOCK_NODE) != node)
			return false;
	return true;
}

/* The machine may be slow. */
static bool becomes_known(const volatile struct lkdf_map_desc *d, int node)
{
	int i;

	for (i = 0; i < 3000 && !is_known(d, node); i++)
		api_nap_ns(10 * MS);
	return is_known(d, node);
}

/* ---- workers ------------------------------------------------------------- */

static uint64_t parks(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < vm_nr_workers(rt); i++)
		sum += vm_stat(rt, i, "parks");
	return sum;
}

/* Nobody goes to sleep any more, so all do. */
static void wait_for_sleep(void)
{
	uint64_t before;

	do {
		before = parks();
		api_nap_ns(8 * PAUSE_MS * (int64_t)MS);
	} while (parks() != before);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / MS;
}

/* ---- who moves ----------------------------------------------------------- */

static void move_all(pid_t pid, int to)
{
	int node[NR_PAGES], status[NR_PAGES];
	void *page[NR_PAGES];
	uint64_t i;

	for (i = 0; i < NR_PAGES; i++) {
		page[i] = bytes + i * MEM_PAGE;
		node[i] = to;
	}
	if (move_pages(pid, NR_PAGES, page, node, status, MPOL_MF_MOVE) < 0)
		_exit(1);
}

/* In another process: for so long there and back, in the end there. */
static bool moves(int to, int other, int64_t ms)
{
	int64_t end = now_ms() + ms;
	pid_t parent = getpid(), child = fork();
	int status = -1;

	if (child == 0) {
		while (now_ms() < end) {
			move_all(parent, to);
			move_all(parent, other);
		}
		move_all(parent, to);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

/* ---- what is to be seen -------------------------------------------------- */

static void sleepers_learn_of_moves(int from, int to)
{
	const volatile struct lkdf_map_desc *d = find_desc();
	uint64_t gen;

	if (!ok(d != NULL, "the kernel watches the bytes"))
		return;
	wait_for_sleep();
	ok(becomes_known(d, from), "where they are is known");
	gen = d->gen;
	ok(moves(to, from, 0), "another process moves them");
	ok(d->gen != gen, "the kernel has told");
	ok(becomes_known(d, to), "it is known where they went");
}

/* Each time that a worker was woken it went to sleep again. */
static void nobody_is_kept_awake(int from, int to)
{
	int64_t start, ms;
	uint64_t before;

	wait_for_sleep();
	before = parks();
	start = now_ms();
	ok(moves(to, from, STORM_MS), "they are moved again and again");
	ok(becomes_known(find_desc(), to), "it is known where they are then");
	before = parks() - before;
	ms = now_ms() - start;
	printf("# %d wake-ups in %d ms\n", (int)before, (int)ms);
	ok(before >= 1, "workers were woken");
	ok(before <= (uint64_t)ms / PAUSE_MS + 1, "but not often");
}

int main(void)
{
	struct lkdf_data *d;

	mem_start(120);
	vm_try_write("/proc/sys/kernel/numa_balancing", "0");
	rt = api_open("signal_kib=64");
	if (!(lkdf_caps(rt) & LKDF_CAP_KMOD)) {
		printf("1..0 # SKIP there is no module\n");
		return lkdf_close(rt) != 0;
	}
	map = find_map();
	if (!ok(map != NULL, "the map is in our memory"))
		return tap_end();
	bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(bytes, BYTES, MADV_NOHUGEPAGE);
	/* Pages that are mapped twice do not move. */
	madvise(bytes, BYTES, MADV_DONTFORK);
	memset(bytes, 1, BYTES);
	move_all(0, mem_node[0]);
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = BYTES, .wrap = bytes), &d));
	sleepers_learn_of_moves(mem_node[0], mem_node[1]);
	nobody_is_kept_awake(mem_node[1], mem_node[0]);
	/* With pages that nobody has looked at yet. */
	ok(moves(mem_node[1], mem_node[0], 0), "they are moved again");
	lkdf_data_put(d);
	is(lkdf_close(rt), 0, "close");
	munmap(bytes, BYTES);
	return tap_end();
}
