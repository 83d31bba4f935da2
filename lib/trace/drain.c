/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/drain.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/util.h"
#include "trace/carry.h"
#include "trace/file.h"
#include "trace/threads.h"
#include "trace/trace.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rests between two rounds, unless a ring gets half full. */
#define REST_NS 2000000
/* Counters, clocks and threads are sampled so often. */
#define SAMPLE_NS 50000000

struct trace_drain {
	/* Set at start, constant afterwards. */
	struct trace *t;
	pthread_t thread;

	/* Any thread: futex. */
	_Atomic(uint32_t) bell;
	_Atomic(uint32_t) is_stopping;

	/* The drain thread only. */
	uint32_t nr_names; /* in the file */
	bool has_complained;
	struct threads threads;
	struct trace_file file;
};

#define COUNTER_ROW(name, text, unit, help) { text, unit },
static const struct {
	const char *name, *unit;
} counter_rows[] = { COUNTER_TABLE(COUNTER_ROW) };

#define EVENT_ROW(name, text, a, b, help) { text, a, b },
static const struct {
	const char *name, *a, *b;
} event_rows[] = { EVENT_TABLE(EVENT_ROW) };

static void write_about(struct trace_file *f)
{
	size_t i;

	chunk_begin(f, LKDF_CHUNK_ABOUT);
	chunk_text(f, "lkdf");
	chunk_number(f, NR_COUNTERS);
	for (i = 0; i < NR_COUNTERS; i++) {
		chunk_text(f, counter_rows[i].name);
		chunk_text(f, counter_rows[i].unit);
	}
	chunk_number(f, NR_EVENTS);
	for (i = 0; i < NR_EVENTS; i++) {
		chunk_text(f, event_rows[i].name);
		chunk_text(f, event_rows[i].a);
		chunk_text(f, event_rows[i].b);
	}
	chunk_end(f);
}

/* Lines "key=value". */
static void write_facts(struct trace_file *f, const char *text)
{
	char key[64], value[LKDF_MAX_TEXT + 1];
	int n;

	chunk_begin(f, LKDF_CHUNK_FACTS);
	while (!chunk_is_full(f) &&
	       sscanf(text, "%63[^=\n]=%255[^\n]%n", key, value, &n) == 2) {
		chunk_text(f, key);
		chunk_text(f, value);
		text += n + (text[n] == '\n');
	}
	chunk_end_if_any(f);
}

static void write_executor(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	/* [trace.who] pairs with [trace.start]. */
	uint32_t seq = a_load(&r->start_seq, acquire);

	if (seq == r->seen_seq)
		return;
	r->seen_seq = seq;
	chunk_begin(&d->file, LKDF_CHUNK_EXECUTOR);
	chunk_number(&d->file, (uint64_t)i);
	chunk_number(&d->file, a_load(&r->kind, relaxed));
	chunk_signed(&d->file, a_load(&r->cpu, relaxed));
	chunk_signed(&d->file, a_load(&r->node, relaxed));
	chunk_number(&d->file, a_load(&r->tid, relaxed));
	chunk_end(&d->file);
}

/* Names new since the last time; they never change. */
static void write_names(struct trace_drain *d)
{
	struct trace *t = d->t;
	/* [trace.names] their texts; pairs with [trace.name]. */
	uint32_t nr = a_load(&t->nr_names, acquire), i = d->nr_names;

	while (i < nr) {
		chunk_begin(&d->file, LKDF_CHUNK_NAMES);
		for (; i < nr && !chunk_is_full(&d->file); i++) {
			chunk_number(&d->file, i);
			chunk_text(&d->file, t->names[i]);
		}
		chunk_end(&d->file);
	}
	d->nr_names = nr;
}

/* Kinds that are new, or are not what they were. */
static void write_kinds(struct trace_drain *d)
{
	struct trace *t = d->t;
	struct trace_kind *k;
	uint32_t i;

	chunk_begin(&d->file, LKDF_CHUNK_KINDS);
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < d->nr_names && !chunk_is_full(&d->file); i++) {
		k = &t->kinds[i];
		if (!k->is_known || k->is_told)
			continue;
		k->is_told = true;
		chunk_number(&d->file, i);
		chunk_number(&d->file, k->flags);
		chunk_number(&d->file, k->prio);
		chunk_number(&d->file, k->width);
		chunk_number(&d->file, k->limits);
	}
	pthread_mutex_unlock(&t->lock);
	chunk_end_if_any(&d->file);
}

static struct trace_note *take_notes(struct trace *t)
{
	struct trace_note *n;

