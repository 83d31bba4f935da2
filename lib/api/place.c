/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/place.h>

#include "api/border.h"
#include "data/place.h"
#include "mem/os.h"
#include "offload/devices.h"
#include "topo/cpulist.h"
#include "topo/topo.h"

#include <string.h>

#define KINDS (LKDF_PLACE_NODE | LKDF_PLACE_GPU | LKDF_PLACE_USER)

static int check_kinds(uint32_t kinds)
{
	if (kinds & LKDF_PLACE_IO)
		return border_unbuilt("places: LKDF_PLACE_IO");
	if (kinds & ~(uint32_t)KINDS)
		return err(-EINVAL, "places: kinds 0x%x: unknown bits", kinds);
	return 0;
}

int lkdf_places(struct lkdf *rt, uint32_t kinds, struct lkdf_place **v,
		unsigned nr)
{
	unsigned i, nr_nodes, nr_devices, have = 0;
	struct lkdf_place *p;
	int rc;

	if (!rt)
		return err(-EINVAL, "places: the runtime is NULL");
	if (!v && nr)
		return err(-EINVAL, "places: room for %u, but v is NULL", nr);
	rc = check_kinds(kinds);
	if (rc)
		return rc;
	nr_nodes = (unsigned)rt->topo->nr_nodes;
	nr_devices = devices_nr(rt);
	for (i = 0; i < nr_nodes + nr_devices; i++) {
		p = i < nr_nodes ? &rt->places[i]
				 : rt->devices->place[i - nr_nodes];
		if (kinds && !(p->kind & kinds))
			continue;
		if (have < nr)
			v[have] = p;
		have++;
	}
	if (kinds & LKDF_PLACE_GPU && rt->devices->why[0])
		err(0, "places: %s", rt->devices->why);
	return (int)have;
}

static void refuse_node(const struct lkdf *rt, int node)
{
	int os[OS_MAX_NODES], i, nr = rt->topo->nr_nodes;
	char text[128];

	for (i = 0; i < nr; i++)
		os[i] = rt->topo->node[i].os_node;
	cpulist_text(os, nr, text, sizeof(text));
	err(-EINVAL,
	    "place: there is no node %d that this process may use: there is %s",
	    node, text);
}

struct lkdf_place *lkdf_place_node(struct lkdf *rt, int node)
{
	int i;

	if (!rt) {
		err(-EINVAL, "place: the runtime is NULL");
		return NULL;
	}
	for (i = 0; i < rt->topo->nr_nodes; i++)
		if (rt->topo->node[i].os_node == node)
			return &rt->places[i];
	refuse_node(rt, node);
	return NULL;
}

int lkdf_place_part(struct lkdf_place *p, unsigned num, unsigned den,
		    struct lkdf_place **out)
{
	int rc;

	if (!p || !out)
		return err(-EINVAL, "place: place or out is NULL");
	rc = border_runtime(p->rt);
	if (rc)
		return rc;
	if (p->device)
		return border_unbuilt("place: a part of a device");
	if (!den || den > PLACE_MAX_DEN || num >= den)
		return err(-EINVAL,
			   "place: part %u of %u: expected 1 .. %d parts, from "
			   "0 on",
			   num, den, PLACE_MAX_DEN);
	return place_part(p, num, den, out);
}

int lkdf_place_distance(const struct lkdf_place *a, const struct lkdf_place *b)
{
	if (!a || !b)
		return err(-EINVAL, "place: the place is NULL");
	if (a->rt != b->rt)
		return err(-EINVAL,
			   "place: nodes %d and %d are of different runtimes",
			   place_id(a), place_id(b));
	return topo_distance(a->rt->topo, a->node, b->node);
}

int lkdf_place_id(const struct lkdf_place *p)
{
	return p ? place_id(p) : err(-EINVAL, "place: the place is NULL");
}
