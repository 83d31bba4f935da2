/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/stats.h"

#include "foreign.h"
#include "utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* nr pieces of size bytes at offset lie within the mapping. */
static bool fits(const struct stats *s, uint64_t offset, uint64_t nr,
		 uint64_t size)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(nr, size, &bytes) && offset <= s->size &&
	       bytes <= s->size - offset && offset % 8 == 0;
}

static bool is_sane(const struct stats *s)
{
	const struct lkdf_stats_header *h = &s->h;

	return h->magic == LKDF_STATS_MAGIC &&
	       h->version == LKDF_STATS_VERSION &&
	       h->nr_executors <= LKDF_MAX_EXECUTORS &&
	       h->nr_counters <= LKDF_MAX_COUNTERS &&
	       h->counter_desc_size >= sizeof(struct lkdf_stats_counter) &&
	       h->ticks_per_1024ns && h->block_size % 8 == 0 &&
	       h->counters_offset % 8 == 0 &&
	       h->block_size >= sizeof(struct lkdf_stats_block) &&
	       h->counters_offset <= h->block_size &&
	       h->nr_counters * 8ull <= h->block_size - h->counters_offset &&
	       fits(s, h->counter_table_offset, h->nr_counters,
		    h->counter_desc_size) &&
	       fits(s, h->blocks_offset, h->nr_executors + 1ull, h->block_size);
}

/* A ring of so many records lies within a block. */
static bool has_ring(const struct stats *s, uint32_t records, uint32_t size,
		     uint32_t offset)
{
	return records && !(records & (records - 1)) && offset % 8 == 0 &&
	       offset <= s->h.block_size &&
	       (uint64_t)records * size <= s->h.block_size - offset;
}

static bool has_events(const struct stats *s)
{
	const struct lkdf_stats_header *h = &s->h;

	return h->nr_events <= LKDF_MAX_EVENTS &&
	       h->event_desc_size >= sizeof(struct lkdf_stats_event_desc) &&
	       h->event_size == sizeof(struct lkdf_stats_event) &&
	       has_ring(s, h->event_records, h->event_size, h->events_offset) &&
	       fits(s, h->event_table_offset, h->nr_events, h->event_desc_size);
}

static void tame(char *text, size_t size)
{
	text[size - 1] = '\0';
	utf8_tame(text);
}

/* The process may write other texts later: these stay. */
static int copy_counters(struct stats *s)
{
	const uint8_t *from = s->base + s->h.counter_table_offset;
	struct lkdf_stats_counter *c;
	uint32_t i;

	s->counter = calloc(s->h.nr_counters + 1, sizeof(*c));
	if (!s->counter)
		return -ENOMEM;
	for (i = 0; i < s->h.nr_counters; i++) {
		c = &s->counter[i];
		memcpy(c, from + (uint64_t)i * s->h.counter_desc_size,
		       sizeof(*c));
		tame(c->name, sizeof(c->name));
		tame(c->unit, sizeof(c->unit));
		tame(c->help, sizeof(c->help));
	}
	return 0;
}

/* Events have names that are compared and not shown. */
static int copy_events(struct stats *s)
{
	struct lkdf_stats_event_desc *e;
	const uint8_t *from;
	uint32_t i;

	if (!has_events(s))
		return 0;
	from = s->base + s->h.event_table_offset;
	s->event = calloc(s->h.nr_events + 1, sizeof(*e));
	if (!s->event)
		return -ENOMEM;
	for (i = 0; i < s->h.nr_events; i++) {
		e = &s->event[i];
		memcpy(e, from + (uint64_t)i * s->h.event_desc_size,
		       sizeof(*e));
		tame(e->name, sizeof(e->name));
	}
	return 0;
}

static int copy_tables(struct stats *s)
{
	int rc = copy_counters(s);

	tame(s->h.runtime, sizeof(s->h.runtime));
	return rc ? rc : copy_events(s);
}

int stats_map(struct stats *s, int fd)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = foreign_map(fd, sizeof(s->h), &s->base, &s->size);
	if (rc)
		return rc;
	memcpy(&s->h, s->base, sizeof(s->h));
	/* A runtime of before has fewer fields. */
	if (s->h.header_size < sizeof(s->h))
		memset((uint8_t *)&s->h + s->h.header_size, 0,
		       sizeof(s->h) - s->h.header_size);
	rc = is_sane(s) ? copy_tables(s) : -EBADMSG;
	if (rc)
		stats_unmap(s);
	return rc;
}

void stats_unmap(struct stats *s)
{
	if (s->base)
		munmap((void *)(uintptr_t)s->base, s->size);
	if (s->late.base)
		munmap((void *)(uintptr_t)s->late.base, s->late.size);
	free(s->counter);
	free(s->event);
	s->base = NULL;
	s->late.base = NULL;
	s->counter = NULL;
	s->event = NULL;
}