	pthread_mutex_lock(&t->lock);
	n = t->notes;
	t->notes = NULL;
	t->notes_end = &t->notes;
	pthread_mutex_unlock(&t->lock);
	return n;
}

/* Names, kinds and graphs come before the slices that speak of them. */
static void write_words(struct trace_drain *d)
{
	struct trace_note *n = take_notes(d->t), *next;

	write_names(d);
	write_kinds(d);
	for (; n; n = next) {
		next = n->next;
		chunk_begin(&d->file, (enum lkdf_chunk_type)n->type);
		chunk_bytes(&d->file, n->payload, n->size);
		chunk_end(&d->file);
		free(n);
	}
}

static void write_slices(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	uint64_t tail = a_load(&r->slice_tail, relaxed), next;
	/* [trace.take] the slots; pairs with [trace.slice]. */
	uint64_t head = a_load(&r->slice_head, acquire);
	struct carry c = {
		.file = &d->file,
		.executor = (uint32_t)i,
		.since = d->t->start_ticks,
	};

	if (tail == head)
		return;
	write_words(d);
	c.nr_names = d->nr_names;
	for (; tail != head; tail = next) {
		next = tail + min_u64(head - tail, CARRY_BATCH);
		r->nr_slices += carry_slices(&c, r->slices, tail, next);
		/* [trace.tail] the slots are free; pairs with [trace.room]. */
		a_store(&r->slice_tail, next, release);
	}
}

/* False: it is overwritten. */
static bool read_event(struct trace_ring *r, uint64_t i, uint64_t word[3])
{
	_Atomic(uint64_t) *e = r->events + (i & r->event_mask) * 3;

	/* [trace.recheck] before the head again; pairs with [trace.event]. */
	word[0] = a_load(&e[0], acquire);
	word[1] = a_load(&e[1], acquire);
	word[2] = a_load(&e[2], acquire);
	return a_load(&r->event_head, relaxed) - i <= r->event_mask &&
	       (uint32_t)word[1] < NR_EVENTS;
}

/* One chunk of them. */
static void write_some_events(struct trace_drain *d, int i, uint64_t head)
{
	struct trace_ring *r = &d->t->rings[i];
	struct trace_file *f = &d->file;
	uint64_t word[3], at = d->t->start_ticks;

	chunk_begin(f, LKDF_CHUNK_EVENTS);
	chunk_number(f, (uint64_t)i);
	chunk_number(f, at);
	for (; r->event_tail != head && !chunk_is_full(f); r->event_tail++) {
		if (!read_event(r, r->event_tail, word)) {
			r->events_lost++;
			continue;
		}
		chunk_signed(f, (int64_t)(word[0] - at));
		chunk_number(f, (uint32_t)word[1]);
		chunk_number(f, word[1] >> 32);
		chunk_number(f, word[2]);
		at = word[0];
		r->nr_events++;
	}
	chunk_end(f);
}

static void write_events(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	/* [trace.read] the words; pairs with [trace.head]. */
	uint64_t head = a_load(&r->event_head, acquire);

	while (r->event_tail != head)
		write_some_events(d, i, head);
}

static void write_lost(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	uint64_t slices = a_load(&r->slice_lost, relaxed);

	if (slices + r->events_lost == r->told_lost)
		return;
	r->told_lost = slices + r->events_lost;
	chunk_begin(&d->file, LKDF_CHUNK_LOST);
	chunk_number(&d->file, (uint64_t)i);
	chunk_number(&d->file, clock_ticks());
	chunk_number(&d->file, slices);
	chunk_number(&d->file, r->events_lost);
	chunk_end(&d->file);
}

/* Bytes of data by node, where there were any. */
static void write_bytes(struct trace_drain *d, int i, uint64_t ticks)
{
	struct trace_ring *r = &d->t->rings[i];
	uint64_t sum = 0;
	uint32_t node;

	for (node = 0; node <= r->nr_nodes; node++)
		sum += a_load(&r->bytes[node], relaxed);
	if (sum == r->told_bytes)
		return;
	r->told_bytes = sum;
	chunk_begin(&d->file, LKDF_CHUNK_BYTES);
	chunk_number(&d->file, (uint64_t)i);
	chunk_number(&d->file, ticks);
	chunk_number(&d->file, a_load(&r->bytes[r->nr_nodes], relaxed));
	for (node = 0; node < r->nr_nodes; node++)
		chunk_number(&d->file, a_load(&r->bytes[node], relaxed));
	chunk_end(&d->file);
}

