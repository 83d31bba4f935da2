/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Chunk LINKS, kept and read beside the records of the chunk after it. */
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int links_take(struct reader *r)
{
	struct link_state *l = &r->links;
	int rc = reader_lane(r, &l->executor);

	if (!rc)
		rc = reader_number(r, &l->ready);
	if (rc)
		return rc;
	l->size = r->size - r->at;
	l->offset = r->offset + r->at;
	l->payload = malloc(l->size + 1u);
	if (!l->payload)
		return -ENOMEM;
	memcpy(l->payload, r->chunk + r->at, l->size);
	l->at = 0;
	l->is_over = false;
	l->by_number = 0;
	l->last = (struct trace_links){ .is_known = true, .by_executor = -1 };
	r->at = r->size;
	return 0;
}

/* The fields that bits name; r reads the kept payload meanwhile. */
static int read_by(struct reader *r, unsigned how)
{
	struct link_state *l = &r->links;
	uint32_t executor = l->executor;
	uint64_t number = 0;
	int rc = 0;

	if (how == LKDF_BY_NOBODY) {
		l->last.by_executor = -1;
		l->last.by_number = 0;
	}
	if (how == LKDF_BY_NOBODY || how == LKDF_BY_LAST)
		return 0;
	if (how == LKDF_BY_OTHER)
		rc = reader_lane(r, &executor);
	if (!rc)
		rc = reader_signed(r, &number);
	number += how == LKDF_BY_OWN ? l->last.number : l->by_number;
	l->last.by_executor = (int32_t)executor;
	l->last.by_number = l->by_number = number;
	return rc;
}

static int read_edge(struct reader *r)
{
	struct link_state *l = &r->links;
	int rc = reader_name(r, &l->last.edge);

	return rc ? rc
		  : reader_below(r, UINT16_MAX + 1ull, "mode",
				 &l->last.edge_mode);
}

static int read_rest(struct reader *r, uint64_t bits)
{
	struct link_state *l = &r->links;
	uint64_t v = 0;
	int rc = 0;

	if (bits & LKDF_LINK_READY) {
		rc = reader_signed(r, &v);
		l->ready += v;
	}
	l->last.ready = bits & LKDF_LINK_READY ? l->ready : 0;
	if (!rc && bits & LKDF_LINK_RUN) {
		rc = reader_below(r, LKDF_MAX_FRAMES + 1ull, "frame",
				  &l->last.frame);
		if (!rc)
			rc = reader_signed(r, &v);
		l->last.run += v;
	}
	if (!rc && bits & LKDF_LINK_BYTES) {
		rc = reader_number(r, &l->last.local);
		if (!rc)
			rc = reader_number(r, &l->last.remote);
	}
	if (!rc && bits & LKDF_LINK_EDGE)
		rc = read_edge(r);
	return rc;
}

static int read_record(struct reader *r)
{
	struct link_state *l = &r->links;
	uint64_t bits, v = 0;
	int rc = reader_number(r, &bits);

	if (rc)
		return rc;
	if (bits & ~(uint64_t)LKDF_LINK_ALL) {
		l->is_over = true;
		return 0;
	}
	if (bits & LKDF_LINK_NUMBER)
		rc = reader_signed(r, &v);
	l->last.number += v + 1;
	if (!rc)
		rc = read_by(r, (unsigned)(bits & LKDF_LINK_BY) >> 1);
	return rc ? rc : read_rest(r, bits);
}

/* The reader reads the kept payload, and then the chunk again. */
static void swap_payload(struct reader *r)
{
	struct link_state *l = &r->links;
	uint8_t *payload = r->chunk;
	uint32_t size = r->size, at = r->at;
	uint64_t offset = r->offset;

	r->chunk = l->payload;
	r->size = l->size;
	r->at = l->at;
	r->offset = l->offset;
	l->payload = payload;
	l->size = size;
	l->at = at;
	l->offset = offset;
}

int links_next(struct reader *r, uint32_t executor, struct trace_links *out)
{
	struct link_state *l = &r->links;
	int rc = 0;

	*out = (struct trace_links){ .by_executor = -1 };
	if (!l->payload || l->is_over)
		return 0;
	if (executor != l->executor)
		return reader_damaged(r, r->offset,
				      "links of %u before records of %u",
				      l->executor, executor);
	swap_payload(r);
	rc = read_record(r);
	swap_payload(r);
	if (!rc && !l->is_over)
		*out = l->last;
	return rc;
}

int links_end(struct reader *r)
{
	struct link_state *l = &r->links;
	uint64_t at = l->offset + l->at;
	bool is_long = l->payload && !l->is_over && l->at < l->size;

	links_fini(r);
	return is_long ? reader_damaged(r, at, "more links than records") : 0;
}

void links_fini(struct reader *r)
{
	free(r->links.payload);
	r->links.payload = NULL;
}
