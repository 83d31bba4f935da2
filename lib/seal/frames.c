/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/frames.h"

#include "base/err.h"
#include "core/item.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "graph/renumber.h"
#include "mem/region.h"
#include "run/checked_run.h"
#include "run/frame.h"
#include "run/planned.h"
#include "run/region_run.h"
#include "run/slots.h"
#include "run/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* May tasks without room be linked by pending? Not where a run may be two
 * ahead. */
static bool needs_overflow_next(const struct lkdf_graph *g)
{
	uint32_t i;

	/* In graphs with branches it says why a task is skipped. */
	if (g->control)
		return true;
	for (i = 0; g->has_tokens && i < g->nr_recs; i++) {
		if (g->recs[i].flags & REC_TOKEN && g->recs[i].kind->width > 1)
			return true;
	}
	return false;
}

static int copy_records(struct lkdf_graph *g, struct frame *f,
			bool overflow_next)
{
	if (f->index == 0)
		f->recs = g->recs;
	else if (g->is_renumbered)
		f->recs = renumber_map(g);
	else
		f->recs = region_alloc(g->nr_recs * sizeof(*f->recs));
	if (overflow_next)
		f->overflow_next =
			region_alloc(g->nr_recs * sizeof(*f->overflow_next));
	if ((!f->recs || (overflow_next && !f->overflow_next)) && g->nr_tasks)
		return err(-ENOMEM, "graph %s: no memory for frame %u", g->name,
			   f->index);
	if (f->index && g->nr_tasks)
		memcpy((void *)f->recs, (void *)g->recs,
		       g->nr_recs * sizeof(*f->recs));
	return 0;
}

/* The first run of an instance has no run before it to wait for. */
static void give_first_tokens(struct lkdf_graph *g, struct frame *f)
{
	struct rec *r;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++) {
		r = &f->recs[i];
		if (r->flags & REC_TOKEN && f->index < graph_stride(g, r->kind))
			a_sub(&r->pending, 1, relaxed);
	}
}

static void init_list(struct frame *f, struct ready_list *l, uint16_t home)
{
	l->link.type = home != HOME_NONE && f->graph->planned
			       ? LINK_FRAME_PLANNED
			       : LINK_FRAME_READY;
	l->link.class = CLASS_NORMAL;
	l->home = home;
	l->frame = f;
	a_store(&l->head, NO_OVERFLOW, relaxed);
}

static size_t placed_size(const struct lkdf_graph *g)
{
	return 2 * (size_t)g->rt->sched.nr_nodes * sizeof(struct ready_list);
}

/* Only in a graph with places. */
static int init_placed(struct lkdf_graph *g, struct frame *f)
{
	int node;

	if (!g->homes)
		return 0;
	f->placed = region_alloc(placed_size(g));
	if (!f->placed)
		return err(-ENOMEM, "graph %s: no memory for places", g->name);
	for (node = 0; node < g->rt->sched.nr_nodes; node++) {
		init_list(f, &f->placed[2 * node], home_make(node, false));
		init_list(f, &f->placed[2 * node + 1], home_make(node, true));
	}
	return 0;
}

static size_t planned_size(const struct lkdf_graph *g)
{
	return (size_t)g->planned->nr_nodes * sizeof(struct planned_part);
}

static int init_planned(struct lkdf_graph *g, struct frame *f)
{
	f->planned = region_alloc(planned_size(g));
	return f->planned ? 0
			  : err(-ENOMEM, "graph %s: no memory for a run's plan",
				g->name);
}

static int create_passes(struct frame *f)
{
	const struct seal_pass *const *p;
	int rc = 0;

	for (p = f->graph->rt->seal_passes; *p && !rc; p++)
		if ((*p)->create_frame)
			rc = (*p)->create_frame(f);
	return rc;
}

/* A frame that was never made has no graph. */
static void destroy_passes(struct frame *f, const struct lkdf *rt)
{
	const struct seal_pass *const *p;

	for (p = rt->seal_passes; *p; p++)
		if ((*p)->destroy_frame)
			(*p)->destroy_frame(f);
}

static int init_frame(struct lkdf_graph *g, uint32_t i, bool overflow_next)
{
	struct frame *f = &g->frames[i];
	int slot;

	check(i < g->nr_frames);
	f->graph = g;
	f->index = i;
	f->start.type = LINK_FRAME_START;
	f->start.class = CLASS_NORMAL;
	init_list(f, &f->overflow, HOME_NONE);
	slot = slots_add(g->rt, f);
	if (slot < 0)
		return slot;
	f->slot = (uint32_t)slot;
	f->item = item_of_frame(f->slot, g->planned);
	slot = init_placed(g, f);
	if (!slot && g->planned)
		slot = init_planned(g, f);
	if (!slot && g->accesses)
		slot = values_create(f);
	if (!slot && g->control)
		slot = control_run_create(f);
	if (!slot && g->control)
		slot = region_run_create(f);
	if (!slot && g->ports)
		slot = port_run_create(f);
	if (!slot)
		slot = create_passes(f);
	return slot ? slot : copy_records(g, f, overflow_next);
}

static struct stream *create_stream(void)
{
	struct stream *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (s)
		memset((void *)s, 0, sizeof(*s));
	return s;
}

int frames_create(struct lkdf_graph *g)
{
	bool overflow_next = needs_overflow_next(g);
	uint32_t i;
	int rc = 0;

	check(!g->is_sealed);
	g->frames = region_alloc(g->nr_frames * sizeof(*g->frames));
	if (!g->frames)
		return err(-ENOMEM, "graph %s: no memory for %u frames",
			   g->name, g->nr_frames);
	for (i = 0; i < g->nr_frames; i++)
		g->frames[i].slot = UINT32_MAX;
	if (g->nr_frames > 1)
		g->stream = create_stream();
	if (g->nr_frames > 1 && !g->stream)
		return err(-ENOMEM, "graph %s: no memory for streams", g->name);
	for (i = 0; i < g->nr_frames && !rc; i++)
		rc = init_frame(g, i, overflow_next);
	for (i = 0; g->has_tokens && i < g->nr_frames && !rc; i++)
		give_first_tokens(g, &g->frames[i]);
	return rc;
}

static void frame_free_recs(struct lkdf_graph *g, struct rec *recs)
{
	if (g->is_renumbered)
		region_unmap(recs, g->nr_recs * sizeof(*recs));
	else
		region_free(recs, g->nr_recs * sizeof(*recs));
}

void frames_destroy(struct lkdf_graph *g)
{
	struct frame *f;
	uint32_t i;

	for (i = 0; g->frames && i < g->nr_frames; i++) {
		f = &g->frames[i];
		if (f->slot != UINT32_MAX)
			slots_del(g->rt, f->slot);
		if (i)
			frame_free_recs(g, f->recs);
		region_free(f->overflow_next,
			    g->nr_recs * sizeof(*f->overflow_next));
		region_free(f->placed, placed_size(g));
		if (g->planned)
			region_free(f->planned, planned_size(g));
		values_destroy(f);
		region_run_destroy(f);
		control_run_destroy(f);
		port_run_destroy(f);
		checked_run_free(f);
		destroy_passes(f, g->rt);
	}
	region_free(g->frames, g->nr_frames * sizeof(*g->frames));
	g->frames = NULL;
	free(g->stream);
	g->stream = NULL;
}
