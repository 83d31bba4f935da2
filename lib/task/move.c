/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/move.h"

#include "base/err.h"
#include "core/runtime.h"
#include "data/facts.h"
#include "data/offhost.h"
#include "data/place.h"
#include "data/replica.h"
#include "mem/heap.h"
#include "task/ctx.h"
#include "task/kind.h"
#include "task/task.h"
#include "topo/topo.h"
#include "trace/counters.h"

#include <string.h>

#define PAGE 4096

/* In foreign: node + 1, and how often it was in a row. */
#define FOREIGN_ONCE (1u << 16)
#define FOREIGN_NODE (FOREIGN_ONCE - 1)
#define FOREIGN_PENDING UINT32_MAX

struct move {
	struct lkdf_data *data;
	uint32_t part;
	int node;
	bool copies; /* for readers there */
};

/* ---- where they are ----------------------------------------------------- */

static bool keeps_address(const struct lkdf_data *d)
{
	return d->is_wrapped || d->is_mapped;
}

/* A part's, or of the whole and all parts. */
static void note_node(struct lkdf_data *d, uint32_t part, int node)
{
	uint32_t i;

	a_store(&domain_var(&d->domain, part)->node, node, relaxed);
	if (part)
		return;
	/* Parts of it may go their own way. */
	if (!keeps_address(d) || !d->domain.nr_parts)
		a_store(&d->node, node, relaxed);
	for (i = 0; i < d->domain.nr_parts; i++)
		a_store(&d->domain.parts[i].node, node, relaxed);
}

static int node_of_os(const struct lkdf *rt, int os_node)
{
	int i;

	for (i = 0; i < rt->topo->nr_nodes; i++)
		if (rt->heap->os_node[i] == os_node)
			return i;
	return rt->topo->nr_nodes;
}

static char *bytes_of(const struct lkdf_data *d, uint32_t part)
{
	return (char *)a_load(&d->domain.at, relaxed) + data_offset(d, part);
}

/* Noted before; -1: nowhere. */
static int noted_node(struct lkdf_data *d, uint32_t part)
{
	int node = part ? -1 : a_load(&d->node, relaxed);

	if (node >= 0 || !keeps_address(d) || (!part && d->domain.nr_parts))
		return node;
	return a_load(&domain_var(&d->domain, part)->node, relaxed);
}

/* -1: nobody knows; the number of nodes: not on a single one. */
static int where_wanted(struct lkdf_data *d, uint32_t part)
{
	int node = noted_node(d, part), seen = facts_node(d, part), os;
	const struct lkdf *rt = d->rt;
	bool is_all;

	if (!rt->heap->is_bound || (seen < 0 && !keeps_address(d)) ||
	    (node >= 0 && (seen < 0 || seen == node)))
		return node;
	/* The kernel has moved what was noted, or nothing was. */
	seen = facts_fact(d, part);
	if (seen >= 0)
		return seen;
	os = os_node_of(bytes_of(d, part), data_size(d, part), &is_all);
	if (os == OS_SPREAD)
		return rt->topo->nr_nodes;
	if (os < 0)
		return -1;
	node = node_of_os(rt, os);
	/* The rest may come somewhere else. */
	if (is_all && node < rt->topo->nr_nodes &&
	    (part || !d->domain.nr_parts))
		note_node(d, part, node);
	return node;
}

/* ---- moving: the caller goes alone -------------------------------------- */

static void move_pages_of(struct executor *ex, struct lkdf_data *d,
			  uint32_t part, int node)
{
	uint64_t bytes = data_size(d, part), size = bytes;
	char *at = bytes_of(d, part);
	struct heap *h = d->rt->heap;
	int os = h->os_node[node];
	int64_t moved;
	uint64_t id;
	bool is_all;

	/* The nodes of a made-up machine are not the kernel's. */
	if (!h->is_bound)
		return;
	/* Pages of our own are ours to their end. */
	if (d->is_mapped && (!part || part == d->domain.nr_parts))
		size = round_up(bytes, PAGE);
	id = hooks_copy_begin(&d->rt->hooks, "move", node, size);
	moved = os_move(at, size, os);
	hooks_copy_end(&d->rt->hooks, id);
	if (moved <= 0)
		return;
	counter_add(ex->counters, COUNTER_MIGRATED, (uint64_t)moved);
	/* Pages that are not there yet may come somewhere else. */
	if (os_node_of(at, bytes, &is_all) == os && is_all)
		note_node(d, part, node);
}

