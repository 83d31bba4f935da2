/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES_BELOW 200
#define MAX_DEPTH 4

/* What a node hands to those below it. */
struct above {
	uint32_t depth;
	bool is_waited_for; /* on a stack: nothing foreign runs meanwhile */
	bool has_limits;
	bool is_joined_with_limits;
};

struct builder {
	struct program *p;
	struct rng *r;
	uint32_t cap, budget; /* children still to be had */
};

static void make_kind(struct program *p, struct p_kind *k, struct rng *r)
{
	uint32_t i, l;

	k->is_shared = rng_one_in(r, 2);
	k->width = k->is_shared ? (uint8_t)rng_range(r, 0, 3) : 0;
	k->is_blocking = rng_one_in(r, 12);
	k->has_drop = rng_one_in(r, 3);
	k->prio = rng_one_in(r, 3) ? (uint8_t)rng_range(r, 1, 4) : 0;
	if (rng_one_in(r, 2))
		k->arg_size = (uint8_t)rng_range(r, 4, 200);
	if (!rng_one_in(r, 6))
		return;
	for (l = 0; l < p->nr_limits; l++) {
		i = k->nr_limits;
		if (rng_one_in(r, 2))
			continue;
		k->limit[i].limit = (uint8_t)l;
		k->limit[i].tokens = (uint8_t)rng_range(r, 1, p->limit[l]);
		k->nr_limits++;
	}
}

/* Kind 0 is plain: some nodes may use no other. */
static void make_kinds(struct program *p, struct rng *r)
{
	uint32_t i;

	p->nr_limits = rng_range(r, 0, MAX_LIMITS);
	for (i = 0; i < p->nr_limits; i++)
		p->limit[i] = (uint8_t)rng_range(r, 1, 3);
	p->nr_kinds = rng_range(r, 1, MAX_KINDS);
	for (i = 1; i < p->nr_kinds; i++)
		make_kind(p, &p->kind[i], r);
}

static uint32_t new_node(struct builder *b)
{
	struct program *p = b->p;
	struct node *node;

	if (p->nr_nodes == b->cap) {
		b->cap = b->cap ? b->cap * 2 : 64;
		node = realloc(p->node, b->cap * sizeof(*node));
		if (!node)
			abort();
		p->node = node;
	}
	memset(&p->node[p->nr_nodes], 0, sizeof(*node));
	return p->nr_nodes++;
}

static uint8_t some_error(struct builder *b, uint32_t one_in)
{
	if (!b->p->has_errors || !rng_one_in(b->r, one_in))
		return NO_ERROR;
	return (uint8_t)rng_range(b->r, 0, 7);
}

/* All but the children. */
static void fill_node(struct builder *b, uint32_t i, const struct above *above)
{
	struct node *n = &b->p->node[i];
	struct rng *r = b->r;

	n->kind = (uint8_t)rng_range(r, 0, b->p->nr_kinds - 1);
	/* On a stack, or under tokens, nobody may wait for tokens. */
	if ((above->is_waited_for || above->has_limits) &&
	    b->p->kind[n->kind].nr_limits)
		n->kind = 0;
	n->prio = rng_one_in(r, 4) ? (uint8_t)rng_range(r, 1, 4) : 0;
	if (b->p->has_places && rng_one_in(r, 2)) {
		n->place = (uint8_t)rng_range(r, 1, 6);
		/* See lkdf_join(): two workers might wait for each other. */
		n->is_pinned = !b->p->kind[n->kind].is_blocking &&
			       !above->is_joined_with_limits &&
			       !rng_one_in(r, 4);
	}
	if (b->p->has_children && rng_one_in(r, 3))
		n->mode = (uint8_t)rng_range(r, 0, NR_MODES - 1);
	n->error = some_error(b, 12);
	n->signal_error = some_error(b, 3);
	n->fail_call = (uint8_t)rng_range(r, 0, b->p->nr_calls - 1);
	n->fail_rep = (uint8_t)rng_range(r, 0, 1);
	/* A task that signals could not run on the only worker. */
	n->by_task = rng_one_in(r, 2) && !above->is_waited_for;
	n->swallows = rng_one_in(r, 2);
	n->fails_early = rng_one_in(r, 2);
	n->again = rng_one_in(r, 4);
}

