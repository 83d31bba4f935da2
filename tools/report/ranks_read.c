/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The reader takes bodies of workers, and the marks of lib/mpi/align.c. */
#include "report/ranks.h"
#include "trace/timed.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PEER (1 << 24)
/* A file may lie: differences of times fit, 73 years. */
#define MAX_TIME (INT64_MAX / 4)

/* How far the rank's clock was behind that of rank 0, and when. */
struct offset {
	int64_t at, ahead;
};

struct reading {
	struct rank *x;
	struct trace_timed timed;
	struct offset first, last;
	uint32_t nr_offsets;
	bool *is_worker; /* by executor */
	bool is_rank, has_failed;
};

/* An array grows by an element; NULL: no memory. */
static void *add_one(void *at, size_t *nr, size_t *cap, size_t size)
{
	char *was, *now;

	memcpy(&was, at, sizeof(was));
	if (*nr == *cap) {
		now = realloc(was, (*cap * 2 + 256) * size);
		if (!now)
			return NULL;
		*cap = *cap * 2 + 256;
		memcpy(at, &now, sizeof(now));
		was = now;
	}
	return was + size * (*nr)++;
}

static int64_t clipped(int64_t t)
{
	return t > MAX_TIME ? MAX_TIME : t < -MAX_TIME ? -MAX_TIME : t;
}

static int64_t time_of(struct reading *g, uint64_t ticks)
{
	return clipped(trace_clock_ns(&g->timed.clock, ticks));
}

static void on_executor(void *u, const struct trace_executor *e)
{
	struct reading *g = u;

	if (!g->is_worker)
		g->is_worker = calloc(g->timed.info.header.nr_executors + 1ull,
				      sizeof(bool));
	if (!g->is_worker) {
		g->has_failed = true;
	} else if (e->kind == LKDF_EXECUTOR_WORKER &&
		   !g->is_worker[e->executor]) {
		g->is_worker[e->executor] = true;
		g->x->nr_workers++;
	}
}

static void on_slice(void *u, const struct trace_slice *s)
{
	struct reading *g = u;
	struct rank *x = g->x;
	struct rank_body *b;

	if (!g->is_worker || !g->is_worker[s->executor])
		return;
	b = add_one(&x->body, &x->nr_bodies, &x->cap_bodies, sizeof(*b));
	if (b)
		*b = (struct rank_body){ time_of(g, s->begin),
					 time_of(g, s->end), s->executor,
					 s->name };
	else
		g->has_failed = true;
}

static void keep_mark(struct reading *g, const char *label,
		      const struct trace_span *s)
{
	struct offset o = { time_of(g, s->begin), clipped(s->value) };

	if (!strcmp(label, "MPI rank") && s->value >= 0 &&
	    s->value < MAX_PEER) {
		g->x->number = (int)s->value;
		g->is_rank = true;
	} else if (!strcmp(label, "MPI clock")) {
		if (!g->nr_offsets++)
			g->first = o;
		g->last = o;
	}
}

static void keep_request(struct reading *g, const char *label,
			 const struct trace_span *s)
{
	struct rank *x = g->x;
	struct rank_request *r, q = { time_of(g, s->begin), time_of(g, s->end),
				      RANK_WAY_NONE, -1 };

	if (sscanf(label, "MPI from %8d", &q.peer) == 1)
		q.way = RANK_WAY_FROM;
	else if (sscanf(label, "MPI to %8d", &q.peer) == 1)
		q.way = RANK_WAY_TO;
	else if (strcmp(label, "MPI"))
		return;
	if (q.peer < 0)
		q.way = RANK_WAY_NONE;
	r = add_one(&x->request, &x->nr_requests, &x->cap_requests, sizeof(*r));
	if (r)
		*r = q;
	else
		g->has_failed = true;
}

static void on_span(void *u, const struct trace_span *s)
{
	struct reading *g = u;
	const char *label = trace_timed_name(&g->timed, s->name);

	if (s->sort == LKDF_SPAN_MARK)
		keep_mark(g, label, s);
	else if (s->sort == LKDF_SPAN_REGION)
		keep_request(g, label, s);
}

static void on_fact(void *u, const char *key, const char *value)
{
	struct rank *x = ((struct reading *)u)->x;

	if (strcmp(key, "program"))
		return;
	snprintf(x->program, sizeof(x->program), "%s", value);
	utf8_tame(x->program);
}

/* On a line through the first and the last count. */
static int64_t ahead_at(const struct reading *g, int64_t t)
{
	const struct offset *a = &g->first, *b = &g->last;
	double part;

	if (b->at <= a->at)
		return a->ahead;
	part = ((double)t - (double)a->at) / ((double)b->at - (double)a->at);
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return a->ahead +
	       (int64_t)(part * ((double)b->ahead - (double)a->ahead));
}

static void move_both(const struct reading *g, int64_t *begin, int64_t *end)
{
	*begin = clipped(*begin + ahead_at(g, *begin));
	*end = clipped(*end + ahead_at(g, *end));
	if (*end < *begin)
		*end = *begin;
}

static void align_times(const struct reading *g)
{
	struct rank *x = g->x;
	size_t i;

	for (i = 0; i < x->nr_bodies; i++)
		move_both(g, &x->body[i].begin, &x->body[i].end);
	for (i = 0; i < x->nr_requests; i++)
		move_both(g, &x->request[i].begin, &x->request[i].end);
}

/* They outlive the reading. */
static int keep_names(struct rank *x, struct trace_timed *t)
{
	uint32_t i;

	x->name = calloc(LKDF_MAX_NAMES, sizeof(*x->name));
	if (!x->name)
		return -ENOMEM;
	for (i = 0; i < LKDF_MAX_NAMES; i++) {
		x->name[i] = t->info.name[i] ? strdup(t->info.name[i]) : NULL;
		if (x->name[i])
			utf8_tame(x->name[i]);
	}
	return 0;
}

int ranks_read(struct ranks *r, const char *file, FILE *in,
	       struct trace_fault *fault)
{
	struct reading g = { .x = &r->rank[r->nr] };
	const struct trace_sink sink = {
		.slice = on_slice,
		.executor = on_executor,
		.span = on_span,
		.fact = on_fact,
		.u = &g,
	};
	int rc;

	*g.x = (struct rank){ .file = file };
	r->nr++;
	rc = trace_timed_read(&g.timed, in, &sink, fault);
	g.x->pid = g.timed.info.header.pid;
	if ((!rc || rc == -EBADMSG) && g.has_failed)
		rc = -ENOMEM;
	if ((!rc || rc == -EBADMSG) && g.timed.info.name &&
	    keep_names(g.x, &g.timed))
		rc = -ENOMEM;
	if (!rc && !g.is_rank)
		rc = -ENOENT;
	align_times(&g);
	trace_timed_fini(&g.timed);
	free(g.is_worker);
	return rc;
}

void ranks_fini(struct ranks *r)
{
	uint32_t i, k;

	for (i = 0; i < r->nr; i++) {
		for (k = 0; r->rank[i].name && k < LKDF_MAX_NAMES; k++)
			free(r->rank[i].name[k]);
		free(r->rank[i].name);
		free(r->rank[i].body);
		free(r->rank[i].request);
		free(r->rank[i].charge);
	}
	free(r->wait);
}
