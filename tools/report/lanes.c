/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each row is base64 of numbers of seven bits a byte, as in the recording:
 *
 *	code	kind x 4 + 2 if on the longest chain + 1 if several bodies
 *	begin	from the end before, signed
 *	length
 *	several: how many, per cent of the length that they fill
 *	one: 1 + how long it was ready (0: unknown); 1 + signed difference to
 *	the row's last "made ready by" (0: nobody); 1 + per cent of its bytes
 *	from other nodes (0: unknown), where the recording has bytes
 *
 * Times are in units of 2^n ns, one for few bodies.
 */
#include "report/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW_SLICES 200000u
/* A unit is at most this part of the wall: finer than any zoom of use. */
#define FINENESS 26
#define MOST_PARKS 20000u

struct packer {
	const struct report *r;
	struct json *json;
	uint16_t *row_of_kind; /* in order of the table */
	uint32_t *page_of; /* slice: its number in the page; NO_SLICE */
	uint8_t *on_chain;
	unsigned shift; /* of times */
	uint64_t short_ns; /* bodies below are drawn together */
	uint32_t nr_pieces;

	uint8_t *byte; /* of the row that is packed */
	size_t used, cap;
	bool has_failed;
};

static void put(struct packer *p, uint64_t v)
{
	uint8_t *more;

	if (p->used + 10 > p->cap) {
		more = realloc(p->byte, p->cap * 2 + 4096);
		if (!more) {
			p->has_failed = true;
			return;
		}
		p->byte = more;
		p->cap = p->cap * 2 + 4096;
	}
	for (; v >= 0x80; v >>= 7)
		p->byte[p->used++] = (uint8_t)(v | 0x80);
	p->byte[p->used++] = (uint8_t)v;
}

