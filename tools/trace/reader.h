/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The reading of one chunk's payload, number by number: what trace/read.c and
 * those that read the later chunks share. All return 0, -EBADMSG with the
 * fault noted, or -ENOMEM.
 */
#ifndef TOOLS_TRACE_READER_H
#define TOOLS_TRACE_READER_H

#include "trace/read.h"

/* Links of the records of the next chunk; see trace/links.c. */
struct link_state {
	uint8_t *payload; /* a copy; NULL: none */
	uint32_t size, at;
	uint32_t executor;
	uint64_t offset;
	bool is_over; /* later versions know what follows */
	struct trace_links last;
	uint64_t by_number, ready;
};

struct reader {
	FILE *f;
	const struct trace_sink *sink;
	struct trace_info *info;
	struct trace_fault *fault;
	uint64_t offset; /* of the chunk's payload in the file */
	uint64_t clock_ticks, clock_ns; /* the last pair */
	uint32_t seq;
	bool has_about;
	uint8_t *chunk; /* the payload */
	uint32_t size, at;

	struct link_state links;
	/* Elements of the last list, as many as fit into a chunk; NULL: no list
	 * yet. */
	uint32_t *list;
	uint64_t *nodes; /* LKDF_MAX_NODES; NULL: none yet */
	uint8_t *graphs; /* told, a bit each; NULL: none */
	uint8_t lanes[LKDF_MAX_LANES / 8]; /* told */
};

int reader_damaged(struct reader *r, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int reader_number(struct reader *r, uint64_t *out);
int reader_signed(struct reader *r, uint64_t *out);

/* A number that must be below limit. */
int reader_below(struct reader *r, uint64_t limit, const char *what,
		 uint32_t *out);

/* -1 or more. */
int reader_int32(struct reader *r, const char *what, int32_t *out);

/* Characters that are no text become question marks. */
int reader_text(struct reader *r, char to[TRACE_TEXT]);

/* An executor or the outside. */
int reader_executor(struct reader *r, uint32_t *out);

/* An executor, the outside, or a lane that was told. */
int reader_lane(struct reader *r, uint32_t *out);

/* A name that was told. */
int reader_name(struct reader *r, uint32_t *out);

static inline bool reader_has_more(const struct reader *r)
{
	return r->at < r->size;
}

/* ---- trace/links.c ------------------------------------------------------ */

/* Keeps the chunk LINKS for the next one. */
int links_take(struct reader *r);

/* Those of the next record of a chunk of that executor or lane. */
int links_next(struct reader *r, uint32_t executor, struct trace_links *out);

/* The chunk is over: as many links as records? */
int links_end(struct reader *r);
void links_fini(struct reader *r);

/* ---- trace/facts.c ------------------------------------------------------ */

/* The chunks from LKDF_CHUNK_SPANS on; unknown ones are skipped. */
int facts_read(struct reader *r, uint32_t type);
void facts_fini(struct reader *r);

/* ---- trace/kernel_facts.c ----------------------------------------------- */

/* The chunk KERNEL; records that are not known are skipped. */
int kernel_read(struct reader *r);

#endif
