/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_once.h"

#include "tests/bench/lkdf_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t nr_preds_of(const struct shape *s, uint32_t i)
{
	return s->pred_at[i + 1] - s->pred_at[i];
}

static int is_last(const struct shape *s, uint32_t i)
{
	return s->succ_at[i + 1] == s->succ_at[i];
}

/* One more than all of what it reads, to which 32 bits are enough. */
static int body(struct lkdf_ctx *c, void *arg)
{
	const struct once_task *t = arg;
	uint32_t value = 1, i;

	for (i = 1; i < t->nr_uses; i++)
		value += *(const uint32_t *)lkdf_ptr(c, i);
	*(uint32_t *)lkdf_ptr(c, 0) = value;
	if (is_last(t->of->shape, (uint32_t)(t - t->of->task)))
		__atomic_fetch_add(&t->of->sum, value, __ATOMIC_RELAXED);
	return 0;
}

int once_init(struct once *o, struct lkdf *rt, const struct shape *s)
{
	uint32_t i;

	memset(o, 0, sizeof(*o));
	o->shape = s;
	o->data = calloc(s->nr_tasks, sizeof(*o->data));
	o->task = calloc(s->nr_tasks, sizeof(*o->task));
	if (!o->data || !o->task)
		return -ENOMEM;
	for (i = 0; i < s->nr_tasks; i++) {
		o->task[i] = (struct once_task){ o, 1 + nr_preds_of(s, i) };
		if (o->task[i].nr_uses > ONCE_MAX_USES)
			return -E2BIG;
	}
	return lkdf_graph_kind(rt, "once", body, &o->kind);
}

void once_fini(struct once *o)
{
	lkdf_kind_put(o->kind);
	free(o->data);
	free(o->task);
}

static int create_data(struct once *o, struct lkdf *rt)
{
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .flags = LKDF_DATA_ONCE,
				    .bytes = ONCE_BYTES };

	return lkdf_data_create_many(rt, &a, o->shape->nr_tasks, o->data);
}

static void put_data(struct once *o)
{
	uint32_t i;

	for (i = 0; i < o->shape->nr_tasks; i++) {
		lkdf_data_put(o->data[i]);
		o->data[i] = NULL;
	}
}

static int add_task(struct once *o, uint32_t i)
{
	struct lkdf_use use[ONCE_MAX_USES] = { { o->data[i], LKDF_WRITE, 0 } };
	const uint32_t *pred = o->shape->pred + o->shape->pred_at[i];
	uint32_t k;
	int rc;

	for (k = 1; k < o->task[i].nr_uses; k++)
		use[k] =
			(struct lkdf_use){ o->data[pred[k - 1]], LKDF_READ, 0 };
	rc = lkdf_graph_add(o->graph, o->kind, &o->task[i], use,
			    o->task[i].nr_uses);
	return rc < 0 ? rc : 0;
}

static int build_graph(struct once *o, struct lkdf *rt)
{
	struct lkdf_graph_attr a = { .size = sizeof(a),
				     .hint_tasks = o->shape->nr_tasks };
	uint32_t i;
	int rc = lkdf_graph_create(rt, &a, &o->graph);

	for (i = 0; i < o->shape->nr_tasks && !rc; i++)
		rc = add_task(o, i);
	return rc ? rc : lkdf_graph_seal(o->graph, NULL);
}

int once_live(struct once *o, struct lkdf *rt)
{
	int rc;

	o->sum = 0;
	rc = create_data(o, rt);
	if (!rc)
		rc = build_graph(o, rt);
	if (!rc)
		rc = lkdf_graph_runs(o->graph, 1);
	lkdf_graph_put(o->graph);
	o->graph = NULL;
	put_data(o);
	return rc;
}

int once_is_right(const struct once *o)
{
	const struct shape *s = o->shape;
	uint32_t *value = calloc(s->nr_tasks, sizeof(*value)), i, e;
	uint64_t sum = 0;

	for (i = 0; value && i < s->nr_tasks; i++) {
		value[i] = 1;
		for (e = s->pred_at[i]; e < s->pred_at[i + 1]; e++)
			value[i] += value[s->pred[e]];
		if (is_last(s, i))
			sum += value[i];
	}
	free(value);
	return value && sum == o->sum;
}
