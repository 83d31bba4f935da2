/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_graph.h"

int lkdf_graph_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		    struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a), .flags = LKDF_SHARED, .name = name, .fn = fn
	};

	return lkdf_kind_create(rt, &a, out);
}

static int fill(struct lkdf_graph *g, struct lkdf_kind *kind,
		const struct shape *s, uint32_t *count)
{
	uint32_t i, e;
	int rc;

	for (i = 0; i < s->nr_tasks; i++) {
		rc = lkdf_graph_add(g, kind, &count[i], NULL, 0);
		if (rc < 0)
			return rc;
	}
	for (i = 0; i < s->nr_tasks; i++) {
		for (e = s->pred_at[i]; e < s->pred_at[i + 1]; e++) {
			rc = lkdf_graph_order(g, (int32_t)s->pred[e],
					      (int32_t)i);
			if (rc)
				return rc;
		}
	}
	return lkdf_graph_seal(g, NULL);
}

int lkdf_graph_of(struct lkdf *rt, struct lkdf_kind *kind,
		  const struct shape *s, uint32_t *count, uint32_t inflight,
		  struct lkdf_graph **out)
{
	struct lkdf_graph_attr a = { .size = sizeof(a),
				     .inflight = inflight,
				     .hint_tasks = s->nr_tasks };
	struct lkdf_graph *g;
	int rc = lkdf_graph_create(rt, &a, &g);

	if (rc)
		return rc;
	rc = fill(g, kind, s, count);
	if (rc)
		lkdf_graph_put(g);
	else
		*out = g;
	return rc;
}

int lkdf_graph_runs(struct lkdf_graph *g, uint64_t times)
{
	struct lkdf_run r = { .size = sizeof(r), .times = times };
	struct lkdf_event done;
	int rc = lkdf_graph_run(g, NULL, &r, &done);

	return rc ? rc : lkdf_event_wait(done, -1);
}
