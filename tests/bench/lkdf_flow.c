/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int flow_body(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_flow_task *t = arg;
	void *room[FLOW_MAX_INPUTS + 1];
	void *const *at = lkdf_ptrs(c, t->nr_in + 1, room);

	flow_task(t->of->flow, t->task, (const uint64_t *const *)(at + 1),
		  t->nr_in, at[0]);
	return 0;
}

static int add_task(struct lkdf_flow *l, uint32_t task)
{
	const struct shape *s = &l->flow->shape;
	const uint32_t *pred = s->pred + s->pred_at[task];
	struct lkdf_use use[FLOW_MAX_INPUTS + 1] = { { .data = NULL } };
	uint32_t k, nr = s->pred_at[task + 1] - s->pred_at[task];
	int32_t id;

	if (nr > FLOW_MAX_INPUTS)
		return -E2BIG;
	use[0] = (struct lkdf_use){ .data = l->data[task], .mode = LKDF_WRITE };
	for (k = 0; k < nr; k++)
		use[k + 1] = (struct lkdf_use){ .data = l->data[pred[k]],
						.mode = LKDF_READ };
	l->arg[task] = (struct lkdf_flow_task){ l, task, nr };
	id = lkdf_graph_add(l->graph, l->kind, &l->arg[task], use, nr + 1);
	return id < 0 ? id : 0;
}

static int build(struct lkdf_flow *l)
{
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .flags = LKDF_DATA_ONCE,
				    .bytes = l->flow->bytes };
	struct lkdf_graph_attr g = { .size = sizeof(g),
				     .hint_tasks = l->flow->shape.nr_tasks };
	uint32_t i;
	int rc = lkdf_graph_create(l->rt, &g, &l->graph);

	for (i = 0; i < l->flow->shape.nr_tasks && !rc; i++)
		rc = lkdf_data_create(l->rt, &a, &l->data[i]);
	for (i = 0; i < l->flow->shape.nr_tasks && !rc; i++)
		rc = add_task(l, i);
	return rc ? rc : lkdf_graph_seal(l->graph, NULL);
}

int lkdf_flow_open(struct lkdf_flow *l, struct lkdf *rt, struct flow *f)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "flow",
				    .fn = flow_body };
	int rc;

	*l = (struct lkdf_flow){ .rt = rt, .flow = f };
	rc = lkdf_kind_create(rt, &a, &l->kind);
	if (rc)
		return rc;
	l->data = calloc(f->shape.nr_tasks, sizeof(struct lkdf_data *));
	l->arg = calloc(f->shape.nr_tasks, sizeof(*l->arg));
	rc = l->data && l->arg ? build(l) : -ENOMEM;
	if (rc)
		lkdf_flow_close(l);
	return rc;
}

void lkdf_flow_close(struct lkdf_flow *l)
{
	uint32_t i;

	lkdf_graph_put(l->graph);
	for (i = 0; l->data && i < l->flow->shape.nr_tasks; i++)
		lkdf_data_put(l->data[i]);
	lkdf_kind_put(l->kind);
	free((void *)l->data);
	free(l->arg);
	memset(l, 0, sizeof(*l));
}
