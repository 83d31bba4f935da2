/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/last.h"

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void list_init(struct last_list *l)
{
	l->first = NULL;
	l->end = &l->first;
}

struct last *last_open(const char *pattern, int64_t keep_ns,
		       const struct lkdf_file_header *h)
{
	struct last *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->pattern = pattern;
	l->keep_ns = keep_ns;
	l->header = *h;
	list_init(&l->words);
	list_init(&l->times);
	return l;
}

static void free_list(struct last_list *l)
{
	struct last_chunk *c;

	while ((c = l->first)) {
		l->first = c->next;
		free(c);
	}
	l->end = &l->first;
}

void last_close(struct last *l)
{
	if (!l)
		return;
	free_list(&l->words);
	free_list(&l->times);
	free(l);
}

static uint32_t type_of(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Chunks that later ones speak of, and that are told once. */
static bool is_word(const uint8_t *bytes)
{
	switch (type_of(bytes)) {
	case LKDF_CHUNK_ABOUT:
	case LKDF_CHUNK_EXECUTOR:
	case LKDF_CHUNK_NAMES:
	case LKDF_CHUNK_KINDS:
	case LKDF_CHUNK_GRAPH:
	case LKDF_CHUNK_TASKS:
	case LKDF_CHUNK_EDGES:
	case LKDF_CHUNK_FACTS:
	case LKDF_CHUNK_LANE:
		return true;
	default:
		return false;
	}
}

static void count_chunk(struct last *l, const struct last_chunk *c, bool is_in)
{
	uint64_t records = is_in ? c->records : (uint64_t)0 - c->records;

	l->bytes += is_in ? c->size : (uint64_t)0 - c->size;
	if (type_of(c->bytes) == LKDF_CHUNK_SLICES)
		l->slices += records;
	if (type_of(c->bytes) == LKDF_CHUNK_EVENTS)
		l->events += records;
}

static void drop_oldest(struct last *l)
{
	struct last_chunk *c = l->times.first;

	count_chunk(l, c, false);
	l->times.first = c->next;
	if (!c->next)
		l->times.end = &l->times.first;
	free(c);
}

/* LINKS without the chunk that they are for would be for another one. */
static void drop_old(struct last *l, int64_t now)
{
	struct last_chunk *c;

	while ((c = l->times.first) &&
	       (c->at_ns < now - l->keep_ns || l->bytes > LAST_BYTES)) {
		bool is_links = type_of(c->bytes) == LKDF_CHUNK_LINKS;

		drop_oldest(l);
		if (is_links && l->times.first)
			drop_oldest(l);
	}
}

void last_keep(struct last *l, const struct trace_file *f)
{
	struct last_chunk *c = malloc(sizeof(*c) + f->used);
	struct last_list *to;

	if (!c) {
		l->nr_left_out++;
		return;
	}
	*c = (struct last_chunk){
		.at_ns = clock_now_ns(),
		.size = f->used,
		.records = f->records,
	};
	memcpy(c->bytes, f->buf, f->used);
	to = is_word(c->bytes) ? &l->words : &l->times;
	*to->end = c;
	to->end = &c->next;
	if (to == &l->words)
		return;
	count_chunk(l, c, true);
	/* A chunk of links stays until the one that it is for is there. */
	if (type_of(c->bytes) != LKDF_CHUNK_LINKS)
		drop_old(l, c->at_ns);
}

static void write_list(struct trace_file *f, const struct last_list *l)
{
	const struct last_chunk *c;

	for (c = l->first; c; c = c->next) {
		memcpy(f->buf, c->bytes, c->size);
		f->used = c->size;
		chunk_end(f);
	}
}

static void write_end(struct trace_file *f, const struct last *l,
		      const uint64_t lost[2])
{
	chunk_begin(f, LKDF_CHUNK_END);
	chunk_number(f, l->slices);
	chunk_number(f, lost[0]);
	chunk_number(f, l->events);
	chunk_number(f, lost[1]);
	chunk_end(f);
}

static int write_kept(struct trace_file *f, const struct last *l,
		      const uint64_t lost[2])
{
	int rc;

	write_list(f, &l->words);
	write_list(f, &l->times);
	write_end(f, l, lost);
	rc = f->error;
	trace_file_close(f);
	return rc ? err(rc, "trace: file %s: %s", f->path, strerror(-rc)) : 0;
}

int last_write(struct last *l, const uint64_t lost[2], char *path, size_t size)
{
	struct trace_file *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return err(-ENOMEM, "trace: no memory for the file");
	drop_old(l, clock_now_ns());
	rc = trace_file_open(f, l->pattern, &l->header);
	if (!rc)
		rc = write_kept(f, l, lost);
	snprintf(path, size, "%s", f->path);
	free(f);
	return rc;
}

int last_write_into(struct last *l, const uint64_t lost[2], int fd)
{
	struct trace_file *f = calloc(1, sizeof(*f));
	int rc;

	if (!f) {
		close(fd);
		return err(-ENOMEM, "trace: no memory for the file");
	}
	drop_old(l, clock_now_ns());
	rc = trace_file_take(f, fd, &l->header);
	if (!rc)
		rc = write_kept(f, l, lost);
	free(f);
	return rc;
}
