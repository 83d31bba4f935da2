/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bodies that run, of which executors tell where a runtime is watched. */
#include "rt/why.h"

#include "core/runtime.h"
#include "core/watch.h"
#include "mechanism/lend/lend.h"
#include "task/kind.h"

#include <stdio.h>

_Static_assert(WHY_NAME == NAME_SIZE, "a kind's name fits");

/* A guess, as all of it: a join that rests looks around now and then. */
static bool is_in_join(const struct sched *s, int executor)
{
	return executor < s->nr_workers &&
	       a_load(&s->workers[executor].joiner.root, relaxed);
}

static bool has_lent(const struct sched *s, int executor)
{
	return executor < s->nr_workers &&
	       a_load(&lend_of(&s->workers[executor])->has_lent, relaxed);
}

/* Under the runtime's lock: no kind goes of which a body runs. */
static void look_at_slot(struct why *y, const struct watch_slot *s,
			 int executor, uint64_t now)
{
	const struct lkdf_kind *k = a_load(&s->kind, relaxed);
	uint64_t begin = a_load(&s->begin, relaxed);
	struct why_body *b;

	mutex_assert_held(&y->rt->lock);
	if (!k)
		return;
	if (y->nr_bodies++ >= WHY_BODIES)
		return;
	b = &y->body[y->nr_bodies - 1];
	b->executor = executor;
	b->ns = now > begin ? (uint64_t)((double)(now - begin) * 1024 /
					 y->rt->sched.ticks_per_1024ns)
			    : 0;
	b->has_lent = has_lent(&y->rt->sched, executor);
	b->in_join = b->has_lent || is_in_join(&y->rt->sched, executor);
	snprintf(b->kind, sizeof(b->kind), "%s", k->name);
}

void why_look_at_bodies(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct watch *w = rt->watch;
	uint64_t now = clock_ticks();
	int i;

	if (!w)
		return;
	pthread_mutex_lock(&rt->lock);
	for (i = 0; i < w->nr_slots; i++)
		look_at_slot(y, &w->slot[i], i, now);
	pthread_mutex_unlock(&rt->lock);
}
