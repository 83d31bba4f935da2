/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/drain.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/util.h"
#include "trace/about.h"
#include "trace/before.h"
#include "trace/carry.h"
#include "trace/edges.h"
#include "trace/ending.h"
#include "trace/file.h"
#include "trace/probed.h"
#include "trace/sums.h"
#include "trace/threads.h"
#include "trace/trace.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rests between two rounds, unless a ring fills. */
#define REST_NS 2000000
/* The least, where events fill their rings in less. */
#define LEAST_REST_NS 125000
/* Counters, clocks and threads are sampled so often. */
#define SAMPLE_NS 50000000

struct trace_drain {
	/* Set at start, constant afterwards. */
	struct trace *t;
	uint64_t start_ticks, start_ns; /* of the recording */
	struct before before;
	struct edges edges;

	/* Any thread. */
	struct ending ending;

	/* The drain thread only. */
	uint32_t nr_names; /* in the file */
	uint64_t rest_ns; /* before the next round */
	uint64_t most_events; /* of one ring, in this round */
	uint64_t most_slices; /* the same */
	bool has_complained;
	struct threads threads;
	struct probed probed;
	uint8_t lanes[LKDF_MAX_LANES / 8]; /* of devices: a bit for each told */
	struct trace_file file;
};

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

static void note_lane(struct trace_drain *d, uint32_t lane)
{
	lane -= (uint32_t)d->t->nr_executors + 1;
	d->lanes[lane / 8] |= (uint8_t)(1u << lane % 8);
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
		if (n->type == LKDF_CHUNK_LANE)
			note_lane(d, n->lane);
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
		.nr_executors = (uint32_t)d->t->nr_executors,
		.lanes = d->lanes,
		.since = d->start_ticks,
	};

	if (tail == head)
		return;
	d->most_slices = max_u64(d->most_slices, head - tail);
	write_words(d);
	c.nr_names = d->nr_names;
	for (; tail != head; tail = next) {
		next = tail + min_u64(head - tail, CARRY_BATCH);
		r->nr_slices += carry_slices(&c, a_load(&r->slices, relaxed),
					     tail, next);
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

/* Writes one chunk of them. */
static void write_some_events(struct trace_drain *d, int i, uint64_t head)
{
	struct trace_ring *r = &d->t->rings[i];
	struct trace_file *f = &d->file;
	uint64_t word[3], at = d->start_ticks;

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
	uint64_t nr =
		(head - r->event_tail) * EVENT_RECORDS / (r->event_mask + 1);

	if (nr > d->most_events)
		d->most_events = nr;
	while (r->event_tail != head)
		write_some_events(d, i, head);
}

static void write_sample(struct trace_drain *d, bool is_last)
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
			chunk_number(
				f,
				a_load(&r->counters->v[c], relaxed) -
					d->before.counted[i * NR_COUNTERS + c]);
		chunk_end(f);
		sums_bytes(f, r, (uint32_t)i, &d->before, ticks);
	}
	/* A thread that has slept since the last time has, too. */
	threads_sample(&d->threads, f, ticks, is_last);
	if (probed_has_source(&d->probed))
		write_words(d);
	probed_sample(&d->probed, f, ticks, d->nr_names);
}

static void write_end(struct trace_drain *d)
{
	uint64_t sum[4] = { 0 };
	struct trace_ring *r;
	int i;

	for (i = 0; i <= d->t->nr_executors; i++) {
		r = &d->t->rings[i];
		sum[0] += r->nr_slices;
		sum[1] += a_load(&r->slice_lost, relaxed) - r->lost_before;
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

	d->most_events = 0;
	d->most_slices = 0;
	for (i = 0; i <= d->t->nr_executors; i++) {
		write_executor(d, i);
		if (unlikely(d->edges.state && d->edges.state[i])) {
			write_words(d);
			edges_look(&d->edges, i);
		}
		write_slices(d, i);
		write_events(d, i);
		sums_lost(&d->file, &d->t->rings[i], (uint32_t)i);
	}
	if (d->file.error && !d->has_complained) {
		d->has_complained = true;
		log_text(d->t->log, LKDF_LOG_ERROR,
			 "trace: the file ends here: %s",
			 strerror(-d->file.error));
	}
	if (d->most_events > EVENT_RECORDS / 4)
		d->rest_ns = max_u64(d->rest_ns / 2, LEAST_REST_NS);
	else
		d->rest_ns = min_u64(d->rest_ns * 2, REST_NS);
}

static void *drain_main(void *arg)
{
	struct trace_drain *d = arg;
	int64_t next_sample = 0, now;
	bool is_last;
	uint32_t bell;
	int i;

	pthread_setname_np(pthread_self(), "lkdf/drain");
	do {
		/* [trace.woken] what rang it; pairs with [trace.bell]. */
		bell = a_load(&d->t->bell, acquire);
		is_last = ending_is_asked(&d->ending);
		write_round(d);
		now = clock_now_ns();
		if (now >= next_sample) {
			next_sample = now + SAMPLE_NS;
			write_sample(d, false);
		}
		/* A ring that was filled meanwhile rings no bell. */
		if (!is_last && d->most_slices < SLICE_BELL)
			futex_wait(&d->t->bell, bell, (int64_t)d->rest_ns);
	} while (!is_last);
	write_words(d);
	for (i = 0; i < d->t->nr_executors; i++)
		edges_end(&d->edges, i, d->ending.stop_ticks);
	write_sample(d, true);
	write_end(d);
	ending_tell(&d->ending);
	return NULL;
}

static int start_thread(struct trace_drain *d)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&d->ending.thread, NULL, drain_main, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? err(-rc, "trace: no thread for the file: %s", strerror(rc))
		  : 0;
}

