/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/drain.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/helper.h"
#include "base/util.h"
#include "trace/about.h"
#include "trace/before.h"
#include "trace/carry.h"
#include "trace/counters.h"
#include "trace/edges.h"
#include "trace/ending.h"
#include "trace/file.h"
#include "trace/last.h"
#include "trace/last_signal.h"
#include "trace/probed.h"
#include "trace/sums.h"
#include "trace/threads.h"
#include "trace/trace.h"
#include "trace/words.h"

#include <errno.h>
#include <lkdf/runtime.h>
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
	struct words words;
	uint64_t rest_ns; /* before the next round */
	uint64_t most_events; /* of one ring, in this round */
	uint64_t most_slices; /* the same */
	bool has_complained;
	struct threads threads;
	struct probed probed;
	struct last *last; /* the flight recorder; NULL: there is a file */
	uint32_t last_seen; /* so often it was asked for */
	int64_t next_last; /* not before that is it written again */
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
		.lanes = d->words.lanes,
		.since = d->start_ticks,
	};

	if (tail == head)
		return;
	check(head - tail <= SLICE_RECORDS);
	d->most_slices = max_u64(d->most_slices, head - tail);
	words_write(&d->words);
	c.nr_names = d->words.nr_names;
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
		f->records++;
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
		words_write(&d->words);
	probed_sample(&d->probed, f, ticks, d->words.nr_names);
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
			words_write(&d->words);
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

static void sum_lost(const struct trace_drain *d, uint64_t lost[2])
{
	struct trace_ring *r;
	int i;

	lost[0] = lost[1] = 0;
	for (i = 0; i <= d->t->nr_executors; i++) {
		r = &d->t->rings[i];
		lost[0] += a_load(&r->slice_lost, relaxed) - r->lost_before;
		lost[1] += r->events_lost;
	}
}

static void write_last(struct trace_drain *d)
{
	char path[PATH_MAX];
	uint64_t lost[2];

	sum_lost(d, lost);
	if (last_write(d->last, lost, path, sizeof(path)))
		log_text(d->t->log, LKDF_LOG_ERROR, "%s", err_text());
	else
		log_text(d->t->log, LKDF_LOG_INFO, "trace: the last %d s: %s",
			 (int)(d->last->keep_ns / 1000000000), path);
}

/* Somebody has given a file for it: at once, as often as it happens. */
static void look_given(struct trace_drain *d, bool is_end)
{
	struct last_given *g = &d->t->last_given;
	int fd = d->last ? last_take(g) : -1;
	uint64_t lost[2];

	if (fd < 0)
		return;
	write_round(d);
	write_sample(d, is_end);
	sum_lost(d, lost);
	g->error = last_write_into(d->last, lost, fd);
	g->slices = d->last->slices;
	g->lost = lost[0];
	last_given_done(g);
}

static uint32_t count_asked(const struct trace_drain *d)
{
	/* [trace.last] what came before; pairs with [trace.ask_last]. */
	return a_load(&d->t->last_asked, acquire) + last_signal_count();
}

/* Somebody asks for the flight recorder: once in the time that it holds. */
static void look_last(struct trace_drain *d, int64_t now, bool is_end)
{
	uint32_t asked = d->last ? count_asked(d) : 0;

	if (!d->last || asked == d->last_seen ||
	    (now < d->next_last && !is_end))
		return;
	write_round(d);
	d->last_seen = asked;
	d->next_last = now + d->last->keep_ns;
	write_sample(d, is_end);
	write_last(d);
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
		if (d->last && limits_look(&d->t->limits, clock_ticks()))
			trace_is_late(d->t);
		look_last(d, now, is_last);
		look_given(d, is_last);
		/* A ring that was filled meanwhile rings no bell. */
		if (!is_last && d->most_slices < SLICE_BELL)
			futex_wait(&d->t->bell, bell, (int64_t)d->rest_ns);
	} while (!is_last);
	words_write(&d->words);
	for (i = 0; i < d->t->nr_executors; i++)
		edges_end(&d->edges, i, d->ending.stop_ticks);
	write_sample(d, true);
	write_end(d);
	ending_tell(&d->ending);
	return NULL;
}

static int start_thread(struct trace_drain *d)
{
	int rc;

	rc = helper_start(&d->ending.thread, NULL, drain_main, d);
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

	if (file && d->t->last_ns) {
		d->last = last_open(file, d->t->last_ns, &h);
		if (!d->last)
			return err(-ENOMEM, "trace: no memory to record");
		trace_file_keep(&d->file, d->last);
		d->last_seen = count_asked(d);
		return 0;
	}
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
	last_close(d->last);
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
	d->words.t = t;
	d->words.file = &d->file;
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
