/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A flight recorder: the chunks of a recording in memory, of which those that
 * tell what happened go when they are older than asked. Whenever somebody asks
 * the rest is written into a file. The thread that writes the recording owns
 * it.
 */
#ifndef TRACE_LAST_H
#define TRACE_LAST_H

#include "trace/file.h"

#include <stdint.h>

/* Beyond so many bytes the oldest go, whatever their age. */
#define LAST_BYTES (256u << 20)

struct last_chunk {
	struct last_chunk *next;
	int64_t at_ns; /* when it was kept */
	uint32_t size, records; /* records: of END */
	uint8_t bytes[];
};

struct last_list {
	struct last_chunk *first, **end;
};

struct last {
	int64_t keep_ns;
	const char *pattern; /* of names of files, borrowed */
	struct lkdf_file_header header;
	struct last_list words; /* names, kinds, graphs: kept for good */
	struct last_list times;
	uint64_t bytes; /* of times */
	uint64_t slices, events; /* in times */
	uint64_t nr_left_out; /* for want of memory */
};

struct last *last_open(const char *pattern, int64_t keep_ns,
		       const struct lkdf_file_header *h);
void last_close(struct last *l);

/* Takes a whole chunk; file.c. */
void last_keep(struct last *l, const struct trace_file *f);

/*
 * Writes a file of all that is kept; lost: slices and events, as in END. In
 * path is its name then. 0; -errno, err() has said why.
 */
int last_write(struct last *l, const uint64_t lost[2], char *path, size_t size);

/* last_write() into an empty file, which is taken over in any case. */
int last_write_into(struct last *l, const uint64_t lost[2], int fd);

#endif
