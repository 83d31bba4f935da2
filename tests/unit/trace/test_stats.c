/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tool makes of a memfd: the library's own says what it counted; one
 * whose header lies is refused, or read without harm.
 */
#include "tests/tap.h"
#include "tools/foreign.c"
#include "tools/stat/stats.c"
#include "tools/utf8.c"
#include "trace/counters.h"
#include "trace/trace.h"

#include <sys/syscall.h>

static const struct log silence = { .fn = NULL };

static void open_trace(struct trace *t)
{
	const struct trace_attr a = {
		.nr_executors = 3,
		.nr_nodes = 1,
		.ticks_per_1024ns = 1024,
		.log = &silence,
	};

	if (trace_open(t, &a))
		exit(1);
	trace_start(&t->rings[0], LKDF_EXECUTOR_WORKER, 0, 0);
	trace_start(&t->rings[2], LKDF_EXECUTOR_BLOCKING, -1, -1);
	counter_add(t->rings[0].counters, COUNTER_TASKS, 5);
	counter_add(t->rings[2].counters, COUNTER_TASKS, 7);
	trace_event(&t->rings[0], EVENT_PARK, 0, 0);
	trace_event(&t->rings[0], EVENT_WAKE, 0, 0);
}

static void the_library_s_own_is_read(void)
{
	struct trace t;
	struct stats s;
	uint32_t i;

	open_trace(&t);
	is(stats_map(&s, t.fd), 0, "the memfd is mapped");
	i = stats_counter_find(&s, "tasks");
	is(stats_sum(&s, i), 12, "a counter has its sum");
	is(stats_counter(&s, 2, i), 7, "and each executor's");
	ok(!strcmp(stats_counter_unit(&s, i), "tasks"), "and a unit");
	is(stats_nr_workers(&s), 1, "workers are counted");
	ok(stats_is_parked(&s, 0), "the worker sleeps");
	trace_event(&t.rings[0], EVENT_UNPARK, 0, 0);
	ok(!stats_is_parked(&s, 0), "until it has slept");
	ok(!stats_is_parked(&s, 1), "nobody knows of one without events");
	is(stats_counter_find(&s, "nonsense"), s.h.nr_counters,
	   "an unknown counter is not found");
	stats_unmap(&s);
	trace_close(&t);
}

/* A sealed copy of what a runtime has. */
static int copy_of(const struct trace *t, size_t size)
{
	int fd = memfd_create("lkdf:test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, t->base, size) != (ssize_t)size ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		exit(1);
	return fd;
}

/* All that a verb reads. */
static uint64_t read_all(const struct stats *s)
{
	uint64_t sum = stats_nr_workers(s);
	uint32_t i, e;

	for (i = 0; i < s->h.nr_counters; i++)
		sum += stats_sum(s, i) + strlen(stats_counter_name(s, i)) +
		       strlen(stats_counter_unit(s, i)) +
		       strlen(stats_counter_help(s, i));
	for (e = 0; e < s->h.nr_executors; e++)
		sum += stats_is_parked(s, e);
	return sum;
}

static void headers_that_lie_do_no_harm(void)
{
	static const uint8_t values[] = { 0, 1, 7, 8, 0x7f, 0x80, 0xff };
	unsigned i, v, nr_good = 0, nr_bad = 0, nr_other = 0;
	volatile uint64_t sum = 0; /* so that all is read */
	struct trace t;
	struct stats s;
	uint8_t old;
	int fd, rc;

	open_trace(&t);
	fd = copy_of(&t, t.size);
	for (i = 0; i < sizeof(s.h); i++) {
		if (pread(fd, &old, 1, i) != 1)
			exit(1);
		for (v = 0; v < sizeof(values); v++) {
			if (pwrite(fd, &values[v], 1, i) != 1)
				exit(1);
			rc = stats_map(&s, fd);
			nr_good += !rc;
			nr_bad += rc == -EBADMSG;
			nr_other += rc && rc != -EBADMSG;
			if (rc)
				continue;
			sum += read_all(&s);
			stats_unmap(&s);
		}
		if (pwrite(fd, &old, 1, i) != 1)
			exit(1);
	}
	(void)sum;
	is(nr_other, 0, "nothing but read or refused");
	ok(nr_good > 100 && nr_bad > 100, "%u read, %u refused", nr_good,
	   nr_bad);
	close(fd);
	trace_close(&t);
}

static void what_could_shrink_is_refused(void)
{
	int fd = memfd_create("lkdf:test", MFD_CLOEXEC);
	struct trace t;
	struct stats s;

	open_trace(&t);
	if (fd < 0 || write(fd, t.base, t.size) != (ssize_t)t.size)
		exit(1);
	is(stats_map(&s, fd), -EBADMSG, "a memfd without seals is refused");
	close(fd);
	fd = copy_of(&t, 100);
	is(stats_map(&s, fd), -EBADMSG, "so is one without a whole header");
	close(fd);
	trace_close(&t);
}

/* Into a file that is gone at once. */
static void begin_late(struct trace *t)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	is(trace_record(t, fd), 0, "a recording begins late");
}

