/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body that ran straight from a sealed graph does not say since when it was
 * ready: that is the latest end of those before it in the same run, or the
 * start of the run.
 */
#include "report/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_BUCKETS (1u << 16)

static uint32_t bucket_of(uint32_t frame, uint64_t number)
{
	uint64_t h = (number + frame * 0x9e3779b97f4a7c15ull);

	h *= 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 48);
}

static uint32_t graph_of_frame(const struct load *l, uint32_t frame)
{
	return frame <= l->nr_frames ? l->frame_graph[frame - 1] : NO_GRAPH;
}

/* Doubles an array; false: no memory, which is noted. */
static bool grow(struct load *l, void **array, uint32_t *cap, size_t size)
{
	uint32_t more = *cap * 2 + 64;
	void *p = more > *cap ? realloc(*array, more * size) : NULL;

	if (!p) {
		l->rc = -ENOMEM;
		return false;
	}
	*array = p;
	*cap = more;
	return true;
}

struct run *run_of(struct load *l, uint32_t frame, uint64_t number)
{
	uint32_t b = bucket_of(frame, number), i;
	struct run *run;

	if (!l->bucket)
		l->bucket = calloc(NR_BUCKETS, sizeof(*l->bucket));
	if (!l->bucket) {
		l->rc = -ENOMEM;
		return NULL;
	}
	for (i = l->bucket[b]; i; i = l->run[i - 1].next) {
		run = &l->run[i - 1];
		if (run->frame != frame || run->number != number)
			continue;
		/* Its begin may come before its graph. */
		if (run->graph == NO_GRAPH)
			run->graph = graph_of_frame(l, frame);
		return run;
	}
	if (l->nr_runs == l->cap_runs &&
	    !grow(l, (void **)&l->run, &l->cap_runs, sizeof(*l->run)))
		return NULL;
	l->run[l->nr_runs] = (struct run){
		.number = number,
		.frame = frame,
		.next = l->bucket[b],
		.graph = graph_of_frame(l, frame),
		.begin = NO_TIME,
	};
	l->bucket[b] = ++l->nr_runs;
	return &l->run[l->nr_runs - 1];
}

/* False: no memory, which is noted. */
static bool take_frame(struct load *l, uint32_t frame, uint32_t graph)
{
	uint32_t nr = frame + frame / 2 + 16, *more;

	if (frame >= l->nr_frames) {
		more = realloc(l->frame_graph, nr * sizeof(*more));
		if (!more) {
			l->rc = -ENOMEM;
			return false;
		}
		memset(more + l->nr_frames, 0xff,
		       (nr - l->nr_frames) * sizeof(*more));
		l->frame_graph = more;
		l->nr_frames = nr;
	}
	l->frame_graph[frame] = graph;
	return true;
}

void note_graph(void *u, const struct trace_graph *g)
{
	struct load *l = u;
	uint32_t i;

	if (l->nr_graphs == l->cap_graphs &&
	    !grow(l, (void **)&l->graph, &l->cap_graphs, sizeof(*l->graph)))
		return;
	l->graph[l->nr_graphs] = (struct graph){ .number = g->graph };
	for (i = 0; i < g->nr_frames; i++) {
		if (!take_frame(l, g->frame[i], l->nr_graphs))
			return;
	}
	l->nr_graphs++;
}

static struct graph *find_graph(struct load *l, uint32_t number)
{
	uint32_t i;

	/* Tasks follow their graph. */
	for (i = l->nr_graphs; i; i--) {
		if (l->graph[i - 1].number == number)
			return &l->graph[i - 1];
	}
	return NULL;
}

void note_task(void *u, const struct trace_task *t)
{
	struct load *l = u;
	struct graph *g = find_graph(l, t->graph);
	uint32_t i, most = t->task;

	if (!g)
		return;
	g->nr_told++;
	for (i = 0; i < t->nr_succ; i++) {
		if (g->nr_edges == g->cap &&
		    !grow(l, (void **)&g->edge, &g->cap, 2 * sizeof(*g->edge)))
			return;
		g->edge[2 * g->nr_edges] = t->task;
		g->edge[2 * g->nr_edges++ + 1] = t->succ[i];
		if (t->succ[i] > most)
			most = t->succ[i];
	}
	if (most + 1 > g->nr_tasks)
		g->nr_tasks = most + 1;
}

void note_edge(void *u, const struct trace_edge *e)
{
	struct load *l = u;
	struct graph *g = find_graph(l, e->graph);

	if (!g)
		return;
	if (g->nr_reasons == g->cap_reasons &&
	    !grow(l, (void **)&g->reason, &g->cap_reasons, sizeof(*g->reason)))
		return;
	g->reason[g->nr_reasons++] = (struct reason){
		.task = e->task,
		.succ = e->succ,
		.name = (uint16_t)e->name,
		.mode = (uint16_t)e->mode,
	};
}

static int by_tasks(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->succ < y->succ ? -1 : x->succ > y->succ;
}