/* keeps: what they hold. */
static void move_block(struct executor *ex, struct lkdf_data *d, int node,
		       bool keeps)
{
	void *old = a_load(&d->domain.at, relaxed), *p = data_block(d, node);
	uint64_t id;

	if (!p)
		return;
	check(!data_is_pinned(d));
	facts_forget(d);
	id = hooks_copy_begin(&d->rt->hooks, "move", node, d->bytes);
	if (keeps)
		memcpy(p, old, d->bytes);
	hooks_copy_end(&d->rt->hooks, id);
	if (!keeps && d->drop)
		d->drop(old);
	note_node(d, 0, node);
	/* [data.at] as in data_bytes(). */
	a_store(&d->domain.at, p, release);
	facts_watch(d, p, keeps);
	data_free_own(d, old);
	counter_add(ex->counters, COUNTER_MIGRATED, d->bytes);
}

static void move_to(struct executor *ex, struct lkdf_data *d, uint32_t part,
		    int node, bool keeps)
{
	if (keeps_address(d))
		move_pages_of(ex, d, part, node);
	else
		move_block(ex, d, node, keeps);
	a_store(&domain_var(&d->domain, part)->foreign, 0, relaxed);
}

/* ---- by a task of ours -------------------------------------------------- */

static int move_body(struct lkdf_ctx *c, void *arg)
{
	const struct move *m = arg;
	struct lkdf_data *d = m->data;
	struct use *u = &c->task->claim->use[0];
	int node;

	u->is_untouched = true;
	if (!a_load(&d->domain.at, relaxed) || data_is_pinned(d))
		return 0;
	node = where_wanted(d, m->part);
	if (node == m->node)
		a_store(&domain_var(&d->domain, m->part)->foreign, 0, relaxed);
	else if (!m->copies)
		move_to(c->ex, d, m->part, m->node, true);
	else if (node >= 0)
		replica_make(c->ex, d, m->node);
	return 0;
}

/* The kind of our tasks, made by whoever needs it first. */
static struct lkdf_kind *find_kind(struct lkdf *rt)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "lkdf.move",
		.fn = move_body,
		.arg_size = sizeof(struct move),
		.flags = LKDF_ALWAYS,
	};
	/* [move.find] pairs with [move.kind]. */
	struct lkdf_kind *k = a_load(&rt->move_kind, acquire), *mine;

	if (k || kind_create(rt, &a, &mine))
		return k;
	/* [move.kind] all of it; pairs with [move.find]. */
	if (a_cas(&rt->move_kind, &k, mine, acq_rel, acquire))
		return mine;
	kind_put(mine);
	return k;
}

/* Readers are disturbed only where the address changes. */
static int submit_move(struct move m, struct lkdf_event *done)
{
	struct lkdf *rt = m.data->rt;
	struct lkdf_use use = { m.data, LKDF_READ, m.part };
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = find_kind(rt),
		.arg = &m,
		.place = &rt->places[m.node],
		.use = &use,
		.nr_use = 1,
	};

	if (!m.copies && !m.data->is_wrapped)
		use.mode = LKDF_RW | LKDF_MAYBE;
	return t.kind ? task_submit(rt, rt->root, &t, done) : -ENOMEM;
}

int move_prefetch(struct lkdf_data *d, const struct lkdf_place *p,
		  struct lkdf_event *done)
{
	return submit_move((struct move){ d, 0, p->node, d->replicas != NULL },
			   done);
}

void move_close(struct lkdf *rt)
{
	kind_put(a_load(&rt->move_kind, relaxed));
	a_store(&rt->move_kind, NULL, relaxed);
}

void move_abandon(struct lkdf *rt)
{
	struct lkdf_kind *k = a_load(&rt->move_kind, relaxed);

	if (!k)
		return;
	k->next_dead = rt->dead_kinds;
	rt->dead_kinds = k;
}

