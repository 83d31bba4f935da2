/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/seal.h"

#include "base/err.h"
#include "base/options.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "graph/control.h"
#include "graph/graph.h"
#include "graph/port.h"
#include "graph/renumber.h"
#include "mem/region.h"
#include "run/frame.h"
#include "run/planned.h"
#include "run/static_order.h"
#include "run/stream_solo.h"
#include "run/transient.h"
#include "seal/assign.h"
#include "seal/choices.h"
#include "seal/edges.h"
#include "seal/find_loops.h"
#include "seal/frames.h"
#include "seal/index.h"
#include "seal/regions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory to seal %u tasks", g->name,
		   g->nr_tasks);
}

/* Offsets of the spilled tasks' successors; at[t] is where task t's begin. */
static uint32_t place_spilled(struct lkdf_graph *g, uint32_t *at)
{
	const struct spilled_edge *e = g->edges.items;
	uint32_t nr = 0, count, t;
	size_t i;

	for (i = 0; i < g->edges.nr; i++)
		at[e[i].from]++;
	for (t = 0; t < g->nr_tasks; t++) {
		if (g->recs[t].nr_succ != REC_SPILLED)
			continue;
		count = at[t] + 2;
		at[t] = nr;
		nr += count;
	}
	return nr;
}

static void fill_spilled(struct lkdf_graph *g, uint32_t *at)
{
	const struct spilled_edge *e = g->edges.items;
	struct rec *r;
	uint32_t t;
	size_t i;

	for (t = 0; t < g->nr_tasks; t++) {
		r = &g->recs[t];
		if (r->nr_succ != REC_SPILLED)
			continue;
		g->spill[at[t]] = r->succ[0];
		g->spill[at[t] + 1] = r->succ[1];
		r->succ[0] = at[t];
		r->succ[1] = 2;
	}
	for (i = 0; i < g->edges.nr; i++) {
		r = &g->recs[e[i].from];
		g->spill[r->succ[0] + r->succ[1]++] = e[i].to;
	}
}

static int lay_out_successors(struct lkdf_graph *g)
{
	size_t size = g->nr_tasks * sizeof(uint32_t);
	uint32_t *at;

	if (!g->edges.nr)
		return 0;
	at = region_alloc(size);
	if (!at)
		return no_memory(g);
	g->nr_spill = place_spilled(g, at);
	g->spill = region_alloc(g->nr_spill * sizeof(*g->spill));
	if (g->spill)
		fill_spilled(g, at);
	region_free(at, size);
	if (!g->spill)
		return no_memory(g);
	array_fini(&g->edges);
	return 0;
}

/* Kahn 1962: takes away what has no arrivals to come; the number left. */
static uint32_t remove_sources(const struct lkdf_graph *g, uint32_t *nr_in,
			       uint32_t *stack)
{
	uint32_t left = g->nr_tasks, top = 0, t, i, nr;
	const uint32_t *succ;

	for (t = 0; t < g->nr_tasks; t++) {
		nr_in[t] = a_load(&g->recs[t].pending, relaxed);
		if (!nr_in[t])
			stack[top++] = t;
	}
	while (top) {
		t = stack[--top];
		left--;
		succ = graph_succ(g, &g->recs[t], &nr);
		for (i = 0; i < nr; i++) {
			if (!--nr_in[succ[i]])
				stack[top++] = succ[i];
		}
	}
	return left;
}

/* Each of those left gets one predecessor that is left too. */
static uint32_t find_on_cycle(const struct lkdf_graph *g, const uint32_t *nr_in,
			      uint32_t *pred)
{
	uint32_t t, i, nr, left = 0;
	const uint32_t *succ;

	for (t = 0; t < g->nr_tasks; t++) {
		if (!nr_in[t])
			continue;
		left = t;
		succ = graph_succ(g, &g->recs[t], &nr);
		for (i = 0; i < nr; i++)
			pred[succ[i]] = t;
	}
	for (i = 0; i < g->nr_tasks; i++)
		left = pred[left];
	return left;
}

