/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_control.h"
#include "tests/bench/lkdf_feed.h"
#include "tests/bench/lkdf_graph.h"

#define AGAIN 0

static int plain(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	control_do(arg);
	return 0;
}

static int condition(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	control_do(arg);
	return control_again(arg) ? AGAIN : LKDF_NO_BRANCH;
}

static int choice(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	control_do(arg);
	return (int)control_arm(arg);
}

static lkdf_fn body_of(const struct control *c, uint32_t i)
{
	if (control_is_choice(c, i))
		return choice;
	return control_is_last(c, i) ? condition : plain;
}

/* From the first step to step i, and from there to the last. */
static void add_edges(const struct control *c, struct lkdf_graph *g, int32_t i)
{
	int32_t last = (int32_t)c->nr_steps - 1;

	if (control_is_choice(c, 0)) {
		lkdf_graph_branch(g, 0, (uint16_t)(i - 1), i);
		lkdf_graph_branch(g, i, 0, last);
	} else {
		lkdf_graph_order(g, 0, i);
		lkdf_graph_order(g, i, last);
	}
}

/* A refusal of an edge is also what seal reports. */
static int seal_edges(const struct control *c, struct lkdf_graph *g)
{
	int32_t i, last = (int32_t)c->nr_steps - 1;

	for (i = 1; i < last; i++)
		add_edges(c, g, i);
	if (c->shape == CONTROL_LOOP)
		lkdf_graph_order(g, 0, last);
	if (c->shape != CONTROL_RUNS)
		lkdf_graph_back(g, last, AGAIN, 0);
	return lkdf_graph_seal(g, NULL);
}

static int add_step(struct lkdf *rt, struct control *c, uint32_t i,
		    struct lkdf_graph *g)
{
	struct lkdf_kind *kind;
	int rc = lkdf_graph_kind(rt, control_shape_name(c), body_of(c, i),
				 &kind);

	if (rc)
		return rc;
	rc = lkdf_graph_add(g, kind, &c->step[i], NULL, 0);
	lkdf_kind_put(kind);
	return rc < 0 ? rc : 0;
}

int lkdf_control_open(struct lkdf *rt, struct control *c,
		      struct lkdf_graph **out)
{
	struct lkdf_graph *g;
	int rc = lkdf_graph_create(rt, NULL, &g);
	uint32_t i;

	if (rc)
		return rc;
	for (i = 0; i < c->nr_steps && !rc; i++)
		rc = add_step(rt, c, i, g);
	if (!rc)
		rc = seal_edges(c, g);
	if (rc)
		lkdf_graph_put(g);
	else
		*out = g;
	return rc;
}

int lkdf_control_run(const struct control *c, struct lkdf_graph *g)
{
	return lkdf_graph_runs(g, c->shape == CONTROL_RUNS ? c->nr : 1);
}

/* The source ends the stream, as it does for the peers. */
static int source(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_stream_stage *at = arg;
	struct lkdf_stream *l = at->of;
	uint64_t token = l->stream->stage[0].calls;

	if (token == l->stream->nr)
		return LKDF_END;
	if (!token)
		l->first = lkdf_seq(c);
	stream_do(l->stream, 0, token);
	return 0;
}

static int stage(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_stream_stage *at = arg;

	stream_do(at->of->stream, at->stage, lkdf_seq(c) - at->of->first);
	return 0;
}

static int add_stage(struct lkdf_stream *l, struct lkdf *rt, uint32_t i)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "stage",
				    .fn = i ? stage : source };
	struct lkdf_kind *kind;
	int rc;

	l->arg[i] = (struct lkdf_stream_stage){ l, i };
	if (!l->stream->stage[i].is_serial)
		a.flags = LKDF_SHARED;
	rc = lkdf_kind_create(rt, &a, &kind);
	if (rc)
		return rc;
	rc = lkdf_graph_add(l->graph, kind, &l->arg[i], NULL, 0);
	lkdf_kind_put(kind);
	if (rc > 0)
		rc = lkdf_graph_order(l->graph, rc - 1, rc);
	return rc;
}

int lkdf_stream_open(struct lkdf_stream *l, struct lkdf *rt, struct stream *s)
{
	struct lkdf_graph_attr a = { .size = sizeof(a),
				     .inflight = STREAM_TOKENS };
	uint32_t i;
	int rc;

	*l = (struct lkdf_stream){ .stream = s };
	if (s->is_fed)
		return lkdf_feed_open(rt, s, &l->feed);
	rc = lkdf_graph_create(rt, &a, &l->graph);
	if (rc)
		return rc;
	for (i = 0; i < STREAM_STAGES && !rc; i++)
		rc = add_stage(l, rt, i);
	if (!rc)
		rc = lkdf_graph_seal(l->graph, NULL);
	if (rc)
		lkdf_stream_close(l);
	return rc;
}

void lkdf_stream_close(struct lkdf_stream *l)
{
	lkdf_graph_put(l->graph);
	l->graph = NULL;
	lkdf_feed_close(l->feed);
	l->feed = NULL;
}

int lkdf_stream_run(struct lkdf_stream *l)
{
	struct lkdf_run r = { .size = sizeof(r), .flags = LKDF_RUN_STREAM };
	struct lkdf_event done;
	int rc;

	if (l->feed)
		return lkdf_feed_run(l->feed);
	rc = lkdf_graph_run(l->graph, NULL, &r, &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}
