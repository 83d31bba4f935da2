/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looks at the words as a body of a user would: through its uses. */
static int word_body(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_plan_task *t = arg;
	struct plan *p = t->of->plan;
	const uint32_t *use = p->use + p->use_at[t->task], *in;
	uint32_t k, own, nr = p->use_at[t->task + 1] - p->use_at[t->task];
	uint32_t *at = nr ? lkdf_ptr(c, 0) : &p->word[t->task];

	own = *at;
	for (k = 1; k < nr; k++) {
		in = lkdf_ptr(c, k);
		if (!plan_fits(p, use[k], *in, own))
			p->is_wrong = true;
	}
	*at = own + 1;
	return 0;
}

static int make_data(struct lkdf_plan *l)
{
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .bytes = sizeof(uint32_t),
				    .align = sizeof(uint32_t) };
	uint32_t i;
	int rc;

	for (i = 0; i < l->plan->nr_words; i++) {
		a.wrap = &l->plan->word[i];
		rc = lkdf_data_create(l->rt, &a, &l->data[i]);
		if (rc)
			return rc;
	}
	return 0;
}

int lkdf_plan_open(struct lkdf_plan *l, struct lkdf *rt, struct plan *p)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "word",
				    .fn = word_body };
	uint32_t i;
	int rc;

	*l = (struct lkdf_plan){ .rt = rt, .plan = p };
	rc = lkdf_kind_create(rt, &a, &l->kind);
	if (rc)
		return rc;
	l->data = calloc(p->nr_words, sizeof(struct lkdf_data *));
	l->arg = calloc(p->nr_tasks, sizeof(*l->arg));
	rc = l->data && l->arg ? make_data(l) : -ENOMEM;
	if (rc) {
		lkdf_plan_close(l);
		return rc;
	}
	for (i = 0; i < p->nr_tasks; i++)
		l->arg[i] = (struct lkdf_plan_task){ l, i };
	return 0;
}

void lkdf_plan_close(struct lkdf_plan *l)
{
	uint32_t i;

	for (i = 0; l->data && i < l->plan->nr_words; i++)
		lkdf_data_put(l->data[i]);
	lkdf_kind_put(l->kind);
	free((void *)l->data);
	free(l->arg);
	memset(l, 0, sizeof(*l));
}

int lkdf_plan_submit(struct lkdf_plan *l, uint32_t first, uint32_t nr)
{
	struct lkdf_use use[PLAN_MAX_USES] = { { .data = NULL } };
	struct lkdf_task t = { .size = sizeof(t), .kind = l->kind, .use = use };
	const struct plan *p = l->plan;
	uint32_t i, k;
	int rc;

	for (i = first; i < first + nr; i++) {
		t.nr_use = p->use_at[i + 1] - p->use_at[i];
		for (k = 0; k < t.nr_use; k++) {
			use[k].data = l->data[p->use[p->use_at[i] + k]];
			use[k].mode = k ? LKDF_READ : LKDF_RW;
		}
		t.arg = &l->arg[i];
		rc = lkdf_submit(l->rt, NULL, &t, NULL);
		if (rc)
			return rc;
	}
	return 0;
}