static int refuse_cycle(const struct lkdf_graph *g, const uint32_t *nr_in,
			uint32_t *pred, struct lkdf_diag *why)
{
	uint32_t first = find_on_cycle(g, nr_in, pred), t = first, nr = 0, i;
	char text[sizeof(why->text)] = "", name[NAME_SIZE];
	uint32_t path[ARRAY_SIZE(why->path)];
	size_t used = 0;

	/* pred goes backwards: keep the last few, which come first. */
	do {
		path[nr++ % ARRAY_SIZE(path)] = t;
		t = pred[t];
	} while (t != first);
	for (i = 0; i < nr && i < ARRAY_SIZE(path); i++) {
		t = path[(nr - 1 - i) % ARRAY_SIZE(path)];
		why->path[i] = (int32_t)t;
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s -> ",
			graph_task_name(g, t, name, sizeof(name)));
		if (used >= sizeof(text))
			used = sizeof(text) - 1;
	}
	why->nr = i;
	return err(-ELOOP, "graph %s: cycle of %u tasks: %s%s", g->name, nr,
		   text,
		   nr <= ARRAY_SIZE(path)
			   ? graph_task_name(g, (uint32_t)why->path[0], name,
					     sizeof(name))
			   : "...");
}

static int check_cycles(struct lkdf_graph *g, struct lkdf_diag *why)
{
	size_t size = g->nr_tasks * sizeof(uint32_t);
	uint32_t *nr_in, *stack;
	int rc = 0;

	if (!g->has_backward)
		return 0;
	nr_in = region_alloc(size);
	stack = region_alloc(size);
	if (!nr_in || !stack)
		rc = no_memory(g);
	else if (remove_sources(g, nr_in, stack))
		rc = refuse_cycle(g, nr_in, stack, why);
	region_free(nr_in, size);
	region_free(stack, size);
	return rc;
}

static bool has_token(const struct lkdf_graph *g, const struct lkdf_kind *k)
{
	return g->nr_frames > 1 && k->width && k->width < g->nr_frames;
}

/*
 * From the number of in-edges to the arrivals that the counter waits for. With
 * a token there are two more: the run before, and the start for a source.
 */
static int arm_records(struct lkdf_graph *g, uint32_t t, uint32_t nr_in)
{
	struct rec *r = &g->recs[t];
	struct wide_task *wide;

	check(graph_has(g, t));
	if (has_token(g, r->kind) && !loops_has_inside(g, t)) {
		r->flags |= REC_TOKEN;
		g->has_tokens = true;
		nr_in += nr_in ? 1 : 2;
	}
	r->nr_in = (uint16_t)nr_in;
	if (nr_in >= REC_WIDE) {
		wide = array_add(&g->wide);
		if (!wide)
			return no_memory(g);
		wide->task = t;
		wide->nr_in = nr_in;
		r->nr_in = REC_WIDE;
	}
	a_store(&r->pending, nr_in, relaxed);
	return 0;
}

static int arm_all(struct lkdf_graph *g)
{
	uint32_t t, n = 0, nr_in;
	int rc = 0;

	for (t = 0; t < g->nr_tasks; t++)
		g->nr_sources += !a_load(&g->recs[t].pending, relaxed);
	g->sources = region_alloc(g->nr_sources * sizeof(*g->sources));
	if (g->nr_sources && !g->sources)
		return no_memory(g);
	for (t = 0; t < g->nr_tasks && !rc; t++) {
		nr_in = a_load(&g->recs[t].pending, relaxed);
		if (!nr_in)
			g->sources[n++] = t;
		rc = arm_records(g, t, nr_in);
	}
	return rc;
}

