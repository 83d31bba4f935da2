/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The last pass: records that touch the window, clipped to it. */
#include "report/load.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* True: in the window; false: outside. */
static bool clip(struct load *l, uint64_t begin, uint64_t end, struct span *out)
{
	uint64_t b = load_time(l, begin), e = load_time(l, end);

	if (e < l->from || b > l->to || (b == l->to && b != l->from))
		return false;
	out->begin = b > l->from ? b - l->from : 0;
	out->end = (e < l->to ? e : l->to) - l->from;
	return true;
}

/* Kinds as they come; where memory ends all further ones are the first. */
uint16_t load_kind(struct load *l, uint32_t name)
{
	uint32_t cap = l->cap_kinds * 2 + 16;
	struct report *r = l->r;
	struct kind *more;

	if (l->kind_of[name])
		return (uint16_t)(l->kind_of[name] - 1);
	if (r->nr_kinds == l->cap_kinds) {
		more = realloc(r->kind, cap * sizeof(*more));
		if (!more) {
			l->rc = -ENOMEM;
			return 0;
		}
		r->kind = more;
		l->cap_kinds = cap;
	}
	r->kind[r->nr_kinds] = (struct kind){ .name = name };
	l->kind_of[name] = (uint16_t)++r->nr_kinds;
	return (uint16_t)(l->kind_of[name] - 1);
}

static void keep_executor(void *u, const struct trace_executor *x)
{
	struct load *l = u;
	struct lane *lane = &l->r->lane[x->executor];

	lane->has_started = true;
	lane->kind = x->kind;
	lane->tid = x->tid;
	lane->cpu = x->cpu;
	/* A file may lie: rows of bytes are by node. */
	lane->node = x->node < (int32_t)MAX_NODES ? x->node : -1;
}

/* The ready time may lie before the window: it counts from its start then. */
static void set_links(struct load *l, struct slice *s,
		      const struct trace_links *k)
{
	struct facts *has = &l->r->has;
	uint64_t ready;

	has->links |= k->is_known;
	s->uid = load_uid(k->number);
	s->by = load_by(k);
	s->by_lane = load_by_lane(k);
	s->edge = (uint16_t)k->edge;
	s->edge_mode = (uint16_t)k->edge_mode;
	if (k->ready) {
		ready = load_time(l, k->ready);
		ready = ready > l->from ? ready - l->from : 0;
		s->ready = ready < s->begin ? ready : s->begin;
		s->is_outside = k->by_executor < 0;
		has->ready = true;
	}
	if (k->local || k->remote) {
		double part = (double)k->remote /
			      ((double)k->local + (double)k->remote);
		struct kind *kind = &l->r->kind[s->kind];

		s->remote = (uint8_t)(100 * part + 0.5);
		kind->local += k->local;
		kind->remote += k->remote;
		has->bytes = true;
	}
	if (k->frame) {
		struct run *run = run_of(l, k->frame, k->run);

		if (run)
			s->run = (uint32_t)(run - l->run) + 1;
	}
}

static void keep_body(struct load *l, uint32_t lane, const struct slice *body,
		      const struct trace_links *links)
{
	struct lane *to = &l->r->lane[lane];
	struct slice *s;

	if (to->nr_slices == l->count[lane].slices)
		return;
	s = &l->r->slice[to->first + to->nr_slices++];
	*s = *body;
	s->lane = (uint16_t)lane;
	s->ready = NO_TIME;
	s->by = NO_SLICE;
	s->remote = 255;
	set_links(l, s, links);
}

/* A launcher gives a kernel to its device: the task is that kernel. */
static bool is_launch(const struct load *l, const struct trace_slice *s)
{
	return l->flags_of[s->name] & LKDF_KIND_IS_DEVICE &&
	       l->r->lane[s->executor].kind == LKDF_EXECUTOR_BLOCKING;
}

static void keep_slice(void *u, const struct trace_slice *s)
{
	struct load *l = u;
	struct slice body = { .task = s->task >= 0 && s->task < UINT32_MAX
					      ? (uint32_t)s->task
					      : UINT32_MAX };
	struct span at;

	if (!clip(l, s->begin, s->end, &at) || is_launch(l, s))
		return;
	body.begin = at.begin;
	body.end = at.end;
	body.kind = load_kind(l, s->name);
	keep_body(l, s->executor, &body, &s->links);
}

