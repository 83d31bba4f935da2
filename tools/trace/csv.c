/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/formats.h"
#include "trace/timed.h"

#include <inttypes.h>
#include <string.h>

struct writer {
	struct trace_timed timed;
	FILE *out;
};

static int64_t ns(struct writer *w, uint64_t ticks)
{
	return trace_clock_ns(&w->timed.clock, ticks);
}

/* A field by RFC 4180. */
static void put_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_start(struct writer *w, const char *sort, uint32_t lane,
		      const char *name)
{
	fprintf(w->out, "%s,%u,", sort, lane);
	put_text(w->out, name);
}

static void put_links(struct writer *w, const struct trace_links *l)
{
	FILE *out = w->out;

	if (!l->is_known) {
		fputs(",,,,,,,,\n", out);
		return;
	}
	fprintf(out, ",%" PRIu64 ",", l->number);
	if (l->by_executor >= 0)
		fprintf(out, "%d,%" PRIu64 ",", l->by_executor, l->by_number);
	else
		fputs(",,", out);
	if (l->ready)
		fprintf(out, "%" PRId64, ns(w, l->ready));
	fputc(',', out);
	if (l->frame)
		fprintf(out, "%u,%" PRIu64 ",", l->frame - 1, l->run);
	else
		fputs(",,", out);
	fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", l->local, l->remote);
}

static void on_slice(void *u, const struct trace_slice *s)
{
	struct writer *w = u;

	put_start(w, "body", s->executor, trace_timed_name(&w->timed, s->name));
	fprintf(w->out, ",%" PRId64 ",%" PRId64 ",", ns(w, s->begin),
		ns(w, s->end));
	if (s->task >= 0)
		fprintf(w->out, "%" PRId64, s->task);
	fputc(',', w->out);
	put_links(w, &s->links);
}

static void on_span(void *u, const struct trace_span *s)
{
	static const char *const sorts[] = {
		"span", "operation", "enter",  "wait", "kernel",
		"copy", "limit",     "room",   "full", "region",
		"mark", "away",	     "blocks",
	};
	struct writer *w = u;

	put_start(w, sorts[s->sort <= LKDF_SPAN_BLOCKS ? s->sort : 0], s->lane,
		  s->name ? trace_timed_name(&w->timed, s->name) : "");
	fprintf(w->out, ",%" PRId64 ",%" PRId64 ",,%" PRId64, ns(w, s->begin),
		ns(w, s->end), s->value);
	put_links(w, &s->links);
}

static void on_event(void *u, const struct trace_event *e)
{
	struct writer *w = u;

	put_start(w, "event", e->executor, w->timed.info.event[e->event].name);
	fprintf(w->out,
		",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",,,,,,,,\n",
		ns(w, e->ticks), ns(w, e->ticks), e->a, e->b);
}

static void put_value(struct writer *w, const char *sort, uint32_t lane,
		      const char *name, uint64_t ticks, uint64_t value)
{
	put_start(w, sort, lane, name);
	fprintf(w->out, ",%" PRId64 ",%" PRId64 ",,%" PRIu64 ",,,,,,,,\n",
		ns(w, ticks), ns(w, ticks), value);
}

static void on_probed_thread(void *u, const struct trace_probed_thread *t)
{
	static const char *const names[LKDF_PROBED_COUNTS] = {
		"preempts", "preempted_ns", "sleeps", "asleep_ns",
		"futexes",  "futex_ns",	    "cpus",   "nodes",
		"samples",  "in_futex",	    "in_own", "moved_pages",
	};
	int i;

	for (i = 0; i < LKDF_PROBED_COUNTS; i++)
		put_value(u, "probe", t->executor, names[i], t->ticks,
			  t->count[i]);
}

static void on_probed_word(void *u, const struct trace_probed_word *x)
{
	struct writer *w = u;
	uint32_t outside = w->timed.info.header.nr_executors;
	char name[LKDF_MAX_TEXT + 64];

	snprintf(name, sizeof(name), "0x%" PRIx64 " %s", x->address,
		 x->name ? trace_timed_name(&w->timed, x->name) : "(no body)");
	put_value(w, "word.sleeps", outside, name, x->ticks, x->sleeps);
	put_value(w, "word.asleep_ns", outside, name, x->ticks, x->slept_ns);
	put_value(w, "word.samples", outside, name, x->ticks, x->samples);
}

int trace_to_csv(FILE *in, FILE *out, struct trace_fault *fault)
{
	struct writer w = { .out = out };
	const struct trace_sink sink = {
		.slice = on_slice,
		.span = on_span,
		.event = on_event,
		.probed_thread = on_probed_thread,
		.probed_word = on_probed_word,
		.u = &w,
	};
	int rc;

	fputs("sort,lane,name,begin_ns,end_ns,task,value,number,by_lane,"
	      "by_number,ready_ns,frame,run,local_bytes,remote_bytes\n",
	      out);
	rc = trace_timed_read(&w.timed, in, &sink, fault);
	trace_timed_fini(&w.timed);
	return rc;
}