static int compare_labels(const void *a, const void *b)
{
	const struct task_label *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* A task with a home stays there, and a token is passed to another run. */
static bool may_go_solo(const struct lkdf_graph *g)
{
	const struct sched *s = &g->rt->sched;

	return g->rt->options->solo_runs && !s->is_serial &&
	       s->nr_workers > 1 && g->nr_tasks > 1 && !g->homes &&
	       !g->planned && !g->has_tokens &&
	       (!g->control || control_judge(g->control));
}

/* Exactly as many records as tasks; a failure to shrink keeps the surplus. */
static void trim_arrays(struct lkdf_graph *g)
{
	uint32_t cap = g->nr_tasks ? g->nr_tasks : 1;
	struct rec *recs;

	recs = region_resize(g->recs, g->cap_tasks * sizeof(*recs),
			     cap * sizeof(*recs));
	if (!recs)
		return;
	g->recs = recs;
	g->cap_tasks = cap;
}

/* Counts of tasks with LKDF_PROFILE. */
static int make_times(struct lkdf_graph *g)
{
	size_t size = g->nr_tasks * sizeof(*g->times);

	if (!g->has_profiles)
		return 0;
	g->times = region_alloc(size);
	if (!g->times)
		return err(-ENOMEM, "graph %s: no memory for a profile",
			   g->name);
	memset((void *)g->times, 0, size);
	return 0;
}

/* Frees all that a seal has made, or begun to make. */
static void free_sealed(struct lkdf_graph *g)
{
	static_order_free(g);
	frames_destroy(g);
	if (g->accesses)
		transient_free(g->accesses);
	planned_free(g->planned);
}

static int seal_steps(struct lkdf_graph *g, struct lkdf_diag *why)
{
	const struct seal_pass *const *p;
	int rc;

	if (g->is_sealed)
		return err(-EROFS, "graph %s is sealed already", g->name);
	if (g->broken)
		return err(g->broken, "%s", g->why);
	g->unseal = free_sealed;
	/* Ports first: control flow that they ask for, and then edges of data
	 * behind all others. */
	rc = g->ports ? ports_order(g, why) : 0;
	if (!rc && g->accesses)
		rc = edges_make(g, why);
	if (!rc && g->control)
		rc = control_order(g);
	if (!rc)
		rc = lay_out_successors(g);
	if (!rc)
		rc = check_cycles(g, why);
	if (!rc && g->control)
		rc = loops_seal(g, why);
	if (!rc && g->accesses)
		rc = wrap_kinds(g);
	if (!rc)
		rc = assign_plan(g);
	if (rc)
		return rc;
	rc = arm_all(g);
	if (rc)
		return rc;
	trim_arrays(g);
	if (g->labels.nr)
		qsort(g->labels.items, g->labels.nr, sizeof(struct task_label),
		      compare_labels);
	g->nr_recs = g->nr_tasks;
	rc = g->homes ? renumber(g) : 0;
	if (!rc && g->control)
		rc = control_index(g);
	if (!rc && g->control)
		rc = choices_make(g);
	if (!rc && g->control)
		rc = regions_make(g);
	if (!rc && g->ports)
		rc = ports_index(g);
	if (!rc && g->accesses)
		rc = index_uses(g);
	if (!rc)
		rc = make_times(g);
	if (rc)
		return rc;
	for (p = g->rt->seal_passes; *p; p++)
		(*p)->seal(g);
	rc = frames_create(g);
	if (rc)
		return rc;
	solo_init(&g->solo, may_go_solo(g), (uint32_t)g->rt->sched.nr_workers);
	if (g->stream)
		stream_solo_init(g);
	static_order_init(g);
	g->is_sealed = true;
	return 0;
}

int graph_seal(struct lkdf_graph *g, struct lkdf_diag *why)
{
	struct lkdf_diag d = { .size = sizeof(d) };
	bool was_sealed = g->is_sealed;
	uint32_t size;
	int rc;

	rc = seal_steps(g, &d);
	/* Half-way there is no way back: a second seal tells the same. */
	if (rc && !was_sealed)
		graph_broken(g, rc);
	if (why) {
		size = why->size;
		d.err = rc;
		d.size = size;
		if (rc)
			snprintf(d.text, sizeof(d.text), "%s", err_text());
		memcpy(why, &d, size < sizeof(d) ? size : sizeof(d));
	}
	return rc;
}
