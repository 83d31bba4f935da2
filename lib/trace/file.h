/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Writes a file *.lkdf chunk by chunk. After the first error of write(2)
 * nothing more is written, and file.error says why. Called by one thread at a
 * time.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "base/own_fd.h"
#include "trace/crc.h"

#include <limits.h>
#include <lkdf/format.h>
#include <stdbool.h>

/* A chunk is written when it has grown so far. */
#define CHUNK_FULL 65536u
/* Beyond that, whatever is added before chunk_is_full() is looked at. */
#define CHUNK_ROOM 8192u

struct last;

struct trace_file {
	struct last *last; /* that keeps the chunks; NULL: a file has them */
	struct own_fd own;
	int error; /* 0, or -errno of write(2) */
	uint64_t size; /* bytes of the file */
	uint32_t seq; /* of the next chunk */
	uint32_t used; /* of buf */
	uint32_t records; /* of the chunk: slices or events */
	char path[PATH_MAX]; /* as it was made */
	struct crc crc;
	uint8_t buf[sizeof(struct lkdf_file_chunk) + CHUNK_FULL + CHUNK_ROOM];
};

/*
 * Makes a file by a pattern, see name.h, and writes the header; h needs no
 * crc. -EEXIST, -EPERM: there is something else of that name.
 */
int trace_file_open(struct trace_file *f, const char *pattern,
		    struct lkdf_file_header *h);

/* Writes into an empty file that is there; takes over fd in any case. */
int trace_file_take(struct trace_file *f, int fd, struct lkdf_file_header *h);
/* No file: l, which is borrowed, keeps what is written. */
void trace_file_keep(struct trace_file *f, struct last *l);
void trace_file_close(struct trace_file *f);

/* A chunk of at most CHUNK_FULL + CHUNK_ROOM bytes. */
void chunk_begin(struct trace_file *f, enum lkdf_chunk_type type);
void chunk_text(struct trace_file *f, const char *text);
void chunk_bytes(struct trace_file *f, const void *bytes, uint32_t size);
void chunk_end(struct trace_file *f);
/* A chunk without a payload is not written. */
void chunk_end_if_any(struct trace_file *f);

static inline void chunk_number(struct trace_file *f, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		f->buf[f->used++] = (uint8_t)(v | 0x80);
	f->buf[f->used++] = (uint8_t)v;
}

static inline void chunk_signed(struct trace_file *f, int64_t v)
{
	chunk_number(f, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

static inline bool chunk_is_full(const struct trace_file *f)
{
	return f->used >= CHUNK_FULL;
}

#endif
