/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The board over a made-up kernel: where pages are is a function of ours, and
 * /proc is a folder with a vmstat and a numa_maps. The addresses are such that
 * nothing is there.
 */
#include "signal/board.h"

#include "base/err.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BASE ((uintptr_t)1 << 44)
#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)
#define BLOCK (64 * KIB)
#define NR_BLOCKS 64

/* Nodes of the system of this board's nodes: they have gaps. */
static const int os_node[] = { 0, 2, 5 };

static char root[64];
static struct board board;

/* The made-up kernel: by block from BASE on. */
static _Atomic(int) there[NR_BLOCKS];
static _Atomic(int) is_refused;
static _Atomic(unsigned) nr_calls, nr_asked;

static bool where(void *const *page, unsigned nr, int *node)
{
	unsigned i;

	a_add(&nr_calls, 1, relaxed);
	a_add(&nr_asked, nr, relaxed);
	for (i = 0; i < nr; i++)
		node[i] = a_load(&there[((uintptr_t)page[i] - BASE) / BLOCK],
				 relaxed);
	return !a_load(&is_refused, relaxed);
}

static void put_all(unsigned from, unsigned to, int node)
{
	for (; from < to; from++)
		a_store(&there[from], node, relaxed);
}

static void write_file(const char *name, const char *text)
{
	char path[128], temp[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(temp, sizeof(temp), "%s/%s.new", root, name);
	f = fopen(temp, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) || rename(temp, path)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

/* The one file that stays open: written in place. */
static void have_moved(unsigned pages)
{
	char text[128], path[128];
	int fd, n;

	n = snprintf(text, sizeof(text),
		     "nr_free_pages 1\npgmigrate_success %08u\n"
		     "pgmigrate_fail 3\n",
		     pages);
	snprintf(path, sizeof(path), "%s/vmstat", root);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || pwrite(fd, text, (size_t)n, 0) != n) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	close(fd);
}

static void start(enum board_wish wish)
{
	const struct board_attr a = {
		.wish = wish,
		.min_bytes = 128 * KIB,
		.nr_nodes = 3,
		.os_node = os_node,
		.proc_root = root,
		.device = "/nowhere",
		.where = where,
	};

	have_moved(1);
	a_store(&is_refused, 0, relaxed);
	put_all(0, NR_BLOCKS, -2);
	is(board_open(&a, &board), 0, "a board opens");
}

/* Passes until the bytes have that node, or for a while. */
static int after_passes(int id, uint64_t bytes, int node)
{
	const struct timespec ms = { 0, 1000000 };
	int i, at = BOARD_NOWHERE;

	for (i = 0; i < 5000 && at != node; i++) {
		board_pass(&board, i % 2 ? BOARD_IDLE : BOARD_NOW);
		at = board_most(&board,
				board_span(&board, id, (void *)BASE, bytes));
		nanosleep(&ms, NULL);
	}
	return at;
}

static int most(int id, uint64_t from, uint64_t bytes)
{
	return board_most(&board,
			  board_span(&board, id, (void *)(BASE + from), bytes));
}

static void nothing_is_known_where_it_is_off(void)
{
	start(BOARD_OFF);
	ok(!board.source, "off: there is no source");
	has(board.why, "off", "and it says why");
	is(board_add(&board, (void *)BASE, MIB, true), -1,
	   "nothing is watched");
	board_pass(&board, BOARD_NOW);
	is(nr_calls, 0, "nothing is asked");
	board_del(&board, -1);
	board_close(&board, false);
}

static void what_is_small_is_not_watched(void)
{
	int id;

	start(BOARD_PROC);
	is(board_add(&board, (void *)BASE, 127 * KIB, true), -1,
	   "less than the option says is not watched");
	id = board_add(&board, (void *)BASE, 128 * KIB, true);
	ok(id >= 0, "as much is");
	is(nr_asked, 2, "one page of each block is asked");
	board_del(&board, id);
	is(most(id, 0, 128 * KIB), BOARD_NOWHERE,
	   "what is not watched any more is nowhere");
	board_close(&board, false);
}

static void words_are_nodes(void)
{
	int id;

	start(BOARD_PROC);
	put_all(0, 4, 2);
	put_all(4, 16, 5);
	put_all(8, 9, 7);
	id = board_add(&board, (void *)BASE, MIB, true);
	is(most(id, 0, 4 * BLOCK), 1, "the first part is on one node");
	is(most(id, 4 * BLOCK, 4 * BLOCK), 2, "the second on another");
	is(most(id, 0, MIB), 2, "the whole is where most is");
	is(most(id, 3 * BLOCK + 100, 10), 1, "some bytes of a block");
	is(most(id, 8 * BLOCK, 10), BOARD_NOWHERE,
	   "a node that is not ours is none");
	is(most(id, MIB, 10), BOARD_NOWHERE, "behind the end");
	is(most(id, 0, 100 * MIB), 2, "more than there is: what there is");
	is(board_fact(&board, id,
		      board_span(&board, id, (void *)BASE, 4 * BLOCK)),
	   BOARD_NOWHERE, "a sample is no fact");
	board_del(&board, id);
	board_close(&board, false);
}

static void bytes_need_not_begin_a_page(void)
{
	int id;

	start(BOARD_PROC);
	put_all(0, NR_BLOCKS, 2);
	id = board_add(&board, (void *)(BASE + 100), MIB, true);
	is(a_load(&board.range[id].start, relaxed), BASE + 4096,
	   "the first whole page is watched");
	is(board.range[id].bytes, MIB - 4096, "to the last one");
	is(most(id, 100, MIB), 1, "all bytes");
	is(most(id, 4090, 10), 1, "across the edge");
	is(most(id, 100, 10), BOARD_NOWHERE, "of the page in part");
	board_del(&board, id);
	board_close(&board, false);
}

static void large_ranges_have_large_blocks(void)
{
	int id;

	start(BOARD_PROC);
	id = board_add(&board, (void *)(BASE), (uint64_t)1 << 40, false);
	ok(a_load(&board.range[id].nr, relaxed) <= BOARD_BLOCKS,
	   "a large range has no more blocks");
	is((uint64_t)a_load(&board.range[id].nr, relaxed)
		   << a_load(&board.range[id].shift, relaxed),
	   (uint64_t)1 << 40, "that are larger");
	board_del(&board, id);
	board_close(&board, false);
}

static void moved_pages_are_found(void)
{
	uint32_t changes;
	int id;

	start(BOARD_PROC);
	put_all(0, NR_BLOCKS, 0);
	id = board_add(&board, (void *)BASE, MIB, false);
	is(most(id, 0, MIB), BOARD_NOWHERE, "not looked at yet");
	is(after_passes(id, MIB, 0), 0, "a pass finds them");
	changes = board_changes(&board);
	put_all(0, NR_BLOCKS, 5);
	have_moved(17);
	is(after_passes(id, MIB, 2), 2, "moved pages, by vmstat");
	ok(board_changes(&board) != changes, "which counts as a change");
	put_all(0, NR_BLOCKS, 2);
	is(after_passes(id, MIB, 1), 1, "moved pages that nobody counts");
	put_all(0, NR_BLOCKS, -2);
	have_moved(99);
	nr_asked = 0;
	while (!nr_asked)
		board_pass(&board, BOARD_NOW);
	is(most(id, 0, MIB), 1, "pages that are hidden stay where they were");
	board_del(&board, id);
	board_close(&board, false);
}

/* ---- somebody who counts in memory --------------------------------------- */

static _Atomic(uint64_t) nr_told;
static bool is_telling;

static bool tells(const void *u)
{
	(void)u;
	return is_telling;
}

static bool is_stale(int id)
{
	return board_is_stale(&board,
			      board_span(&board, id, (void *)BASE, MIB));
}

/* Until a pass has asked for pages. */
static void pass_that_asks(void)
{
	a_store(&nr_asked, 0, relaxed);
	while (!a_load(&nr_asked, relaxed))
		board_pass(&board, BOARD_NOW);
}

static void news_are_heard_at_once(void)
{
	const struct board_news news = { &nr_told, tells, NULL };
	int id;

	start(BOARD_PROC);
	is_telling = true;
	board_told_by(&board, &news);
	put_all(0, NR_BLOCKS, 0);
	id = board_add(&board, (void *)BASE, MIB, true);
	pass_that_asks();
	ok(!is_stale(id), "no news: nothing is stale");
	put_all(0, NR_BLOCKS, 5);
	a_add(&nr_told, 17, relaxed);
	ok(is_stale(id), "pages have moved: all is stale at once");
	is(after_passes(id, MIB, 2), 2, "a pass finds them, without vmstat");
	ok(!is_stale(id), "and then nothing is stale");
	is_telling = false;
	a_add(&nr_told, 1, relaxed);
	put_all(0, NR_BLOCKS, 2);
	have_moved(23);
	is(after_passes(id, MIB, 1), 1, "nobody tells any more: vmstat does");
	ok(!is_stale(id), "and the last news are not stale for ever");
	board_del(&board, id);
	board_close(&board, false);
}

/* ---- sums ---------------------------------------------------------------- */

static void sum_is(int node, uint64_t bytes, uint64_t unsettled,
		   const char *what)
{
	struct board_sum sum;

	board_read(&board, node, &sum);
	is((long long)sum.bytes, (long long)bytes, "%s: bytes", what);
	is((long long)sum.unsettled, (long long)unsettled, "%s: unsettled",
	   what);
}

static void bytes_are_summed(void)
{
	struct board_sum sum;
	int id, other;

	start(BOARD_PROC);
	sum_is(-1, 0, 0, "no ranges");
	put_all(0, 4, 0);
	put_all(4, 10, 5);
	id = board_add(&board, (void *)BASE, 16 * BLOCK - 4096, true);
	sum_is(-1, 10 * BLOCK, 6 * BLOCK - 4096, "all");
	sum_is(0, 4 * BLOCK, 0, "the first node");
	sum_is(1, 0, 0, "the second");
	sum_is(2, 6 * BLOCK, 0, "the third");
	put_all(20, 24, 2);
	other = board_add(&board, (void *)(BASE + 20 * BLOCK), 4 * BLOCK, true);
	sum_is(1, 4 * BLOCK, 0, "another range");
	board_read(&board, -1, &sum);
	ok(sum.at_ns > 0, "it was looked at some time");
	board_del(&board, id);
	sum_is(-1, 4 * BLOCK, 0, "what is gone does not count");
	board_del(&board, other);
	board_close(&board, false);
}

static void passes_are_rare(void)
{
	unsigned calls;
	int id, i;

	start(BOARD_PROC);
	put_all(0, NR_BLOCKS, 0);
	id = board_add(&board, (void *)BASE, MIB, true);
	calls = nr_calls;
	for (i = 0; i < 100000; i++)
		board_pass(&board, BOARD_IDLE);
	ok(nr_calls - calls < 10000, "100000 idle looks are %u passes",
	   nr_calls - calls);
	board_del(&board, id);
	for (i = 0; i < 100; i++)
		board_pass(&board, BOARD_NOW);
	calls = nr_calls;
	board_pass(&board, BOARD_NOW);
	is(nr_calls, calls, "without ranges nobody asks");
	board_close(&board, false);
}

static void without_move_pages_numa_maps_says(void)
{
	int id;

	start(BOARD_PROC);
	write_file("self/numa_maps",
		   "0fff0000 default anon=4 N0=4 kernelpagesize_kB=4\n"
		   "100000000000 default anon=256 N0=6 N2=250 "
		   "kernelpagesize_kB=4\n"
		   "200000000000 default anon=4 N5=4 kernelpagesize_kB=4\n");
	a_store(&is_refused, 1, relaxed);
	id = board_add(&board, (void *)BASE, MIB, true);
	is(most(id, 0, MIB), 1, "move_pages refused: nearly all of a mapping");
	write_file("self/numa_maps",
		   "100000000000 default anon=256 N2=128 N5=128 "
		   "kernelpagesize_kB=4\n");
	board_del(&board, id);
	nr_calls = 0;
	board_pass(&board, BOARD_NOW);
	id = board_add(&board, (void *)BASE, MIB, false);
	while (board.range[id].is_stale)
		board_pass(&board, BOARD_NOW);
	is(most(id, 0, MIB), BOARD_NOWHERE, "half of it: nobody knows");
	is(nr_calls, 0, "what was refused is not asked again");
	board_del(&board, id);
	write_file("self/numa_maps", "damaged\n");
	id = board_add(&board, (void *)BASE, MIB, true);
	is(most(id, 0, MIB), BOARD_NOWHERE, "damaged: nobody knows");
	board_del(&board, id);
	board_close(&board, false);
}

static void there_is_an_end_of_ranges(void)
{
	int id[BOARD_RANGES + 1], i, nr = 0;

	start(BOARD_PROC);
	for (i = 0; i <= BOARD_RANGES; i++) {
		id[i] = board_add(&board, (void *)(BASE + (uint64_t)i * MIB),
				  MIB, false);
		nr += id[i] >= 0;
	}
	is(nr, BOARD_RANGES, "so many are watched");
	is(board.nr_refused, 1, "one is not, and counted");
	board_del(&board, id[7]);
	is(board_add(&board, (void *)BASE, MIB, false), id[7],
	   "a free place is used again");
	for (i = 0; i < BOARD_RANGES; i++)
		board_del(&board, id[i]);
	is(board.nr_ranges, 0, "all are given back");
	board_close(&board, false);
}

/* Readers, passes, and ranges that come and go, all at once. */
static _Atomic(int) nr_wrong, is_over;

static void *read_all(void *arg)
{
	int at;

	(void)arg;
	while (!a_load(&is_over, relaxed)) {
		at = most(0, 0, MIB);
		if (at != BOARD_NOWHERE && at != 1)
			a_add(&nr_wrong, 1, relaxed);
		board_pass(&board, BOARD_IDLE);
	}
	return NULL;
}

static void all_at_once(void)
{
	pthread_t thread[2];
	int i, id;

	start(BOARD_PROC);
	put_all(0, NR_BLOCKS, 2);
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, read_all, NULL))
			exit(1);
	for (i = 0; i < 2000; i++) {
		id = board_add(&board, (void *)BASE, MIB + (i % 7) * BLOCK,
			       i % 2);
		if (i % 3)
			board_pass(&board, BOARD_NOW);
		board_del(&board, id);
	}
	a_store(&is_over, 1, relaxed);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	is(nr_wrong, 0, "readers see the node or none");
	board_close(&board, false);
}

static void remove_files(void)
{
	static const char *const name[] = { "vmstat", "self/numa_maps", "self",
					    "" };
	char path[128];
	unsigned i;

	for (i = 0; i < sizeof(name) / sizeof(*name); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, name[i]);
		remove(path);
	}
}

int main(void)
{
	char path[128];

	tap_start(60);
	snprintf(root, sizeof(root), "/tmp/lkdf-board-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/self", root);
	if (mkdir(root, 0700) || mkdir(path, 0700)) {
		printf("Bail out! no folder in /tmp\n");
		return 1;
	}
	nothing_is_known_where_it_is_off();
	what_is_small_is_not_watched();
	words_are_nodes();
	bytes_need_not_begin_a_page();
	large_ranges_have_large_blocks();
	moved_pages_are_found();
	news_are_heard_at_once();
	bytes_are_summed();
	passes_are_rare();
	without_move_pages_numa_maps_says();
	there_is_an_end_of_ranges();
	all_at_once();
	remove_files();
	return tap_end();
}
