/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Building a graph. Nothing here is shared: one thread builds.
 */
#include "graph/graph.h"

#include "base/err.h"
#include "check/fiber.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "graph/control.h"
#include "graph/include.h"
#include "graph/port.h"
#include "mem/region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_TASKS 64
#define ARG_CHUNK 65536

bool array_grow(struct array *a)
{
	size_t cap = a->cap ? a->cap * 2 : 16;
	void *items = region_resize(a->items, a->cap * a->item_size,
				    cap * a->item_size);

	if (!items)
		return false;
	a->items = items;
	a->cap = cap;
	return true;
}

void array_fini(struct array *a)
{
	region_free(a->items, a->cap * a->item_size);
	a->items = NULL;
	a->nr = a->cap = 0;
}

static int grow_tasks(struct lkdf_graph *g, uint32_t cap)
{
	struct rec *recs;

	recs = region_resize(g->recs, g->cap_tasks * sizeof(*recs),
			     cap * sizeof(*recs));
	if (!recs)
		return err(-ENOMEM, "graph %s: no memory for %u tasks", g->name,
			   cap);
	g->recs = recs;
	g->cap_tasks = cap;
	return 0;
}

int graph_create(struct lkdf *rt, const struct lkdf_graph_attr *a,
		 struct lkdf_graph **out)
{
	struct lkdf_graph *g =
		aligned_alloc(CACHE_LINE, round_up(sizeof(*g), CACHE_LINE));
	uint32_t cap = a->hint_tasks ? a->hint_tasks : FIRST_TASKS;

	if (!g)
		return err(-ENOMEM, "graph: no memory");
	memset(g, 0, sizeof(*g));
	g->rt = rt;
	snprintf(g->name, sizeof(g->name), "%s", a->name ? a->name : "graph");
	g->nr_frames = a->inflight ? a->inflight : 1;
	g->edges.item_size = sizeof(struct spilled_edge);
	g->wide.item_size = sizeof(struct wide_task);
	g->labels.item_size = sizeof(struct task_label);
	g->includes.item_size = sizeof(struct graph_include);
	g->kinds.item_size = sizeof(struct lkdf_kind *);
	g->args.item_size = sizeof(void *);
	a_store(&g->nr_refs, 1, relaxed);
	pthread_mutex_init(&g->lock, NULL);
	a_add(&rt->nr_handles, 1, relaxed);
	if (grow_tasks(g, cap < FIRST_TASKS ? FIRST_TASKS : cap)) {
		graph_put(g);
		return -ENOMEM;
	}
	*out = g;
	return 0;
}

void graph_get(struct lkdf_graph *g)
{
	check(a_load(&g->nr_refs, relaxed));
	a_add(&g->nr_refs, 1, relaxed);
}

static void drop_args(struct lkdf_graph *g)
{
	struct rec *r;
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++) {
		r = &g->recs[graph_index(g, t)];
		if (r->kind->drop && !include_around(g, t))
			r->kind->drop(r->arg);
	}
}

static void free_memory(struct lkdf_graph *g)
{
	struct lkdf_kind **kinds = g->kinds.items;
	void **chunks = g->args.items;
	size_t i;

	if (g->unseal)
		g->unseal(g);
	check_forget(g->check_begin);
	check_forget(g->check_turns);
	include_free(g);
	access_free(g);
	control_free(g);
	ports_free(g);
	for (i = 0; i < g->args.nr; i++)
		free(chunks[i]);
	for (i = 0; i < g->kinds.cap; i++)
		kind_put(kinds[i]);
	if (g->is_renumbered)
		region_unmap(g->recs, g->cap_tasks * sizeof(*g->recs));
	else
		region_free(g->recs, g->cap_tasks * sizeof(*g->recs));
	region_free(g->starts, (2 * (size_t)g->rt->sched.nr_nodes + 3) *
				       sizeof(*g->starts));
	region_free(g->times, g->nr_tasks * sizeof(*g->times));
	region_free(g->numbers, g->nr_recs * sizeof(*g->numbers));
	region_free(g->indices, g->nr_tasks * sizeof(*g->indices));
	region_free(g->homes, g->cap_homes * sizeof(*g->homes));
	region_free(g->spill, g->nr_spill * sizeof(*g->spill));
	region_free(g->sources, g->nr_sources * sizeof(*g->sources));
	region_free(g->pieces, g->pieces_size);
	array_fini(&g->edges);
	array_fini(&g->wide);
	array_fini(&g->labels);
	array_fini(&g->kinds);
	array_fini(&g->args);
}

void graph_put(struct lkdf_graph *g)
{
	struct lkdf *rt = g->rt;

	check(a_load(&g->nr_refs, relaxed));
	/* [graph.put] all uses before the free; pairs with itself. */
	if (a_sub(&g->nr_refs, 1, acq_rel) != 1)
		return;
	drop_args(g);
	free_memory(g);
	pthread_mutex_destroy(&g->lock);
	g->rt = NULL;
	a_sub(&rt->nr_handles, 1, relaxed);
	handle_bury(rt, g);
}

