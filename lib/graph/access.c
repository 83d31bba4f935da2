/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The table of accesses while a graph is built, and after seal. The edges
 * themselves are made in edges.c.
 */
#include "graph/access.h"

#include "base/err.h"
#include "data/data.h"
#include "data/var_check.h"
#include "mem/heap.h"
#include "mem/region.h"
#include "task/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for data uses", g->name);
}

static struct access_table *accesses_of(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->uses.item_size = sizeof(struct access_use);
	w->vars.item_size = sizeof(struct access_var);
	w->order_only.item_size = sizeof(struct access_pair);
	w->inputs.item_size = sizeof(struct access_pair);
	g->accesses = w;
	return w;
}

/* ---- data to var: a hash ---------------------------------------------- */

static uint32_t *find_slot(const struct access_table *w, uint32_t *map,
			   size_t size, const struct lkdf_data *d)
{
	size_t i = (uintptr_t)d / CACHE_LINE * 0x9e3779b97f4a7c15ull >> 20;

	for (i &= size - 1; map[i]; i = (i + 1) & (size - 1))
		if (access_var(w, map[i] - 1)->data == d)
			break;
	return &map[i];
}

/* Twice as large as there can be data. Empty. */
static bool grow_map(struct access_table *w)
{
	size_t size = w->map_size ? w->map_size * 2 : 64;
	uint32_t *map;

	while (size < w->vars.nr * 4)
		size *= 2;
	map = region_alloc(size * sizeof(*map));
	if (!map)
		return false;
	region_free(w->map, w->map_size * sizeof(*map));
	w->map = map;
	w->map_size = size;
	w->nr_mapped = 0;
	return true;
}

/* Vars enter the hash when it is asked. */
static bool map_vars(struct access_table *w)
{
	const struct access_var *v;

	if (w->vars.nr * 2 >= w->map_size && !grow_map(w))
		return false;
	for (; w->nr_mapped < w->vars.nr; w->nr_mapped++) {
		v = access_var(w, w->nr_mapped);
		if (!v->part)
			*find_slot(w, w->map, w->map_size, v->data) =
				w->nr_mapped + 1;
	}
	return true;
}

/* ---- vars --------------------------------------------------------------- */

static void init_var(struct access_var *v, struct lkdf_data *d, uint32_t part)
{
	bool once = d->flags & LKDF_DATA_ONCE;

	memset(v, 0, sizeof(*v));
	v->data = d;
	v->part = part;
	v->nr_parts = d->domain.nr_parts;
	v->writer = v->reader = v->group = NO_TASK;
	v->claim = NO_CLAIM;
	v->home = -1;
	v->is_once = once;
	v->is_transient = once && !(d->flags & LKDF_DATA_KEEP) &&
			  !d->domain.whole.has_value;
	v->offset = data_offset(d, part);
}

/* The whole and its parts, side by side; the graph keeps the data. */
static int add_vars(struct access_table *w, struct lkdf_data *d,
		    uint32_t *first)
{
	uint32_t part, nr = d->domain.nr_parts;
	struct access_var *v;

	*first = (uint32_t)w->vars.nr;
	for (part = 0; part <= nr; part++) {
		v = array_add(&w->vars);
		if (!v) {
			w->vars.nr = *first;
			return -ENOMEM;
		}
		init_var(v, d, part);
	}
	w->has_ordered |= !access_var(w, *first)->is_once;
	/* Relaxed: whoever reads it looks whether it is right. */
	a_store(&d->seen_as, *first + 1, relaxed);
	data_get(d);
	return 0;
}

/*
 * The data's first var. The data itself has a guess, of the graph that has seen
 * it last: 1 more than its var there; 0: no graph has.
 */
static int find_var(struct access_table *w, struct lkdf_data *d, uint32_t *var)
{
	uint32_t guess = a_load(&d->seen_as, relaxed), *at;

	if (guess && guess <= w->vars.nr &&
	    access_var(w, guess - 1)->data == d &&
	    !access_var(w, guess - 1)->part) {
		*var = guess - 1;
		return 0;
	}
	if (!guess)
		return add_vars(w, d, var);
	if (!map_vars(w))
		return -ENOMEM;
	at = find_slot(w, w->map, w->map_size, d);
	if (!*at)
		return add_vars(w, d, var);
	*var = *at - 1;
	a_store(&d->seen_as, *at, relaxed);
	return 0;
}

static int var_of(struct lkdf_graph *g, struct lkdf_data *d, uint32_t part,
		  uint32_t *var)
{
	struct access_table *w = g->accesses;
	uint32_t first = 0;

	if (find_var(w, d, &first))
		return no_memory(g);
	if (unlikely(part > access_var(w, first)->nr_parts))
		return err(-EBUSY,
			   "graph %s: %s was split after the graph saw it",
			   g->name, d->name);
	*var = first + part;
	return 0;
}

/* ---- adding ----------------------------------------------------------- */

