/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/place.h"

#include "base/err.h"
#include "base/options.h"
#include "data/block.h"
#include "mechanism/part/part.h"
#include "topo/raw.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdlib.h>
#include <string.h>

/* Can memory be bound at all? Asked with one page. */
static void probe_bind(struct lkdf *rt)
{
	const struct memory *m = rt->heap->memory[heap_interleaved(rt->heap)];
	int error, bind_error = 0;
	void *page;

	if (!m->is_present || !m->policy.is_bound)
		return;
	page = os_map(4096, 4096, &m->policy, &error, &bind_error);
	if (page)
		os_unmap(page, 4096);
	rt->bind_error = bind_error;
	if (bind_error)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "memory: mbind: %s: pages lie where they are first "
			 "touched",
			 strerror(bind_error));
}

static int create_heap(struct lkdf *rt)
{
	const struct options *o = rt->options;
	const struct topo *t = rt->topo;
	struct heap_attr attr = {
		.nr_nodes = t->nr_nodes,
		.distance = t->distance,
		.limit = (uint64_t)o->memory_limit << 20,
		.is_strict = o->memory_strict != 0,
		.is_bound = !t->is_synthetic && t->nr_nodes > 1,
		.huge = (enum os_huge)o->memory_huge,
		.node_free = topo_raw_node_free,
	};
	struct heap_node *node;
	int i, rc;

	node = calloc((size_t)t->nr_nodes, sizeof(*node));
	if (!node)
		return err(-ENOMEM, "place: no memory for %d nodes",
			   t->nr_nodes);
	for (i = 0; i < t->nr_nodes; i++) {
		node[i].os_node = t->node[i].os_node;
		node[i].has_memory = t->node[i].mem_bytes != 0;
	}
	attr.node = node;
	rc = heap_create(&attr, &rt->heap);
	free(node);
	if (rc)
		return err(rc, "place: no heap for %d nodes", t->nr_nodes);
	return 0;
}

int place_open(struct lkdf *rt)
{
	int i, nr = rt->topo->nr_nodes, rc;

	rc = create_heap(rt);
	if (rc)
		return rc;
	probe_bind(rt);
	rt->places = calloc((size_t)nr, sizeof(*rt->places));
	if (!rt->places)
		return err(-ENOMEM, "place: no memory for %d places", nr);
	for (i = 0; i < nr; i++) {
		rt->places[i].rt = rt;
		rt->places[i].heap = rt->heap;
		rt->places[i].is_hooked = rt->hooks.table != NULL;
		rt->places[i].kind = LKDF_PLACE_NODE;
		rt->places[i].node = i;
		rt->places[i].memory = (unsigned)i;
		rt->places[i].home = home_make(i, false);
	}
	return 0;
}

/* The first worker of a place; how many there are in *nr. */
static int first_worker(const struct lkdf_place *p, int *nr)
{
	const struct sched *s = &p->rt->sched;
	int i = 0;

	if (p->part) {
		*nr = p->part->nr;
		return p->part->first;
	}
	*nr = s->nodes[p->node].nr_workers;
	while (i < s->nr_workers && s->workers[i].executor->node != p->node)
		i++;
	return i;
}

/* Under the runtime's lock. */
static int find_part(struct lkdf_place *p, int first, int nr,
		     struct lkdf_place **out)
{
	struct lkdf *rt = p->rt;
	struct lkdf_place *q;
	struct part *part;
	int rc;

	mutex_assert_held(&rt->lock);
	for (q = rt->part_places; q; q = q->next)
		if (q->part->first == first && q->part->nr == nr) {
			*out = q;
			return 0;
		}
	q = malloc(sizeof(*q));
	if (!q)
		return err(-ENOMEM, "place: no memory for a part");
	rc = part_get(&rt->sched, first, nr, &part);
	if (rc) {
		free(q);
		return rc;
	}
	*q = rt->places[p->node];
	q->part = part;
	q->home = home_make_part(part->id, false);
	q->next = rt->part_places;
	rt->part_places = q;
	*out = q;
	return 0;
}

int place_part(struct lkdf_place *p, unsigned num, unsigned den,
	       struct lkdf_place **out)
{
	int all, first = first_worker(p, &all), begin, end, rc;

	begin = (int)((uint64_t)num * (unsigned)all / den);
	end = (int)(((uint64_t)num + 1) * (unsigned)all / den);
	end = end > begin ? end : begin + 1;
	/* In serial mode a node may have none, and its part is the node. */
	if (end - begin >= all) {
		*out = p;
		return 0;
	}
	pthread_mutex_lock(&p->rt->lock);
	rc = find_part(p, first + begin, end - begin, out);
	pthread_mutex_unlock(&p->rt->lock);
	return rc;
}

int place_worker(struct lkdf *rt, int worker, struct lkdf_place **out)
{
	const struct worker *w = &rt->sched.workers[worker];
	int rc;

	pthread_mutex_lock(&rt->lock);
	rc = find_part(&rt->places[w->executor->node], worker, 1, out);
	pthread_mutex_unlock(&rt->lock);
	return rc;
}

void place_report_leaks(struct lkdf *rt)
{
	block_report_leaks(rt->heap, &rt->log);
}

void place_close(struct lkdf *rt)
{
	struct lkdf_place *p, *next;

	for (p = rt->part_places; p; p = next) {
		next = p->next;
		free(p);
	}
	free(rt->places);
	heap_destroy(rt->heap);
}

int place_id(const struct lkdf_place *p)
{
	return p->device ? (int)home_device(p->home)
			 : p->heap->os_node[p->node];
}

const char *place_unbound_text(const struct lkdf *rt)
{
	if (rt->topo->is_synthetic)
		return "the machine is made up";
	if (rt->topo->nr_nodes == 1)
		return "there is one node only";
	if (rt->bind_error == EPERM || rt->bind_error == ENOSYS)
		return "mbind is refused, as containers do by a seccomp filter";
	return rt->bind_error ? "mbind fails" : NULL;
}
