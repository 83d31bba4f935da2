/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording as fields, so that a test can change what a field says and still
 * write chunks whose sizes, numbers and checksums are right. Each chunk is a
 * line of words: u and s are numbers as trace-format.rst has them, t is a text.
 */
#ifndef TESTS_UNIT_TRACE_LIE_H
#define TESTS_UNIT_TRACE_LIE_H

#include "tests/oracle/random.h"
#include "tools/trace/bytes.h"

#include <lkdf/format.h>
#include <string.h>

#define MAX_FIELDS 256
#define MAX_CHUNKS 48
#define FILE_ROOM (1u << 20)

struct field {
	char sort; /* 'u', 's' or 't' */
	uint8_t padding; /* bytes that a number has too many */
	bool claims; /* the text says that it is v bytes long */
	uint64_t v;
	const char *text;
	uint32_t size; /* of the text */
};

struct chunk {
	uint32_t type, nr;
	uint32_t cut; /* so many bytes of the payload are left away */
	int64_t frame; /* added to the size that the frame tells */
	struct field field[MAX_FIELDS];
};

struct lie {
	uint32_t ticks_per_1024ns, nr_executors;
	uint64_t start_ticks, start_ns;
	uint32_t nr;
	struct chunk chunk[MAX_CHUNKS];
	/* The file that lie_write() has made. */
	uint8_t bytes[FILE_ROOM];
	size_t size;
};

/* ---- the recording that is whole ----------------------------------------- */

struct line {
	uint32_t type;
	const char *words;
};

static const struct line base_lines[] = {
	{ LKDF_CHUNK_ABOUT,
	  "tlkdf u1 ttasks ttasks u6 tsteal tvictim twhy tpark t t tunpark t t "
	  "twake t t trun_begin tframe tnumber trun_end tframe terrno" },
	{ LKDF_CHUNK_FACTS, "tcpus t2 tprogram tlie tquota.milli t1500" },
	{ LKDF_CHUNK_EXECUTOR, "u0 u0 s0 s0 u1000" },
	{ LKDF_CHUNK_EXECUTOR, "u1 u0 s1 s1 u1001" },
	{ LKDF_CHUNK_EXECUTOR, "u2 u2 s-1 s-1 u999" },
	{ LKDF_CHUNK_NAMES, "u0 t(more) u1 tload u2 tstore u3 twait" },
	{ LKDF_CHUNK_CLOCK, "u2000000 u2000000" },
	{ LKDF_CHUNK_KINDS, "u1 u2 u2 u1 u0 u2 u0 u0 u8 u3" },
	{ LKDF_CHUNK_GRAPH, "u7 tsteps u3 u3 u2 u0 u3" },
	{ LKDF_CHUNK_TASKS,
	  "u7 u0 u1 u0 tfirst u2 s1 s2 u2 u1 t u1 s1 u2 u0 tlast u0" },
	{ LKDF_CHUNK_LANE, "u3 u1 u0 tqueue" },
	{ LKDF_CHUNK_LANE, "u4 u2 u0 tupload" },
	{ LKDF_CHUNK_LANE, "u5 u3 u0 tmemory" },
	{ LKDF_CHUNK_EVENTS, "u2 u1000000 s0 u4 u3 u0 s90000 u5 u3 u0" },
	{ LKDF_CHUNK_EVENTS,
	  "u1 u1000000 s10 u1 u0 u0 s5000 u2 u0 u0 s10 u0 u0 u1" },
	{ LKDF_CHUNK_LINKS,
	  "u0 u1000000 u17 s0 u4 s0 u46 u1 s1 s1000 u4096 u64 u0" },
	{ LKDF_CHUNK_SLICES, "u0 u1000000 u0 s100 u2000 u1 s0 s50 u3000 u2 s1 "
			     "s10 u400 u1 s1" },
	{ LKDF_CHUNK_LINKS, "u1 u1000000 u12 s-1 s1000 u2" },
	{ LKDF_CHUNK_SLICES,
	  "u1 u1000000 u0 s5100 u2000 u1 s-1 s50 u3000 u2 s0" },
	{ LKDF_CHUNK_LINKS, "u3 u1000000 u6 u0 s2 u10 s5" },
	{ LKDF_CHUNK_SPANS,
	  "u3 u1000000 u4 s2200 u500 u1 s-1 u4 s5 u700 u2 s2" },
	{ LKDF_CHUNK_SPANS, "u4 u1000000 u5 s900 u300 u1 s4096" },
	{ LKDF_CHUNK_SPANS, "u5 u1000000 u7 s950 u1300 u1 s4096" },
	{ LKDF_CHUNK_LINKS, "u0 u1000000 u1 s5 u14 u1 s1 s200 u14 u1 s0 s20" },
	{ LKDF_CHUNK_SPANS,
	  "u0 u1000000 u1 s2300 u5000 u1 s512 u2 s-4000 u90 u0 "
	  "s1 u6 s10 u60 u3 s2" },
	{ LKDF_CHUNK_SPANS, "u2 u1000000 u3 s0 u90000 u3 s999" },
	{ LKDF_CHUNK_THREADS, "u0 u1000 u1000100 u100 u20 u3 tlkdf/0" },
	{ LKDF_CHUNK_THREADS, "u0 u1000 u1080100 u50100 u2020 u9 tlkdf/0" },
	{ LKDF_CHUNK_THREADS, "u2 u999 u1080100 u3000 u20 u9 tmain" },
	{ LKDF_CHUNK_BYTES, "u0 u1000100 u5 u4096 u64" },
	{ LKDF_CHUNK_COUNTERS, "u0 u1000000 u5" },
	{ LKDF_CHUNK_KERNEL, "u1 u1000100 u7 u99" },
	{ LKDF_CHUNK_KERNEL, "u2 u0 u1000200 u1 u50 u4096 u1 u2 u3 u4 u5 u6 u7 "
			     "u8 u9 u10 u11 u12" },
	{ LKDF_CHUNK_KERNEL, "u4 u4096 ta.out u16 tabcd t u0 t u0 u0" },
	{ LKDF_CHUNK_KERNEL, "u3 u1000300 u4096 u1 u2 u3000 u4 u5 u1 u1" },
	{ LKDF_CHUNK_LOST, "u1 u1000900 u1 u0" },
	{ 99, "u1 tunknown" },
	{ LKDF_CHUNK_END, "u5 u1 u5 u0" },
};
#define NR_BASE_LINES (sizeof(base_lines) / sizeof(base_lines[0]))

