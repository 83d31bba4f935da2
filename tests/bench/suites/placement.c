/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench placement: what it costs to know where 256 MiB are. node_of, which
 * is a load from the map of /dev/lkdf; REFRESH of all blocks and of one stale
 * block of 2 MiB; QUERY; against a query by move_pages(2) and the parsing of
 * /proc/self/numa_maps; and what the watched pay for being watched. A ratio
 * says how many times move_pages takes that long. Without the module only what
 * needs none is measured.
 */
#include "tests/bench/suites/placement.h"
#include "kmod/uapi/lkdf_kmod.h"
#include "tests/bench/suites/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_LEN ((size_t)256 << 20)
#define LEAST_LEN ((size_t)16 << 20)
#define NR_LOOKUPS (1U << 16)
#define LOOKUP_UNIT 4096 /* so many bytes apart */
#define BAR 100

/* Calls that are measured in turns. */
enum way {
	LOOKUP,
	REFRESH_ALL,
	REFRESH_ONE,
	QUERY,
	MOVE_PAGES,
	NUMA_MAPS,
	ONE_PAGE, /* by move_pages; no row of its own */
	NR_WAYS
};

static const struct {
	const char *name, *unit;
	double per; /* ns of a unit */
} ways[] = {
	[LOOKUP] = { "node_of", "ns", 1 },
	[REFRESH_ALL] = { "refresh-all", "us", 1e3 },
	[REFRESH_ONE] = { "refresh-one", "us", 1e3 },
	[QUERY] = { "query", "us", 1e3 },
	[MOVE_PAGES] = { "move_pages", "us", 1e3 },
	[NUMA_MAPS] = { "numa_maps", "us", 1e3 },
};

static const struct {
	const char *name;
	int advice;
} sizes[] = {
	{ "4KiB", MADV_NOHUGEPAGE },
	{ "2MiB", MADV_HUGEPAGE },
};
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct placement {
	struct place p;
	const char *size;
	void **pages;
	int *status;
	uint32_t *offsets; /* of lookups, in units */
	long found[NR_WAYS]; /* pages, or -errno */
	struct samples took[NR_WAYS], loop; /* ns */
	unsigned volatile sum;
};

/* Half of what is free, a power of two. */
static size_t choose_len(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t free_kib = 0, len = MOST_LEN;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %zu", &free_kib) == 1)
			break;
	if (file)
		fclose(file);
	while (free_kib && len > LEAST_LEN && len >> 9 > free_kib)
		len /= 2;
	return len;
}

static void look_up(struct placement *s)
{
	const uint16_t *words = s->p.words;
	int64_t start = bench_now_ns(), then;
	unsigned i, at, sum = 0;

	/* [map.all] says when it is a fact; this is the hint, one load. */
	for (i = 0; i < NR_LOOKUPS; i++) {
		at = __atomic_load_n(&s->offsets[i], __ATOMIC_RELAXED);
		sum += __atomic_load_n(&words[at / (PLACE_BLOCK / LOOKUP_UNIT)],
				       __ATOMIC_RELAXED) &
		       LKDF_BLOCK_NODE;
	}
	then = bench_now_ns();
	samples_add(&s->took[LOOKUP], (double)(then - start) / NR_LOOKUPS);
	for (i = 0; i < NR_LOOKUPS; i++)
		sum += __atomic_load_n(&s->offsets[i], __ATOMIC_RELAXED);
	samples_add(&s->loop, (double)(bench_now_ns() - then) / NR_LOOKUPS);
	s->sum = sum;
}

/* Pages that it names a node of, or -errno. */
static long ask_move_pages(struct placement *s, size_t nr)
{
	long found = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		s->pages[i] = s->p.mem + i * s->p.page;
	if (syscall(SYS_move_pages, 0, nr, s->pages, NULL, s->status, 0))
		return -errno;
	for (i = 0; i < nr; i++)
		found += s->status[i] >= 0;
	return found;
}

/* The sum of N<node>=<pages> of a line, in pages of the base size. */
static long pages_of_line(const struct placement *s, char *line)
{
	char *word, *save;
	long nr, sum = 0, kib = 0;
	int node;

	for (word = strtok_r(line, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (sscanf(word, "N%d=%ld", &node, &nr) == 2)
			sum += nr;
		else if (sscanf(word, "kernelpagesize_kB=%ld", &nr) == 1)
			kib = nr;
	}
	return kib ? sum * kib / (long)(s->p.page >> 10) : sum;
}

/* The line of the range; should it be cut, all of them. */
static long ask_numa_maps(struct placement *s)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	uintptr_t from = (uintptr_t)s->p.mem;
	unsigned long start;
	char line[1024];
	long found = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		start = strtoul(line, NULL, 16);
		if (start >= from + s->p.len)
			break;
		if (start >= from)
			found += pages_of_line(s, line);
	}
	fclose(file);
	return found;
}

/* Makes one block stale: its pages go and new ones come. */
static void spoil_one_block(const struct place *p)
{
	char *block = p->mem + (p->len / PLACE_BLOCK / 2) * PLACE_BLOCK;
	size_t i;

	madvise(block, PLACE_BLOCK, MADV_DONTNEED);
	for (i = 0; i < PLACE_BLOCK; i += p->page)
		*(volatile char *)(block + i) = 1;
}

static long do_way(struct placement *s, enum way way)
{
	long rc;

	switch (way) {
	case REFRESH_ALL:
		rc = place_refresh(&s->p, 0);
		return rc < 0 ? rc : rc * (long)(PLACE_BLOCK / s->p.page);
	case REFRESH_ONE:
		return place_refresh(&s->p, LKDF_KMOD_STALE_ONLY);
	case QUERY:
		return place_query(&s->p);
	case MOVE_PAGES:
		return ask_move_pages(s, s->p.len / s->p.page);
	case ONE_PAGE:
		return ask_move_pages(s, 1);
	default:
		return ask_numa_maps(s);
	}
}