static void write_sample(struct trace_drain *d)
{
	uint64_t ticks = clock_ticks();
	struct trace_file *f = &d->file;
	struct trace_ring *r;
	int i, c;

	chunk_begin(f, LKDF_CHUNK_CLOCK);
	chunk_number(f, ticks);
	chunk_number(f, (uint64_t)clock_now_ns());
	chunk_end(f);
	for (i = 0; i <= d->t->nr_executors; i++) {
		r = &d->t->rings[i];
		if (!r->seen_seq)
			continue;
		chunk_begin(f, LKDF_CHUNK_COUNTERS);
		chunk_number(f, (uint64_t)i);
		chunk_number(f, ticks);
		for (c = 0; c < NR_COUNTERS; c++)
			chunk_number(f, a_load(&r->counters->v[c], relaxed));
		chunk_end(f);
		write_bytes(d, i, ticks);
	}
	threads_sample(&d->threads, f, ticks);
}

static void write_end(struct trace_drain *d)
{
	uint64_t sum[4] = { 0 };
	struct trace_ring *r;
	int i;

	for (i = 0; i <= d->t->nr_executors; i++) {
		r = &d->t->rings[i];
		sum[0] += r->nr_slices;
		sum[1] += a_load(&r->slice_lost, relaxed);
		sum[2] += r->nr_events;
		sum[3] += r->events_lost;
	}
	chunk_begin(&d->file, LKDF_CHUNK_END);
	for (i = 0; i < 4; i++)
		chunk_number(&d->file, sum[i]);
	chunk_end(&d->file);
}

static void write_round(struct trace_drain *d)
{
	int i;

	for (i = 0; i <= d->t->nr_executors; i++) {
		write_executor(d, i);
		write_slices(d, i);
		write_events(d, i);
		write_lost(d, i);
	}
	if (d->file.error && !d->has_complained) {
		d->has_complained = true;
		log_text(d->t->log, LKDF_LOG_ERROR,
			 "trace: the file ends here: %s",
			 strerror(-d->file.error));
	}
}

static void *drain_main(void *arg)
{
	struct trace_drain *d = arg;
	int64_t next_sample = 0, now;
	uint32_t is_stopping, bell;

	pthread_setname_np(pthread_self(), "lkdf/drain");
	do {
		/* [trace.woken] what rang it; pairs with [trace.bell]. */
		bell = a_load(&d->bell, acquire);
		/* [trace.stopping] all that was written before; pairs with
		 * [trace.stop]. */
		is_stopping = a_load(&d->is_stopping, acquire);
		write_round(d);
		now = clock_now_ns();
		if (now >= next_sample) {
			next_sample = now + SAMPLE_NS;
			write_sample(d);
		}
		if (!is_stopping)
			futex_wait(&d->bell, bell, REST_NS);
	} while (!is_stopping);
	write_words(d);
	write_sample(d);
	write_end(d);
	return NULL;
}

static int start_thread(struct trace_drain *d)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&d->thread, NULL, drain_main, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? err(-rc, "trace: no thread for the file: %s", strerror(rc))
		  : 0;
}

int drain_start(struct trace *t, const char *file, struct trace_drain **out)
{
	const struct lkdf_stats_header *s = t->base;
	struct lkdf_file_header h = {
		.ticks_per_1024ns = t->ticks_per_1024ns,
		.nr_executors = (uint32_t)t->nr_executors,
		.start_ticks = t->start_ticks,
		.start_ns = t->start_ns,
		.pid = s->pid,
	};
	struct trace_drain *d = calloc(1, sizeof(*d));
	int rc, i;

	if (!d)
		return err(-ENOMEM, "trace: no memory for the file");
	d->t = t;
	rc = trace_file_open(&d->file, file, &h);
	if (rc) {
		free(d);
		return rc;
	}
	log_text(t->log, LKDF_LOG_INFO, "trace: file %s", d->file.path);
	write_about(&d->file);
	write_facts(&d->file, t->facts);
	threads_init(&d->threads, t);
	for (i = 0; i <= t->nr_executors; i++)
		t->rings[i].bell = &d->bell;
	rc = start_thread(d);
	if (rc) {
		drain_abandon(d);
		return rc;
	}
	*out = d;
	return 0;
}

void drain_stop(struct trace_drain *d)
{
	if (!d)
		return;
	/* [trace.stop] pairs with [trace.stopping]. */
	a_store(&d->is_stopping, 1, release);
	a_add(&d->bell, 1, release);
	futex_wake(&d->bell, 1);
	pthread_join(d->thread, NULL);
	drain_abandon(d);
}

void drain_abandon(struct trace_drain *d)
{
	if (!d)
		return;
	trace_file_close(&d->file);
	threads_fini(&d->threads);
	free(d);
}
