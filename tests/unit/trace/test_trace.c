/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/tap.h"
#include "trace/counters.h"
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const struct log silence = { .fn = NULL };

static int open_trace(struct trace *t, int nr_executors, const char *file)
{
	struct trace_attr a = {
		.nr_executors = nr_executors,
		.nr_nodes = 1,
		.ticks_per_1024ns = 1024,
		.file = file,
		.log = &silence,
	};

	return trace_open(t, &a);
}

static void the_memfd_tells_its_own_layout(void)
{
	const struct lkdf_stats_counter *row;
	const struct lkdf_stats_header *h;
	const uint64_t *counter;
	struct trace t;
	char *base;

	is(open_trace(&t, 3, NULL), 0, "a trace opens");
	ok(t.fd >= 0, "it has a memfd");
	is(fcntl(t.fd, F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW),
	   F_SEAL_SHRINK | F_SEAL_GROW, "whose size is sealed");
	is(fcntl(t.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC,
	   "and which is closed on exec");
	base = mmap(NULL, t.size, PROT_READ, MAP_SHARED, t.fd, 0);
	h = (void *)base;
	is(h->magic == LKDF_STATS_MAGIC, true, "the magic is there");
	is(h->total_size, t.size, "the size is right");
	is(h->nr_counters, NR_COUNTERS, "all counters are listed");
	is(h->slice_records, 0, "there are no slices");
	counter_add(t.rings[2].counters, COUNTER_WAKES, 5);
	counter_add(t.rings[2].counters, COUNTER_WAKES, 6);
	row = (void *)(base + h->counter_table_offset +
		       COUNTER_WAKES * h->counter_desc_size);
	ok(!strcmp(row->name, "wakes"), "a counter is found by name");
	counter = (void *)(base + h->blocks_offset + 2 * h->block_size +
			   h->counters_offset);
	is(counter[COUNTER_WAKES], 11, "and by its place, with its value");
	munmap(base, t.size);
	trace_close(&t);
	is(t.fd, -1, "closing gives it back");
	trace_close(&t);
	ok(!t.base, "closing again does nothing");
}

/* Slots in a row that a look at a name may have to pass. */
static uint32_t longest_row(const struct trace *t)
{
	uint32_t i, nr = 0, most = 0;

	for (i = 0; i < 2 * NAME_SLOTS; i++) {
		nr = t->name_at[i % NAME_SLOTS] ? nr + 1 : 0;
		most = nr > most ? nr : most;
	}
	return most;
}

static void names_are_numbered_once(void)
{
	struct trace t;
	char name[32];
	uint32_t i, bad = 0;

	open_trace(&t, 1, NULL);
	is(trace_name(&t, "load"), 1, "the first name is 1");
	is(trace_name(&t, "store"), 2, "the next is 2");
	is(trace_name(&t, "load"), 1, "the first keeps its number");
	for (i = 3; i < MAX_NAMES; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		bad += trace_name(&t, name) != i;
	}
	is(bad, 0, "all numbers are used");
	is(trace_name(&t, "one too many"), 0, "then names are told as 0");
	is(trace_name(&t, "name 77"), 77, "older ones are still known");
	ok(longest_row(&t) < 100, "one is found in a few looks, %u at most",
	   longest_row(&t));
	trace_close(&t);
}

/* What a reader of another process does, see trace-format.rst. */
static unsigned read_ring(struct trace_ring *r, uint64_t *oldest)
{
	uint64_t head = a_load(trace_word(&r->block->event_head), acquire), i;
	struct lkdf_stats_event *e;
	unsigned nr = 0;

	*oldest = UINT64_MAX;
	for (i = head > EVENT_RECORDS ? head - EVENT_RECORDS : 0; i < head;
	     i++) {
		if (a_load(trace_word(&r->block->event_head), acquire) - i >=
		    EVENT_RECORDS)
			continue;
		e = (struct lkdf_stats_event *)(void *)r->events +
		    (i & (EVENT_RECORDS - 1));
		if (e->event != EVENT_STEAL || e->a != (uint32_t)i % 7 ||
		    e->b != i)
			return 0;
		if (*oldest == UINT64_MAX)
			*oldest = e->b;
		nr++;
	}
	return nr;
}

static void the_event_ring_keeps_the_newest(void)
{
	uint64_t i, oldest;
	struct trace t;

	open_trace(&t, 1, NULL);
	is(read_ring(&t.rings[0], &oldest), 0, "it starts empty");
	for (i = 0; i < 10; i++)
		trace_event(&t.rings[0], EVENT_STEAL, i % 7, i);
	is(read_ring(&t.rings[0], &oldest), 10, "all of ten are there");
	for (; i < 3 * EVENT_RECORDS + 5; i++)
		trace_event(&t.rings[0], EVENT_STEAL, i % 7, i);
	is(read_ring(&t.rings[0], &oldest), EVENT_RECORDS - 1,
	   "of many the newest are there");
	is(oldest, i - EVENT_RECORDS + 1, "from the right one on");
	trace_close(&t);
}

static void a_full_slice_ring_drops_and_counts(void)
{
	struct lkdf_stats_slice s = { .name = 1 }, *slices;
	_Atomic(uint32_t) bell = 0;
	struct trace_ring *r;
	struct trace t;
	uint64_t i;

	open_trace(&t, 1, NULL);
	r = &t.rings[0];
	trace_slice(r, &s);
	is(a_load(&r->slice_head, relaxed), 0,
	   "without a file nothing is taken");
	slices = calloc(SLICE_RECORDS, sizeof(*slices));
	a_store(&r->slices, slices, relaxed);
	r->bell = &bell;
	for (i = 0; i < SLICE_BELL; i++, s.task++)
		trace_slice(r, &s);
	is(a_load(&bell, relaxed), 0, "a ring with some rings no bell");
	for (; i < SLICE_RECORDS + 5; i++, s.task++)
		trace_slice(r, &s);
	is(a_load(&bell, relaxed), 1, "one that is fuller does, once");
	is(a_load(&r->slice_head, relaxed), SLICE_RECORDS, "the ring is full");
	is(a_load(&r->slice_lost, relaxed), 5, "what found no room is counted");
	is(r->block->slice_lost, 5, "for all to see");
	is(slices[0].task, 0, "the oldest is not overwritten");
	a_store(&r->slice_tail, 1, relaxed);
	s.task = 99;
	trace_slice(r, &s);
	is(slices[0].task, 99, "a slot that was read is used again");
	free(slices);
	trace_close(&t);
}

static void tell_some(struct trace_ring *r, unsigned nr, uint64_t begin)
{
	struct lkdf_stats_slice s = { .name = 1, .begin = begin };

	for (; nr; nr--) {
		s.end = s.begin + 10;
		s.number++;
		trace_slice(r, &s);
		s.begin = s.end;
	}
}

static int empty_file(void)
{
	return memfd_create("file", MFD_CLOEXEC);
}

/* And end, any number of times. */
static void recordings_may_begin_late(void)
{
	struct trace_sum sum = { .slices = 99 };
	struct trace_ring *r;
	uint64_t before;
	struct trace t;
	struct stat st;
	int fd, second;

	open_trace(&t, 1, NULL);
	r = &t.rings[0];
	counter_add(r->counters, COUNTER_TASKS, 70);
	tell_some(r, 3, clock_ticks());
	before = clock_ticks();
	fd = empty_file();
	is(trace_record(&t, dup(fd)), 0, "a recording begins late");
	ok(trace_is_recording(&t), "it is one");
	is(((struct lkdf_stats_header *)t.base)->recording, 1,
	   "all may see it");
	second = empty_file();
	is(trace_record(&t, second), -EBUSY, "a second one does not");
	is(fcntl(second, F_GETFD), -1, "its file is closed");
	tell_some(r, 5, clock_ticks());
	tell_some(r, 2, before - 1000);
	trace_record_end(&t, &sum);
	is(sum.slices, 5, "it has what began since, and nothing from before");
	is(sum.lost, 0, "nothing is lost");
	is(sum.error, 0, "the file took it");
	ok(!trace_is_recording(&t), "it is over");
	ok(!fstat(fd, &st) && st.st_size > 64, "the file has it");
	close(fd);
	tell_some(r, SLICE_RECORDS + 7, clock_ticks());
	is(trace_record(&t, empty_file()), 0, "the next one begins");
	tell_some(r, 4, clock_ticks());
	trace_record_end(&t, &sum);
	is(sum.slices, 4, "and does not have what came between them");
	is(sum.lost, 0, "nor what was lost then");
	is(trace_record(&t, open("/dev/full", O_WRONLY | O_CLOEXEC)), -ENOSPC,
	   "a file without room is refused");
	ok(!trace_is_recording(&t), "nothing is recorded then");
	is(trace_record(&t, empty_file()), 0, "one that is under way");
	trace_close(&t);
	ok(!t.base, "ends with the trace");
}

static void only_files_of_ours_are_replaced(void)
{
	char dir[] = "/tmp/lkdf-test-XXXXXX", file[64], link[64];
	struct trace t;
	struct stat st;
	FILE *f;

	if (!mkdtemp(dir)) {
		ok(false, "a folder is made");
		return;
	}
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	f = fopen(file, "w");
	fputs("old", f);
	fclose(f);
	is(symlink(file, link), 0, "a link to a file is made");
	is(open_trace(&t, 1, link), -EEXIST, "a link is refused");
	trace_close(&t);
	is(open_trace(&t, 1, dir), -EEXIST, "a folder is refused");
	trace_close(&t);
	is(stat(file, &st) || st.st_size != 3, 0, "the file is as it was");
	is(open_trace(&t, 1, file), 0, "a regular file is taken");
	ok(trace_is_recording(&t), "and recorded into");
	trace_close(&t);
	is(stat(file, &st), 0, "it is there");
	is(st.st_mode & 07777, 0600, "for its owner only");
	ok(st.st_size > 64, "and new");
	unlink(link);
	unlink(file);
	is(rmdir(dir), 0, "no other file is left");
}

int main(void)
{
	tap_start(60);
	the_memfd_tells_its_own_layout();
	names_are_numbered_once();
	the_event_ring_keeps_the_newest();
	a_full_slice_ring_drops_and_counts();
	recordings_may_begin_late();
	only_files_of_ours_are_replaced();
	return tap_end();
}