static void put_signed(struct packer *p, int64_t v)
{
	put(p, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

static void put_base64(struct packer *p, const char *key)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
				    "qrstuvwxyz0123456789+/";
	char *text = malloc(p->used / 3 * 4 + 8);
	size_t i, n = 0;
	uint32_t v;

	if (!text) {
		p->has_failed = true;
		return;
	}
	for (i = 0; i < p->used; i += 3) {
		v = (uint32_t)p->byte[i] << 16;
		v |= i + 1 < p->used ? (uint32_t)p->byte[i + 1] << 8 : 0;
		v |= i + 2 < p->used ? p->byte[i + 2] : 0;
		text[n++] = digit[v >> 18];
		text[n++] = digit[v >> 12 & 63];
		text[n++] = i + 1 < p->used ? digit[v >> 6 & 63] : '=';
		text[n++] = i + 2 < p->used ? digit[v & 63] : '=';
	}
	text[n] = '\0';
	json_text(p->json, key, text);
	free(text);
	p->used = 0;
}

/*
 * A run of bodies that are drawn as one: all short, none on the chain, with
 * less than short_ns between them. Returns the first one after it.
 */
static uint32_t end_of_run(const struct packer *p, const struct lane *l,
			   uint32_t i)
{
	const struct slice *s = p->r->slice;
	uint32_t end = l->first + l->nr_slices;
	uint64_t last = s[i].end, from = s[i].begin;

	if (s[i].end - from >= p->short_ns || p->on_chain[i])
		return i + 1;
	for (i++; i < end; i++) {
		if (s[i].end - s[i].begin >= p->short_ns || p->on_chain[i] ||
		    s[i].begin > last + p->short_ns ||
		    s[i].begin > from + 4 * p->short_ns)
			break;
		last = s[i].end > last ? s[i].end : last;
	}
	return i;
}

/* Numbers of the pieces that the page draws. */
static void number_pieces(struct packer *p)
{
	const struct lane *l;
	uint32_t i, k, next;

	p->nr_pieces = 0;
	for (i = 0; i < p->r->nr_lanes; i++) {
		l = &p->r->lane[i];
		for (k = l->first; k < l->first + l->nr_slices; k = next) {
			next = end_of_run(p, l, k);
			memset(&p->page_of[k], 0xff,
			       (next - k) * sizeof(*p->page_of));
			if (next == k + 1)
				p->page_of[k] = p->nr_pieces;
			p->nr_pieces++;
		}
	}
}

static void put_several(struct packer *p, uint32_t from, uint32_t to,
			uint64_t *at)
{
	const struct slice *s = p->r->slice;
	uint64_t begin = s[from].begin >> p->shift, end = s[from].end, fill = 0;
	uint64_t best = 0;
	uint32_t i, kind = s[from].kind;

	for (i = from; i < to; i++) {
		fill += s[i].end - s[i].begin;
		end = s[i].end > end ? s[i].end : end;
		if (s[i].end - s[i].begin > best) {
			best = s[i].end - s[i].begin;
			kind = s[i].kind;
		}
	}
	end = (end >> p->shift) + 1;
	put(p, p->row_of_kind[kind] * 4u + 1);
	put_signed(p, (int64_t)(begin - *at));
	put(p, end - begin);
	put(p, to - from);
	fill = fill * 100 / ((end - begin) << p->shift);
	put(p, fill < 100 ? fill : 100);
	*at = end;
}

static void put_one(struct packer *p, uint32_t i, uint64_t *at, uint32_t *by)
{
	const struct slice *s = &p->r->slice[i];
	uint64_t begin = s->begin >> p->shift, end = s->end >> p->shift;
	uint32_t who = s->by < p->r->nr_slices ? p->page_of[s->by] : NO_SLICE;
	int64_t other;

	put(p, p->row_of_kind[s->kind] * 4u + p->on_chain[i] * 2u);
	put_signed(p, (int64_t)(begin - *at));
	put(p, end - begin);
	put(p, s->ready == NO_TIME ? 0 : 1 + (begin - (s->ready >> p->shift)));
	if (who == NO_SLICE) {
		put(p, 0);
	} else {
		other = (int64_t)who - (int64_t)*by;
		put(p, 1 + (other < 0 ? ~((uint64_t)other << 1)
				      : (uint64_t)other << 1));
		*by = who;
	}
	if (p->r->has.bytes)
		put(p, s->remote == 255 ? 0 : 1u + s->remote);
	*at = end;
}

static uint32_t pack_slices(struct packer *p, const struct lane *l)
{
	uint32_t k, next, by = 0, nr = 0;
	uint64_t at = 0;

	for (k = l->first; k < l->first + l->nr_slices; k = next, nr++) {
		next = end_of_run(p, l, k);
		if (next == k + 1)
			put_one(p, k, &at, &by);
		else
			put_several(p, k, next, &at);
	}
	return nr;
}

/* Sleeps; of very many only those that are wide enough to be seen. */
static void pack_parks(struct packer *p, const struct lane *l)
{
	uint64_t least = l->nr_parks > MOST_PARKS ? p->r->wall / 4000 : 0;
	uint64_t at = 0, begin, end;
	uint32_t i;

	for (i = 0; i < l->nr_parks; i++) {
		if (l->park[i].end - l->park[i].begin < least)
			continue;
		begin = l->park[i].begin >> p->shift;
		end = l->park[i].end >> p->shift;
		if (begin < at || end < begin)
			continue;
		put(p, begin - at);
		put(p, end - begin);
		at = end;
	}
	put_base64(p, "parks");
}

static void write_taken(struct packer *p, const struct lane *l)
{
	uint32_t i;

	json_open(p->json, "taken", '[');
	for (i = 0; i < l->nr_taken; i++) {
		json_open(p->json, NULL, '[');
		json_int(p->json, NULL, (int64_t)l->taken[i].begin);
		json_int(p->json, NULL, (int64_t)l->taken[i].end);
		json_int(p->json, NULL, l->taken_share[i]);
		json_close(p->json, ']');
	}
	json_close(p->json, ']');
}

static void write_lane(struct packer *p, const struct lane *l)
{
	static const char *const words[] = { "worker", "blocking", "outside",
					     "device", "thread" };
	char label[80];

	if (l->kind == LANE_DEVICE || l->kind == LANE_THREAD)
		snprintf(label, sizeof(label), "%s", l->label);
	else if (l->kind == LKDF_EXECUTOR_OUTSIDE)
		snprintf(label, sizeof(label), "outside");
	else
		snprintf(label, sizeof(label), "%s %u", words[l->kind],
			 l->executor);
	json_open_flat(p->json, NULL, '{');
	json_text(p->json, "sort", words[l->kind]);
	json_int(p->json, "id", l->executor);
	json_text(p->json, "label", label);
	json_int(p->json, "node", l->node);
	json_int(p->json, "cpu", l->cpu);
	json_int(p->json, "pieces", pack_slices(p, l));
	put_base64(p, "data");
	pack_parks(p, l);
	write_taken(p, l);
	json_close(p->json, '}');
}

static void mark_chain(struct packer *p)
{
	const struct chain *c = &p->r->chain;
	uint32_t i;

	for (i = 0; i < c->nr_steps; i++) {
		if (c->step[i].slice < p->r->nr_slices)
			p->on_chain[c->step[i].slice] = 1;
	}
}

/* The least length that leaves few enough pieces. */
static void choose_detail(struct packer *p)
{
	const struct report *r = p->r;

	if (r->nr_slices > FEW_SLICES) {
		while ((r->wall >> p->shift) >> FINENESS)
			p->shift++;
	}
	number_pieces(p);
	for (p->short_ns = 64;
	     p->nr_pieces > PAGE_SLICES && p->short_ns < 1ull << 40;
	     p->short_ns *= 2) {
		number_pieces(p);
		/* A chain that is too long goes into pieces like the rest. */
		if (r->chain.nr_tasks > PAGE_SLICES / 2)
			memset(p->on_chain, 0, r->nr_slices);
	}
	/* The loop doubled once more. */
	if (p->nr_pieces == r->nr_slices)
		p->short_ns = 0;
	else
		p->short_ns /= 2;
}

static int start(struct packer *p)
{
	const struct report *r = p->r;
	uint32_t *order = kinds_in_order(r), i;

	p->row_of_kind = calloc(r->nr_kinds + 1ull, sizeof(*p->row_of_kind));
	p->page_of = malloc((r->nr_slices + 1ull) * sizeof(*p->page_of));
	p->on_chain = calloc(r->nr_slices + 1ull, 1);
	if (!order || !p->row_of_kind || !p->page_of || !p->on_chain) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < r->nr_kinds; i++)
		p->row_of_kind[order[i]] = (uint16_t)i;
	free(order);
	mark_chain(p);
	choose_detail(p);
	return 0;
}

int lanes_write(const struct report *r, struct json *j)
{
	struct packer p = { .r = r, .json = j };
	const struct lane *l;
	uint32_t i;
	int rc = start(&p);

	if (!rc) {
		json_int(j, "unit", (int64_t)1 << p.shift);
		json_int(j, "merged", (int64_t)p.short_ns);
		json_bool(j, "bytes", r->has.bytes);
		json_open(j, "lanes", '[');
		for (i = 0; i < r->nr_lanes; i++) {
			l = &r->lane[i];
			if (l->nr_slices ||
			    (l->has_started && l->kind == LKDF_EXECUTOR_WORKER))
				write_lane(&p, l);
		}
		json_close(j, ']');
		rc = p.has_failed ? -ENOMEM : 0;
	}
	free(p.row_of_kind);
	free(p.page_of);
	free(p.on_chain);
	free(p.byte);
	return rc;
}
