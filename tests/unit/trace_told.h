/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Whatever the reader of traces tells, as text: one line each. */
#ifndef TESTS_UNIT_TRACE_TOLD_H
#define TESTS_UNIT_TRACE_TOLD_H

#include "tools/trace/read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define NR_TASKS 100

/* What a reader was told, one line each. */
struct told {
	char text[8192];
	size_t used;
	const struct trace_info *info;
	uint64_t nr_slices, nr_events;
	uint32_t
		in_order; /* slices numbered 0 .. NR_TASKS - 1, over and over */
};

__attribute__((format(printf, 2, 3))) static void tell(struct told *t,
						       const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->text + t->used, sizeof(t->text) - t->used, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(t->text) - t->used)
		t->used += (size_t)n;
}

static void tell_links(struct told *t, const struct trace_links *l)
{
	if (!l->is_known)
		return;
	tell(t, " number %" PRIu64 " by %d %" PRIu64 " ready %" PRIu64,
	     l->number, l->by_executor, l->by_number, l->ready);
	tell(t, " run %u %" PRIu64 " bytes %" PRIu64 " %" PRIu64, l->frame,
	     l->run, l->local, l->remote);
	if (l->edge || l->edge_mode)
		tell(t, " edge %u %u", l->edge, l->edge_mode);
	tell(t, "\n");
}

static void on_slice(void *u, const struct trace_slice *s)
{
	struct told *t = u;

	t->in_order += s->task == (int64_t)(t->nr_slices % NR_TASKS);
	t->nr_slices++;
	tell(t, "slice %u %s %" PRId64 " %" PRIu64 " %" PRIu64 "\n",
	     s->executor, t->info->name[s->name], s->task, s->begin, s->end);
	tell_links(t, &s->links);
}