static void make_below(struct builder *b, uint32_t i, struct above above)
{
	uint32_t nr = 0, child;
	struct node *n = &b->p->node[i];

	if (b->budget && b->p->has_children && above.depth < MAX_DEPTH)
		nr = above.depth || rng_one_in(b->r, 4) ? rng_range(b->r, 0, 5)
							: 0;
	if (n->mode == MODE_THEN_DONE && !nr)
		n->mode = MODE_PLAIN;
	above.depth++;
	above.is_waited_for |= n->mode == MODE_JOIN;
	above.has_limits |= b->p->kind[n->kind].nr_limits != 0;
	above.is_joined_with_limits |= above.has_limits && above.is_waited_for;
	n->below = b->p->nr_nodes;
	for (; nr; nr--) {
		child = new_node(b);
		b->budget -= b->budget > 0;
		fill_node(b, child, &above);
		make_below(b, child, above);
	}
	/* The array may have moved. */
	n = &b->p->node[i];
	n->nr_below = b->p->nr_nodes - n->below;
}

static void make_nodes(struct builder *b)
{
	static const struct above nothing;
	struct program *p = b->p;
	struct call *c;
	uint32_t i;

	for (i = 0; i < p->nr_tasks; i++)
		fill_node(b, new_node(b), &nothing);
	for (i = 0; i < p->nr_tasks; i++)
		make_below(b, i, nothing);
	for (i = 0; i < p->nr_calls; i++) {
		c = &p->call[i];
		if (!c->is_submit)
			continue;
		b->budget = rng_one_in(b->r, 4) ? MAX_NODES_BELOW : 8;
		c->first = new_node(b);
		fill_node(b, c->first, &nothing);
		make_below(b, c->first, nothing);
		c->nr = p->nr_nodes - c->first;
	}
}

static void make_calls(struct program *p, struct rng *r, bool is_large)
{
	struct call *c;
	uint32_t i;

	p->nr_calls = rng_range(r, 1, is_large ? 3 : MAX_CALLS);
	if (!rng_one_in(r, 4) && p->nr_calls > 4)
		p->nr_calls = rng_range(r, 1, 4);
	p->nr_threads = rng_one_in(r, 2) ? 1 : rng_range(r, 1, MAX_THREADS);
	p->inflight = rng_one_in(r, 2) ? 1 : (uint8_t)rng_range(r, 2, 4);
	p->nr_phases = p->cancels ? 2 : 1;
	for (i = 0; i < p->nr_calls; i++) {
		c = &p->call[i];
		c->is_submit = rng_one_in(r, 4);
		c->phase = (uint8_t)rng_range(r, 0, p->nr_phases - 1);
		c->thread = (uint8_t)rng_range(r, 0, p->nr_threads - 1);
		c->times = 1;
		if (!c->is_submit && rng_one_in(r, 2))
			c->times = (uint8_t)rng_range(r, 1, MAX_TIMES);
		c->has_done = !rng_one_in(r, 4);
		c->waits_at_once = rng_one_in(r, 2);
		c->no_wait = rng_one_in(r, 4);
	}
	if (p->cancels) {
		p->call[0].phase = 0;
		p->call[p->nr_calls - 1].phase = 1;
	}
}

/* From edges in any order to predecessors by task. */
void program_index_edges(struct program *p)
{
	uint32_t i, *at;

	free(p->pred_at);
	free(p->pred);
	p->pred_at = calloc(p->nr_tasks + 2, sizeof(*p->pred_at));
	p->pred = malloc((p->nr_edges + 1) * sizeof(*p->pred));
	if (!p->pred_at || !p->pred)
		abort();
	at = p->pred_at + 1;
	for (i = 0; i < p->nr_edges; i++)
		at[p->edge[2 * i + 1]]++;
	for (i = 0; i < p->nr_tasks; i++)
		at[i] += p->pred_at[i];
	for (i = p->nr_edges; i; i--)
		p->pred[--at[p->edge[2 * i - 1]]] = p->edge[2 * i - 2];
	/* at[t] is now where t begins; as pred_at it ends t - 1. */
	memmove(p->pred_at, at, p->nr_tasks * sizeof(*at));
	p->pred_at[p->nr_tasks] = p->nr_edges;
}