static void keep_op(struct load *l, const struct trace_span *s,
		    const struct span *at)
{
	struct report *r = l->r;

	if (r->nr_ops == l->nr_ops)
		return;
	r->op[r->nr_ops++] = (struct op){
		.begin = at->begin,
		.end = at->end,
		.kind = load_kind(l, s->name),
		.lane = (uint16_t)s->lane,
		.uid = load_uid(s->links.number),
		.by = load_by(&s->links),
		.by_lane = load_by_lane(&s->links),
	};
	r->has.ops = true;
}

/* At least one: a file may lie. */
static uint64_t fits_of(const struct trace_span *s)
{
	return s->value > 0 ? (uint64_t)s->value : 1;
}

static void keep_wait(struct load *l, const struct trace_span *s,
		      const struct span *at)
{
	const struct trace_links *k = &s->links;
	struct report *r = l->r;

	if (r->nr_waits == l->nr_waits)
		return;
	r->wait[r->nr_waits++] = (struct wait){
		.begin = at->begin,
		.end = at->end,
		.by = load_by(k),
		.by_lane = load_by_lane(k),
		.name = s->name,
		.fits = s->sort == LKDF_SPAN_FULL ? fits_of(s) : 0,
	};
	r->has.waits = true;
}

static void keep_held(struct load *l, const struct trace_span *s,
		      const struct span *at)
{
	struct report *r = l->r;

	if (r->nr_held < l->nr_held)
		r->held[r->nr_held++] = (struct held){
			.begin = at->begin,
			.end = at->end,
			.limit = s->name,
			.kind = load_kind(l, (uint32_t)s->value),
		};
}

static void keep_region(struct load *l, const struct trace_span *s,
			const struct span *at)
{
	struct report *r = l->r;

	if (r->nr_regions < l->nr_regions)
		r->region[r->nr_regions++] = (struct region){
			.begin = at->begin,
			.end = at->end,
			.name = s->name,
		};
}

static void keep_mark(struct load *l, const struct trace_span *s,
		      const struct span *at)
{
	struct report *r = l->r;

	if (r->nr_marks < l->nr_marks)
		r->mark[r->nr_marks++] = (struct mark){
			.at = at->begin,
			.value = s->value,
			.name = s->name,
			.lane = s->lane,
		};
}

/* A kernel, a copy, or blocks of a loop. */
static void keep_work(struct load *l, const struct trace_span *s,
		      const struct span *at)
{
	struct slice body = {
		.begin = at->begin,
		.end = at->end,
		.kind = load_kind(l, s->name),
		.task = UINT32_MAX,
	};

	if (s->sort == LKDF_SPAN_COPY) {
		l->r->lane[s->lane].bytes += (uint64_t)s->value;
		l->r->nr_copies++;
	} else if (s->sort == LKDF_SPAN_KERNEL && s->value >= 0 &&
		   s->value < UINT32_MAX) {
		body.task = (uint32_t)s->value;
	}
	keep_body(l, s->lane, &body, &s->links);
}

static void keep_span(void *u, const struct trace_span *s)
{
	struct load *l = u;
	struct lane *lane = &l->r->lane[s->lane];
	struct span at;

	if (!clip(l, s->begin, s->end, &at))
		return;
	switch (s->sort) {
	case LKDF_SPAN_OPERATION:
		keep_op(l, s, &at);
		break;
	case LKDF_SPAN_WAIT:
	case LKDF_SPAN_FULL:
		keep_wait(l, s, &at);
		break;
	case LKDF_SPAN_LIMIT:
		keep_held(l, s, &at);
		break;
	case LKDF_SPAN_REGION:
		keep_region(l, s, &at);
		break;
	case LKDF_SPAN_MARK:
		keep_mark(l, s, &at);
		break;
	case LKDF_SPAN_AWAY:
		note_away(l, s, &at);
		break;
	case LKDF_SPAN_ENTER:
		if (lane->nr_enters < l->count[s->lane].enters)
			lane->enter[lane->nr_enters++] = at;
		l->r->has.enter = true;
		break;
	case LKDF_SPAN_KERNEL:
	case LKDF_SPAN_COPY:
	case LKDF_SPAN_BLOCKS:
		keep_work(l, s, &at);
		break;
	case LKDF_SPAN_ROOM:
		devices_note_room(lane, &at);
		break;
	default:
		break;
	}
}

