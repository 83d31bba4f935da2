/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/reader.h"

#include "trace/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_counter_table(struct reader *r)
{
	struct trace_info *t = r->info;
	char unit[TRACE_TEXT];
	uint32_t i;
	int rc;

	rc = reader_below(r, LKDF_MAX_COUNTERS + 1, "counters",
			  &t->nr_counters);
	if (rc)
		return rc;
	t->counter = calloc(t->nr_counters + 1, sizeof(*t->counter));
	if (!t->counter)
		return -ENOMEM;
	for (i = 0; i < t->nr_counters && !rc; i++) {
		rc = reader_text(r, t->counter[i]);
		if (!rc)
			rc = reader_text(r, unit);
	}
	return rc;
}

static int read_about(struct reader *r)
{
	struct trace_info *t = r->info;
	uint32_t i;
	int rc;

	if (r->has_about)
		return reader_damaged(r, r->offset, "a second description");
	r->has_about = true;
	rc = reader_text(r, t->runtime);
	if (!rc)
		rc = read_counter_table(r);
	if (!rc)
		rc = reader_below(r, LKDF_MAX_EVENTS + 1, "sorts of events",
				  &t->nr_events);
	if (rc)
		return rc;
	t->event = calloc(t->nr_events + 1, sizeof(*t->event));
	if (!t->event)
		return -ENOMEM;
	for (i = 0; i < t->nr_events && !rc; i++) {
		rc = reader_text(r, t->event[i].name);
		if (!rc)
			rc = reader_text(r, t->event[i].a);
		if (!rc)
			rc = reader_text(r, t->event[i].b);
	}
	return rc;
}

static int read_executor(struct reader *r)
{
	struct trace_executor x;
	int rc = reader_executor(r, &x.executor);

	if (!rc)
		rc = reader_below(r, 3, "kind of executor", &x.kind);
	if (!rc)
		rc = reader_int32(r, "CPU", &x.cpu);
	if (!rc)
		rc = reader_int32(r, "node", &x.node);
	if (!rc)
		rc = reader_below(r, UINT32_MAX, "thread", &x.tid);
	if (!rc && r->sink->executor)
		r->sink->executor(r->sink->u, &x);
	return rc;
}

static int read_clock(struct reader *r)
{
	uint64_t ticks, ns;
	int rc = reader_number(r, &ticks);

	if (!rc)
		rc = reader_number(r, &ns);
	if (rc)
		return rc;
	if (ticks <= r->clock_ticks || ns <= r->clock_ns)
		return reader_damaged(r, r->offset, "the clock goes back");
	r->clock_ticks = ticks;
	r->clock_ns = ns;
	if (r->sink->clock)
		r->sink->clock(r->sink->u, ticks, ns);
	return 0;
}

static int read_names(struct reader *r)
{
	struct trace_info *t = r->info;
	char text[TRACE_TEXT];
	uint32_t name;
	int rc = 0;

	while (r->at < r->size && !rc) {
		rc = reader_below(r, LKDF_MAX_NAMES, "name", &name);
		if (!rc)
			rc = reader_text(r, text);
		if (rc)
			break;
		free(t->name[name]);
		t->name[name] = strdup(text);
		if (!t->name[name])
			rc = -ENOMEM;
	}
	return rc;
}

static int read_slice(struct reader *r, struct trace_slice *s)
{
	uint64_t at = r->offset + r->at, begin, size, task;
	int rc = reader_signed(r, &begin);

	if (!rc)
		rc = reader_number(r, &size);
	if (!rc)
		rc = reader_name(r, &s->name);
	if (!rc)
		rc = reader_signed(r, &task);
	if (!rc)
		rc = links_next(r, s->executor, &s->links);
	if (rc)
		return rc;
	/* Numbers that wrap are no damage: they come out as they went in. */
	s->begin = s->end + begin;
	s->end = s->begin + size;
	s->task = (int64_t)((uint64_t)s->task + task);
	if (s->end < s->begin)
		return reader_damaged(r, at, "a slice ends before it begins");
	return 0;
}