static uint32_t some_size(struct rng *r, uint32_t max_tasks)
{
	static const uint32_t top[] = { 4, 16, 40, 40, 100, 300 };
	uint32_t nr = rng_range(r, 0, top[rng_range(r, 0, 5)]);

	/* Larger than the ring of a deque. */
	if (rng_one_in(r, 500))
		nr = rng_range(r, 3000, rng_one_in(r, 4) ? 20000 : 5000);
	return nr < max_tasks ? nr : max_tasks;
}

/*
 * A cancel lets go bodies that wait for an event of the program, which is then
 * signalled later or never: those have tests of their own (test_then_cancel).
 */
static void wait_for_no_events(struct program *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_nodes; i++) {
		p->node[i].again = false;
		if (p->node[i].mode == MODE_THEN_EVENT ||
		    p->node[i].mode == MODE_HOLD)
			p->node[i].mode = MODE_THEN;
	}
}

void program_create(struct program *p, uint64_t seed, uint32_t max_tasks)
{
	struct builder b = { .p = p };
	struct rng r = { .state = seed };

	memset(p, 0, sizeof(*p));
	b.r = &r;
	p->seed = seed;
	p->nr_tasks = some_size(&r, max_tasks);
	p->has_errors = rng_one_in(&r, 3);
	p->cancels = rng_one_in(&r, 6);
	p->cancels_outer = rng_one_in(&r, 3);
	p->is_nested = p->cancels_outer || rng_one_in(&r, 4);
	p->has_children = rng_one_in(&r, 2);
	p->has_places = rng_one_in(&r, 4);
	b.budget = max_tasks < MAX_NODES_BELOW ? max_tasks : MAX_NODES_BELOW;
	make_calls(p, &r, p->nr_tasks > 1000);
	make_kinds(p, &r);
	shape_create(p, &r);
	make_nodes(&b);
	if (p->cancels)
		wait_for_no_events(p);
	program_index_edges(p);
	p->cancel_at = rng_range(&r, 0, p->nr_nodes * 2 + 1);
}

void program_of_one_thread(struct program *p)
{
	uint32_t i;

	p->nr_threads = 1;
	for (i = 0; i < p->nr_calls; i++) {
		p->call[i].thread = 0;
		p->call[i].no_wait = false;
	}
}

void program_destroy(struct program *p)
{
	free(p->node);
	free(p->order);
	free(p->edge);
	free(p->pred_at);
	free(p->pred);
}

void program_print(const struct program *p)
{
	const struct p_kind *k;
	const struct call *c;
	uint32_t i;

	printf("# seed %llu: %s, %u tasks, %u edges, %u nodes in all\n",
	       (unsigned long long)p->seed, p->shape, p->nr_tasks, p->nr_edges,
	       p->nr_nodes);
	printf("# inflight %u, %u threads%s%s%s%s\n", p->inflight,
	       p->nr_threads, p->has_children ? ", children" : "",
	       p->has_errors ? ", errors" : "",
	       p->is_nested ? ", scope in a scope" : "",
	       p->cancels_outer && p->cancels ? ", outer is cancelled" : "");
	if (p->cancels)
		printf("# cancelled at body %u\n", p->cancel_at);
	for (i = 0; i < p->nr_kinds; i++) {
		k = &p->kind[i];
		printf("# kind %u:%s%s%s width %u prio %u arg %u limits %u\n",
		       i, k->is_shared ? " SHARED" : "",
		       k->is_blocking ? " BLOCKING" : "",
		       k->has_drop ? " drop" : "", k->width, k->prio,
		       k->arg_size, k->nr_limits);
	}
	for (i = 0; i < p->nr_calls; i++) {
		c = &p->call[i];
		printf("# call %u: %s, phase %u, thread %u, times %u%s%s%s\n",
		       i, c->is_submit ? "submit" : "run", c->phase, c->thread,
		       c->times, c->has_done ? ", done" : "",
		       c->waits_at_once ? ", waits" : "",
		       c->no_wait ? ", NOWAIT" : "");
	}
}
