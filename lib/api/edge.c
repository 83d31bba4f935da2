/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/port.h>

#include "api/graph.h"
#include "graph/control.h"
#include "graph/include.h"
#include "graph/port.h"

static const struct kind_ports *ports_of_task(const struct lkdf_graph *g,
					      int32_t task)
{
	static const struct kind_ports none;
	const struct kind_ports *p = g->recs[task].kind->ports;

	return p ? p : &none;
}

static int check_port(const struct lkdf_graph *g, const struct lkdf_edge *e)
{
	const struct kind_ports *from = ports_of_task(g, e->from);
	const struct kind_ports *to = ports_of_task(g, e->to);

	if (e->out >= from->nr_out)
		return err(-EINVAL,
			   "edge: graph %s: task %d has no out port %u, it has "
			   "%u",
			   g->name, e->from, e->out, from->nr_out);
	if (e->in >= to->nr_in)
		return err(-EINVAL,
			   "edge: graph %s: task %d has no in port %u, it has "
			   "%u",
			   g->name, e->to, e->in, to->nr_in);
	if (from->out_size[e->out] != to->in_size[e->in])
		return err(-EINVAL,
			   "edge: graph %s: values of %u bytes leave task %d, "
			   "task %d takes %u",
			   g->name, from->out_size[e->out], e->from, e->to,
			   to->in_size[e->in]);
	return 0;
}

/* The bytes go to the next call, what they stand for ends with the run. */
static int check_next(const struct lkdf_graph *g, const struct lkdf_edge *e)
{
	int rc;

	if (e->flags != (LKDF_EDGE_NEXT | LKDF_EDGE_PORT))
		return err(-EINVAL, "edge: NEXT goes with PORT alone");
	if (e->from != e->to)
		return err(-EINVAL,
			   "edge: NEXT from task %d to %d: it leads from a "
			   "task to itself",
			   e->from, e->to);
	if (g->recs[e->from].kind->flags & LKDF_SHARED)
		return err(-EINVAL,
			   "edge: NEXT: kind %s is SHARED, so its calls have "
			   "no order",
			   g->recs[e->from].kind->name);
	rc = check_port(g, e);
	if (!rc && ports_of_task(g, e->from)->out_drop[e->out])
		rc = err(-EINVAL,
			 "edge: NEXT from out port %u of kind %s, which has an "
			 "out_drop: the value is dropped when its run ends",
			 e->out, g->recs[e->from].kind->name);
	return rc;
}

/* The fields that the flags give a meaning to, and no others. */
static int check_edge(const struct lkdf_graph *g, const struct lkdf_edge *e)
{
	const uint32_t all = LKDF_EDGE_PORT | LKDF_EDGE_BRANCH |
			     LKDF_EDGE_BACK | LKDF_EDGE_NEXT;

	if (e->flags & ~all)
		return err(-EINVAL, "edge: unknown flags %#x", e->flags & ~all);
	if (e->pad)
		return err(-EINVAL, "edge: pad is %u, not 0", e->pad);
	if (!(e->flags & LKDF_EDGE_PORT) && (e->out || e->in))
		return err(-EINVAL, "edge: ports %u and %u without PORT",
			   e->out, e->in);
	if (!(e->flags & LKDF_EDGE_NEXT) && e->init)
		return err(-EINVAL, "edge: init without NEXT");
	if (e->branch && !(e->flags & (LKDF_EDGE_BRANCH | LKDF_EDGE_BACK)))
		return err(-EINVAL, "edge: branch %u without BRANCH or BACK",
			   e->branch);
	if ((uint32_t)e->from >= g->nr_tasks)
		return graph_no_such_task(g, e->from, "edge");
	if ((uint32_t)e->to >= g->nr_tasks)
		return graph_no_such_task(g, e->to, "edge");
	if (e->flags & LKDF_EDGE_NEXT)
		return check_next(g, e);
	if (e->from == e->to && !(e->flags & LKDF_EDGE_BACK))
		return err(-EINVAL, "edge: graph %s: task %d after itself",
			   g->name, e->to);
	return e->flags & LKDF_EDGE_PORT ? check_port(g, e) : 0;
}

static uint8_t control_flags(const struct lkdf_edge *e)
{
	if (e->flags & LKDF_EDGE_BACK)
		return CONTROL_BACK;
	return e->flags & LKDF_EDGE_BRANCH ? CONTROL_BRANCH : 0;
}

static int add_port(struct lkdf_graph *g, const struct lkdf_edge *e)
{
	const struct port_given p = {
		.from = (uint32_t)e->from,
		.to = (uint32_t)e->to,
		.out = e->out,
		.in = e->in,
		.branch = e->branch,
		.flags = control_flags(e),
		.is_next = e->flags & LKDF_EDGE_NEXT,
	};

	return port_add(g, &p, e->init,
			ports_of_task(g, e->to)->in_size[e->in]);
}

static int add_edge(struct lkdf_graph *g, const struct lkdf_edge *e)
{
	const struct control_edge c = {
		.from = include_from(g, (uint32_t)e->from),
		.to = (uint32_t)e->to,
		.branch = e->branch,
		.flags = control_flags(e),
	};
	int rc = check_edge(g, e);

	if (!rc && c.flags && c.from != (uint32_t)e->from)
		rc = err(-EINVAL,
			 "edge: graph %s: task %d is an included graph, which "
			 "chooses no branch",
			 g->name, e->from);
	if (!rc && e->flags & LKDF_EDGE_PORT)
		rc = add_port(g, e);
	else if (!rc && !e->flags)
		rc = graph_order(g, c.from, c.to);
	else if (!rc)
		rc = control_add(g, &c);
	return rc ? graph_broken(g, rc) : 0;
}

int lkdf_graph_edge(struct lkdf_graph *g, const struct lkdf_edge *edge)
{
	struct lkdf_edge e;
	int rc = graph_check_open(g, "edge");

	if (rc)
		return rc;
	if (!edge)
		return err(-EINVAL, "edge: the struct is NULL");
	rc = border_copy(edge, &e, sizeof(e), "lkdf_edge");
	return rc ? graph_broken(g, rc) : add_edge(g, &e);
}

static int short_edge(struct lkdf_graph *g, int32_t from, uint16_t branch,
		      int32_t to, uint32_t flags)
{
	const struct lkdf_edge e = {
		.flags = flags,
		.from = from,
		.to = to,
		.branch = branch,
	};
	int rc =
		graph_check_open(g, flags & LKDF_EDGE_BACK ? "back" : "branch");

	return rc ? rc : add_edge(g, &e);
}

int lkdf_graph_branch(struct lkdf_graph *g, int32_t from, uint16_t branch,
		      int32_t to)
{
	return short_edge(g, from, branch, to, LKDF_EDGE_BRANCH);
}

int lkdf_graph_back(struct lkdf_graph *g, int32_t from, uint16_t branch,
		    int32_t to)
{
	return short_edge(g, from, branch, to, LKDF_EDGE_BACK);
}
