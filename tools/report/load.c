/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A pass over the file sees the clock and counts, the last one keeps what lies
 * in the window. Memory is for MAX_SLICES bodies: of a longer recording the
 * part is kept that ends at a sample of the clock by which every ring had
 * been emptied, and the report says so.
 */
#include "report/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SLICES 12000000u
/* Workers x wall must fit into 64 bits. */
#define MAX_WALL_NS (1ull << 50)

uint64_t load_time(struct load *l, uint64_t ticks)
{
	int64_t ns = trace_clock_ns(&l->clock, ticks);

	return ns > l->zero ? (uint64_t)ns - (uint64_t)l->zero : 0;
}

int load_pass(struct load *l, const struct trace_sink *sink)
{
	int rc;

	trace_info_fini(&l->r->info);
	rc = trace_read(l->in, sink, &l->r->info, l->fault);
	if (rc == -EBADMSG && l->count) {
		l->r->is_cut = true;
		rc = 0;
	}
	return l->rc ? l->rc : rc;
}

static void see_times(struct load *l, uint64_t begin, uint64_t end)
{
	if (begin < l->first)
		l->first = begin;
	if (end > l->last)
		l->last = end;
}

/* The counts are there once a record is. */
static struct counts *count_of(struct load *l, uint32_t lane)
{
	if (!l->count)
		l->count = calloc(max_lanes(l), sizeof(*l->count));
	if (!l->count) {
		l->rc = -ENOMEM;
		return NULL;
	}
	if (lane >= l->nr_lanes)
		l->nr_lanes = lane + 1;
	return &l->count[lane];
}

static void see_clock(void *u, uint64_t ticks, uint64_t ns)
{
	struct load *l = u;
	int rc = 0;

	if (!l->clock.nr_pairs)
		rc = trace_clock_init(&l->clock, &l->r->info.header);
	if (!rc)
		rc = trace_clock_add(&l->clock, ticks, ns);
	if (rc)
		l->rc = rc;
}

static void see_slice(void *u, const struct trace_slice *s)
{
	struct load *l = u;
	struct counts *c = count_of(l, s->executor);

	see_times(l, s->begin, s->end);
	if (s->links.ready)
		see_times(l, s->links.ready, s->end);
	l->nr_slices++;
	if (c)
		c->slices++;
}

static bool may_be_long(uint32_t sort)
{
	return sort == LKDF_SPAN_WAIT || sort == LKDF_SPAN_FULL ||
	       sort == LKDF_SPAN_REGION || sort == LKDF_SPAN_MARK;
}

static void see_span(void *u, const struct trace_span *s)
{
	struct load *l = u;
	struct counts *c = count_of(l, s->lane);

	/* The program may wait long before and after the work. */
	if (!may_be_long(s->sort))
		see_times(l, s->begin, s->end);
	l->nr_ops += s->sort == LKDF_SPAN_OPERATION;
	l->nr_waits += s->sort == LKDF_SPAN_WAIT || s->sort == LKDF_SPAN_FULL;
	l->nr_held += s->sort == LKDF_SPAN_LIMIT;
	l->nr_regions += s->sort == LKDF_SPAN_REGION;
	l->nr_marks += s->sort == LKDF_SPAN_MARK;
	if (!c)
		return;
	c->enters += s->sort == LKDF_SPAN_ENTER;
	if (s->sort == LKDF_SPAN_KERNEL || s->sort == LKDF_SPAN_COPY ||
	    s->sort == LKDF_SPAN_BLOCKS) {
		c->slices++;
		l->nr_slices++;
	}
}

static void see_event(void *u, const struct trace_event *e)
{
	struct counts *c = count_of(u, e->executor);

	if (c)
		c->parks++;
}

static void see_executor(void *u, const struct trace_executor *x)
{
	count_of(u, x->executor);
}

static void see_lane(void *u, const struct trace_lane *x)
{
	count_of(u, x->lane);
}

static void see_thread(void *u, const struct trace_thread *t)
{
	struct counts *c = count_of(u, t->executor);

	if (c)
		c->samples++;
}

static void see_probed(void *u, const struct trace_probed_thread *t)
{
	struct counts *c = count_of(u, t->executor);

	if (c)
		c->probed++;
}

static void see_bytes(void *u, const struct trace_bytes *b)
{
	count_of(u, b->executor);
}

/* All that is there, and all pairs of the clock. */
static int look(struct load *l)
{
	const struct trace_sink sink = {
		.slice = see_slice,
		.span = see_span,
		.event = see_event,
		.executor = see_executor,
		.clock = see_clock,
		.thread = see_thread,
		.lane = see_lane,
		.bytes = see_bytes,
		.probed_thread = see_probed,
		.u = l,
	};
	int rc = load_pass(l, &sink);

	if (!rc && !l->count)
		rc = -EBADMSG;
	if (!rc && !l->clock.nr_pairs)
		rc = trace_clock_init(&l->clock, &l->r->info.header);
	return rc;
}