static void slices_of_a_late_recording_are_read(void)
{
	const struct lkdf_stats_slice b = { .name = 7, .begin = 3, .end = 9 };
	struct lkdf_stats_slice c = { .name = 0 };
	struct trace t;
	struct stats s;

	open_trace(&t);
	is(stats_map(&s, t.fd), 0, "the memfd is mapped");
	stats_find_late(getpid(), &s);
	ok(!stats_has_slices(&s), "nobody records, there are no slices");
	begin_late(&t);
	stats_find_late(getpid(), &s);
	ok(stats_has_slices(&s), "then there are");
	trace_slice(&t.rings[0], &b);
	trace_slice(trace_outside(&t), &b);
	is(stats_slice_head(&s, 0), 1, "the head says how many");
	ok(stats_slice(&s, 0, 0, &c) && c.name == 7 && c.end == 9,
	   "and it is read");
	ok(stats_slice(&s, 3, 0, &c), "so is the outside's");
	trace_record_end(&t, NULL);
	ok(!stats_slice(&s, 0, 0, &c), "it is gone when the recording ends");
	stats_unmap(&s);
	trace_close(&t);
}

/* All that lkdf top reads. */
static bool reads_slices(const struct stats *s)
{
	struct lkdf_stats_slice c;
	uint32_t e, nr = 0;
	uint64_t i;

	for (e = 0; e <= s->h.nr_executors; e++)
		for (i = 0; i < 4; i++)
			nr += stats_slice(s, e, i - 2, &c);
	return nr <= 16;
}

static void late_headers_that_lie_do_no_harm(void)
{
	static const uint8_t values[] = { 0, 1, 7, 8, 0x7f, 0x80, 0xff };
	unsigned i, v, nr_read = 0, nr_refused = 0;
	struct trace t;
	struct stats s;
	uint8_t *at, old;

	open_trace(&t);
	begin_late(&t);
	is(stats_map(&s, t.fd), 0, "the memfd is mapped");
	for (i = 0; i < sizeof(struct lkdf_slices_header); i++) {
		at = (uint8_t *)t.late + i;
		old = *at;
		for (v = 0; v < sizeof(values); v++) {
			*at = values[v];
			nr_read += map_late(&s, t.late_fd) && reads_slices(&s);
			nr_refused += !s.late.base;
			if (s.late.base)
				munmap((void *)(uintptr_t)s.late.base,
				       s.late.size);
			s.late.base = NULL;
		}
		*at = old;
	}
	is(nr_read + nr_refused, sizeof(struct lkdf_slices_header) * 7,
	   "read or refused, %u and %u", nr_read, nr_refused);
	ok(nr_read > 100 && nr_refused > 100, "and some of both");
	stats_unmap(&s);
	trace_close(&t);
}

int main(void)
{
	tap_start(60);
	slices_of_a_late_recording_are_read();
	late_headers_that_lie_do_no_harm();
	the_library_s_own_is_read();
	headers_that_lie_do_no_harm();
	what_could_shrink_is_refused();
	return tap_end();
}
