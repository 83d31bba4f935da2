/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A process with a memfd "lkdf:stats" as a runtime of so many workers has it,
 * for tests of what reads it:
 *
 *	stats_fake WORKERS [record] [device] [fail] [wild]
 *
 * Workers with an even number sleep, those with an odd one count ten tasks a
 * millisecond. record: slices of 100 us, a quarter of their bytes remote.
 * device: a counter "device.kernels". fail: tasks fail. wild: whatever may be
 * written at any time is random. It says "up" and ends with the
 * process that has started it.
 */
#include <lkdf/format.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 1024u
#define SLICES 2048u

static const char *const counters[] = {
	"tasks",	  "steals.near", "steals.far", "parks",
	"wakes",	  "idle_ns",	 "failed",     "data.migrated_bytes",
	"device.kernels",
};
#define NR_COUNTERS (sizeof(counters) / sizeof(counters[0]))
static const char *const events[] = { "steal", "park", "unpark" };
/* The last one would clear the screen. */
static const char *const kinds[] = { "(more)", "gemm", "a\033[2Jb\xff" };

struct block {
	struct lkdf_stats_block head;
	uint64_t counter[NR_COUNTERS + 7];
	struct lkdf_stats_event event[EVENTS];
	struct lkdf_stats_slice slice[SLICES];
};

struct memory {
	struct lkdf_stats_header h;
	struct lkdf_stats_counter counter[NR_COUNTERS];
	struct lkdf_stats_event_desc event[3];
	char name[3][64];
	_Alignas(4096) struct block block[];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return now_ns();
#endif
}

/* The same moment by both clocks, however busy the machine is. */
static void read_clocks(uint64_t *ns, uint64_t *at)
{
	do {
		*ns = now_ns();
		*at = ticks();
	} while (now_ns() - *ns > 5000);
}

static void calibrate(struct lkdf_stats_header *h)
{
	uint64_t ns, at;

	read_clocks(&h->start_ns, &h->start_ticks);
	while (now_ns() - h->start_ns < 2000000)
		;
	read_clocks(&ns, &at);
	h->ticks_per_1024ns =
		(uint32_t)((at - h->start_ticks) * 1024 / (ns - h->start_ns));
}

static void fill_header(struct lkdf_stats_header *h, uint32_t nr_workers,
			bool has_device, bool records)
{
	*h = (struct lkdf_stats_header){
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.header_size = sizeof(*h),
		.total_size = sizeof(struct memory) +
			      (nr_workers + 1) * sizeof(struct block),
		.pid = (uint32_t)getpid(),
		.nr_executors = nr_workers,
		.nr_counters = NR_COUNTERS - !has_device,
		.nr_events = 3,
		.event_records = EVENTS,
		.slice_records = records ? SLICES : 0,
		.event_size = sizeof(struct lkdf_stats_event),
		.slice_size = sizeof(struct lkdf_stats_slice),
		.counter_desc_size = sizeof(struct lkdf_stats_counter),
		.event_desc_size = sizeof(struct lkdf_stats_event_desc),
		.name_size = 64,
		.name_cap = 3,
		.counters_offset = offsetof(struct block, counter),
		.events_offset = offsetof(struct block, event),
		.slices_offset = offsetof(struct block, slice),
		.counter_table_offset = offsetof(struct memory, counter),
		.event_table_offset = offsetof(struct memory, event),
		.name_table_offset = offsetof(struct memory, name),
		.blocks_offset = sizeof(struct memory),
		.block_size = sizeof(struct block),
		.runtime = "fake",
		.recording = records,
	};
	calibrate(h);
}

static void fill_tables(struct memory *m)
{
	size_t i;

	for (i = 0; i < NR_COUNTERS; i++) {
		strcpy(m->counter[i].name, counters[i]);
		strcpy(m->counter[i].unit, "things");
	}
	for (i = 0; i < 3; i++) {
		strcpy(m->event[i].name, events[i]);
		strcpy(m->name[i], kinds[i]);
	}
}

static void start_blocks(struct memory *m)
{
	uint32_t nr = m->h.nr_executors, i;
	struct block *b;

	for (i = 0; i <= nr; i++) {
		b = &m->block[i];
		b->head.start_seq = 1;
		b->head.cpu = i < nr ? (int)i : -1;
		b->head.node = i < nr ? (int)(i * 4 / nr) : -1;
		b->head.kind =
			i < nr ? LKDF_EXECUTOR_WORKER : LKDF_EXECUTOR_OUTSIDE;
		if (i % 2 || i == nr)
			continue;
		b->event[0].ticks = ticks();
		b->event[0].event = 1;
		b->head.event_head = 1;
	}
}

static void write_slice(struct block *b, const struct lkdf_stats_header *h)
{
	struct lkdf_stats_slice *s = &b->slice[b->head.slice_head % SLICES];

	memset(s, 0, sizeof(*s));
	s->end = ticks();
	s->begin = s->end - 100000ull * h->ticks_per_1024ns / 1024;
	s->name = 1 + (b->head.slice_head % 4 == 3);
	s->value = 300 | 100ull << 32;
	b->head.slice_head++;
}

static void work(struct memory *m, bool fails)
{
	uint32_t i;
	int k;

	for (i = 1; i < m->h.nr_executors; i += 2) {
		m->block[i].counter[0] += 10;
		m->block[i].counter[1] += 2;
		m->block[i].counter[6] += fails;
		m->block[i].counter[8] += 1;
		for (k = 0; m->h.slice_records && k < 10; k++)
			write_slice(&m->block[i], &m->h);
	}
}

static void go_wild(struct memory *m)
{
	uint32_t i;
	size_t n;

	m->h.nr_names = (uint32_t)rand();
	for (i = 0; i <= m->h.nr_executors; i++)
		for (n = 4; n < sizeof(struct block); n++)
			if (n < 512 || n % 97 == 0)
				((uint8_t *)&m->block[i])[n] = (uint8_t)rand();
}

static bool has(char **word, const char *what)
{
	for (; *word; word++)
		if (!strcmp(*word, what))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int fd = memfd_create(LKDF_STATS_NAME, MFD_ALLOW_SEALING);
	uint32_t nr = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
	size_t size = sizeof(struct memory) + (nr + 1) * sizeof(struct block);
	struct memory *m;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return 1;
	m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return 1;
	fill_header(&m->h, nr, has(argv, "device"), has(argv, "record"));
	fill_tables(m);
	start_blocks(m);
	puts("up");
	fflush(stdout);
	for (;;) {
		nanosleep(&pause, NULL);
		if (has(argv, "wild"))
			go_wild(m);
		else
			work(m, has(argv, "fail"));
	}
}