static int map_link(int pid, const char *number, struct stats *s)
{
	int fd = foreign_memfd(pid, number, LKDF_STATS_NAME), rc;

	if (fd < 0)
		return fd;
	rc = stats_map(s, fd);
	close(fd);
	/* A child that was forked has its parent's. */
	if (!rc && s->h.pid != (uint32_t)pid) {
		stats_unmap(s);
		rc = -ENOENT;
	}
	return rc;
}

int stats_find(int pid, struct stats *s, unsigned max)
{
	char path[64];
	struct dirent *d;
	int nr = 0, refused = 0, rc;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (nr < (int)max && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		rc = map_link(pid, d->d_name, &s[nr]);
		nr += !rc;
		if (rc == -EACCES || rc == -EPERM)
			refused = rc;
	}
	closedir(dir);
	return nr ? nr : refused;
}

const char *stats_counter_name(const struct stats *s, uint32_t i)
{
	return s->counter[i].name;
}

const char *stats_counter_unit(const struct stats *s, uint32_t i)
{
	return s->counter[i].unit;
}

const char *stats_counter_help(const struct stats *s, uint32_t i)
{
	return s->counter[i].help;
}

const struct lkdf_stats_block *stats_block(const struct stats *s,
					   uint32_t executor)
{
	return (const void *)(s->base + s->h.blocks_offset +
			      executor * s->h.block_size);
}

uint64_t stats_counter(const struct stats *s, uint32_t executor, uint32_t i)
{
	const uint8_t *block = (const void *)stats_block(s, executor);
	const void *word = block + s->h.counters_offset + i * 8ull;

	return atomic_load_explicit((const _Atomic(uint64_t) *)word,
				    memory_order_relaxed);
}

uint64_t stats_sum(const struct stats *s, uint32_t i)
{
	uint64_t sum = 0;
	uint32_t e;

	for (e = 0; e <= s->h.nr_executors; e++)
		sum += stats_counter(s, e, i);
	return sum;
}

uint32_t stats_counter_find(const struct stats *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->h.nr_counters; i++)
		if (!strcmp(stats_counter_name(s, i), name))
			break;
	return i;
}

uint32_t stats_event_find(const struct stats *s, const char *name)
{
	uint32_t i;

	for (i = 0; s->event && i < s->h.nr_events; i++)
		if (!strcmp(s->event[i].name, name))
			return i;
	return UINT32_MAX;
}

static uint64_t load(const uint64_t *word)
{
	return atomic_load_explicit(
		(const _Atomic(uint64_t) *)(const void *)word,
		memory_order_acquire);
}

uint64_t stats_event_head(const struct stats *s, uint32_t executor)
{
	return load(&stats_block(s, executor)->event_head);
}

bool stats_event(const struct stats *s, uint32_t executor, uint64_t i,
		 struct lkdf_stats_event *to)
{
	const struct lkdf_stats_block *b = stats_block(s, executor);
	const struct lkdf_stats_event *e =
		(const void *)((const uint8_t *)b + s->h.events_offset);
	const uint64_t *word;
	uint64_t v;

	word = (const void *)&e[i & (s->h.event_records - 1)];
	to->ticks = load(&word[0]);
	v = load(&word[1]);
	to->event = (uint32_t)v;
	to->a = (uint32_t)(v >> 32);
	to->b = load(&word[2]);
	return load(&b->event_head) - i < s->h.event_records;
}

bool stats_is_parked(const struct stats *s, uint32_t executor)
{
	uint32_t park = stats_event_find(s, "park");
	uint32_t unpark = stats_event_find(s, "unpark");
	uint64_t head, i;
	struct lkdf_stats_event e;

	if (park == UINT32_MAX)
		return false;
	head = stats_event_head(s, executor);
	for (i = 1; i < s->h.event_records && i <= head; i++) {
		if (!stats_event(s, executor, head - i, &e))
			return false;
		if (e.event == park || e.event == unpark)
			return e.event == park;
	}
	return false;
}

bool stats_is_recording(const struct stats *s)
{
	const struct lkdf_stats_header *live = (const void *)s->base;

	return atomic_load_explicit((const _Atomic(uint32_t)
					     *)(const void *)&live->recording,
				    memory_order_relaxed) != 0;
}

void stats_ask_name(const struct stats *s, char *to)
{
	const struct lkdf_stats_header *live = (const void *)s->base;
	size_t i;

	/* The first byte comes last. */
	to[0] = atomic_load_explicit(
		(const _Atomic(char) *)(const void *)live->ask,
		memory_order_acquire);
	for (i = 1; i < sizeof(live->ask); i++)
		to[i] = ((const volatile char *)live->ask)[i];
	to[i - 1] = '\0';
}