/* The first one began when the runtime did. */
static void note_time(struct trace_drain *d, const struct trace *t,
		      bool is_late)
{
	d->start_ticks = is_late ? clock_ticks() : t->start_ticks;
	d->start_ns = is_late ? (uint64_t)clock_now_ns() : t->start_ns;
}

static int open_file(struct trace_drain *d, const char *file, int fd)
{
	const struct lkdf_stats_header *s = d->t->base;
	struct lkdf_file_header h = {
		.ticks_per_1024ns = d->t->ticks_per_1024ns,
		.nr_executors = (uint32_t)d->t->nr_executors,
		.start_ticks = d->start_ticks,
		.start_ns = d->start_ns,
		.pid = s->pid,
	};

	return file ? trace_file_open(&d->file, file, &h)
		    : trace_file_take(&d->file, fd, &h);
}

static int undo_file(struct trace_drain *d)
{
	trace_file_close(&d->file);
	return err(-ENOMEM, "trace: no memory for the file");
}

static void free_drain(struct trace_drain *d)
{
	before_fini(&d->before);
	edges_fini(&d->edges);
	free(d);
}

int drain_start(struct trace *t, const char *file, int fd,
		struct trace_drain **out)
{
	struct trace_drain *d = calloc(1, sizeof(*d));
	int rc;

	if (!d || !before_init(&d->before, t)) {
		free(d);
		if (fd >= 0)
			close(fd);
		return err(-ENOMEM, "trace: no memory for the file");
	}
	d->t = t;
	d->ending.bell = &t->bell;
	d->rest_ns = REST_NS;
	note_time(d, t, !file);
	rc = open_file(d, file, fd);
	if (!rc && !file && !edges_init(&d->edges, t, &d->file, d->start_ticks))
		rc = undo_file(d);
	if (rc) {
		free_drain(d);
		return rc;
	}
	log_text(t->log, LKDF_LOG_INFO, "trace: file %s", d->file.path);
	about_write(&d->file, t->facts);
	threads_init(&d->threads, t);
	probed_init(&d->probed, t);
	rc = start_thread(d);
	if (rc) {
		drain_abandon(d);
		return rc;
	}
	*out = d;
	return 0;
}

const char *drain_path(const struct trace_drain *d)
{
	return d->file.path;
}

static void sum_up(const struct trace_drain *d, struct trace_sum *sum)
{
	const struct trace_ring *r;
	int i;

	*sum = (struct trace_sum){ .error = d->file.error };
	for (i = 0; i <= d->t->nr_executors; i++) {
		r = &d->t->rings[i];
		sum->slices += r->nr_slices;
		sum->lost += a_load(&r->slice_lost, relaxed) - r->lost_before;
	}
}

bool drain_claim(struct trace_drain *d)
{
	return ending_claim(&d->ending);
}

void drain_leave(struct trace_drain *d)
{
	ending_leave(&d->ending);
}

void drain_stop(struct trace_drain *d, struct trace_sum *sum)
{
	ending_join(&d->ending);
	if (sum)
		sum_up(d, sum);
	drain_abandon(d);
}

void drain_abandon(struct trace_drain *d)
{
	if (!d)
		return;
	trace_file_close(&d->file);
	threads_fini(&d->threads);
	probed_fini(&d->probed);
	free_drain(d);
}