uint32_t graph_wide_nr_in(const struct lkdf_graph *g, uint32_t task)
{
	const struct wide_task *wide = g->wide.items;
	size_t low = 0, high = g->wide.nr, mid;

	check(graph_has(g, task));
	while (low + 1 < high) {
		mid = (low + high) / 2;
		if (wide[mid].task <= task)
			low = mid;
		else
			high = mid;
	}
	return wide[low].nr_in;
}

int graph_broken(struct lkdf_graph *g, int rc)
{
	if (!g->is_sealed && !g->broken) {
		g->broken = rc;
		snprintf(g->why, sizeof(g->why), "%s", err_text());
	}
	return rc;
}

static size_t hash_kind(const struct lkdf_kind *k, size_t cap)
{
	return ((uintptr_t)k / CACHE_LINE * 0x9e3779b1u) & (cap - 1);
}

/* The place of k in the set, or the empty place where it belongs. */
static struct lkdf_kind **find_kind(struct array *a, struct lkdf_kind *k)
{
	struct lkdf_kind **kinds = a->items;
	size_t i = hash_kind(k, a->cap);

	while (kinds[i] && kinds[i] != k)
		i = (i + 1) & (a->cap - 1);
	return &kinds[i];
}

static int grow_kinds(struct lkdf_graph *g)
{
	struct array old = g->kinds, new = old;
	struct lkdf_kind **kinds = old.items;
	size_t i;

	new.cap = old.cap ? old.cap * 2 : 8;
	new.items = region_alloc(new.cap *new.item_size);
	if (!new.items)
		return err(-ENOMEM, "graph %s: no memory for its kinds",
			   g->name);
	for (i = 0; i < old.cap; i++) {
		if (kinds[i])
			*find_kind(&new, kinds[i]) = kinds[i];
	}
	array_fini(&old);
	g->kinds = new;
	return 0;
}

/* The graph holds one reference to each of its kinds. */
int graph_keep_kind(struct lkdf_graph *g, struct lkdf_kind *k)
{
	struct lkdf_kind **at;
	int rc;

	if (g->kinds.nr * 2 >= g->kinds.cap) {
		rc = grow_kinds(g);
		if (rc)
			return rc;
	}
	at = find_kind(&g->kinds, k);
	if (!*at) {
		kind_get(k);
		*at = k;
		g->kinds.nr++;
	}
	g->last_kind = k;
	return 0;
}

/* Copies of arguments lie in chunks; one larger than a chunk has its own. */
void *graph_copy_arg(struct lkdf_graph *g, const void *arg, size_t size)
{
	size_t need = round_up(size, 16);
	void **chunks = g->args.items, **chunk;
	char *at;

	if (!g->args.nr || g->args_used + need > ARG_CHUNK) {
		at = malloc(need > ARG_CHUNK ? need : ARG_CHUNK);
		chunk = at ? array_add(&g->args) : NULL;
		if (!chunk) {
			free(at);
			return NULL;
		}
		*chunk = at;
		g->args_used = 0;
		chunks = g->args.items;
	}
	at = (char *)chunks[g->args.nr - 1] + g->args_used;
	g->args_used += need;
	memcpy(at, arg, size);
	return at;
}

int graph_reserve(struct lkdf_graph *g, uint32_t nr)
{
	uint32_t cap = g->cap_tasks;

	check(!g->is_sealed);
	if (nr > MAX_TASKS / 2 - g->nr_tasks)
		return err(-EOVERFLOW, "graph %s: %u tasks and %u, at most %u",
			   g->name, g->nr_tasks, nr, MAX_TASKS / 2);
	while (cap < g->nr_tasks + nr)
		cap *= 2;
	return cap == g->cap_tasks ? 0 : grow_tasks(g, cap);
}

static int prepare_add(struct lkdf_graph *g, struct lkdf_kind *k)
{
	int rc;

	if (g->nr_tasks == g->cap_tasks) {
		if (g->nr_tasks >= MAX_TASKS / 2)
			return err(-EOVERFLOW, "graph %s: more than %u tasks",
				   g->name, MAX_TASKS / 2);
		rc = grow_tasks(g, g->cap_tasks * 2);
		if (rc)
			return rc;
	}
	return k == g->last_kind ? 0 : graph_keep_kind(g, k);
}