/* A body that another one of its run made ready: for what it waited. */
static void set_reason(const struct graph *g, const struct slice *all,
		       struct slice *x)
{
	const struct slice *by = &all[x->by];
	const struct reason key = { .task = by->task, .succ = x->task };
	const struct reason *found =
		by->run == x->run && g->nr_reasons
			? bsearch(&key, g->reason, g->nr_reasons, sizeof(key),
				  by_tasks)
			: NULL;

	if (!found)
		return;
	x->edge = found->name;
	x->edge_mode = found->mode;
}

/*
 * Edges by the task that waits. A graph with numbers beyond the tasks told is
 * a lie and is left out, so that memory stays with the file's size.
 */
static int index_graph(struct graph *g)
{
	uint32_t i, *e = g->edge;

	if (g->nr_tasks > g->nr_told)
		g->nr_tasks = 0;
	if (g->nr_reasons)
		qsort(g->reason, g->nr_reasons, sizeof(*g->reason), by_tasks);
	g->first = calloc(g->nr_tasks + 2ull, sizeof(*g->first));
	g->before = malloc((g->nr_edges + 1ull) * sizeof(*g->before));
	if (!g->first || !g->before)
		return -ENOMEM;
	for (i = 0; g->nr_tasks && i < g->nr_edges; i++)
		g->first[e[2 * i + 1] + 2]++;
	for (i = 0; i < g->nr_tasks; i++)
		g->first[i + 1] += g->first[i];
	for (i = 0; g->nr_tasks && i < g->nr_edges; i++)
		g->before[g->first[e[2 * i + 1] + 1]++] = e[2 * i];
	return 0;
}

/* Bodies of one run; where[task] is 1 + slice. */
static void link_run(struct load *l, const struct run *run, uint32_t *where,
		     const uint32_t *of, uint32_t nr)
{
	const struct graph *g =
		run->graph != NO_GRAPH ? &l->graph[run->graph] : NULL;
	uint32_t i, j, p, nr_tasks = g ? g->nr_tasks : 0;
	struct slice *s = l->r->slice, *x;

	for (i = 0; i < nr; i++) {
		if (s[of[i]].task < nr_tasks)
			where[s[of[i]].task] = of[i] + 1;
	}
	for (i = 0; i < nr; i++) {
		x = &s[of[i]];
		if (x->ready != NO_TIME)
			continue;
		x->ready = run->begin < x->begin ? run->begin : NO_TIME;
		x->is_outside = run->is_outside && x->ready != NO_TIME;
		for (j = x->task < nr_tasks ? g->first[x->task] : 0;
		     x->task < nr_tasks && j < g->first[x->task + 1]; j++) {
			p = where[g->before[j]];
			if (!p || s[p - 1].end > x->begin ||
			    (x->ready != NO_TIME && s[p - 1].end < x->ready))
				continue;
			x->ready = s[p - 1].end;
			x->by = p - 1;
			x->is_outside = false;
			l->r->has.edges = true;
		}
	}
	for (i = 0; i < nr; i++) {
		x = &s[of[i]];
		if (x->task < nr_tasks)
			where[x->task] = 0;
		if (g && x->by < l->r->nr_slices)
			set_reason(g, s, x);
	}
}

/* Slices by run: counted, then dealt. */
static int deal_runs(struct load *l, uint32_t *first, uint32_t *of)
{
	const struct slice *s = l->r->slice;
	uint32_t i, sum = 0, n;

	for (i = 0; i < l->r->nr_slices; i++) {
		if (s[i].run)
			first[s[i].run - 1]++;
	}
	for (i = 0; i < l->nr_runs; i++) {
		n = first[i];
		first[i] = sum;
		sum += n;
	}
	first[l->nr_runs] = sum;
	for (i = 0; i < l->r->nr_slices; i++) {
		if (s[i].run)
			of[first[s[i].run - 1]++] = i;
	}
	return 0;
}

int runs_link(struct load *l)
{
	uint32_t most = 0, i, from, *first, *of, *where;
	int rc = 0;

	for (i = 0; i < l->nr_graphs && !rc; i++) {
		rc = index_graph(&l->graph[i]);
		if (l->graph[i].nr_tasks > most)
			most = l->graph[i].nr_tasks;
	}
	if (rc || !l->nr_runs)
		return rc;
	first = calloc(l->nr_runs + 1ull, sizeof(*first));
	of = malloc((l->r->nr_slices + 1ull) * sizeof(*of));
	where = calloc(most + 1ull, sizeof(*where));
	if (!first || !of || !where)
		rc = -ENOMEM;
	else
		deal_runs(l, first, of);
	/* Dealing has moved each first to the next one's. */
	for (i = 0, from = 0; i < l->nr_runs && !rc; from = first[i++])
		link_run(l, &l->run[i], where, of + from, first[i] - from);
	free(first);
	free(of);
	free(where);
	return rc;
}

void runs_fini(struct load *l)
{
	uint32_t i;

	for (i = 0; i < l->nr_graphs; i++) {
		free(l->graph[i].edge);
		free(l->graph[i].reason);
		free(l->graph[i].first);
		free(l->graph[i].before);
	}
	free(l->graph);
	free(l->run);
	free(l->bucket);
	free(l->frame_graph);
}