static bool needs_device(enum way way)
{
	return way == REFRESH_ALL || way == REFRESH_ONE || way == QUERY;
}

/* Each way once. */
static void one_turn(struct placement *s)
{
	enum way way;
	int64_t start;
	double ns;

	look_up(s);
	for (way = REFRESH_ALL; way < NR_WAYS; way++) {
		if (needs_device(way) && s->p.fd < 0)
			continue;
		if (way == REFRESH_ONE)
			spoil_one_block(&s->p);
		start = bench_now_ns();
		s->found[way] = do_way(s, way);
		ns = (double)(bench_now_ns() - start);
		/* Others may have moved pages too: then it is not one block. */
		if (way == REFRESH_ONE && s->found[way] != 1)
			continue;
		if (s->found[way] >= 0)
			samples_add(&s->took[way], ns);
	}
}

/* Notes what cannot be relied on in a row that was measured. */
static void note_way(const struct placement *s, struct bench_row *row,
		     enum way way)
{
	long all = (long)(s->p.len / s->p.page), found = s->found[way];
	unsigned huge;

	if (needs_device(way) && s->p.fd < 0)
		snprintf(row->note, sizeof(row->note), "%s", s->p.why);
	else if (way == LOOKUP && s->p.fd < 0)
		snprintf(row->note, sizeof(row->note), "of a map in memory; %s",
			 s->p.why);
	else if (way == LOOKUP)
		return;
	else if (!s->took[way].nr)
		snprintf(row->note, sizeof(row->note), "failed: %s",
			 found < 0 ? strerror((int)-found) : "others moved");
	else if (way != REFRESH_ONE && found != all)
		snprintf(row->note, sizeof(row->note), "found %ld of %ld pages",
			 found, all);
	else if (way == REFRESH_ALL && !strcmp(s->size, "2MiB")) {
		huge = place_huge_blocks(&s->p);
		snprintf(row->note, sizeof(row->note),
			 "%u of %zu blocks are huge pages", huge,
			 s->p.len / PLACE_BLOCK);
	}
}

static void add_row(struct bench *b, const struct placement *s, enum way way)
{
	enum way other = way == LOOKUP ? ONE_PAGE : MOVE_PAGES;
	struct bench_row *row = report_add(&b->report, 0, ways[way].unit,
					   "%s/%s", s->size, ways[way].name);

	row_value(row, &s->took[way], ways[way].per);
	if (way == LOOKUP)
		row->floor = samples_median(&s->loop);
	snprintf(row->peer, sizeof(row->peer), "%s",
		 way == LOOKUP ? "1 page" : "move_pages");
	row->peer_value = samples_median(&s->took[other]) / ways[way].per;
	row_ratio(row, &s->took[other], &s->took[way]);
	/*
	 * The row has one thread, in turns: a CPU that was not delivered shows
	 * in the spread of the turns. And an emulated one never is, for the
	 * gate.
	 */
	if (way == REFRESH_ONE && s->p.len == MOST_LEN)
		row_judge(row, BAR_AT_LEAST, BAR, true);
	if (!row->note[0])
		note_way(s, row, way);
}

static int prepare(struct placement *s, size_t len, unsigned which)
{
	unsigned i, seed = 1;
	int rc;

	s->size = sizes[which].name;
	rc = place_memory(&s->p, len, sizes[which].advice);
	if (rc)
		return rc;
	s->pages = malloc(len / s->p.page * sizeof(*s->pages));
	s->status = malloc(len / s->p.page * sizeof(*s->status));
	s->offsets = malloc(NR_LOOKUPS * sizeof(*s->offsets));
	if (!s->pages || !s->status || !s->offsets)
		return bench_fail(-ENOMEM, "no memory for lists of pages");
	for (i = 0; i < NR_LOOKUPS; i++) {
		seed = seed * 1664525 + 1013904223;
		s->offsets[i] = (uint32_t)((seed >> 8) % (len / LOOKUP_UNIT));
	}
	place_device(&s->p);
	if (s->p.fd >= 0)
		place_refresh(&s->p, 0);
	return 0;
}

static int measure(struct bench *b, struct placement *s, size_t len,
		   unsigned which)
{
	unsigned i;
	enum way way;
	int rc = prepare(s, len, which);

	if (rc)
		return rc;
	if (!which && s->p.fd < 0)
		bench_fail(0,
			   "%s; only move_pages, numa_maps and a lookup are "
			   "measured",
			   s->p.why);
	gate_reset(&b->gate);
	for (i = 0; i < b->rounds; i++) {
		bench_round(b, "placement");
		one_turn(s);
	}
	for (way = LOOKUP; way < ONE_PAGE; way++)
		add_row(b, s, way);
	place_mover(b, &s->p, s->size, which ? PLACE_BLOCK : s->p.page);
	return 0;
}

double bench_placement_steps(const struct bench *b)
{
	return NR_SIZES * (b->rounds + place_mover_steps(b));
}

int bench_placement(struct bench *b)
{
	struct placement *s = malloc(sizeof(*s));
	size_t len = choose_len();
	unsigned i;
	int rc = s ? 0 : -ENOMEM;

	if (s && len < MOST_LEN)
		bench_fail(0, "memory for %zu MiB only: no bar", len >> 20);
	for (i = 0; i < NR_SIZES && !rc; i++) {
		memset(s, 0, sizeof(*s));
		rc = measure(b, s, len, i);
		free(s->pages);
		free(s->status);
		free(s->offsets);
		place_drop(&s->p);
	}
	free(s);
	return rc;
}
