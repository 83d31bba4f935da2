/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes by the node that uses them and the one that holds them. A recording has
 * sums of them, now and then and once when it ends: the last sum of an executor
 * lies behind its last body. The growth between two sums counts by the part of
 * that time which lies in the window.
 */
#include "report/load.h"

static uint64_t overlap(const struct load *l, uint64_t begin, uint64_t end)
{
	if (begin < l->from)
		begin = l->from;
	if (end > l->to)
		end = l->to;
	return end > begin ? end - begin : 0;
}

/* The part in the window of the bytes that came between two sums. */
static uint64_t in_window(const struct load *l, uint64_t bytes, uint64_t begin,
			  uint64_t end)
{
	if (begin == end)
		return begin >= l->from && end <= l->to ? bytes : 0;
	return (uint64_t)((unsigned __int128)bytes * overlap(l, begin, end) /
			  (end - begin));
}

static uint64_t growth(uint64_t now, uint64_t *last)
{
	uint64_t more = now > *last ? now - *last : 0;

	*last = now;
	return more;
}

void note_bytes(void *u, const struct trace_bytes *b)
{
	struct load *l = u;
	struct report *r = l->r;
	struct byte_sums *sums = &l->bytes[b->executor];
	int node = r->lane[b->executor].node;
	uint64_t at = load_time(l, b->ticks), since = sums->at, more;
	uint32_t i;

	/* No body ended after the last one. */
	at = at < l->end ? at : l->end;
	at = at > since ? at : since;
	sums->at = at;
	for (i = 0; i < b->nr_nodes && i < MAX_NODES; i++) {
		more = growth(b->bytes[i], &sums->known[i]);
		more = in_window(l, more, since, at);
		r->flow_known += more;
		if (node < 0 || node >= (int)MAX_NODES)
			continue;
		r->flow[node][i] += more;
		r->has.flow |= more > 0;
	}
	more = growth(b->unknown, &sums->unknown);
	r->flow_unknown += in_window(l, more, since, at);
}

/* Few bytes of which the node is known say nothing of all the others. */
void flow_judge(struct report *r)
{
	uint32_t i;

	if (r->flow_unknown / 9 <= r->flow_known)
		return;
	r->has.flow = r->has.bytes = false;
	for (i = 0; i < r->nr_kinds; i++)
		r->kind[i].local = r->kind[i].remote = 0;
}
