/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/carry.h"

/* Numbers to which the next record of a chunk is a difference. */
struct links {
	uint64_t number, by, by_number, ready, local, remote;
	uint32_t frame, run, edge;
};

static bool is_body(const struct lkdf_stats_slice *s)
{
	return !(s->number >> 48);
}

/* The span is on a lane of its own: a device's row, or a thread of the program.
 */
static bool is_of_row(const struct lkdf_stats_slice *s)
{
	uint64_t sort = s->number >> 48;

	return sort == LKDF_SPAN_KERNEL || sort == LKDF_SPAN_COPY ||
	       sort == LKDF_SPAN_ROOM || sort == LKDF_SPAN_BLOCKS;
}

static uint32_t lane_of(const struct carry *c, const struct lkdf_stats_slice *s)
{
	return is_of_row(s) ? c->nr_executors + 1 + s->task : c->executor;
}

/* It is of that sort and lane, and did not begin in an earlier recording. */
static bool slice_belongs(const struct carry *c,
			  const struct lkdf_stats_slice *s, bool to_bodies)
{
	return s->begin >= c->since && is_body(s) == to_bodies &&
	       lane_of(c, s) == c->lane;
}

static const struct lkdf_stats_slice *
slice_at(const struct lkdf_stats_slice *ring, uint64_t i)
{
	return &ring[i & (SLICE_RECORDS - 1)];
}

/* False: a lane of a device that this recording does not know. */
static bool is_told(const struct carry *c, uint64_t by)
{
	uint32_t lane = LKDF_UID_EXECUTOR(by);

	if (lane <= c->nr_executors)
		return true;
	lane -= c->nr_executors + 1;
	return c->lanes && c->lanes[lane / 8] & 1u << lane % 8;
}

static unsigned by_of(const struct carry *c, const struct links *l, uint64_t by)
{
	if (!by || !is_told(c, by))
		return LKDF_BY_NOBODY;
	if (by == l->by)
		return LKDF_BY_LAST;
	return LKDF_UID_EXECUTOR(by) == c->lane ? LKDF_BY_OWN : LKDF_BY_OTHER;
}

static void write_by(const struct carry *c, struct links *l, unsigned how,
		     uint64_t by, uint64_t number)
{
	uint64_t by_number = LKDF_UID_NUMBER(by);

	l->by = by;
	if (how != LKDF_BY_OWN && how != LKDF_BY_OTHER)
		return;
	if (how == LKDF_BY_OTHER) {
		chunk_number(c->file, LKDF_UID_EXECUTOR(by));
		number = l->by_number;
	}
	chunk_signed(c->file, (int64_t)(by_number - number));
	l->by_number = by_number;
}

/* A stale time is of a recording before this one. */
static bool knows_ready(const struct carry *c, const struct lkdf_stats_slice *s)
{
	return s->ready >= c->since && s->ready <= s->begin;
}

static uint32_t run_of(const struct lkdf_stats_slice *s)
{
	return s->frame ? s->run : 0;
}

/* A name that came after the names of this round is told as none. */
static uint32_t edge_of(const struct carry *c, const struct lkdf_stats_slice *s)
{
	if (s->frame || !is_body(s))
		return 0;
	return LKDF_EDGE_NAME(s->run) < c->nr_names ? s->run : 0;
}

/* The fields that bits ask for, but for who made it ready. */
static void write_rest(const struct carry *c, struct links *l, unsigned bits,
		       const struct lkdf_stats_slice *s)
{
	if (bits & LKDF_LINK_READY) {
		chunk_signed(c->file, (int64_t)(s->ready - l->ready));
		l->ready = s->ready;
	}
	if (bits & LKDF_LINK_RUN) {
		chunk_number(c->file, s->frame);
		chunk_signed(c->file, (int64_t)run_of(s) - (int64_t)l->run);
		l->frame = s->frame;
		l->run = run_of(s);
	}
	if (bits & LKDF_LINK_BYTES) {
		chunk_number(c->file, l->local);
		chunk_number(c->file, l->remote);
	}
	if (bits & LKDF_LINK_EDGE) {
		chunk_number(c->file, LKDF_EDGE_NAME(l->edge));
		chunk_number(c->file, LKDF_EDGE_MODE(l->edge));
	}
}

/* Most records are of no graph, and have waited for no data. */
static unsigned place_bits(const struct carry *c, struct links *l,
			   const struct lkdf_stats_slice *s)
{
	unsigned bits;
	uint32_t edge;

	if (likely(!(s->frame | s->run | l->frame | l->run | l->edge)))
		return 0;
	edge = edge_of(c, s);
	bits = s->frame != l->frame || run_of(s) != l->run ? LKDF_LINK_RUN : 0;
	bits |= edge != l->edge ? LKDF_LINK_EDGE : 0;
	l->edge = edge;
	return bits;
}

