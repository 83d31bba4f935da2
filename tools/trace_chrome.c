/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace_chrome.h"

#include "json.h"

#include <errno.h>
#include <stdlib.h>

struct pair {
	uint64_t ticks, ns;
};

struct writer {
	struct json json;
	struct trace_info info;
	struct pair *pair; /* by ticks */
	size_t nr_pairs, cap;
	bool has_failed; /* no memory for pairs */
};

static void add_pair(void *u, uint64_t ticks, uint64_t ns)
{
	struct writer *w = u;
	struct pair *p;

	if (w->nr_pairs == w->cap) {
		p = realloc(w->pair, (w->cap * 2 + 64) * sizeof(*p));
		if (!p) {
			w->has_failed = true;
			return;
		}
		w->pair = p;
		w->cap = w->cap * 2 + 64;
	}
	w->pair[w->nr_pairs++] = (struct pair){ ticks, ns };
}

/* b - a, which may be less than nothing. */
static double distance(uint64_t a, uint64_t b)
{
	return b >= a ? (double)(b - a) : -(double)(a - b);
}

/* Ticks as microseconds from the start; see trace-format.rst. */
static double us_of(const struct writer *w, uint64_t ticks)
{
	const struct lkdf_file_header *h = &w->info.header;
	struct pair from = { h->start_ticks, h->start_ns };
	double ns_per_tick = 1024.0 / h->ticks_per_1024ns;
	size_t low = 0, high = w->nr_pairs, mid;

	/* The first pair after ticks, or else the last there is. */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (w->pair[mid].ticks <= ticks)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == w->nr_pairs && low)
		low--;
	if (low)
		from = w->pair[low - 1];
	if (w->nr_pairs)
		ns_per_tick = distance(from.ns, w->pair[low].ns) /
			      distance(from.ticks, w->pair[low].ticks);
	return (distance(h->start_ns, from.ns) +
		distance(from.ticks, ticks) * ns_per_tick) /
	       1000;
}

static void open_event(struct writer *w, const char *ph, const char *name,
		       uint32_t executor)
{
	json_open_flat(&w->json, NULL, '{');
	json_text(&w->json, "ph", ph);
	json_text(&w->json, "name", name);
	json_int(&w->json, "pid", w->info.header.pid);
	json_int(&w->json, "tid", executor);
}

static void close_event(struct writer *w)
{
	json_close(&w->json, '}');
	json_close(&w->json, '}');
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
	open_event(w, "M", "thread_name", x->executor);
	json_open(&w->json, "args", '{');
	json_text(&w->json, "name", name);
	close_event(w);
	open_event(w, "M", "thread_sort_index", x->executor);
	json_open(&w->json, "args", '{');
	json_int(&w->json, "sort_index", x->executor);
	close_event(w);
}

static void write_slice(void *u, const struct trace_slice *s)
{
	struct writer *w = u;
	double begin = us_of(w, s->begin);

	open_event(w, "X", w->info.name[s->name], s->executor);
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
	const struct trace_event_info *i = &w->info.event[e->event];

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

static int write_all(struct writer *w, FILE *in, FILE *out,
		     struct trace_fault *fault)
{
	const struct trace_sink sink = {
		.slice = write_slice,
		.event = write_event,
		.executor = write_executor,
		.u = w,
	};
	int rc;

	json_init(&w->json, out);
	json_open(&w->json, NULL, '{');
	json_text(&w->json, "displayTimeUnit", "ns");
	json_open(&w->json, "traceEvents", '[');
	rc = trace_read(in, &sink, &w->info, fault);
	json_close(&w->json, ']');
	json_close(&w->json, '}');
	fputc('\n', out);
	return rc;
}

int trace_to_chrome(FILE *in, FILE *out, struct trace_fault *fault)
{
	struct writer w = { .nr_pairs = 0 };
	const struct trace_sink clocks = { .clock = add_pair, .u = &w };
	int rc;

	rc = trace_read(in, &clocks, &w.info, fault);
	trace_info_fini(&w.info);
	if (w.has_failed)
		rc = -ENOMEM;
	if (!rc || rc == -EBADMSG)
		rc = write_all(&w, in, out, fault);
	trace_info_fini(&w.info);
	free(w.pair);
	return rc;
}
