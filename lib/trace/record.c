/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/record.h"

#include "base/err.h"
#include "trace/drain.h"
#include "trace/memfd.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Rings begin at a page of their own. */
#define RINGS_OFFSET 4096

static size_t late_size(const struct trace *t)
{
	return RINGS_OFFSET + ((size_t)t->nr_executors + 1) * SLICE_RECORDS *
				      sizeof(struct lkdf_stats_slice);
}

static void fill_header(const struct trace *t, struct lkdf_slices_header *h)
{
	*h = (struct lkdf_slices_header){
		.magic = LKDF_SLICES_MAGIC,
		.version = LKDF_STATS_VERSION,
		.pid = (uint32_t)getpid(),
		.start_ticks = t->start_ticks,
		.nr_executors = (uint32_t)t->nr_executors,
		.slice_records = SLICE_RECORDS,
		.slice_size = sizeof(struct lkdf_stats_slice),
		.slices_offset = RINGS_OFFSET,
	};
}

/*
 * Rings of a recording that begins late lie beside the memfd, so that a program
 * that nobody records has no address space and no file size for them. They stay
 * until close, as whoever has begun to write goes on.
 */
static int map_rings(struct trace *t)
{
	struct lkdf_stats_slice *s;
	int i;

	if (a_load(&t->rings[0].slices, relaxed))
		return 0;
	t->late = memfd_map(LKDF_SLICES_NAME, late_size(t), &t->late_fd);
	t->late_own = own_fd_of(t->late_fd);
	if (!t->late)
		return err(-ENOMEM, "trace: no memory for rings of %zu bytes",
			   late_size(t));
	fill_header(t, t->late);
	s = (void *)((char *)t->late + RINGS_OFFSET);
	for (i = 0; i <= t->nr_executors; i++, s += SLICE_RECORDS)
		a_store(&t->rings[i].slices, s, relaxed);
	return 0;
}

/* The memory goes back; who looks or still writes finds zeros there. */
static void empty_rings(const struct trace *t)
{
	if (t->late)
		madvise((char *)t->late + RINGS_OFFSET,
			late_size(t) - RINGS_OFFSET,
			t->late_fd < 0 ? MADV_DONTNEED : MADV_REMOVE);
}

static void drop_notes(struct trace *t)
{
	struct trace_note *n;

	while ((n = t->notes)) {
		t->notes = n->next;
		free(n);
	}
	t->notes_end = &t->notes;
}

/* From here on what is told of graphs is for this recording. */
static void set_recording(struct trace *t, uint32_t number)
{
	struct lkdf_stats_header *h = t->base;
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	drop_notes(t);
	t->nr_graphs = 0;
	for (i = 0; i < MAX_NAMES; i++)
		t->kinds[i].is_told = false;
	a_store(&t->recording, number, relaxed);
	pthread_mutex_unlock(&t->lock);
	a_store((_Atomic(uint32_t) *)(void *)&h->recording, number != 0,
		relaxed);
}

/* Into a file by name, or one that was given. */
static int start_recording(struct trace *t, const char *file, int fd)
{
	int rc;

	set_recording(t, ++t->nr_recordings);
	rc = drain_start(t, file, fd, &t->drain);
	if (rc)
		set_recording(t, 0);
	return rc;
}

int trace_record(struct trace *t, int fd)
{
	int rc = 0;

	if (t->drain)
		rc = err(-EBUSY, "trace: it is recorded already, file %s",
			 drain_path(t->drain));
	if (!rc)
		rc = map_rings(t);
	if (!rc)
		return start_recording(t, NULL, fd);
	close(fd);
	return rc;
}

void trace_record_end(struct trace *t, struct trace_sum *sum)
{
	if (!t->drain)
		return;
	drain_stop(t->drain, sum);
	t->drain = NULL;
	set_recording(t, 0);
	empty_rings(t);
}

int record_open(struct trace *t, const char *file)
{
	return start_recording(t, file, -1);
}

void record_fini(struct trace *t)
{
	drop_notes(t);
	if (t->late)
		munmap(t->late, late_size(t));
	own_fd_close(&t->late_own);
}
