/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Waiters for data: the first in the queue of each data and part. */
#include "rt/why.h"

#include "core/runtime.h"
#include "data/data.h"
#include "data/offhost.h"
#include "offload/kernel.h"
#include "run/offhost_run.h"
#include "run/task_claim.h"
#include "run/values.h"
#include "task/acquire.h"
#include "task/kind.h"
#include "task/task.h"
#include "task/uses.h"

#include <stdio.h>

static const char *mode_text(uint8_t mode)
{
	if (mode & LKDF_REDUCE)
		return "reduce into";
	if (mode & LKDF_COMMUTE)
		return "change, in any order,";
	return mode & LKDF_WRITE ? "write" : "read";
}

/* NULL: there is no room. */
static struct why_row *add_acquirer(struct why *y)
{
	struct why_row *r = why_add(y, WHY_DATA);

	if (r)
		snprintf(r->who, sizeof(r->who),
			 "a thread in lkdf_data_acquire()");
	return r;
}

/* NULL: there is no room, or it is the library's own. */
static struct why_row *add_row(struct why *y, const struct claim *c)
{
	if (values_has(c))
		return why_add_run(y, WHY_DATA, c->holder);
	if (uses_has(c) || task_claim_has(c))
		return why_add_task(y, WHY_DATA, c->holder);
	return acquire_has(c) ? add_acquirer(y) : NULL;
}

/* Under the domain's lock. */
static uint32_t count_behind(const struct use *u)
{
	uint32_t nr = 0;

	for (u = u->next; u && nr < WHY_LOOK; u = u->next)
		nr++;
	return nr;
}

/* Under the domain's lock: u is the first in a queue. */
static void look_at_first(struct why *y, const struct lkdf_data *d,
			  const struct var *v, struct use *u)
{
	uint32_t nr_users = a_load(&v->active, relaxed) & ~VAR_OPEN;
	uint32_t nr_behind = u ? count_behind(u) : 0;
	struct why_row *r = u ? add_row(y, use_claim(u)) : NULL;
	const char *weak = u && u->flags & USE_WEAK ? ", for its children" : "";
	char text[DATA_TEXT];

	lock_assert_held(&d->domain.lock);
	if (!r)
		return;
	r->nr_behind += nr_behind;
	data_text(d, u->part, text);
	if (acquire_is_held(d))
		why_says(r, "to %s %s%s, which a thread has acquired",
			 mode_text(u->mode), text, weak);
	else
		why_says(r, "to %s %s%s, which %u before it use%s",
			 mode_text(u->mode), text, weak, nr_users,
			 nr_users == 1 ? "s" : "");
}

static void look_at_var(struct why *y, const struct lkdf_data *d,
			const struct var *v)
{
	look_at_first(y, d, v, var_first(v));
	look_at_first(y, d, v, v->commuters);
}

/* Under the runtime's data_lock: it stays. */
static void look_at_one(struct why *y, struct lkdf_data *d)
{
	struct domain *domain = &d->domain;
	uint32_t i;

	mutex_assert_held(&y->rt->data_lock);
	lock_take(&domain->lock);
	look_at_var(y, d, &domain->whole);
	for (i = 0; domain->parts && i < domain->nr_parts; i++)
		look_at_var(y, d, &domain->parts[i]);
	lock_give(&domain->lock);
}

/* Under the domain's lock: the task of u waits behind another one's use. */
static void add_follower(struct why_row *r, const struct lkdf_data *d,
			 struct use *u)
{
	const struct claim *c = use_claim(u);
	char text[DATA_TEXT];

	r->nr_behind += 1 + count_behind(u);
	if (r->next[0] || !uses_has(c))
		return;
	snprintf(r->next, sizeof(r->next), "task \"%s\", which is to %s %s",
		 ((const struct task *)c->holder)->kind->name,
		 mode_text(u->mode), data_text(d, u->part, text));
}

void why_add_followers(struct why_row *r, const struct task *t)
{
	const struct claim *c = t->claim;
	const struct use *u;
	struct use *first;
	unsigned i;

	for (i = 0; i < c->nr; i++) {
		u = &c->use[i];
		if (!u->var || u->is_given)
			continue;
		lock_take(&u->domain->lock);
		first = u->is_granted ? var_first(u->var) : NULL;
		if (first)
			add_follower(r, u->domain->data, first);
		lock_give(&u->domain->lock);
	}
}

/* A look at those that wait for bytes of a data to come home. */
struct home {
	struct why *y;
	const struct lkdf_data *d;
};

/* NULL: there is no room, or nobody of the program's waits. */
static struct why_row *add_home_row(struct why *y,
				    const struct blocking_item *item)
{
	const struct task *t = uses_of_bytes(item);
	const struct frame *f = values_of_bytes(item);

	if (!t)
		t = offhost_run_of_bytes(item);
	if (!t)
		t = kernel_of_bytes(item);
	if (t)
		return why_add_task(y, WHY_DATA, t);
	if (f)
		return why_add_run(y, WHY_DATA, f);
	return acquire_wants_bytes(item) ? add_acquirer(y) : NULL;
}

/* Under the lock of its copies: whoever waits stays. */
static void look_at_home(void *u, const struct device *dev, uint32_t part,
			 const struct blocking_item *item)
{
	const struct home *h = u;
	struct why_row *r = add_home_row(h->y, item);
	char text[DATA_TEXT];

	if (r)
		why_says(r, "for the bytes of %s to come home from device %s",
			 data_text(h->d, part, text), dev->name);
}

void why_look_at_data(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct list *l;
	struct home h = { .y = y };
	struct lkdf_data *d;
	struct copies *c;

	pthread_mutex_lock(&rt->data_lock);
	for (l = rt->all_data.next; l != &rt->all_data; l = l->next) {
		d = container_of(l, struct lkdf_data, all);
		look_at_one(y, d);
		h.d = d;
		c = data_copies(d);
		if (c)
			offhost_each_waiting(c, look_at_home, &h);
	}
	pthread_mutex_unlock(&rt->data_lock);
}
