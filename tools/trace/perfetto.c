/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/formats.h"
#include "trace/timed.h"

#include <string.h>

/* Numbers of fields, in the messages that the comments name. */
enum field {
	TRACE_PACKET = 1, /* Trace */
	PACKET_TIMESTAMP = 8, /* TracePacket */
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_TRACK = 60,
	TRACK_UUID = 1, /* TrackDescriptor */
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3, /* CounterDescriptor */
	PROCESS_PID = 1, /* ProcessDescriptor */
	PROCESS_NAME = 6,
	THREAD_PID = 1, /* ThreadDescriptor */
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_TYPE = 9, /* TrackEvent */
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48,
};

enum event_type {
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
	COUNTER = 4
};

#define PROCESS_UUID 1u
#define SEQUENCE 1u
#define LANE_UUID(lane) (2ull + (lane))
#define SPAN_UUID(n) (1ull << 32 | (n))
#define WAITER_UUID(tid) (1ull << 60 | (tid))
#define COUNT_UUID(executor, i) (2ull << 60 | (uint64_t)(executor) << 8 | (i))
#define WORD_UUID(address, name) \
	(3ull << 60 | ((((address) >> 2) * 65537 + (name)) & ~0ull >> 4))
#define MARK_UUID(name) (5ull << 60 | (name))
#define UNIT_ANY 0
#define UNIT_NS 1

/* A message of less than 1 KiB, built from the inside out. */
struct message {
	uint8_t bytes[1024];
	size_t used;
};

struct writer {
	struct trace_timed timed;
	FILE *out;
	uint64_t nr_spans;
	bool has_process;
};

static void put_varint(struct message *m, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		m->bytes[m->used++] = (uint8_t)(v | 0x80);
	m->bytes[m->used++] = (uint8_t)v;
}

static void put_number(struct message *m, enum field field, uint64_t v)
{
	put_varint(m, (uint64_t)field << 3);
	put_varint(m, v);
}

static void put_fixed64(struct message *m, enum field field, uint64_t v)
{
	int i;

	put_varint(m, (uint64_t)field << 3 | 1);
	for (i = 0; i < 8; i++, v >>= 8)
		m->bytes[m->used++] = (uint8_t)v;
}

static void put_bytes(struct message *m, enum field field, const void *bytes,
		      size_t size)
{
	put_varint(m, (uint64_t)field << 3 | 2);
	put_varint(m, size);
	memcpy(m->bytes + m->used, bytes, size);
	m->used += size;
}

static void put_text(struct message *m, enum field field, const char *text)
{
	put_bytes(m, field, text, strnlen(text, LKDF_MAX_TEXT));
}

static void put_message(struct message *m, enum field field,
			const struct message *inner)
{
	put_bytes(m, field, inner->bytes, inner->used);
}

static void put_packet(struct writer *w, struct message *packet)
{
	struct message head = { .used = 0 };

	put_number(packet, PACKET_SEQUENCE, SEQUENCE);
	put_varint(&head, TRACE_PACKET << 3 | 2);
	put_varint(&head, packet->used);
	fwrite(head.bytes, 1, head.used, w->out);
	fwrite(packet->bytes, 1, packet->used, w->out);
}

static void put_track(struct writer *w, const struct message *track)
{
	struct message packet = { .used = 0 };

	put_message(&packet, PACKET_TRACK, track);
	put_packet(w, &packet);
}

static void put_event(struct writer *w, int64_t ns, const struct message *event)
{
	struct message packet = { .used = 0 };

	put_number(&packet, PACKET_TIMESTAMP, (uint64_t)ns);
	put_message(&packet, PACKET_EVENT, event);
	put_packet(w, &packet);
}

static void begin_event(struct message *m, enum event_type type, uint64_t track)
{
	m->used = 0;
	put_number(m, EVENT_TYPE, type);
	put_number(m, EVENT_TRACK, track);
}

static uint64_t flow_of(uint32_t lane, uint64_t number)
{
	return LKDF_UID(lane, number);
}

static int64_t ns(struct writer *w, uint64_t ticks)
{
	return trace_clock_ns(&w->timed.clock, ticks);
}

/* Where and when something was made ready: the arrow's begin. */
static void put_ready(struct writer *w, uint32_t lane,
		      const struct trace_links *l)
{
	struct message m;

	begin_event(&m, INSTANT, LANE_UUID((uint32_t)l->by_executor));
	put_text(&m, EVENT_NAME, "ready");
	put_fixed64(&m, EVENT_FLOW, flow_of(lane, l->number));
	put_event(w, ns(w, l->ready), &m);
}

struct interval {
	uint64_t track, begin, end; /* ticks */
	uint64_t flow; /* of the arrow that ends at its begin; 0: none */
	const char *name, *category;
};

