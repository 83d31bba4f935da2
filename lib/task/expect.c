/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Before several tasks enter, all or none: does each read what was written
 * before, or what an earlier one of them will write? The list of what they will
 * write is kept in a set of our own, so that others see nothing of it. A data
 * that is written stays so: the answer holds until they enter.
 */
#include "task/uses.h"

#include "base/err.h"
#include "task/task.h"

#include <errno.h>
#include <stdlib.h>

/* Open addressing; twice as large as there can be vars. */
struct var_set {
	const struct var **var;
	size_t mask;
};

static size_t place_of(const struct var_set *s, const struct var *v)
{
	size_t i = (uintptr_t)v / sizeof(*v) * 0x9e3779b97f4a7c15ull >> 20;

	for (i &= s->mask; s->var[i] && s->var[i] != v; i = (i + 1) & s->mask)
		;
	return i;
}

static bool has_expected(const struct var_set *s, const struct var *v)
{
	return s->var[place_of(s, v)] != NULL;
}

static struct claim *claim_of(const struct task *t)
{
	return t->link.flags & TASK_HAS_DATA ? t->claim : NULL;
}

static int init_set(struct var_set *s, struct task **t, unsigned nr)
{
	size_t size = 64, nr_uses = 0;
	unsigned i;

	for (i = 0; i < nr; i++)
		nr_uses += claim_of(t[i]) ? claim_of(t[i])->nr : 0;
	while (size < 2 * nr_uses)
		size *= 2;
	s->mask = size - 1;
	s->var = calloc(size, sizeof(*s->var));
	return s->var ? 0 : err(-ENOMEM, "submit: no memory for %u tasks", nr);
}

static bool is_written(const struct domain *d, const struct var *v,
		       const struct var_set *s)
{
	return v->is_written || has_expected(s, v) || d->whole.is_written ||
	       has_expected(s, &d->whole);
}

/* Under the domain's lock. */
static bool will_be_written(struct domain *d, const struct var *v,
			    const struct var_set *s)
{
	uint32_t i;

	lock_assert_held(&d->lock);
	if (d->above || is_written(d, v, s))
		return true;
	if (v != &d->whole || !d->nr_parts)
		return false;
	for (i = 0; i < d->nr_parts; i++)
		if (!is_written(d, &d->parts[i], s))
			return false;
	return true;
}

static bool is_there(const struct use *u, const struct var_set *s)
{
	bool is_ok;

	if (!(u->flags & USE_READS) || u->flags & USE_WEAK ||
	    u->turn == TURN_REDUCE)
		return true;
	lock_take(&u->domain->lock);
	is_ok = will_be_written(u->domain, u->var, s);
	lock_give(&u->domain->lock);
	return is_ok;
}

/* All that it reads first, then what it writes. */
static int expect_task(const struct task *t, struct var_set *s)
{
	struct claim *c = claim_of(t);
	const struct use *u;

	for (u = c ? c->first : NULL; u; u = u->after)
		if (!is_there(u, s))
			return uses_read_nothing(t, u);
	for (u = c ? c->first : NULL; u; u = u->after)
		if (u->flags & USE_WRITES)
			s->var[place_of(s, u->var)] = u->var;
	if (c)
		c->is_expected = true;
	return 0;
}

int uses_expect(struct task **t, unsigned nr)
{
	struct var_set s;
	unsigned i;
	int rc;

	/* Where none has data there is nothing to look up. */
	for (i = 0; i < nr && !claim_of(t[i]); i++)
		continue;
	if (i == nr)
		return 0;
	rc = init_set(&s, t, nr);
	for (i = 0; i < nr && !rc; i++)
		rc = expect_task(t[i], &s);
	free(s.var);
	return rc;
}