static int read_slices(struct reader *r)
{
	struct trace_slice s;
	uint64_t task;
	int rc = reader_executor(r, &s.executor);

	if (!rc)
		rc = reader_number(r, &s.end);
	if (!rc)
		rc = reader_number(r, &task);
	if (rc)
		return rc;
	s.task = (int64_t)task;
	while (r->at < r->size && !rc) {
		rc = read_slice(r, &s);
		if (!rc && r->sink->slice)
			r->sink->slice(r->sink->u, &s);
	}
	return rc ? rc : links_end(r);
}

static int read_events(struct reader *r)
{
	struct trace_event e;
	uint64_t ticks;
	int rc = reader_executor(r, &e.executor);

	if (!rc)
		rc = reader_number(r, &e.ticks);
	while (r->at < r->size && !rc) {
		rc = reader_signed(r, &ticks);
		if (!rc)
			rc = reader_below(r, r->info->nr_events, "event",
					  &e.event);
		if (!rc)
			rc = reader_number(r, &e.a);
		if (!rc)
			rc = reader_number(r, &e.b);
		if (rc)
			break;
		e.ticks += ticks;
		if (r->sink->event)
			r->sink->event(r->sink->u, &e);
	}
	return rc;
}

static int read_counters(struct reader *r)
{
	uint32_t executor, i;
	uint64_t v;
	int rc = reader_executor(r, &executor);

	if (!rc)
		rc = reader_number(r, &v);
	if (!rc && r->sink->sample)
		r->sink->sample(r->sink->u, executor, v);
	for (i = 0; r->at < r->size && !rc; i++) {
		if (i == r->info->nr_counters)
			return reader_damaged(r, r->offset + r->at,
					      "more than %u counters", i);
		rc = reader_number(r, &v);
		if (!rc && r->sink->counter)
			r->sink->counter(r->sink->u, executor, i, v);
	}
	return rc;
}

static int read_end(struct reader *r)
{
	struct trace_info *t = r->info;
	int rc = reader_number(r, &t->slices);

	if (!rc)
		rc = reader_number(r, &t->slices_lost);
	if (!rc)
		rc = reader_number(r, &t->events);
	if (!rc)
		rc = reader_number(r, &t->events_lost);
	t->has_ended = !rc;
	return rc;
}

static int read_payload(struct reader *r, uint32_t type)
{
	if (!r->has_about && type != LKDF_CHUNK_ABOUT)
		return reader_damaged(r, r->offset,
				      "the description is missing");
	if (r->links.payload && type != LKDF_CHUNK_SLICES &&
	    type != LKDF_CHUNK_SPANS)
		return reader_damaged(r, r->offset,
				      "links, but no records after them");
	switch (type) {
	case LKDF_CHUNK_ABOUT:
		return read_about(r);
	case LKDF_CHUNK_EXECUTOR:
		return read_executor(r);
	case LKDF_CHUNK_CLOCK:
		return read_clock(r);
	case LKDF_CHUNK_NAMES:
		return read_names(r);
	case LKDF_CHUNK_SLICES:
		return read_slices(r);
	case LKDF_CHUNK_EVENTS:
		return read_events(r);
	case LKDF_CHUNK_COUNTERS:
		return read_counters(r);
	case LKDF_CHUNK_END:
		return read_end(r);
	case LKDF_CHUNK_LINKS:
		return links_take(r);
	default:
		return facts_read(r, type);
	}
}

