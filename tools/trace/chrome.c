/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/chrome.h"

#include "json.h"
#include "trace/timed.h"

struct writer {
	struct json json;
	struct trace_timed timed;
	int64_t nr_waits; /* pairs that have no number of their own */
};

/* Microseconds from the start. */
static double us_of(struct writer *w, uint64_t ticks)
{
	int64_t start = (int64_t)w->timed.info.header.start_ns;

	return (double)(trace_clock_ns(&w->timed.clock, ticks) - start) / 1000;
}

static void open_event(struct writer *w, const char *ph, const char *name,
		       uint32_t executor)
{
	json_open_flat(&w->json, NULL, '{');
	json_text(&w->json, "ph", ph);
	json_text(&w->json, "name", name);
	json_int(&w->json, "pid", w->timed.info.header.pid);
	json_int(&w->json, "tid", executor);
}

static void close_event(struct writer *w)
{
	json_close(&w->json, '}');
	json_close(&w->json, '}');
}

static void write_row(struct writer *w, uint32_t number, const char *name)
{
	open_event(w, "M", "thread_name", number);
	json_open(&w->json, "args", '{');
	json_text(&w->json, "name", name);
	close_event(w);
	open_event(w, "M", "thread_sort_index", number);
	json_open(&w->json, "args", '{');
	json_int(&w->json, "sort_index", number);
	close_event(w);
}

static void write_lane(void *u, const struct trace_lane *l)
{
	write_row(u, l->lane, l->label);
}

static void write_executor(void *u, const struct trace_executor *x)
{
	static const char *const kinds[] = { "worker", "blocking", "outside" };
	struct writer *w = u;
	char name[64];

	if (x->cpu >= 0)
		snprintf(name, sizeof(name), "%s %u (cpu %d)", kinds[x->kind],
			 x->executor, x->cpu);
	else if (x->kind == LKDF_EXECUTOR_OUTSIDE)
		snprintf(name, sizeof(name), "outside");
	else
		snprintf(name, sizeof(name), "%s %u", kinds[x->kind],
			 x->executor);
	write_row(w, x->executor, name);
}

/* An end of the arrow to that body: viewers draw it from slice to slice. */
static void write_flow(struct writer *w, const char *ph, uint32_t lane,
		       uint64_t at, const char *id)
{
	open_event(w, ph, "ready", lane);
	json_text(&w->json, "cat", "ready");
	json_fixed(&w->json, "ts", us_of(w, at), 3);
	json_text(&w->json, "id", id);
	if (ph[0] == 'f')
		json_text(&w->json, "bp", "e");
	json_close(&w->json, '}');
}

/*
 * From what made a body, or a kernel, ready. That may be just behind a body's
 * end, so the arrow begins in a slice of its own that takes no time.
 */
static void write_ready(struct writer *w, uint32_t lane,
			const struct trace_links *l, uint64_t begin)
{
	char id[64];

	if (!l->number || !l->ready || l->by_executor < 0)
		return;
	snprintf(id, sizeof(id), "%u.%llu", lane,
		 (unsigned long long)l->number);
	open_event(w, "X", "ready", (uint32_t)l->by_executor);
	json_text(&w->json, "cat", "ready");
	json_fixed(&w->json, "ts", us_of(w, l->ready), 3);
	json_int(&w->json, "dur", 0);
	json_close(&w->json, '}');
	write_flow(w, "s", (uint32_t)l->by_executor, l->ready, id);
	write_flow(w, "f", lane, begin, id);
}

static void write_slice(void *u, const struct trace_slice *s)
{
	struct writer *w = u;
	double begin = us_of(w, s->begin);

	write_ready(w, s->executor, &s->links, s->begin);

	open_event(w, "X", w->timed.info.name[s->name], s->executor);
	json_fixed(&w->json, "ts", begin, 3);
	json_fixed(&w->json, "dur", us_of(w, s->end) - begin, 3);
	json_open(&w->json, "args", '{');
	if (s->task >= 0)
		json_int(&w->json, "task", s->task);
	close_event(w);
}

static void write_event(void *u, const struct trace_event *e)
{
	struct writer *w = u;
	const struct trace_event_info *i = &w->timed.info.event[e->event];

	open_event(w, "i", i->name, e->executor);
	json_text(&w->json, "s", "t");
	json_fixed(&w->json, "ts", us_of(w, e->ticks), 3);
	json_open(&w->json, "args", '{');
	if (i->a[0])
		json_int(&w->json, i->a, (int64_t)e->a);
	if (i->b[0])
		json_int(&w->json, i->b, (int64_t)e->b);
	close_event(w);
}

static const char *category_of(uint32_t sort)
{
	static const char *const words[] = {
		[LKDF_SPAN_KERNEL] = "kernel", [LKDF_SPAN_COPY] = "copy",
		[LKDF_SPAN_LIMIT] = "limit",   [LKDF_SPAN_ROOM] = "room",
		[LKDF_SPAN_FULL] = "full",     [LKDF_SPAN_REGION] = "region",
		[LKDF_SPAN_AWAY] = "away",     [LKDF_SPAN_BLOCKS] = "blocks",
	};

	return sort <= LKDF_SPAN_BLOCKS && words[sort] ? words[sort] : "span";
}

/* A curve of the label's values. */
static void write_mark(struct writer *w, const struct trace_span *s)
{
	open_event(w, "C", w->timed.info.name[s->name], s->lane);
	json_text(&w->json, "cat", "mark");
	json_fixed(&w->json, "ts", us_of(w, s->begin), 3);
	json_open(&w->json, "args", '{');
	json_int(&w->json, "value", s->value);
	close_event(w);
}

