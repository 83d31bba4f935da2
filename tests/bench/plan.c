/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/plan.h"
#include "tests/bench/shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int plan_room(struct plan *p, uint64_t nr_uses)
{
	p->use_at = calloc((size_t)p->nr_tasks + 1, sizeof(*p->use_at));
	p->use = calloc(nr_uses + 1, sizeof(*p->use));
	p->word = calloc(p->nr_words, sizeof(*p->word));
	return p->use_at && p->use && p->word ? 0 : -ENOMEM;
}

/* Tasks with @nr words each that no other task uses. */
static int plan_disjoint(struct plan *p, uint32_t nr_tasks, uint32_t nr)
{
	uint32_t i, k, at = 0;

	p->nr_tasks = nr_tasks;
	p->nr_words = nr_tasks * (nr > 1 ? nr : 1);
	if (plan_room(p, (uint64_t)nr_tasks * nr))
		return -ENOMEM;
	for (i = 0; i < nr_tasks; i++) {
		p->use_at[i] = at;
		if (nr)
			p->use[at++] = i;
		for (k = 1; k < nr; k++)
			p->use[at++] = nr_tasks + i * (nr - 1) + k - 1;
	}
	p->use_at[nr_tasks] = at;
	return 0;
}

static int plan_of_shape(struct plan *p, const struct shape *s)
{
	uint32_t i, e, at = 0;

	p->nr_tasks = s->nr_tasks;
	p->nr_words = s->nr_tasks;
	if (plan_room(p, (uint64_t)s->nr_tasks + s->nr_edges))
		return -ENOMEM;
	for (i = 0; i < s->nr_tasks; i++) {
		p->use_at[i] = at;
		p->use[at++] = i;
		for (e = s->pred_at[i]; e < s->pred_at[i + 1]; e++)
			p->use[at++] = s->pred[e];
	}
	p->use_at[s->nr_tasks] = at;
	return 0;
}

int plan_init(struct plan *p, const char *name, uint32_t nr)
{
	unsigned long nr_uses;
	struct shape s;
	int rc;

	memset(p, 0, sizeof(*p));
	if (!nr)
		return -EINVAL;
	if (!strncmp(name, "uses", 4)) {
		nr_uses = strtoul(name + 4, NULL, 10);
		if (nr_uses > PLAN_MAX_USES)
			return -EINVAL;
		rc = plan_disjoint(p, nr, (uint32_t)nr_uses);
	} else {
		rc = shape_init(&s, name, nr);
		if (rc)
			return rc;
		rc = plan_of_shape(p, &s);
		shape_fini(&s);
	}
	if (rc)
		plan_fini(p);
	return rc;
}

void plan_fini(struct plan *p)
{
	free(p->use_at);
	free(p->use);
	free(p->word);
	memset(p, 0, sizeof(*p));
}

bool plan_is_right(const struct plan *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_words; i++)
		if (p->word[i] != (i < p->nr_tasks ? p->nr_runs : 0))
			return false;
	return !p->is_wrong;
}