/* Two samples back all that had ended by then had been carried away. */
static void cut_clock(void *u, uint64_t ticks, uint64_t ns)
{
	struct load *l = u;

	(void)ns;
	l->pairs[0] = l->pairs[1];
	l->pairs[1] = ticks;
}

static void cut_slice(void *u, const struct trace_slice *s)
{
	struct load *l = u;
	uint64_t begin = load_time(l, s->begin), end = load_time(l, s->end);

	if (end < l->from || begin >= l->to)
		return;
	if (++l->nr_slices == MAX_SLICES)
		l->cut = load_time(l, l->pairs[0]);
}

/* The window without what memory does not hold. */
static int cut_window(struct load *l)
{
	const struct trace_sink sink = {
		.slice = cut_slice,
		.clock = cut_clock,
		.u = l,
	};
	uint64_t all;
	int rc;

	l->nr_slices = 0;
	l->cut = NO_TIME;
	rc = load_pass(l, &sink);
	if (rc || l->cut == NO_TIME)
		return rc;
	all = l->nr_slices;
	l->to = l->cut > l->from ? l->cut : l->from + 1;
	l->nr_slices = 0;
	rc = load_pass(l, &sink);
	if (!rc && l->nr_slices > MAX_SLICES)
		rc = -ENOMEM;
	l->r->skipped = all - l->nr_slices;
	return rc;
}

static void set_window(struct load *l, const struct report_window *w)
{
	struct report *r = l->r;
	uint64_t end;

	if (l->first > l->last)
		l->first = l->last;
	l->zero = trace_clock_ns(&l->clock, l->first);
	r->start_ns = l->zero > 0 ? (uint64_t)l->zero : 0;
	l->end = end = r->length = load_time(l, l->last);
	l->from = w->from < end ? w->from : end;
	l->to = w->to < end ? w->to : end;
	if (l->to < l->from)
		l->to = l->from;
	if (l->to - l->from > MAX_WALL_NS)
		l->to = l->from + MAX_WALL_NS;
	r->has_window = l->from || l->to < end;
}

static void note_flags(const struct load *l)
{
	struct kind *k = l->r->kind, *end = k + l->r->nr_kinds;

	for (; k < end; k++) {
		k->is_member = l->flags_of[k->name] & LKDF_KIND_IS_MEMBER;
		k->is_loop = l->flags_of[k->name] & LKDF_KIND_IS_LOOP;
	}
}

int report_load(struct report *r, FILE *f, const struct report_window *w,
		struct trace_fault *fault)
{
	struct load l = {
		.r = r,
		.in = f,
		.fault = fault,
		.first = UINT64_MAX,
	};
	int rc = look(&l);

	if (!rc) {
		l.all_slices = l.nr_slices;
		set_window(&l, w);
		if (l.nr_slices > MAX_SLICES)
			rc = cut_window(&l);
	}
	if (!rc) {
		r->from = l.from;
		r->to = l.to;
		r->wall = l.to - l.from;
		rc = keep_records(&l);
	}
	if (!rc)
		note_flags(&l);
	if (!rc)
		rc = link_records(&l);
	runs_fini(&l);
	futexes_fini(&l);
	stacks_fini(&l);
	trace_clock_fini(&l.clock);
	free(l.count);
	free(l.kind_of);
	free(l.flags_of);
	free(l.park_since);
	free(l.bytes);
	if (!rc && r->is_cut)
		rc = -EBADMSG;
	return rc;
}

void report_unload(struct report *r)
{
	uint32_t i;

	for (i = 0; r->lane && i < r->nr_lanes; i++) {
		free(r->lane[i].enter);
		free(r->lane[i].park);
		free(r->lane[i].sample);
		free(r->lane[i].kernel);
		free(r->lane[i].probed);
		free(r->lane[i].taken);
		free(r->lane[i].taken_share);
	}
	free(r->lane);
	free(r->slice);
	free(r->op);
	free(r->wait);
	free(r->held);
	free(r->remote_of);
	free(r->limit);
	free(r->wait_sum);
	free(r->reason);
	free(r->team);
	free(r->loop);
	free(r->region);
	free(r->mark);
	free(r->away);
	free(r->request);
	free(r->request_sum);
	free(r->next_step);
	free(r->device);
	free(r->futex);
	free(r->stack);
	free(r->kind);
	free(r->chain.step);
	trace_info_fini(&r->info);
}