static void put_interval(struct writer *w, const struct interval *i)
{
	struct message m;

	begin_event(&m, SLICE_BEGIN, i->track);
	put_text(&m, EVENT_NAME, i->name);
	put_text(&m, EVENT_CATEGORY, i->category);
	if (i->flow)
		put_fixed64(&m, EVENT_LAST_FLOW, i->flow);
	put_event(w, ns(w, i->begin), &m);
	begin_event(&m, SLICE_END, i->track);
	put_event(w, ns(w, i->end), &m);
}

static bool has_arrow(const struct trace_links *l)
{
	return l->by_executor >= 0 && l->ready && l->number;
}

static void on_slice(void *u, const struct trace_slice *s)
{
	const struct trace_links *l = &s->links;
	struct writer *w = u;
	const struct interval i = {
		.track = LANE_UUID(s->executor),
		.begin = s->begin,
		.end = s->end,
		.flow = has_arrow(l) ? flow_of(s->executor, l->number) : 0,
		.name = trace_timed_name(&w->timed, s->name),
		.category = "body",
	};

	if (has_arrow(l))
		put_ready(w, s->executor, l);
	put_interval(w, &i);
}

/* Operations overlap: each has a track, a viewer joins those of one name. */
static uint64_t make_track(struct writer *w, uint64_t uuid, uint64_t parent,
			   const char *name)
{
	struct message m = { .used = 0 };

	put_number(&m, TRACK_UUID, uuid);
	put_text(&m, TRACK_NAME, name);
	put_number(&m, TRACK_PARENT, parent);
	put_track(w, &m);
	return uuid;
}

/* A point of a curve, whose track is told each time: viewers take it once. */
static void put_count(struct writer *w, uint64_t uuid, const char *name,
		      uint64_t ticks, uint64_t value, uint64_t unit)
{
	struct message track = { .used = 0 }, counter = { .used = 0 }, m;

	put_number(&counter, COUNTER_UNIT, unit);
	put_number(&track, TRACK_UUID, uuid);
	put_text(&track, TRACK_NAME, name);
	put_number(&track, TRACK_PARENT, PROCESS_UUID);
	put_message(&track, TRACK_COUNTER, &counter);
	put_track(w, &track);
	begin_event(&m, COUNTER, uuid);
	put_number(&m, EVENT_COUNTER, value);
	put_event(w, ns(w, ticks), &m);
}

static void put_mark(struct writer *w, const struct trace_span *s)
{
	put_count(w, MARK_UUID(s->name), trace_timed_name(&w->timed, s->name),
		  s->begin, (uint64_t)s->value, UNIT_ANY);
}

/* From the body before to the one that goes on: the track's own number. */
static void put_arrow(struct writer *w, const struct trace_span *s,
		      uint64_t uuid)
{
	struct message m;

	begin_event(&m, INSTANT, LANE_UUID((uint32_t)s->links.by_executor));
	put_text(&m, EVENT_NAME, "leaves");
	put_fixed64(&m, EVENT_FLOW, uuid);
	put_event(w, ns(w, s->begin), &m);
	begin_event(&m, INSTANT, LANE_UUID(s->lane));
	put_text(&m, EVENT_NAME, "goes on");
	put_fixed64(&m, EVENT_LAST_FLOW, uuid);
	put_event(w, ns(w, s->end), &m);
}

static void put_away(struct writer *w, const struct trace_span *s,
		     struct interval *i)
{
	i->category = "away";
	if (!s->name)
		i->name = "away";
	i->track = make_track(w, SPAN_UUID(w->nr_spans++), i->track,
			      "tasks between bodies");
	if (s->links.by_executor >= 0)
		put_arrow(w, s, i->track);
}