static void parse_line(const struct line *l, struct chunk *c)
{
	const char *at = l->words;
	struct field *f;

	memset(c, 0, sizeof(*c));
	c->type = l->type;
	for (; *at; at += *at == ' ') {
		f = &c->field[c->nr++];
		f->sort = *at++;
		f->text = at;
		f->size = (uint32_t)strcspn(at, " ");
		f->v = f->sort == 't' ? f->size
				      : (uint64_t)strtoll(at, NULL, 10);
		at += f->size;
	}
}

static void lie_begin(struct lie *l)
{
	l->ticks_per_1024ns = 1024;
	l->nr_executors = 2;
	l->start_ticks = l->start_ns = 1000000;
	for (l->nr = 0; l->nr < NR_BASE_LINES; l->nr++)
		parse_line(&base_lines[l->nr], &l->chunk[l->nr]);
}

/* ---- changes ------------------------------------------------------------- */

static uint64_t odd_value(struct rng *r)
{
	uint64_t v = 1ull << rng_next(r) % 64;

	switch (rng_next(r) % 6) {
	case 0:
		return v - 1;
	case 1:
		return v;
	case 2:
		return ~v;
	case 3:
		return rng_next(r) % 10;
	case 4:
		return UINT64_MAX - rng_next(r) % 10;
	default:
		return 1000000 + rng_next(r) % 100000;
	}
}

static const char *odd_text(struct rng *r, uint32_t *size)
{
	static const char long_text[256] =
		"\xff\xfe\x80<script>&\"'\x1b[2J\r\n\t%s%n,;=";
	static const char *const texts[] = {
		"cpus", "0", "-1", "", "park", "1e999", "99999999999999999999"
	};
	const char *text;

	if (rng_one_in(r, 2)) {
		*size = rng_range(r, 0, 255);
		return long_text;
	}
	text = texts[rng_next(r) % (sizeof(texts) / sizeof(texts[0]))];
	*size = (uint32_t)strlen(text);
	return text;
}

static void change_value(struct rng *r, struct field *f)
{
	if (f->sort == 't' && rng_one_in(r, 2)) {
		f->text = odd_text(r, &f->size);
		f->v = f->size;
	} else if (f->sort == 't') {
		f->claims = true;
		f->v = rng_one_in(r, 2) ? odd_value(r) : f->size + 1;
	} else if (rng_one_in(r, 3)) {
		f->v += rng_range(r, 0, 4) - 2ull;
	} else if (rng_one_in(r, 8)) {
		f->padding = (uint8_t)rng_range(r, 1, 10);
	} else {
		f->v = odd_value(r);
	}
}

/* Fields from i on are there n times more, as often as there is room. */
static void repeat_fields(struct chunk *c, uint32_t i, uint32_t n)
{
	uint32_t len = c->nr - i;

	for (; n && c->nr + len <= MAX_FIELDS; n--, c->nr += len)
		memcpy(&c->field[c->nr], &c->field[i], len * sizeof(*c->field));
}

static void change_fields(struct rng *r, struct chunk *c)
{
	uint32_t i = rng_range(r, 0, c->nr - 1), k;
	struct field f = c->field[i];

	switch (rng_next(r) % 12) {
	case 0:
		memmove(&c->field[i], &c->field[i + 1],
			(--c->nr - i) * sizeof(f));
		break;
	case 1:
		repeat_fields(c, i, rng_range(r, 1, 100));
		break;
	case 2:
		k = rng_range(r, 0, c->nr - 1);
		c->field[i] = c->field[k];
		c->field[k] = f;
		break;
	case 3:
		c->cut = rng_range(r, 1, 12);
		break;
	case 4:
		c->field[i].sort = "ust"[rng_next(r) % 3];
		break;
	default:
		change_value(r, &c->field[i]);
	}
}