/* 1: the end of the file. */
static int read_chunk(struct reader *r)
{
	uint8_t head[sizeof(struct lkdf_file_chunk)];
	size_t n = fread(head, 1, sizeof(head), r->f);
	uint64_t start = r->offset;
	uint32_t crc;
	int rc;

	if (!n && !ferror(r->f))
		return 1;
	if (n < sizeof(head))
		return reader_damaged(r, start, "the file ends within a chunk");
	if (r->info->has_ended)
		return reader_damaged(r, start, "a chunk after the end");
	r->size = (uint32_t)trace_le(head + 4, 4);
	r->at = 0;
	if (r->size > LKDF_MAX_CHUNK)
		return reader_damaged(r, start, "a chunk of %u bytes", r->size);
	if (trace_le(head + 8, 4) != r->seq++)
		return reader_damaged(r, start, "chunk %u, expected %u",
				      (unsigned)trace_le(head + 8, 4),
				      r->seq - 1);
	n = fread(r->chunk, 1, r->size, r->f);
	if (n < r->size)
		return reader_damaged(r, start, "the file ends within a chunk");
	crc = trace_crc32(trace_crc32(0, head, 12), r->chunk, r->size);
	if (crc != trace_le(head + 12, 4))
		return reader_damaged(r, start,
				      "a chunk with a wrong checksum");
	r->offset = start + sizeof(head);
	rc = read_payload(r, (uint32_t)trace_le(head, 4));
	r->offset += r->size;
	return rc;
}

static int read_header(struct reader *r)
{
	struct lkdf_file_header *h = &r->info->header;
	uint8_t b[sizeof(*h)];

	if (fread(b, 1, sizeof(b), r->f) != sizeof(b))
		return reader_damaged(r, 0,
				      "the file is shorter than its header");
	if (trace_le(b, 8) != LKDF_FILE_MAGIC)
		return reader_damaged(r, 0, "this is no lkdf trace");
	if (trace_le(b + 60, 4) != trace_crc32(0, b, 60))
		return reader_damaged(r, 0, "a header with a wrong checksum");
	h->magic = LKDF_FILE_MAGIC;
	h->version = (uint32_t)trace_le(b + 8, 4);
	h->header_size = (uint32_t)trace_le(b + 12, 4);
	h->ticks_per_1024ns = (uint32_t)trace_le(b + 16, 4);
	h->nr_executors = (uint32_t)trace_le(b + 20, 4);
	h->start_ticks = trace_le(b + 24, 8);
	h->start_ns = trace_le(b + 32, 8);
	h->pid = (uint32_t)trace_le(b + 40, 4);
	if (h->version != LKDF_FILE_VERSION || h->header_size != sizeof(b))
		return reader_damaged(r, 8,
				      "version %u with a header of %u bytes",
				      h->version, h->header_size);
	if (!h->ticks_per_1024ns)
		return reader_damaged(r, 16, "a clock that stands still");
	if (h->nr_executors > LKDF_MAX_EXECUTORS)
		return reader_damaged(r, 20, "%u executors", h->nr_executors);
	r->offset = sizeof(b);
	r->clock_ticks = h->start_ticks;
	r->clock_ns = h->start_ns;
	return 0;
}

int trace_read(FILE *f, const struct trace_sink *sink, struct trace_info *info,
	       struct trace_fault *fault)
{
	struct reader r = {
		.f = f,
		.sink = sink,
		.info = info,
		.fault = fault,
	};
	int rc;

	memset(info, 0, sizeof(*info));
	rewind(f);
	info->name = calloc(LKDF_MAX_NAMES, sizeof(*info->name));
	r.chunk = malloc(LKDF_MAX_CHUNK);
	rc = info->name && r.chunk ? read_header(&r) : -ENOMEM;
	while (!rc)
		rc = read_chunk(&r);
	if (rc == 1)
		rc = info->has_ended
			     ? 0
			     : reader_damaged(
				       &r, r.offset,
				       "the file was cut or is still written");
	if (ferror(f))
		rc = -EIO;
	free(r.chunk);
	links_fini(&r);
	facts_fini(&r);
	return rc;
}

void trace_info_fini(struct trace_info *info)
{
	uint32_t i;

	for (i = 0; info->name && i < LKDF_MAX_NAMES; i++)
		free(info->name[i]);
	free(info->name);
	free(info->counter);
	free(info->event);
	memset(info, 0, sizeof(*info));
}