/* The arrow from the body before to the one that goes on. */
static void write_arrow(struct writer *w, const struct trace_span *s,
			int64_t id)
{
	const bool has_before = s->links.by_executor >= 0;
	int end;

	for (end = 0; has_before && end <= 1; end++) {
		open_event(w, end ? "f" : "s", "goes on",
			   end ? s->lane : (uint32_t)s->links.by_executor);
		json_text(&w->json, "cat", "away");
		json_fixed(&w->json, "ts", us_of(w, end ? s->end : s->begin),
			   3);
		json_int(&w->json, "id", id);
		if (end)
			json_text(&w->json, "bp", "e");
		json_close(&w->json, '}');
	}
}

/*
 * Operations, waits for limits and tasks that are away overlap: asynchronous
 * pairs. All else lies on its thread.
 */
static void write_span(void *u, const struct trace_span *s)
{
	struct writer *w = u;
	const char *name = s->sort == LKDF_SPAN_ENTER ? "io_uring_enter"
			   : s->sort == LKDF_SPAN_AWAY && !s->name
				   ? "away"
				   : w->timed.info.name[s->name];
	bool is_limit = s->sort == LKDF_SPAN_LIMIT;
	bool is_copy = s->sort == LKDF_SPAN_COPY || s->sort == LKDF_SPAN_ROOM;
	bool is_region = s->sort == LKDF_SPAN_REGION;
	bool is_away = s->sort == LKDF_SPAN_AWAY;
	bool has_id = is_limit || is_region || is_away;
	bool is_async = s->sort == LKDF_SPAN_OPERATION || has_id;
	int64_t id = has_id ? w->nr_waits++ : (int64_t)s->links.number;
	int end;

	if (s->sort == LKDF_SPAN_MARK) {
		write_mark(w, s);
		return;
	}
	if (is_away)
		write_arrow(w, s, id);
	if (s->sort == LKDF_SPAN_KERNEL)
		write_ready(w, s->lane, &s->links, s->begin);
	for (end = 0; end <= is_async; end++) {
		open_event(w, !is_async ? "X" : end ? "e" : "b", name, s->lane);
		json_text(&w->json, "cat", category_of(s->sort));
		json_fixed(&w->json, "ts", us_of(w, end ? s->end : s->begin),
			   3);
		if (is_async)
			json_int(&w->json, "id", id);
		else
			json_fixed(&w->json, "dur",
				   us_of(w, s->end) - us_of(w, s->begin), 3);
		json_open(&w->json, "args", '{');
		if (is_limit)
			json_text(&w->json, "kind",
				  w->timed.info.name[s->value]);
		else if (s->sort != LKDF_SPAN_KERNEL || s->value >= 0)
			json_int(&w->json,
				 is_copy		       ? "bytes"
				 : s->sort == LKDF_SPAN_KERNEL ? "task"
							       : "value",
				 s->value);
		close_event(w);
	}
}

static void open_counter(struct writer *w, const char *name, uint32_t executor,
			 uint64_t ticks)
{
	open_event(w, "C", name, executor);
	json_text(&w->json, "cat", "kernel");
	json_fixed(&w->json, "ts", us_of(w, ticks), 3);
	json_open(&w->json, "args", '{');
}

/* Sums: a curve for each executor. */
static void write_probed_thread(void *u, const struct trace_probed_thread *t)
{
	struct writer *w = u;
	char name[64];

	snprintf(name, sizeof(name), "off the CPU, ns: executor %u",
		 t->executor);
	open_counter(w, name, t->executor, t->ticks);
	json_int(&w->json, "preempted",
		 (int64_t)t->count[LKDF_PROBED_PREEMPTED_NS]);
	json_int(&w->json, "futex", (int64_t)t->count[LKDF_PROBED_FUTEX_NS]);
	json_int(&w->json, "asleep", (int64_t)t->count[LKDF_PROBED_BLOCKED_NS]);
	close_event(w);
}

static void write_probed_word(void *u, const struct trace_probed_word *x)
{
	struct writer *w = u;
	char name[LKDF_MAX_TEXT + 64];

	snprintf(name, sizeof(name), "futex word 0x%llx: %s",
		 (unsigned long long)x->address,
		 x->name ? w->timed.info.name[x->name] : "(no body)");
	open_counter(w, name, w->timed.info.header.nr_executors, x->ticks);
	json_int(&w->json, "sleeps", (int64_t)x->sleeps);
	json_int(&w->json, "asleep", (int64_t)x->slept_ns);
	json_int(&w->json, "samples", (int64_t)x->samples);
	close_event(w);
}

int trace_to_chrome(FILE *in, FILE *out, struct trace_fault *fault)
{
	struct writer w = { .json = { .out = out } };
	const struct trace_sink sink = {
		.slice = write_slice,
		.span = write_span,
		.event = write_event,
		.executor = write_executor,
		.lane = write_lane,
		.probed_thread = write_probed_thread,
		.probed_word = write_probed_word,
		.u = &w,
	};
	int rc;

	json_init(&w.json, out);
	json_open(&w.json, NULL, '{');
	json_text(&w.json, "displayTimeUnit", "ns");
	json_open(&w.json, "traceEvents", '[');
	rc = trace_timed_read(&w.timed, in, &sink, fault);
	json_close(&w.json, ']');
	json_close(&w.json, '}');
	fputc('\n', out);
	trace_timed_fini(&w.timed);
	return rc;
}
