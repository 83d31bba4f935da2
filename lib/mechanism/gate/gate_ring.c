/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/gate/gate_ring.h"

#include "mechanism/far/far.h"

#include <stdlib.h>

bool ring_init_all(struct gate *g)
{
	g->node = calloc((size_t)g->sched->nr_nodes, sizeof(*g->node));
	return g->node != NULL;
}

void ring_free_all(struct gate *g)
{
	int i, k;

	for (i = 0; g->node && i < g->sched->nr_nodes; i++)
		for (k = 0; k < NR_GATE_RINGS; k++)
			free(g->node[i].ring[k].at);
	free(g->node);
}

/* ---- one ring ------------------------------------------------------------ */

static uint64_t *place_of(const struct gate_ring *r, uint32_t i)
{
	return &r->at[(r->first + i) & (r->room - 1)];
}

static bool grow_ring(struct gate_ring *r, uint32_t most)
{
	uint32_t room = r->room ? 2 * r->room : GATE_ROOM, i;
	uint64_t *at;

	if (room > most)
		return false;
	at = malloc(room * sizeof(*at));
	if (!at)
		return false;
	for (i = 0; i < ring_nr(r); i++)
		at[i] = *place_of(r, i);
	free(r->at);
	r->at = at;
	r->first = 0;
	r->room = room;
	return true;
}

static bool add_last(struct gate_ring *r, uint64_t item, uint32_t most)
{
	uint32_t nr = ring_nr(r);

	if (nr == r->room && !grow_ring(r, most))
		return false;
	*place_of(r, nr) = item;
	a_store(&r->nr, nr + 1, relaxed);
	return true;
}

static uint64_t take_first(struct gate_ring *r)
{
	uint64_t item = *place_of(r, 0);

	check(ring_nr(r));
	r->first++;
	a_store(&r->nr, ring_nr(r) - 1, relaxed);
	return item;
}

uint32_t ring_count(const struct gate *g, int node)
{
	uint32_t nr = 0;
	int i;

	for (i = 0; i < NR_GATE_RINGS; i++)
		nr += ring_nr(&g->node[node].ring[i]);
	return nr;
}

/* ---- all of a gate ------------------------------------------------------- */

static struct gate_node *own_node(const struct gate *g, const struct worker *w)
{
	return &g->node[ring_node(w)];
}

bool ring_put(struct gate *g, const struct worker *w, struct gate_item i)
{
	struct gate_node *n =
		i.node == GATE_HERE ? own_node(g, w) : &g->node[i.node];

	lock_assert_held(&g->lock);
	check(i.item && i.node < g->sched->nr_nodes && i.ring < NR_GATE_RINGS);
	return add_last(&n->ring[i.ring], i.item, g->room_most);
}

/* The deque that such items would lie in. */
static unsigned deque_of(int ring)
{
	if (ring < GATE_PLANNED)
		return (unsigned)ring;
	return ring == GATE_BOUND ? DEQUE_BOUND : CLASS_NORMAL;
}

/* By class, as a worker picks from its deques. NULL: there is none. */
static struct gate_ring *own_ring(const struct gate *g, const struct worker *w)
{
	struct gate_node *n = own_node(g, w);
	unsigned mask = 0, deque;
	int i;

	for (i = 0; i < NR_GATE_RINGS; i++)
		if (ring_nr(&n->ring[i]))
			mask |= 1u << deque_of(i);
	if (!mask)
		return NULL;
	deque = policy_deque(mask, w->looks.nr_picks);
	if (deque == DEQUE_BOUND)
		return &n->ring[GATE_BOUND];
	/* Planned items and others by turns, where there are both. */
	if (deque == CLASS_NORMAL && ring_nr(&n->ring[GATE_PLANNED]) &&
	    (w->looks.nr_picks & 1 || !ring_nr(&n->ring[GATE_NORMAL])))
		return &n->ring[GATE_PLANNED];
	return &n->ring[deque];
}

/* Planned items of other nodes only where nothing else is left. */
static struct gate_ring *far_ring(const struct gate *g, const struct worker *w,
				  int node, bool is_idle)
{
	struct gate_ring *r = g->node[node].ring;
	int i;

	for (i = GATE_HIGH; i >= GATE_IDLE; i--)
		if (ring_nr(&r[i]))
			return &r[i];
	return is_idle && ring_nr(&r[GATE_PLANNED]) &&
			       far_allows(w, &g->sched->nodes[node])
		       ? &r[GATE_PLANNED]
		       : NULL;
}

static struct gate_ring *ring_for(const struct gate *g, const struct worker *w,
				  bool is_idle)
{
	struct gate_ring *r = own_ring(g, w);
	int i;

	for (i = 0; !r && i < g->sched->nr_nodes; i++)
		r = far_ring(g, w, i, is_idle);
	return r;
}

bool ring_take(struct gate *g, const struct worker *w, bool is_idle,
	       uint64_t *item)
{
	struct gate_ring *r = ring_for(g, w, is_idle);

	lock_assert_held(&g->lock);
	if (!r)
		return false;
	*item = take_first(r);
	return true;
}

unsigned ring_has(const struct gate *g, const struct worker *w)
{
	const struct gate_ring *r = ring_for(g, w, true);

	lock_assert_held(&g->lock);
	if (!r)
		return 0;
	return r == &own_node(g, w)->ring[GATE_BOUND] ? 1u << DEQUE_BOUND
						      : 1u << CLASS_NORMAL;
}

bool gate_has_bound(const struct worker *w)
{
	const struct gate *g = gate_first(w->sched);

	while (g && !ring_nr(&own_node(g, w)->ring[GATE_BOUND]))
		g = g->next;
	return g != NULL;
}

/* Those that do not fit lie behind the others then. */
static bool turn_ring(struct gate_ring *r, const struct gate_wanted *d,
		      uint64_t *item)
{
	uint32_t nr = (uint32_t)min_u64(d->nr, ring_nr(r));

	for (; nr; nr--) {
		*item = take_first(r);
		if (!d->fits || d->fits(*item, d->u))
			return true;
		add_last(r, *item, r->room);
	}
	return false;
}

bool ring_dig(struct gate *g, const struct worker *w,
	      const struct gate_wanted *d, uint64_t *item)
{
	struct gate_node *own = own_node(g, w), *n;
	int i;

	lock_assert_held(&g->lock);
	if (!d->fits)
		return turn_ring(&own->ring[GATE_BOUND], d, item);
	for (n = g->node; n < g->node + g->sched->nr_nodes; n++)
		for (i = 0; i < NR_GATE_RINGS; i++)
			if ((i != GATE_BOUND || n == own) &&
			    turn_ring(&n->ring[i], d, item))
				return true;
	return false;
}
