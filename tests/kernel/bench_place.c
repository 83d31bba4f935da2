/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What it costs to know where 256 MiB are: QUERY, REFRESH of all blocks and of
 * one stale block of 2 MiB, against move_pages(2) and /proc/self/numa_maps; and
 * what a watched region costs whoever moves its pages. Best of 7, in turns.
 * In a machine without KVM only the ratios mean something.
 */
#include "device.h"

#include <time.h>

#define LEN (256 * MIB)
#define TURNS 7

static struct device d;
static struct reader r;
static char *m;
static unsigned node[2];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void do_query(void)
{
	struct lkdf_kmod_query q;
	uint64_t counts[MAX_NODES];

	ASSERT_EQ(call_query(d.fd, m, LEN, &q, counts), 0);
	EXPECT_EQ(q.present, LEN / PAGE);
}

static void do_refresh(void)
{
	EXPECT_EQ(refresh(&d, &r, 0), LEN / HUGE_SIZE);
}

static void do_one_block(void)
{
	EXPECT_EQ(refresh(&d, &r, LKDF_KMOD_STALE_ONLY), 1);
}

static void do_move_pages(void)
{
	static void *pages[LEN / PAGE];
	static int status[LEN / PAGE];
	unsigned long i, nr = 0;

	for (i = 0; i < LEN / PAGE; i++)
		pages[i] = m + i * PAGE;
	syscall(SYS_move_pages, 0, LEN / PAGE, pages, NULL, status, 0);
	for (i = 0; i < LEN / PAGE; i++)
		nr += status[i] >= 0;
	EXPECT(nr > 0);
}

static void do_numa_maps(void)
{
	FILE *file = fopen("/proc/self/numa_maps", "r");
	unsigned long start;
	char line[1000];
	int is_found = 0;

	ASSERT(file);
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = sscanf(line, "%lx", &start) == 1 &&
			   start == (uintptr_t)m;
	fclose(file);
	EXPECT(is_found);
}

static void one_stale_block(void)
{
	static int turn;

	move_memory(m + 8 * HUGE_SIZE, PAGE, PAGE, node[++turn % 2]);
}

static const struct {
	const char *name;
	void (*before)(void);
	void (*run)(void);
} ways[] = {
	{ "QUERY", NULL, do_query },
	{ "REFRESH of all", NULL, do_refresh },
	{ "REFRESH of one stale block", one_stale_block, do_one_block },
	{ "move_pages", NULL, do_move_pages },
	{ "numa_maps", NULL, do_numa_maps },
};
#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

static void measure(const char *pages)
{
	double best[NR_WAYS], t;
	unsigned i, k;

	do_refresh();
	for (k = 0; k < TURNS; k++) {
		for (i = 0; i < NR_WAYS; i++) {
			if (ways[i].before)
				ways[i].before();
			t = now();
			ways[i].run();
			t = now() - t;
			best[i] = k && best[i] < t ? best[i] : t;
		}
	}
	for (i = 0; i < NR_WAYS; i++)
		printf("# %s: %-27s %9.1f us, %7.2f of one stale block\n",
		       pages, ways[i].name, best[i], best[i] / best[2]);
	EXPECT(best[2] > 0);
}

static void prepare(int advice)
{
	two_nodes(node);
	m = map_memory(LEN, HUGE_SIZE);
	madvise(m, LEN, advice);
	bind_memory(m, LEN, node[0]);
	touch(m, LEN);
	d = make_device(1, 1000);
	r = watch(&d, m, LEN, HUGE_SHIFT);
}

TEST_LIMIT(small_pages_are_measured, 300)
{
	prepare(MADV_NOHUGEPAGE);
	measure("4 KiB");
}

TEST_LIMIT(huge_pages_are_measured, 300)
{
	prepare(MADV_HUGEPAGE);
	measure("2 MiB");
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#define MOVES 31

/* Pages there and back, 8 MiB, with the region and without it in turns. */
TEST_LIMIT(the_mover_is_measured, 300)
{
	static double took[2][MOVES];
	unsigned k, is_watched, turn = 0;
	double t;

	prepare(MADV_NOHUGEPAGE);
	call_del(d.fd, 0);
	for (k = 0; k < 2 * MOVES; k++) {
		is_watched = k % 2;
		if (is_watched) {
			r = watch(&d, m, LEN, HUGE_SHIFT);
			refresh(&d, &r, 0);
		}
		t = now();
		/* Twice, so that both see the same ways. */
		move_memory(m, 8 * MIB, PAGE, node[++turn % 2]);
		move_memory(m, 8 * MIB, PAGE, node[++turn % 2]);
		took[is_watched][k / 2] = now() - t;
		if (is_watched)
			call_del(d.fd, 0);
	}
	for (k = 0; k < 2; k++)
		qsort(took[k], MOVES, sizeof(double), by_value);
	printf("# moving 8 MiB there and back: watched %.0f us, not watched %.0f "
	       "us, ratio of medians %.3f, of the quarters %.3f and %.3f\n",
	       took[1][MOVES / 2], took[0][MOVES / 2],
	       took[1][MOVES / 2] / took[0][MOVES / 2],
	       took[1][MOVES / 4] / took[0][MOVES / 4],
	       took[1][3 * MOVES / 4] / took[0][3 * MOVES / 4]);
	EXPECT(took[0][0] > 0);
}
