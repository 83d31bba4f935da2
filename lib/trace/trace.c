/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/trace.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/lock.h"
#include "trace/counters.h"
#include "trace/drain.h"
#include "trace/kind_row.h"
#include "trace/last_signal.h"
#include "trace/memfd.h"
#include "trace/record.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

#define COUNTER_ROW(name, text, unit, help) { text, unit, help },
static const struct lkdf_stats_counter counter_rows[] = { COUNTER_TABLE(
	COUNTER_ROW) };

#define EVENT_ROW(name, text, a, b, help) { text, a, b },
static const struct lkdf_stats_event_desc event_rows[] = { EVENT_TABLE(
	EVENT_ROW) };

/* Where everything lies; the header is a copy that nobody can spoil. */
static void lay_out(struct lkdf_stats_header *h, const struct trace *t,
		    bool records, bool counts_kinds)
{
	uint64_t block, at = sizeof(*h);

	*h = (struct lkdf_stats_header){
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.header_size = sizeof(*h),
		.pid = (uint32_t)getpid(),
		.nr_executors = (uint32_t)t->nr_executors,
		.start_ticks = t->start_ticks,
		.start_ns = t->start_ns,
		.ticks_per_1024ns = t->ticks_per_1024ns,
		.nr_counters = NR_COUNTERS,
		.nr_events = NR_EVENTS,
		.event_records = records ? EVENT_RECORDS_FILE : EVENT_RECORDS,
		.slice_records = records ? SLICE_RECORDS : 0,
		.event_size = sizeof(struct lkdf_stats_event),
		.slice_size = sizeof(struct lkdf_stats_slice),
		.counter_desc_size = sizeof(struct lkdf_stats_counter),
		.event_desc_size = sizeof(struct lkdf_stats_event_desc),
		.name_size = TRACE_NAME_SIZE,
		.name_cap = MAX_NAMES,
		.label_cap = TRACE_LABELS,
		.label_size = sizeof(struct lkdf_stats_label),
		.runtime = "lkdf",
		.recording = records,
	};
	h->counter_table_offset = at;
	at += sizeof(counter_rows);
	h->event_table_offset = at;
	at += sizeof(event_rows);
	h->name_table_offset = at;
	at += MAX_NAMES * TRACE_NAME_SIZE;
	h->label_table_offset = at = round_up(at, CACHE_LINE);
	at += TRACE_LABELS * (sizeof(uint64_t) + h->label_size);
	h->device_table_offset = at = round_up(at, CACHE_LINE);
	at += LKDF_STATS_DEVICES * sizeof(struct lkdf_stats_device);
	h->blocks_offset = round_up(at, PAGE);
	block = sizeof(struct lkdf_stats_block);
	h->counters_offset = (uint32_t)block;
	block = round_up(block + sizeof(struct counters), CACHE_LINE);
	h->kind_size = sizeof(struct kind_row);
	h->kinds_offset = counts_kinds ? (uint32_t)block : 0;
	block += counts_kinds ? MAX_NAMES * sizeof(struct kind_row) : 0;
	h->events_offset = (uint32_t)block;
	block += h->event_records * sizeof(struct lkdf_stats_event);
	block = round_up(block, CACHE_LINE);
	h->slices_offset = (uint32_t)block;
	block += h->slice_records * sizeof(struct lkdf_stats_slice);
	h->block_size = round_up(block, PAGE);
	h->total_size =
		h->blocks_offset + h->block_size * (h->nr_executors + 1ull);
}

static int map_memory(struct trace *t, const struct lkdf_stats_header *h)
{
	char *base;

	t->size = h->total_size;
	t->base = memfd_map(LKDF_STATS_NAME, t->size, &t->fd);
	t->own = own_fd_of(t->fd);
	if (t->fd < 0)
		log_text(t->log, LKDF_LOG_INFO, "trace: no memfd: %s",
			 trace_why(t));
	if (!t->base)
		return err(-ENOMEM, "trace: no memory for %zu bytes", t->size);
	base = t->base;
	memcpy(base + h->counter_table_offset, counter_rows,
	       sizeof(counter_rows));
	memcpy(base + h->event_table_offset, event_rows, sizeof(event_rows));
	memcpy(base, h, sizeof(*h));
	t->labels = base + h->label_table_offset;
	t->devices = (void *)(base + h->device_table_offset);
	t->labels_left_out = trace_word(
		&((struct lkdf_stats_header *)t->base)->labels_left_out);
	return 0;
}