static void write_link(const struct carry *c, struct links *l,
		       const struct lkdf_stats_slice *s)
{
	uint64_t number = LKDF_UID_NUMBER(s->number);
	uint64_t value = is_body(s) ? s->value : 0;
	uint64_t local = (uint32_t)value * 64ull, remote = value >> 32 << 6;
	bool knows = knows_ready(c, s);
	uint64_t by = knows || !is_body(s) ? s->by : 0;
	unsigned how = by_of(c, l, by), bits = how << 1;

	bits |= number != l->number + 1 ? LKDF_LINK_NUMBER : 0;
	bits |= knows ? LKDF_LINK_READY : 0;
	bits |= place_bits(c, l, s);
	bits |= local != l->local || remote != l->remote ? LKDF_LINK_BYTES : 0;
	l->local = local;
	l->remote = remote;
	chunk_number(c->file, bits);
	if (bits & LKDF_LINK_NUMBER)
		chunk_signed(c->file, (int64_t)(number - l->number - 1));
	l->number = number;
	write_by(c, l, how, by, number);
	write_rest(c, l, bits, s);
}

/* For all bodies, or for all spans. */
static uint32_t write_links(const struct carry *c,
			    const struct lkdf_stats_slice *ring, uint64_t from,
			    uint64_t to, bool of_bodies)
{
	struct links l = { .number = 0 };
	const struct lkdf_stats_slice *s;
	uint32_t nr = 0;

	for (; from != to; from++) {
		s = slice_at(ring, from);
		if (!slice_belongs(c, s, of_bodies))
			continue;
		if (!nr++) {
			l.ready = s->begin;
			chunk_begin(c->file, LKDF_CHUNK_LINKS);
			chunk_number(c->file, c->lane);
			chunk_number(c->file, l.ready);
		}
		write_link(c, &l, s);
	}
	if (nr)
		chunk_end(c->file);
	return nr;
}

static uint32_t name_of(const struct carry *c, const struct lkdf_stats_slice *s)
{
	return s->name < c->nr_names ? s->name : 0;
}

/* Clocks of two CPUs may differ. */
static uint64_t length_of(const struct lkdf_stats_slice *s)
{
	return s->end > s->begin ? s->end - s->begin : 0;
}

static void write_bodies(const struct carry *c,
			 const struct lkdf_stats_slice *ring, uint64_t from,
			 uint64_t to)
{
	struct trace_file *f = c->file;
	const struct lkdf_stats_slice *s;
	uint64_t at = slice_at(ring, from)->begin;
	int64_t task = 0, next;
	uint32_t nr = 0;

	chunk_begin(f, LKDF_CHUNK_SLICES);
	chunk_number(f, c->executor);
	chunk_number(f, at);
	chunk_number(f, 0);
	for (; from != to; from++) {
		s = slice_at(ring, from);
		if (!slice_belongs(c, s, true))
			continue;
		next = s->task == NO_SLICE_TASK ? -1 : (int64_t)s->task;
		chunk_signed(f, (int64_t)(s->begin - at));
		chunk_number(f, length_of(s));
		chunk_number(f, name_of(c, s));
		chunk_signed(f, next - task);
		nr++;
		at = s->begin + length_of(s);
		task = next;
	}
	f->records = nr;
	chunk_end(f);
}

static void write_spans(const struct carry *c,
			const struct lkdf_stats_slice *ring, uint64_t from,
			uint64_t to)
{
	struct trace_file *f = c->file;
	const struct lkdf_stats_slice *s;
	uint64_t at = slice_at(ring, from)->begin;

	chunk_begin(f, LKDF_CHUNK_SPANS);
	chunk_number(f, c->lane);
	chunk_number(f, at);
	for (; from != to; from++) {
		s = slice_at(ring, from);
		if (!slice_belongs(c, s, false))
			continue;
		chunk_number(f, s->number >> 48);
		chunk_signed(f, (int64_t)(s->begin - at));
		chunk_number(f, length_of(s));
		chunk_number(f, name_of(c, s));
		chunk_signed(f, (int64_t)s->value);
		at = s->begin + length_of(s);
	}
	chunk_end(f);
}

/* The lowest lane above that one; 0: there is none. */
static uint32_t next_lane(const struct carry *c,
			  const struct lkdf_stats_slice *ring, uint64_t from,
			  uint64_t to, uint32_t above)
{
	uint32_t lane, lowest = 0;

	for (; from != to; from++) {
		lane = lane_of(c, slice_at(ring, from));
		if (lane > c->nr_executors && lane > above &&
		    (!lowest || lane < lowest))
			lowest = lane;
	}
	return lowest;
}

static void carry_spans(const struct carry *c,
			const struct lkdf_stats_slice *ring, uint64_t from,
			uint64_t to)
{
	if (write_links(c, ring, from, to, false))
		write_spans(c, ring, from, to);
}

uint32_t carry_slices(const struct carry *own,
		      const struct lkdf_stats_slice *ring, uint64_t from,
		      uint64_t to)
{
	struct carry c = *own;
	uint32_t nr;

	c.lane = c.executor;
	nr = write_links(&c, ring, from, to, true);
	if (nr)
		write_bodies(&c, ring, from, to);
	if (nr == to - from)
		return nr;
	carry_spans(&c, ring, from, to);
	for (c.lane = c.nr_executors;
	     (c.lane = next_lane(&c, ring, from, to, c.lane));)
		carry_spans(&c, ring, from, to);
	return nr;
}