/* Ends the park that is under way, if one is. */
static void end_park(struct load *l, uint32_t executor, uint64_t ticks)
{
	struct lane *lane = &l->r->lane[executor];
	uint64_t since = l->park_since[executor];
	struct span at;

	l->park_since[executor] = NO_TIME;
	if (since == NO_TIME || !clip(l, since, ticks, &at))
		return;
	if (lane->nr_parks < l->count[executor].parks)
		lane->park[lane->nr_parks++] = at;
	l->r->has.park = true;
}

static void keep_event(void *u, const struct trace_event *e)
{
	struct load *l = u;
	const char *name = l->r->info.event[e->event].name;
	struct run *run;
	uint64_t at;

	if (!strcmp(name, "park")) {
		l->park_since[e->executor] = e->ticks;
	} else if (!strcmp(name, "unpark")) {
		end_park(l, e->executor, e->ticks);
	} else if (!strcmp(name, "steal")) {
		l->r->lane[e->executor].steals++;
	} else if (!strcmp(name, "remote") && e->a < LKDF_MAX_NAMES) {
		l->r->remote_of[e->a] += e->b;
	} else if (!strcmp(name, "narrow")) {
		at = load_time(l, e->ticks);
		narrow_keep(l->r, at - (at < l->from ? at : l->from), e->a,
			    e->b);
	} else if (!strcmp(name, "run_begin") && e->a < UINT32_MAX) {
		run = run_of(l, (uint32_t)e->a + 1, e->b);
		if (run) {
			run->begin = load_time(l, e->ticks);
			run->begin -=
				run->begin < l->from ? run->begin : l->from;
			run->is_outside = l->r->lane[e->executor].kind ==
					  LKDF_EXECUTOR_OUTSIDE;
		}
	}
}

/* The last sample counts. */
static void keep_counter(void *u, uint32_t executor, uint32_t counter,
			 uint64_t value)
{
	struct load *l = u;
	const char *name = l->r->info.counter[counter];
	struct lane *lane;

	if (executor >= l->r->nr_lanes)
		return;
	lane = &l->r->lane[executor];
	if (!strcmp(name, "tasks"))
		lane->counted = value;
	else if (!strcmp(name, "narrow.bodies"))
		lane->gated = value;
	else if (!strcmp(name, "narrow.passed"))
		lane->passed = value;
}

static void keep_lane(void *u, const struct trace_lane *t)
{
	struct load *l = u;
	struct lane *lane = &l->r->lane[t->lane];

	lane->kind = t->sort == LKDF_LANE_THREAD ? LANE_THREAD : LANE_DEVICE;
	lane->has_started = true;
	lane->sort = t->sort;
	lane->device = t->device;
	snprintf(lane->label, sizeof(lane->label), "%s", t->label);
	utf8_tame(lane->label);
}

static void keep_kind(void *u, const struct trace_kind *k)
{
	struct load *l = u;

	l->flags_of[k->name] = (uint8_t)k->flags;
}

static void keep_fact(void *u, const char *key, const char *value)
{
	struct report *r = ((struct load *)u)->r;
	double cpus = strtod(value, NULL);

	if (!strcmp(key, "program"))
		snprintf(r->program, sizeof(r->program), "%s", value);
	utf8_tame(r->program);
	devices_note_name(r, key, value);
	if (!strcmp(key, "synthetic"))
		r->is_made_up = cpus > 0;
	if (!strcmp(key, "quota.milli"))
		cpus /= 1000;
	else if (strcmp(key, "cpus"))
		return;
	if (cpus >= 0.01 && cpus < 1e6 && (!(r->cpus > 0) || cpus < r->cpus))
		r->cpus = cpus;
}