/* Per executor a count for each node, and one for none. */
static int init_bytes(struct trace *t, int nr_nodes)
{
	size_t nr = (size_t)t->nr_executors + 1, i;
	size_t row = round_up(((size_t)nr_nodes + 1) * sizeof(*t->bytes),
			      CACHE_LINE);

	t->bytes = aligned_alloc(CACHE_LINE, nr * row);
	if (!t->bytes)
		return err(-ENOMEM, "trace: no memory for %d nodes", nr_nodes);
	memset((void *)t->bytes, 0, nr * row);
	for (i = 0; i < nr; i++) {
		t->rings[i].bytes = (void *)((char *)t->bytes + i * row);
		t->rings[i].nr_nodes = (uint32_t)nr_nodes;
	}
	return 0;
}

static int init_rings(struct trace *t, const struct lkdf_stats_header *h)
{
	size_t nr = (size_t)t->nr_executors + 1;
	struct trace_ring *r;
	char *block;
	size_t i;

	t->rings = aligned_alloc(CACHE_LINE, nr * sizeof(*t->rings));
	if (!t->rings)
		return err(-ENOMEM, "trace: no memory for %zu rings", nr);
	memset((void *)t->rings, 0, nr * sizeof(*t->rings));
	for (i = 0; i < nr; i++) {
		r = &t->rings[i];
		block = (char *)t->base + h->blocks_offset + i * h->block_size;
		r->block = (void *)block;
		r->counters = (void *)(block + h->counters_offset);
		if (h->kinds_offset)
			r->kinds = (void *)(block + h->kinds_offset);
		r->events = (void *)(block + h->events_offset);
		r->event_mask = h->event_records - 1;
		r->bell = &t->bell;
		if (h->slice_records)
			a_store(&r->slices, (void *)(block + h->slices_offset),
				relaxed);
		pthread_mutex_init(&r->lock, NULL);
	}
	return 0;
}

const char *trace_why(const struct trace *t)
{
	if (t->fd >= 0)
		return NULL;
	if (t->fd == -EFBIG)
		return "EFBIG: the limit of file sizes, ulimit -f";
	return strerror(-t->fd);
}

/* Without the signal the flight recorder is one, too. */
static void take_signal(struct trace *t, int number)
{
	t->has_last_signal = !last_signal_take(number);
	if (!t->has_last_signal)
		log_text(t->log, LKDF_LOG_ERROR, "%s", err_text());
}

int trace_open(struct trace *t, const struct trace_attr *a)
{
	bool records = a->file && a->file[0];
	struct lkdf_stats_header h;
	int rc;

	memset(t, 0, sizeof(*t));
	t->fd = -1;
	t->late_fd = -1;
	t->own = t->late_own = OWN_FD_NONE;
	t->nr_executors = a->nr_executors;
	t->ticks_per_1024ns = a->ticks_per_1024ns;
	t->spin_ns = a->spin_ns;
	t->start_ticks = clock_ticks();
	t->start_ns = (uint64_t)clock_now_ns();
	t->log = a->log;
	pthread_mutex_init(&t->lock, NULL);
	lay_out(&h, t, records, a->counts_kinds);
	t->notes_end = &t->notes;
	t->names = calloc(MAX_NAMES, sizeof(*t->names));
	t->kinds = calloc(MAX_NAMES, sizeof(*t->kinds));
	t->facts = strdup(a->facts ? a->facts : "");
	if (!t->names || !t->kinds || !t->facts)
		return err(-ENOMEM, "trace: no memory for names");
	rc = map_memory(t, &h);
	if (!rc)
		rc = init_rings(t, &h);
	if (!rc)
		rc = init_bytes(t, a->nr_nodes);
	if (rc)
		return rc;
	trace_name(t, "(more)");
	trace_start(trace_outside(t), LKDF_EXECUTOR_OUTSIDE, -1, -1);
	t->last_ns = a->last_ns;
	t->last_pattern = strdup(records ? a->file : "");
	if (!t->last_pattern)
		return err(-ENOMEM, "trace: no memory for names");
	rc = records ? record_open(t, t->last_pattern) : 0;
	t->records = records && !rc;
	if (t->records && t->last_ns && a->last_signal)
		take_signal(t, a->last_signal);
	if (!rc || !a->is_optional)
		return rc;
	log_text(t->log, LKDF_LOG_ERROR, "%s; nothing is recorded", err_text());
	return 0;
}

