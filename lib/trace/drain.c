/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/drain.h"

#include "base/err.h"
#include "base/futex.h"
#include "trace/file.h"
#include "trace/trace.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Rests between two rounds, unless a ring was half full. */
#define REST_NS 2000000
/* Counters and clocks are sampled every so many rounds. */
#define ROUNDS_PER_SAMPLE 50

struct trace_drain {
	/* Set at start, constant afterwards. */
	struct trace *t;
	pthread_t thread;

	/* Any thread: futex. */
	_Atomic(uint32_t) is_stopping;

	/* The drain thread only. */
	uint32_t nr_names; /* in the file */
	bool has_complained;
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

/* One chunk; returns the tail after it. */
static uint64_t write_some_slices(struct trace_drain *d, int i, uint64_t tail,
				  uint64_t head)
{
	const struct lkdf_stats_slice *slices = d->t->rings[i].slices, *s;
	struct trace_file *f = &d->file;
	uint64_t at, task = 0;

	at = slices[tail & (SLICE_RECORDS - 1)].begin;
	chunk_begin(f, LKDF_CHUNK_SLICES);
	chunk_number(f, (uint64_t)i);
	chunk_number(f, at);
	chunk_number(f, task);
	for (; tail != head && !chunk_is_full(f); tail++) {
		s = &slices[tail & (SLICE_RECORDS - 1)];
		chunk_signed(f, (int64_t)(s->begin - at));
		chunk_number(f, s->end - s->begin);
		chunk_number(f, s->name < d->nr_names ? s->name : 0);
		chunk_signed(f, (int64_t)(s->task - task));
		at = s->end;
		task = s->task;
	}
	chunk_end(f);
	return tail;
}

/* True: the ring was half full or more. */
static bool write_slices(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	uint64_t tail = a_load(&r->slice_tail, relaxed), first = tail;
	/* [trace.take] the slots; pairs with [trace.slice]. */
	uint64_t head = a_load(&r->slice_head, acquire);

	if (tail == head)
		return false;
	write_names(d);
	while (tail != head) {
		tail = write_some_slices(d, i, tail, head);
		/* [trace.tail] the slots are free; pairs with [trace.room]. */
		a_store(&r->slice_tail, tail, release);
	}
	r->nr_slices += head - first;
	return head - first >= SLICE_RECORDS / 2;
}

/* False: it is overwritten. */
static bool read_event(struct trace_ring *r, uint64_t i, uint64_t word[3])
{
	_Atomic(uint64_t) *e = r->events + (i & (EVENT_RECORDS - 1)) * 3;

	/* [trace.recheck] before the head again; pairs with [trace.event]. */
	word[0] = a_load(&e[0], acquire);
	word[1] = a_load(&e[1], acquire);
	word[2] = a_load(&e[2], acquire);
	return a_load(&r->event_head, relaxed) - i < EVENT_RECORDS &&
	       (uint32_t)word[1] < NR_EVENTS;
}

static void write_events(struct trace_drain *d, int i)
{
	struct trace_ring *r = &d->t->rings[i];
	/* [trace.read] the words; pairs with [trace.head]. */
	uint64_t head = a_load(&r->event_head, acquire), word[3], at;
	struct trace_file *f = &d->file;

	if (r->event_tail == head)
		return;
	at = d->t->start_ticks;
	chunk_begin(f, LKDF_CHUNK_EVENTS);
	chunk_number(f, (uint64_t)i);
	chunk_number(f, at);
	for (; r->event_tail != head; r->event_tail++) {
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
	}
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

/* One round. True: no time to rest. */
static bool write_round(struct trace_drain *d)
{
	bool is_busy = false;
	int i;

	for (i = 0; i <= d->t->nr_executors; i++) {
		write_executor(d, i);
		is_busy |= write_slices(d, i);
		write_events(d, i);
	}
	if (d->file.error && !d->has_complained) {
		d->has_complained = true;
		log_text(d->t->log, LKDF_LOG_ERROR,
			 "trace: the file ends here: %s",
			 strerror(-d->file.error));
	}
	return is_busy;
}

static void *drain_main(void *arg)
{
	struct trace_drain *d = arg;
	uint32_t is_stopping;
	unsigned round = 0;
	bool is_busy;

	pthread_setname_np(pthread_self(), "lkdf/drain");
	do {
		/* [trace.stopping] all that was written before; pairs with
		 * [trace.stop]. */
		is_stopping = a_load(&d->is_stopping, acquire);
		is_busy = write_round(d);
		if (++round % ROUNDS_PER_SAMPLE == 0)
			write_sample(d);
		if (!is_stopping && !is_busy)
			futex_wait(&d->is_stopping, 0, REST_NS);
	} while (!is_stopping);
	write_names(d);
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
	int rc;

	if (!d)
		return err(-ENOMEM, "trace: no memory for the file");
	d->t = t;
	rc = trace_file_open(&d->file, file, &h);
	if (rc) {
		free(d);
		return rc;
	}
	write_about(&d->file);
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
	futex_wake(&d->is_stopping, 1);
	pthread_join(d->thread, NULL);
	drain_abandon(d);
}

void drain_abandon(struct trace_drain *d)
{
	if (!d)
		return;
	trace_file_close(&d->file);
	free(d);
}