/* A chunk is there twice, not at all, elsewhere, of another type, or framed
 * wrongly. */
static void change_chunk(struct rng *r, struct lie *l, uint32_t i)
{
	struct chunk *c = &l->chunk[i], other;
	uint32_t k = rng_range(r, 0, l->nr - 1);

	switch (rng_next(r) % 5) {
	case 0:
		if (l->nr < MAX_CHUNKS)
			l->chunk[l->nr++] = *c;
		break;
	case 1:
		memmove(c, c + 1, (--l->nr - i) * sizeof(*c));
		break;
	case 2:
		other = *c;
		*c = l->chunk[k];
		l->chunk[k] = other;
		break;
	case 3:
		c->type = rng_range(r, 0, 20);
		break;
	default:
		c->frame = rng_one_in(r, 2) ? (int64_t)odd_value(r)
					    : rng_range(r, 0, 8) - 4ll;
	}
}

static void change_header(struct rng *r, struct lie *l)
{
	switch (rng_next(r) % 4) {
	case 0:
		l->nr_executors = rng_one_in(r, 2) ? rng_range(r, 0, 8192)
						   : (uint32_t)odd_value(r);
		break;
	case 1:
		l->ticks_per_1024ns = (uint32_t)odd_value(r);
		break;
	case 2:
		l->start_ticks = odd_value(r);
		break;
	default:
		l->start_ns = odd_value(r);
	}
}

/* One to four changes to the recording, most of them to the fields of chunk i.
 */
static void lie_change(struct rng *r, struct lie *l, uint32_t i)
{
	uint32_t n;

	for (n = rng_range(r, 1, 4); n && i < l->nr; n--) {
		if (rng_one_in(r, 20))
			change_header(r, l);
		else if (rng_one_in(r, 10))
			change_chunk(r, l, i);
		else if (l->chunk[i].nr)
			change_fields(r, &l->chunk[i]);
	}
}

/* ---- writing ------------------------------------------------------------- */

static void put_le(uint8_t *to, uint64_t v, int size)
{
	for (; size; size--, v >>= 8)
		*to++ = (uint8_t)v;
}

static uint8_t *put_number(uint8_t *to, uint64_t v, unsigned padding)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)(v | (padding ? 0x80 : 0));
	for (; padding; padding--)
		*to++ = padding > 1 ? 0x80 : 0;
	return to;
}

static uint8_t *put_field(uint8_t *to, const struct field *f)
{
	uint64_t v = f->v;

	if (f->sort == 's')
		v = v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
	if (f->sort == 't' && !f->claims)
		v = f->size;
	to = put_number(to, v, f->padding);
	if (f->sort != 't')
		return to;
	memcpy(to, f->text, f->size);
	return to + f->size;
}

static uint8_t *put_chunk(uint8_t *head, const struct chunk *c, uint32_t seq)
{
	uint8_t *to = head + sizeof(struct lkdf_file_chunk);
	uint32_t i, crc, size;

	for (i = 0; i < c->nr; i++)
		to = put_field(to, &c->field[i]);
	size = (uint32_t)(to - head) - 16;
	size -= c->cut < size ? c->cut : size;
	put_le(head, c->type, 4);
	put_le(head + 4, size + (uint64_t)c->frame, 4);
	put_le(head + 8, seq, 4);
	crc = trace_crc32(trace_crc32(0, head, 12), head + 16, size);
	put_le(head + 12, crc, 4);
	return head + 16 + size;
}

static void lie_write(struct lie *l)
{
	uint8_t *to = l->bytes + sizeof(struct lkdf_file_header);
	uint32_t i;

	memset(l->bytes, 0, sizeof(struct lkdf_file_header));
	put_le(l->bytes, LKDF_FILE_MAGIC, 8);
	put_le(l->bytes + 8, LKDF_FILE_VERSION, 4);
	put_le(l->bytes + 12, sizeof(struct lkdf_file_header), 4);
	put_le(l->bytes + 16, l->ticks_per_1024ns, 4);
	put_le(l->bytes + 20, l->nr_executors, 4);
	put_le(l->bytes + 24, l->start_ticks, 8);
	put_le(l->bytes + 32, l->start_ns, 8);
	put_le(l->bytes + 40, 4242, 4);
	put_le(l->bytes + 60, trace_crc32(0, l->bytes, 60), 4);
	/* Fields of all chunks fit: at most 275 bytes each. */
	for (i = 0; i < l->nr; i++) {
		if (to + MAX_FIELDS * 280 > l->bytes + FILE_ROOM)
			break;
		to = put_chunk(to, &l->chunk[i], i);
	}
	l->size = (size_t)(to - l->bytes);
}

#endif