static void on_span(void *u, const struct trace_span *s)
{
	struct writer *w = u;
	struct interval i = {
		.track = LANE_UUID(s->lane),
		.begin = s->begin,
		.end = s->end,
		.name = trace_timed_name(&w->timed, s->name),
		.category = "span",
	};
	char text[32];

	if (s->sort == LKDF_SPAN_ENTER) {
		i.name = "io_uring_enter";
	} else if (s->sort == LKDF_SPAN_KERNEL) {
		i.category = "kernel";
		i.flow = has_arrow(&s->links)
				 ? flow_of(s->lane, s->links.number)
				 : 0;
		if (i.flow)
			put_ready(w, s->lane, &s->links);
	} else if (s->sort == LKDF_SPAN_COPY) {
		i.category = "copy";
	} else if (s->sort == LKDF_SPAN_BLOCKS) {
		i.category = "blocks";
	} else if (s->sort == LKDF_SPAN_ROOM) {
		i.category = "room";
	} else if (s->sort == LKDF_SPAN_MARK) {
		put_mark(w, s);
		return;
	} else if (s->sort == LKDF_SPAN_AWAY) {
		put_away(w, s, &i);
	} else if (s->sort == LKDF_SPAN_REGION) {
		i.category = "region";
		i.track = make_track(w, SPAN_UUID(w->nr_spans++), i.track,
				     "regions");
	} else if (s->sort == LKDF_SPAN_FULL) {
		i.category = "full";
		i.track = make_track(w, SPAN_UUID(w->nr_spans++), i.track,
				     "waits for room");
	} else if (s->sort == LKDF_SPAN_WAIT) {
		snprintf(text, sizeof(text), "thread %u", (unsigned)s->value);
		i.track = make_track(w, WAITER_UUID((uint32_t)s->value),
				     PROCESS_UUID, text);
	} else if (s->sort == LKDF_SPAN_OPERATION) {
		i.track = make_track(w, SPAN_UUID(w->nr_spans++), i.track,
				     "operations");
	} else if (s->sort == LKDF_SPAN_LIMIT) {
		i.track = make_track(w, SPAN_UUID(w->nr_spans++), i.track,
				     "limits");
	}
	put_interval(w, &i);
}

static void on_event(void *u, const struct trace_event *e)
{
	struct writer *w = u;
	struct message m;

	begin_event(&m, INSTANT, LANE_UUID(e->executor));
	put_text(&m, EVENT_NAME, w->timed.info.event[e->event].name);
	put_text(&m, EVENT_CATEGORY, "event");
	put_event(w, ns(w, e->ticks), &m);
}

static void put_process(struct writer *w)
{
	struct message track = { .used = 0 }, process = { .used = 0 };

	put_number(&process, PROCESS_PID, w->timed.info.header.pid);
	put_text(&process, PROCESS_NAME, w->timed.info.runtime);
	put_number(&track, TRACK_UUID, PROCESS_UUID);
	put_message(&track, TRACK_PROCESS, &process);
	put_track(w, &track);
	w->has_process = true;
}

static void on_executor(void *u, const struct trace_executor *x)
{
	static const char *const kinds[] = { "worker", "blocking", "outside" };
	struct message track = { .used = 0 }, thread = { .used = 0 };
	struct writer *w = u;
	char name[64];

	if (!w->has_process)
		put_process(w);
	snprintf(name, sizeof(name), "%s %u", kinds[x->kind], x->executor);
	put_number(&thread, THREAD_PID, w->timed.info.header.pid);
	put_number(&thread, THREAD_TID, x->tid);
	put_text(&thread, THREAD_NAME, name);
	put_number(&track, TRACK_UUID, LANE_UUID(x->executor));
	put_number(&track, TRACK_PARENT, PROCESS_UUID);
	put_message(&track, TRACK_THREAD, &thread);
	put_track(w, &track);
}

static void on_lane(void *u, const struct trace_lane *l)
{
	make_track(u, LANE_UUID(l->lane), PROCESS_UUID, l->label);
}

static void on_probed_thread(void *u, const struct trace_probed_thread *t)
{
	static const struct {
		enum lkdf_probed_count count;
		const char *name;
	} curve[] = {
		{ LKDF_PROBED_PREEMPTED_NS, "preempted" },
		{ LKDF_PROBED_FUTEX_NS, "asleep on futex words" },
		{ LKDF_PROBED_BLOCKED_NS, "asleep" },
	};
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(curve) / sizeof(curve[0]); i++) {
		snprintf(name, sizeof(name), "executor %u: %s", t->executor,
			 curve[i].name);
		put_count(u, COUNT_UUID(t->executor, i), name, t->ticks,
			  t->count[curve[i].count], UNIT_NS);
	}
}

static void on_probed_word(void *u, const struct trace_probed_word *x)
{
	struct writer *w = u;
	char name[LKDF_MAX_TEXT + 64];

	snprintf(name, sizeof(name), "asleep on 0x%llx in %s",
		 (unsigned long long)x->address,
		 x->name ? trace_timed_name(&w->timed, x->name) : "no body");
	put_count(w, WORD_UUID(x->address, x->name), name, x->ticks,
		  x->slept_ns, UNIT_NS);
}

int trace_to_perfetto(FILE *in, FILE *out, struct trace_fault *fault)
{
	struct writer w = { .out = out };
	const struct trace_sink sink = {
		.slice = on_slice,
		.span = on_span,
		.event = on_event,
		.executor = on_executor,
		.lane = on_lane,
		.probed_thread = on_probed_thread,
		.probed_word = on_probed_word,
		.u = &w,
	};
	int rc = trace_timed_read(&w.timed, in, &sink, fault);

	trace_timed_fini(&w.timed);
	return rc;
}