static void free_all(struct trace *t)
{
	record_fini(t);
	free(t->kinds);
	free(t->facts);
	free(t->last_pattern);
	free((void *)t->bytes);
	if (t->base)
		munmap(t->base, t->size);
	own_fd_close(&t->own);
	free(t->rings);
	free(t->names);
	pthread_mutex_destroy(&t->lock);
	memset(t, 0, sizeof(*t));
	t->fd = -1;
}

void trace_close(struct trace *t)
{
	/* A zeroed struct was never open. */
	if (!t->nr_executors)
		return;
	if (t->has_last_signal)
		last_signal_drop();
	trace_record_end(t, NULL);
	free_all(t);
}

struct trace_drain *trace_claim(struct trace *t)
{
	return t->records && drain_claim(t->drain) ? t->drain : NULL;
}

void trace_abandon(struct trace *t)
{
	if (!t->nr_executors)
		return;
	drain_abandon(t->drain);
	free_all(t);
}

void trace_unbind(struct trace_ring *r)
{
	a_store((_Atomic(int32_t) *)(void *)&r->block->cpu, -1, relaxed);
	a_store(&r->cpu, -1, relaxed);
}

void trace_start(struct trace_ring *r, enum lkdf_executor_kind kind, int cpu,
		 int node)
{
	struct lkdf_stats_block *b = r->block;
	uint32_t seq = a_load(&r->start_seq, relaxed) + 1;
	uint32_t tid = (uint32_t)syscall(SYS_gettid), i;

	/* First touch, on our node, and before any run. */
	for (i = 0; i <= r->event_mask; i += CACHE_LINE / 2)
		a_store(&r->events[i * 3], 0, relaxed);
	/* It may begin anywhere, so the last words may have their own page. */
	a_store(&r->events[r->event_mask * 3 + 2], 0, relaxed);
	b->kind = kind;
	b->cpu = cpu;
	b->node = node;
	b->tid = tid;
	a_store(&r->kind, kind, relaxed);
	a_store(&r->cpu, cpu, relaxed);
	a_store(&r->node, node, relaxed);
	a_store(&r->tid, tid, relaxed);
	/* [trace.start] who it is; pairs with [trace.who]. */
	a_store((_Atomic(uint32_t) *)(void *)&b->start_seq, seq, release);
	a_store(&r->start_seq, seq, release);
}

void trace_probe_key(struct trace *t, uint64_t key)
{
	struct lkdf_stats_header *h = t->base;

	a_store(trace_word(&h->probe_key), key, relaxed);
}

void trace_told_by(struct trace *t, const struct probed_source *s)
{
	t->probed = *s;
	/* [trace.told_by] the source; pairs with [trace.probed]. */
	a_store(&t->told_by_probe, true, release);
}

void trace_ask(struct trace *t, const char *name, uint64_t key)
{
	struct lkdf_stats_header *h = t->base;

	h->ask_key = key;
	snprintf(h->ask + 1, sizeof(h->ask) - 1, "%s", name + 1);
	/* [trace.ask] the others: a tool reads; pairs with itself */
	a_store((_Atomic(char) *)(void *)h->ask, name[0], release);
}

void trace_probe_slot(struct trace_ring *r, uint64_t slot)
{
	a_store((_Atomic(uint32_t) *)(void *)&r->block->probe_gen,
		(uint32_t)(slot >> 32), relaxed);
	a_store((_Atomic(uint32_t) *)(void *)&r->block->probe_slot,
		(uint32_t)slot, relaxed);
}

/* Under lock. Where the name is, or would be: half of the slots are free. */
static uint16_t *find_name(struct trace *t, const char *text)
{
	uint32_t at = 0, i;

	mutex_assert_held(&t->lock);
	for (i = 0; text[i]; i++)
		at = (at ^ (uint8_t)text[i]) * 16777619;
	at ^= at >> 16;
	for (;; at++) {
		i = t->name_at[at % NAME_SLOTS];
		if (!i || !strcmp(t->names[i - 1], text))
			return &t->name_at[at % NAME_SLOTS];
	}
}

/* Under lock. The text has its number from here on, for all. */
static void publish_name(struct trace *t, uint32_t i,
			 const char text[TRACE_NAME_SIZE])
{
	struct lkdf_stats_header *h = t->base;
	char *table = (char *)t->base + sizeof(*h) + sizeof(counter_rows) +
		      sizeof(event_rows);

	mutex_assert_held(&t->lock);
	check(i < MAX_NAMES && i == a_load(&t->nr_names, relaxed));
	memcpy(t->names[i], text, TRACE_NAME_SIZE);
	memcpy(table + (size_t)i * TRACE_NAME_SIZE, text, TRACE_NAME_SIZE);
	/* [trace.name] the text; pairs with [trace.names]. */
	a_store(&t->nr_names, i + 1, release);
	a_store((_Atomic(uint32_t) *)(void *)&h->nr_names, i + 1, release);
}