/* A count is hostile only as far as the file has that many records. */
static int alloc_lane(struct load *l, uint32_t i, uint64_t *first)
{
	const struct counts *c = &l->count[i];
	struct lane *lane = &l->r->lane[i];

	lane->executor = i;
	lane->cpu = lane->node = -1;
	lane->first = (uint32_t)*first;
	*first += c->slices;
	lane->enter = calloc(c->enters + 1, sizeof(*lane->enter));
	lane->park = calloc(c->parks + 1, sizeof(*lane->park));
	lane->sample = calloc(c->samples + 1, sizeof(*lane->sample));
	lane->kernel = calloc(c->samples + 1, sizeof(*lane->kernel));
	lane->probed = calloc(c->probed + 1, sizeof(*lane->probed));
	return lane->enter && lane->park && lane->sample && lane->kernel &&
			       lane->probed
		       ? 0
		       : -ENOMEM;
}

static int alloc_lanes(struct load *l)
{
	struct report *r = l->r;
	uint64_t first = 0;
	uint32_t i;
	int rc = 0;

	r->nr_lanes = l->nr_lanes;
	r->lane = calloc(r->nr_lanes, sizeof(*r->lane));
	for (i = 0; r->lane && i < r->nr_lanes && !rc; i++)
		rc = alloc_lane(l, i, &first);
	return r->lane ? rc : -ENOMEM;
}

/* Pages that are not touched cost nothing: slices are counted, not kept. */
static int alloc_all(struct load *l)
{
	struct report *r = l->r;
	uint32_t i;

	r->slice = malloc((l->all_slices + 1) * sizeof(*r->slice));
	r->op = malloc((l->nr_ops + 1) * sizeof(*r->op));
	r->wait = malloc((l->nr_waits + 1) * sizeof(*r->wait));
	r->held = malloc((l->nr_held + 1) * sizeof(*r->held));
	r->region = malloc((l->nr_regions + 1) * sizeof(*r->region));
	r->remote_of = calloc(LKDF_MAX_NAMES, sizeof(*r->remote_of));
	r->mark = malloc((l->nr_marks + 1) * sizeof(*r->mark));
	l->kind_of = calloc(LKDF_MAX_NAMES, sizeof(*l->kind_of));
	l->flags_of = calloc(LKDF_MAX_NAMES, 1);
	l->bytes = calloc(l->nr_lanes, sizeof(*l->bytes));
	l->park_since = malloc(l->nr_lanes * sizeof(*l->park_since));
	if (!r->slice || !r->op || !r->wait || !r->held || !r->region ||
	    !r->mark || !r->remote_of || !l->kind_of || !l->flags_of ||
	    !l->bytes || !l->park_since)
		return -ENOMEM;
	for (i = 0; i < l->nr_lanes; i++)
		l->park_since[i] = NO_TIME;
	/* There is one where memory ends. */
	r->kind = calloc(1, sizeof(*r->kind));
	l->cap_kinds = 1;
	return r->kind ? alloc_lanes(l) : -ENOMEM;
}

int keep_records(struct load *l)
{
	const struct trace_sink sink = {
		.slice = keep_slice,
		.event = keep_event,
		.executor = keep_executor,
		.counter = keep_counter,
		.span = keep_span,
		.graph = note_graph,
		.task = note_task,
		.edge = note_edge,
		.thread = note_thread,
		.bytes = note_bytes,
		.fact = keep_fact,
		.lane = keep_lane,
		.kind = keep_kind,
		.probe = note_probe,
		.probed_thread = note_probed_thread,
		.probed_word = note_probed_word,
		.probed_place = note_probed_place,
		.probed_stack = note_probed_stack,
		.probed_waker = note_probed_waker,
		.preemptor = note_preemptor,
		.u = l,
	};
	uint32_t i;
	int rc = alloc_all(l);

	if (!rc)
		rc = load_pass(l, &sink);
	if (!rc)
		flow_judge(l->r);
	if (!rc)
		rc = probed_merge(l);
	if (!rc)
		rc = futexes_sum(l);
	if (!rc)
		rc = stacks_sum(l);
	/* A worker that sleeps still sleeps to the end. */
	for (i = 0; !rc && i < l->r->nr_lanes; i++)
		end_park(l, i, l->last);
	return rc;
}