static int check_once(const struct lkdf_graph *g, const struct lkdf_use *u)
{
	uint32_t mode = u->mode & ~(uint32_t)LKDF_WEAK;
	char text[DATA_TEXT];

	if (mode == LKDF_READ || mode == LKDF_WRITE)
		return 0;
	return err(-EINVAL,
		   "graph %s: mode %#x of %s: LKDF_DATA_ONCE is read or "
		   "written",
		   g->name, u->mode, data_text(u->data, u->part, text));
}

static int check_use(const struct lkdf_graph *g, const struct lkdf_use *u)
{
	int rc = 0;

	if (u->data->flags & LKDF_DATA_ONCE)
		rc = check_once(g, u);
	if (!rc && u->mode & LKDF_REDUCE)
		rc = reduction_prepare(u->data, u->part);
	return rc;
}

/* A weak use that commutes goes in order, as those of submitted tasks. */
static uint8_t mode_of(const struct lkdf_graph *g, uint32_t task, uint32_t mode)
{
	check(graph_has(g, task));
	if (mode & LKDF_WEAK && mode & LKDF_COMMUTE && graph_is_always(g, task))
		mode = LKDF_RW | LKDF_WEAK;
	return (uint8_t)mode;
}

static int add_use(struct lkdf_graph *g, uint32_t task,
		   const struct lkdf_use *from)
{
	uint8_t flags = uses_flags(from->mode);
	struct access_use *u;
	uint32_t var = 0;
	int rc = check_use(g, from);

	check(graph_has(g, task));
	if (!rc)
		rc = var_of(g, from->data, from->part, &var);
	if (rc)
		return rc;
	u = array_add(&g->accesses->uses);
	if (!u)
		return no_memory(g);
	u->task = task;
	u->var = var;
	u->mode = mode_of(g, task, from->mode);
	u->flags = (uint16_t)((flags & USE_READS ? ACCESS_READS : 0) |
			      (flags & USE_WRITES ? ACCESS_WRITES : 0));
	access_var(g->accesses, var)->is_used = true;
	g->accesses->has_maybe |= (from->mode & LKDF_MAYBE) != 0;
	g->accesses->has_moves |= data_follows(from->data);
	if (access_var(g->accesses, var)->is_transient)
		u->flags |= ACCESS_TRANSIENT;
	return 0;
}

int access_add(struct lkdf_graph *g, uint32_t task, const struct lkdf_use *use,
	       unsigned nr)
{
	unsigned i;
	int rc = 0;

	check(!g->is_sealed);
	check(graph_has(g, task));
	check(nr);
	if (!accesses_of(g))
		return no_memory(g);
	for (i = 0; i < nr && !rc; i++)
		rc = add_use(g, task, &use[i]);
	return rc;
}

void access_free(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	struct access_var *v;
	uint32_t i;

	if (!w)
		return;
	for (i = 0; i < w->vars.nr; i++) {
		v = access_var(w, i);
		if (!v->part)
			data_put(v->data);
	}
	region_free(w->map, w->map_size * sizeof(*w->map));
	access_forget_tokens(w, g->rt);
	for (i = 0; w->tokens && i < w->nr_tokens; i++)
		var_forget(&w->tokens[i].whole);
	free(w->tokens);
	free(w->claimed);
	region_free(w->first, (w->nr_indices + 1ul) * sizeof(*w->first));
	array_fini(&w->uses);
	array_fini(&w->vars);
	array_fini(&w->order_only);
	array_fini(&w->inputs);
	free(w);
	g->accesses = NULL;
}

/* ---- tokens ------------------------------------------------------------ */

void access_forget_tokens(struct access_table *w, struct lkdf *rt)
{
	struct var *v;
	uint32_t i;

	for (i = 0; i < w->nr_tokens; i++) {
		v = &w->tokens[i].whole;
		if (!a_load(&v->error, relaxed))
			continue;
		var_failure_put(rt, a_load(&v->failure, relaxed));
		a_store(&v->failure, NULL, relaxed);
		a_store(&v->error, 0, relaxed);
	}
}

/* ---- the run's claim -------------------------------------------------- */

static bool is_used(const struct access_var *v)
{
	return v->reads || v->writes;
}

void access_number_claims(struct access_table *w)
{
	struct access_var *v, *whole = NULL;
	uint32_t i;

	for (i = 0; i < w->vars.nr; i++) {
		v = access_var(w, i);
		if (!v->part)
			whole = v;
		/* Data that nobody can write needs no order. */
		if (v->is_transient || !is_used(v) ||
		    (v->is_once && !v->writes &&
		     !(v->data->flags & LKDF_DATA_KEEP)))
			continue;
		if (v != whole && whole->claim != NO_CLAIM) {
			v->claim = whole->claim;
			whole->reads |= v->reads;
			whole->writes |= v->writes;
			whole->reads_first |= v->reads_first;
			whole->nr_writers += v->nr_writers;
		} else {
			v->claim = w->nr_claims++;
		}
	}
}

const struct access_use *access_main(const struct access_table *w,
				     const struct access_use *u)
{
	const struct access_use *m, *end;

	if (likely(!(u->flags & ACCESS_MERGED)))
		return u;
	for (m = access_uses(w, u->task, &end); m < end; m++)
		if (!(m->flags & ACCESS_MERGED) && access_is_same(w, m, u))
			return m;
	return u;
}