int graph_add(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
	      int prio)
{
	struct rec *r;
	int rc;

	if (unlikely(g->nr_tasks == g->cap_tasks || k != g->last_kind)) {
		rc = prepare_add(g, k);
		if (rc)
			return rc;
	}
	r = &g->recs[g->nr_tasks];
	r->kind = k;
	r->arg = (void *)(uintptr_t)arg;
	if (k->arg_size) {
		r->arg = graph_copy_arg(g, arg, k->arg_size);
		if (!r->arg)
			return err(-ENOMEM, "graph %s: no memory for argument",
				   g->name);
	}
	r->flags = (uint8_t)kind_class(k, prio);
	if (unlikely((k->flags & LKDF_ANY && !control_of(g)) ||
		     (k->ports && !ports_of(g))))
		return err(-ENOMEM, "graph %s: no memory for branches or ports",
			   g->name);
	return (int)g->nr_tasks++;
}

int graph_profile(struct lkdf_graph *g, uint32_t task)
{
	struct lkdf_kind *k = kind_profiled(g->recs[task].kind);

	check(graph_has(g, task));
	check(!g->is_sealed);
	if (!k)
		return err(-ENOMEM, "graph %s: no memory for a profile",
			   g->name);
	g->recs[task].kind = k;
	g->has_profiles = true;
	return 0;
}

int graph_place_at(struct lkdf_graph *g, uint32_t task, uint16_t home, int node)
{
	struct lkdf_kind *k = kind_at(g->recs[task].kind, home);

	check(graph_has(g, task));
	check(!g->is_sealed);
	if (!k)
		return err(-ENOMEM, "graph %s: no memory for a place", g->name);
	g->recs[task].kind = k;
	return graph_place(g, task, home_make(node, false));
}

int graph_place(struct lkdf_graph *g, uint32_t task, uint16_t home)
{
	uint16_t *homes;

	check(graph_has(g, task));
	check(!g->is_sealed);
	if (task >= g->cap_homes) {
		homes = region_resize(g->homes, g->cap_homes * sizeof(*homes),
				      g->cap_tasks * sizeof(*homes));
		if (!homes)
			return err(-ENOMEM, "graph %s: no memory for places",
				   g->name);
		g->homes = homes;
		g->cap_homes = g->cap_tasks;
	}
	g->homes[task] = home;
	g->recs[task].flags |= REC_PLACED;
	return 0;
}

/* Until seal pending counts the in-edges and nr_succ the inline successors. */
int graph_order(struct lkdf_graph *g, uint32_t before, uint32_t after)
{
	struct rec *r = &g->recs[before];
	struct spilled_edge *e;

	check(!g->is_sealed);
	if (likely(r->nr_succ < 2)) {
		r->succ[r->nr_succ++] = after;
	} else {
		e = array_add(&g->edges);
		if (!e)
			return err(-ENOMEM, "graph %s: no memory for an edge",
				   g->name);
		e->from = before;
		e->to = after;
		r->nr_succ = REC_SPILLED;
	}
	g->has_backward |= after < before;
	r = &g->recs[after];
	a_store(&r->pending, a_load(&r->pending, relaxed) + 1, relaxed);
	return 0;
}

/* The last label of a task counts. */
int graph_label(struct lkdf_graph *g, uint32_t task, const char *text)
{
	struct task_label *l = array_add(&g->labels);

	check(graph_has(g, task));
	if (!l)
		return err(-ENOMEM, "graph %s: no memory for a label", g->name);
	l->task = task;
	l->order = (uint32_t)g->labels.nr;
	snprintf(l->text, sizeof(l->text), "%s", text);
	return 0;
}

/* The index after the last label of the task or of one before it. */
static size_t find_label(const struct lkdf_graph *g, uint32_t task)
{
	const struct task_label *l = g->labels.items;
	size_t low = 0, high = g->labels.nr, mid;

	check(graph_has(g, task));
	if (!g->is_sealed) {
		while (high && l[high - 1].task != task)
			high--;
		return high;
	}
	while (low < high) {
		mid = (low + high) / 2;
		if (l[mid].task <= task)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const char *graph_task_label(const struct lkdf_graph *g, uint32_t task)
{
	const struct task_label *labels = g->labels.items;
	size_t after = find_label(g, task);

	check(graph_has(g, task));
	return after && labels[after - 1].task == task ? labels[after - 1].text
						       : "";
}

const char *graph_task_name(const struct lkdf_graph *g, uint32_t task,
			    char *buf, size_t size)
{
	const char *kind = g->recs[graph_index(g, task)].kind->name;
	const char *label = graph_task_label(g, task);
	const struct graph_include *x = NULL;

	if (label[0])
		snprintf(buf, size, "%s", label);
	else if (unlikely((x = include_around(g, task)) != NULL))
		snprintf(buf, size, "%s/%s#%u", x->name, kind,
			 task - x->begin - 1);
	else
		snprintf(buf, size, "%s#%u", kind, task);
	return buf;
}

void graph_join_names(char to[NAME_SIZE], const char *a, const char *b)
{
	int used = snprintf(to, NAME_SIZE, "%s/", a);

	if (used < NAME_SIZE)
		snprintf(to + used, NAME_SIZE - (size_t)used, "%s", b);
}