static void on_event(void *u, const struct trace_event *e)
{
	struct told *t = u;

	t->nr_events++;
	tell(t, "event %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	     e->executor, t->info->event[e->event].name, e->ticks, e->a, e->b);
}

static void on_executor(void *u, const struct trace_executor *x)
{
	tell(u, "executor %u %u %d %d %u\n", x->executor, x->kind, x->cpu,
	     x->node, x->tid);
}

static void on_clock(void *u, uint64_t ticks, uint64_t ns)
{
	tell(u, "clock %" PRIu64 " %" PRIu64 "\n", ticks, ns);
}

static void on_counter(void *u, uint32_t executor, uint32_t i, uint64_t v)
{
	struct told *t = u;

	tell(t, "counter %u %s %" PRIu64 "\n", executor, t->info->counter[i],
	     v);
}

static void on_span(void *u, const struct trace_span *s)
{
	struct told *t = u;

	tell(t, "span %u sort %u %s %" PRId64 " %" PRIu64 " %" PRIu64 "\n",
	     s->lane, s->sort, t->info->name[s->name], s->value, s->begin,
	     s->end);
	tell_links(t, &s->links);
}

static void on_kind(void *u, const struct trace_kind *k)
{
	struct told *t = u;

	tell(t, "kind %s %x prio %u width %u limits %u\n",
	     t->info->name[k->name], k->flags, k->prio, k->width, k->limits);
}

static void on_graph(void *u, const struct trace_graph *g)
{
	tell(u, "graph %u %s %u %" PRIu64 " frames %u %u\n", g->graph, g->name,
	     g->nr_tasks, g->nr_edges, g->nr_frames, g->frame[0]);
}

static void on_task(void *u, const struct trace_task *x)
{
	struct told *t = u;
	uint32_t i;

	tell(t, "task %u.%u %s %x \"%s\"", x->graph, x->task,
	     t->info->name[x->name], x->flags, x->label);
	for (i = 0; i < x->nr_succ; i++)
		tell(t, " %u", x->succ[i]);
	tell(t, "\n");
}

static void on_edge(void *u, const struct trace_edge *x)
{
	struct told *t = u;

	tell(t, "edge %u.%u %u %s %u\n", x->graph, x->task, x->succ,
	     t->info->name[x->name], x->mode);
}

static void on_thread(void *u, const struct trace_thread *x)
{
	tell(u, "thread %u %u %s %" PRIu64 ": %" PRIu64 " %" PRIu64 " %" PRIu64,
	     x->executor, x->tid, x->name, x->ticks, x->cpu_ns, x->queue_ns,
	     x->times);
	if (x->has_kernel)
		tell(u, " kernel %" PRIu64 " %" PRIu64, x->system_ns,
		     x->faults);
	tell(u, "\n");
}

static void on_bytes(void *u, const struct trace_bytes *b)
{
	uint32_t i;

	tell(u, "bytes %u %" PRIu64 " ? %" PRIu64, b->executor, b->ticks,
	     b->unknown);
	for (i = 0; i < b->nr_nodes; i++)
		tell(u, " %" PRIu64, b->bytes[i]);
	tell(u, "\n");
}

static void on_fact(void *u, const char *key, const char *value)
{
	tell(u, "fact %s=%s\n", key, value);
}

static void on_lane(void *u, const struct trace_lane *l)
{
	tell(u, "lane %u %u %u %s\n", l->lane, l->sort, l->device, l->label);
}

static void on_lost(void *u, const struct trace_lost *l)
{
	tell(u, "lost %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->executor,
	     l->ticks, l->slices, l->events);
}

static void on_probe(void *u, const struct trace_probe *p)
{
	tell(u, "probe %" PRIu64 " sees %u hz %u\n", p->ticks, p->sees, p->hz);
}

static void on_probed_thread(void *u, const struct trace_probed_thread *k)
{
	uint32_t i;

	tell(u, "kernel %u %" PRIu64 " state %u %" PRIu64 " word %" PRIx64 " :",
	     k->executor, k->ticks, k->state, k->state_ns, k->word);
	for (i = 0; i < LKDF_PROBED_COUNTS; i++)
		tell(u, " %" PRIu64, k->count[i]);
	tell(u, "\n");
}

static void on_probed_word(void *u, const struct trace_probed_word *w)
{
	struct told *t = u;

	tell(t, "word %" PRIx64 " %" PRIu64 " %s: %" PRIu64 " %" PRIu64,
	     w->address, w->ticks, w->name ? t->info->name[w->name] : "-",
	     w->sleeps, w->slept_ns);
	tell(t, " %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 "\n",
	     w->samples, w->waits, w->wait_nodes, w->wake_nodes);
}

static void on_probed_place(void *u, const struct trace_probed_place *p)
{
	tell(u, "place %" PRIx64 " %s+%" PRIx64 " %s", p->address, p->file,
	     p->offset, p->build_id);
	tell(u, " %s+%" PRIx64 " \"%s\"+%" PRIu64 " of %" PRIu64 "\n",
	     p->mapping, p->mapping_offset, p->label, p->label_offset,
	     p->label_bytes);
}

static void on_stack(void *u, const struct trace_probed_stack *s)
{
	struct told *t = u;
	uint32_t i;

	tell(t, "stack %u %" PRIu64 " %s word %" PRIx64 " x %" PRIu64 ":",
	     s->sort, s->ticks, s->name ? t->info->name[s->name] : "-", s->word,
	     s->count);
	for (i = 0; i < s->nr; i++)
		tell(t, " %" PRIx64, s->ip[i]);
	tell(t, "\n");
}

static void on_waker(void *u, const struct trace_probed_waker *w)
{
	struct told *t = u;

	tell(t,
	     "waker %" PRIx64 " %" PRIu64 " %s: %u on %d in %s, %" PRIu64 "\n",
	     w->address, w->ticks, w->name ? t->info->name[w->name] : "-",
	     w->tid, w->executor, w->by ? t->info->name[w->by] : "-", w->wakes);
}

static void on_preemptor(void *u, const struct trace_preemptor *p)
{
	tell(u, "preemptor %u %u %s\n", p->executor, p->tid, p->name);
}

static void on_sample(void *u, uint32_t executor, uint64_t ticks)
{
	tell(u, "sample %u %" PRIu64 "\n", executor, ticks);
}

static int read_told(FILE *f, struct told *t, struct trace_info *info,
		     struct trace_fault *fault)
{
	const struct trace_sink sink = {
		on_slice,  on_event,	     on_executor,    on_clock,
		on_sample, on_counter,	     on_span,	     on_kind,
		on_graph,  on_task,	     on_edge,	     on_thread,
		on_bytes,  on_fact,	     on_lane,	     on_lost,
		on_probe,  on_probed_thread, on_probed_word, on_probed_place,
		on_stack,  on_waker,	     on_preemptor,   t,
	};

	memset(t, 0, sizeof(*t));
	t->info = info;
	return trace_read(f, &sink, info, fault);
}

#endif