uint64_t stats_ask_key(const struct stats *s)
{
	const struct lkdf_stats_header *live = (const void *)s->base;

	/* Behind stats_ask_name(). */
	return *(const volatile uint64_t *)&live->ask_key;
}

uint64_t stats_probe_key(const struct stats *s)
{
	const struct lkdf_stats_header *live = (const void *)s->base;

	return load(&live->probe_key);
}

static bool has_own_slices(const struct stats *s)
{
	const struct lkdf_stats_header *h = &s->h;

	return h->slice_size == sizeof(struct lkdf_stats_slice) &&
	       has_ring(s, h->slice_records, h->slice_size, h->slices_offset);
}

/* Rings of this runtime lie within the mapping. */
static bool is_late_sane(const struct stats *s,
			 const struct lkdf_slices_header *h)
{
	uint64_t nr = s->h.nr_executors + 1ull;

	return h->magic == LKDF_SLICES_MAGIC &&
	       h->version == LKDF_STATS_VERSION &&
	       h->start_ticks == s->h.start_ticks && h->pid == s->h.pid &&
	       h->nr_executors == s->h.nr_executors &&
	       h->slice_size == sizeof(struct lkdf_stats_slice) &&
	       h->slice_records &&
	       !(h->slice_records & (h->slice_records - 1)) &&
	       h->slices_offset % 8 == 0 && h->slices_offset <= s->late.size &&
	       nr * h->slice_records <=
		       (s->late.size - h->slices_offset) / h->slice_size;
}

static bool map_late(struct stats *s, int fd)
{
	struct lkdf_slices_header h;

	if (foreign_map(fd, sizeof(h), &s->late.base, &s->late.size))
		return false;
	memcpy(&h, s->late.base, sizeof(h));
	s->late.records = h.slice_records;
	s->late.offset = h.slices_offset;
	if (is_late_sane(s, &h))
		return true;
	munmap((void *)(uintptr_t)s->late.base, s->late.size);
	s->late.base = NULL;
	return false;
}

void stats_find_late(int pid, struct stats *s)
{
	char path[64];
	struct dirent *d;
	int fd;
	DIR *dir;

	if (s->late.base || has_own_slices(s) || !stats_is_recording(s))
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && !s->late.base && (d = readdir(dir))) {
		fd = foreign_memfd(pid, d->d_name, LKDF_SLICES_NAME);
		if (fd < 0)
			continue;
		map_late(s, fd);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

bool stats_has_slices(const struct stats *s)
{
	return s->late.base || has_own_slices(s);
}

uint64_t stats_slice_head(const struct stats *s, uint32_t executor)
{
	return load(&stats_block(s, executor)->slice_head);
}

uint32_t stats_slice_records(const struct stats *s)
{
	return s->late.base ? s->late.records : s->h.slice_records;
}

bool stats_slice(const struct stats *s, uint32_t executor, uint64_t i,
		 struct lkdf_stats_slice *to)
{
	const struct lkdf_stats_block *b = stats_block(s, executor);
	const uint8_t *ring = (const uint8_t *)b + s->h.slices_offset;
	uint32_t records = stats_slice_records(s);
	const struct lkdf_stats_slice *from;
	uint64_t word[sizeof(*to) / 8];
	size_t w;

	if (s->late.base)
		ring = s->late.base + s->late.offset +
		       (uint64_t)executor * records * sizeof(*from);
	from = (const void *)ring;
	from += i & (records - 1);
	for (w = 0; w < sizeof(*to) / 8; w++)
		word[w] = load((const uint64_t *)(const void *)from + w);
	memcpy(to, word, sizeof(*to));
	/* Memory that a recording has given back is zeros. */
	return load(&b->slice_head) - i < records && to->end;
}

void stats_name(const struct stats *s, uint32_t nr, char *to, size_t size)
{
	const struct lkdf_stats_header *h = &s->h;
	size_t known = h->name_size < size ? h->name_size : size;

	snprintf(to, size, "?");
	if (!known || nr >= h->name_cap || h->name_size > LKDF_MAX_TEXT + 1 ||
	    !fits(s, h->name_table_offset, h->name_cap, h->name_size))
		return;
	memcpy(to, s->base + h->name_table_offset + (size_t)nr * h->name_size,
	       known);
	tame(to, known);
}

uint32_t stats_nr_workers(const struct stats *s)
{
	const struct lkdf_stats_block *b;
	uint32_t e, nr = 0;

	for (e = 0; e < s->h.nr_executors; e++) {
		b = stats_block(s, e);
		nr += b->start_seq && b->kind == LKDF_EXECUTOR_WORKER;
	}
	return nr;
}