/* Under lock. */
static uint32_t add_name(struct trace *t, const char *name)
{
	uint32_t nr = a_load(&t->nr_names, relaxed);
	char text[TRACE_NAME_SIZE] = "";
	uint16_t *at;

	mutex_assert_held(&t->lock);
	snprintf(text, sizeof(text), "%s", name);
	at = find_name(t, text);
	if (*at)
		return *at - 1u;
	if (nr == MAX_NAMES)
		return 0;
	*at = (uint16_t)(nr + 1);
	publish_name(t, nr, text);
	return nr;
}

uint32_t trace_name(struct trace *t, const char *name)
{
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	i = add_name(t, name);
	pthread_mutex_unlock(&t->lock);
	return i;
}

uint32_t trace_kind(struct trace *t, const char *name,
		    const struct trace_kind *k)
{
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	i = add_name(t, name);
	t->kinds[i] = *k;
	t->kinds[i].is_known = i != 0;
	pthread_mutex_unlock(&t->lock);
	return i;
}

uint32_t trace_graph_number(struct trace *t)
{
	uint32_t number;

	pthread_mutex_lock(&t->lock);
	number = t->nr_graphs++;
	pthread_mutex_unlock(&t->lock);
	return number;
}

void trace_note_give(struct trace *t, struct trace_note *n)
{
	n->next = NULL;
	pthread_mutex_lock(&t->lock);
	if (n->recording == a_load(&t->recording, relaxed)) {
		*t->notes_end = n;
		t->notes_end = &n->next;
		n = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	free(n);
}

/* Cold: the file is behind. */
static __attribute__((noinline)) void ring_bell(struct trace_ring *r)
{
	/* [trace.bell] the slices; pairs with [trace.woken]. */
	a_add(r->bell, 1, release);
	futex_wake(r->bell, 1);
}

void trace_ask_last(struct trace *t)
{
	/* [trace.ask_last] what came before; pairs with [trace.last]. */
	a_add(&t->last_asked, 1, release);
	a_add(&t->bell, 1, release);
	futex_wake(&t->bell, 1);
}

int trace_last_into(struct trace *t, int fd, struct trace_sum *sum)
{
	const struct last_given *g = &t->last_given;

	if (!t->last_ns || !t->drain) {
		close(fd);
		return err(-ENOENT, "record: there is no flight recorder, see "
				    "option trace_last");
	}
	sum->error = last_give(&t->last_given, fd, &t->bell);
	if (sum->error)
		return err(sum->error, "record: the last seconds: %s",
			   strerror(-sum->error));
	sum->slices = g->slices;
	sum->lost = g->lost;
	return 0;
}

static __attribute__((noinline)) void lose_record(struct trace_ring *r)
{
	uint64_t lost = a_load(&r->slice_lost, relaxed) + 1;

	a_store(&r->slice_lost, lost, relaxed);
	a_store(trace_word(&r->block->slice_lost), lost, relaxed);
}

void trace_slice(struct trace_ring *r, const struct lkdf_stats_slice *s)
{
	struct lkdf_stats_slice *slices = a_load(&r->slices, relaxed);
	uint64_t head = a_load(&r->slice_head, relaxed), used;

	if (!slices)
		return;
	/* [trace.room] the slot was read; pairs with [trace.tail]. */
	used = head - a_load(&r->slice_tail, acquire);
	check(used <= SLICE_RECORDS);
	if (unlikely(used >= SLICE_RECORDS)) {
		lose_record(r);
		return;
	}
	slices[head & (SLICE_RECORDS - 1)] = *s;
	/* [trace.slice] the slot; pairs with [trace.take]. */
	a_store(&r->slice_head, head + 1, release);
	a_store(trace_word(&r->block->slice_head), head + 1, release);
	if (unlikely(used == SLICE_BELL))
		ring_bell(r);
}

void trace_slice_outside(struct trace_ring *r, const struct lkdf_stats_slice *s)
{
	pthread_mutex_lock(&r->lock);
	trace_slice(r, s);
	pthread_mutex_unlock(&r->lock);
}