/* ---- before a body ------------------------------------------------------ */

/* Nobody above has bytes in hand, or may write them. */
static bool is_hidden_from_above(const struct use *u)
{
	const struct use *above;

	for (above = u->domain->above; above; above = above->domain->above)
		if (!(above->flags & USE_WEAK))
			return false;
	return true;
}

/* And nobody writes before all above are through: tasks of a graph may. */
static bool only_reads_above(const struct use *u)
{
	const struct domain *d;

	for (d = u->domain; d->above; d = d->above->domain)
		if (d->above->flags & USE_WRITES)
			return false;
	/* A graph's task has one of its own. */
	return d == &d->data->domain;
}

/* A further use from there. True: the caller brings the bytes. */
static bool is_time(struct var *v, int node)
{
	uint32_t old = a_load(&v->foreign, relaxed), next;

	do {
		if (old == FOREIGN_PENDING)
			return false;
		next = FOREIGN_ONCE | (uint32_t)(node + 1);
		if ((old & FOREIGN_NODE) == (next & FOREIGN_NODE))
			next = old + FOREIGN_ONCE;
		if (next >> 16 >= MOVE_AFTER)
			next = FOREIGN_PENDING;
	} while (!a_cas(&v->foreign, &old, next, relaxed, relaxed));
	return next == FOREIGN_PENDING;
}

/* A home use breaks the row. */
static void forget_row(struct var *v)
{
	uint32_t old = a_load(&v->foreign, relaxed);

	if (old && old != FOREIGN_PENDING)
		a_store(&v->foreign, 0, relaxed);
}

/* All of it, or a part that is pages of its own. */
static bool may_move(const struct lkdf_data *d, const struct use *u, int node)
{
	if (!d->rt->heap->memory[node]->is_present)
		return false;
	if (u->part || d->domain.nr_parts)
		return u->part && keeps_address(d);
	return keeps_address(d) || is_hidden_from_above(u);
}

static void migrate_data(struct executor *ex, struct lkdf_data *d,
			 struct use *u)
{
	struct var *v = domain_var(&d->domain, u->part);
	int node = ex->node, at;

	if (!may_move(d, u, node))
		return;
	at = where_wanted(d, u->part);
	if (at == node)
		forget_row(v);
	if (at < 0 || at == node)
		return;
	/* The bytes that are reduced onto were neutral, perhaps. */
	if (u->turn == TURN_WRITE && !(u->flags & USE_READS))
		move_to(ex, d, u->part, node, d->reduce != NULL);
	else if (u->turn == TURN_WRITE && is_time(v, node))
		move_to(ex, d, u->part, node, true);
	else if (u->turn == TURN_READ && is_time(v, node) &&
		 submit_move((struct move){ d, u->part, node, false }, NULL))
		a_store(&v->foreign, 0, relaxed);
}

static void replicate_data(struct executor *ex, struct lkdf_data *d,
			   struct use *u)
{
	int node = ex->node, at;

	if (u->turn != TURN_READ || u->part || !only_reads_above(u))
		return;
	at = where_wanted(d, 0);
	if (at >= 0 && at != node && replica_make(ex, d, node))
		u->copy = (uint16_t)(node + 1);
}

void move_use(struct executor *ex, struct use *u)
{
	struct lkdf_data *d = u->domain->data;

	if (u->flags & USE_WRITES)
		data_will_write(d);
	/* A thread of the blocking pool is on no node of its own. */
	if (!ex->worker || !a_load(&d->domain.at, relaxed))
		return;
	if (d->replicas)
		replicate_data(ex, d, u);
	if (d->flags & LKDF_DATA_MIGRATE && !u->copy)
		migrate_data(ex, d, u);
}

void move_uses(struct executor *ex, struct task *t)
{
	struct use *u;

	check(t->claim);
	if (t->kind->fn == move_body)
		return;
	for (u = t->claim->first; u; u = u->after)
		if (!(u->flags & (USE_WEAK | USE_HIDDEN)))
			move_use(ex, u);
}
