/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/finish.h"

#include "trace/bytes.h"
#include "trace/read.h"

#include <errno.h>
#include <unistd.h>

struct counts {
	uint64_t slices, spans, events;
};

static void on_slice(void *u, const struct trace_slice *s)
{
	(void)s;
	((struct counts *)u)->slices++;
}

static void on_span(void *u, const struct trace_span *s)
{
	(void)s;
	((struct counts *)u)->spans++;
}

static void on_event(void *u, const struct trace_event *e)
{
	(void)e;
	((struct counts *)u)->events++;
}

struct whole {
	uint32_t nr; /* chunks */
	uint64_t end; /* of the last one, in the file */
	uint64_t links; /* where it begins, if it is LINKS; else 0 */
};

/* The whole chunks before the offset. */
static struct whole find_whole(FILE *f, uint64_t limit)
{
	uint8_t head[sizeof(struct lkdf_file_chunk)];
	struct whole w = { .end = sizeof(struct lkdf_file_header) };
	uint64_t size;

	for (;; w.nr++, w.end += size) {
		if (fseeko(f, (off_t)w.end, SEEK_SET) ||
		    fread(head, 1, sizeof(head), f) != sizeof(head))
			break;
		size = sizeof(head) + trace_le(head + 4, 4);
		if (w.end + size > limit)
			break;
		w.links = trace_le(head, 4) == LKDF_CHUNK_LINKS ? w.end : 0;
	}
	return w;
}

static void put_le(uint8_t *to, uint64_t v, int size)
{
	for (; size; size--, v >>= 8)
		*to++ = (uint8_t)v;
}

static uint8_t *put_number(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at++ = (uint8_t)v;
	return at;
}

/* 1, or -errno: then the file ends there. */
static int write_end(int fd, uint64_t at, uint32_t seq, const struct counts *c,
		     uint64_t lost)
{
	uint8_t b[64] = { 0 }, *p = b + sizeof(struct lkdf_file_chunk);
	uint32_t crc;
	size_t size;
	ssize_t n;
	int rc;

	p = put_number(p, c->slices);
	p = put_number(p, lost);
	p = put_number(p, c->events);
	p = put_number(p, 0);
	size = (size_t)(p - b);
	put_le(b, LKDF_CHUNK_END, 4);
	put_le(b + 4, size - sizeof(struct lkdf_file_chunk), 4);
	put_le(b + 8, seq, 4);
	crc = trace_crc32(0, b, 12);
	crc = trace_crc32(crc, b + 16, size - 16);
	put_le(b + 12, crc, 4);
	if (ftruncate(fd, (off_t)at))
		return -errno;
	n = pwrite(fd, b, size, (off_t)at);
	if (n == (ssize_t)size)
		return 1;
	rc = n < 0 ? -errno : -ENOSPC;
	return ftruncate(fd, (off_t)at) ? -errno : rc;
}

static bool has_no_room(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

/*
 * Where the last whole chunk ends, as the reader sees it. -EAGAIN: on a full
 * disk that chunk is cut, and makes room for the end.
 */
static int finish(FILE *f, uint64_t begun)
{
	struct counts c = { .slices = 0 };
	const struct trace_sink sink = {
		.slice = on_slice,
		.span = on_span,
		.event = on_event,
		.u = &c,
	};
	struct trace_fault fault;
	struct trace_info info;
	struct whole w;
	uint64_t there;
	int rc;

	rc = trace_read(f, &sink, &info, &fault);
	trace_info_fini(&info);
	if (rc != -EBADMSG)
		return rc;
	if (fault.offset < sizeof(struct lkdf_file_header))
		return rc;
	w = find_whole(f, fault.offset);
	/* A fault within a chunk is no cut; the first one cannot be missed. */
	if (w.end != fault.offset || !w.nr)
		return rc;
	/* The records of these links are cut off. */
	if (w.links) {
		w.end = w.links;
		w.nr--;
	}
	there = c.slices + c.spans;
	rc = write_end(fileno(f), w.end, w.nr, &c,
		       begun > there ? begun - there : 0);
	if (!has_no_room(rc) || w.nr < 2)
		return rc;
	return ftruncate(fileno(f), (off_t)w.end - 1) ? -errno : -EAGAIN;
}

int trace_finish(const char *path, uint64_t begun)
{
	FILE *f;
	int rc;

	do {
		f = fopen(path, "r+e");
		if (!f)
			return -errno;
		rc = finish(f, begun);
		if (fclose(f) && rc >= 0)
			rc = -errno;
	} while (rc == -EAGAIN);
	return rc;
}
