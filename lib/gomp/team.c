/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Regions and what their threads do together. */
#include "gomp/affinity.h"
#include "gomp/calls.h"
#include "gomp/cancel.h"
#include "gomp/depend.h"
#include "gomp/detach.h"
#include "gomp/gomp.h"
#include "gomp/names.h"
#include "gomp/places.h"
#include "gomp/reduce.h"
#include "gomp/theirs.h"

#include <stdlib.h>
#include <string.h>

__thread struct self gomp_self __attribute__((tls_model("initial-exec")));

/* A thread outside of all regions has it. */
static __thread struct team outside __attribute__((tls_model("initial-exec")));

struct team *team_start(void)
{
	struct self *self = &gomp_self;

	outside.nr = 1;
	outside.cancels = settings_get()->cancels;
	outside.nr_more = &outside.nr_below;
	outside.env = settings_get()->env;
	if (places_failed())
		outside.env.bind = BIND_FALSE;
	outside.env.device = theirs_device();
	outside.env.allocator = theirs_allocator();
	self->env = outside.env;
	self->team = &outside;
	self->share = &outside.first;
	return self->team;
}

/* A thread of the team, from here to the end of its function. */
void team_enter(struct team *t, struct lkdf_ctx *c, unsigned num,
		const void *task)
{
	gomp_self = (struct self){ .team = t,
				   .c = c,
				   .task = task,
				   .env = t->env,
				   .num = num,
				   .share = &t->first,
				   .reductions = t->reductions,
				   .depth = 1 };
	places_enter(t, num, &gomp_self.part);
}

static void run_member(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct self before = gomp_self;
	struct team *t = u;

	team_enter(t, c, num, &before);
	if (unlikely(t->shows_affinity))
		affinity_show();
	t->fn(t->data);
	if (unlikely(cancel_is_region(t)))
		lkdf_gang_drop(c);
	share_leave();
	depends_free(gomp_self.depends);
	gomp_self = before;
}

static void run_alone(struct team *t)
{
	struct self before = gomp_self;

	t->nr = 1;
	t->pool = NULL;
	team_enter(t, before.c, 0, &before);
	t->fn(t->data);
	detach_wait(t);
	share_free_work(&t->first.work);
	gomp_self = before;
}

/*
 * With OMP_DYNAMIC: a thread for each CPU that others have not been using in
 * the last minute, one at least.
 */
static unsigned limit_dynamic(unsigned nr)
{
	unsigned most = (unsigned)omp_get_num_procs();
	double load;

	if (getloadavg(&load, 1) == 1)
		most = load < most - 1 ? most - (unsigned)load : 1;
	return nr < most ? nr : most;
}

/*
 * All regions that run share one limit. This one gets the thread that begins it
 * and as many more as are left; give_threads() returns them.
 */
static unsigned take_threads(struct team *t, unsigned nr)
{
	uint32_t limit = gomp_self.env.thread_limit, left,
		 more = a_load(t->nr_more, relaxed);

	if (likely(limit >= MAX_THREADS))
		return nr;
	do {
		left = limit > more + 1 ? limit - 1 - more : 0;
		nr = nr - 1 < left ? nr : left + 1;
	} while (!a_cas(t->nr_more, &more, more + nr - 1, relaxed, relaxed));
	return nr;
}

static void give_threads(struct team *t, unsigned nr)
{
	if (unlikely(gomp_self.env.thread_limit < MAX_THREADS))
		a_sub(t->nr_more, nr - 1, relaxed);
}

/* Threads of a region that asks for nr, or for none in particular. */
static unsigned choose_threads(const struct team *outer, unsigned nr)
{
	if (outer->nr_active >= gomp_self.env.max_levels)
		return 1;
	if (!nr)
		nr = gomp_self.env.nr_threads;
	if (!nr)
		nr = pool_default();
	if (nr > MAX_THREADS)
		nr = MAX_THREADS;
	return gomp_self.env.is_dynamic && nr > 1 ? limit_dynamic(nr) : nr;
}

/* The number of threads for the next level, where the environment says one. */
static void deepen_env(struct team *t)
{
	unsigned nr = settings_threads(t->level);

	if (nr && settings_get()->nr_levels > t->level)
		t->env.nr_threads = nr;
}

static void name_run(struct pool *p, void (*fn)(void *data))
{
	if (likely(p->named == fn))
		return;
	lkdf_gang_name(p->gang, name_region((const void *)(uintptr_t)fn));
	p->named = fn;
}

/* Tasks run on threads of the team, as their numbers say. */
static int size_gang(struct pool *p, unsigned nr)
{
	int rc;

	if (likely(p->size == nr))
		return 0;
	rc = lkdf_gang_resize(p->gang, nr);
	p->size = rc ? 0 : nr;
	return rc;
}

static void run_several(struct team *t, struct pool *p)
{
	if (t->nr > p->nr)
		t->nr = p->nr;
	if (t->nr > 1)
		name_run(p, t->fn);
	memset(p->tally, 0, t->nr * sizeof(*p->tally));
	t->pool = p;
	t->nr_active++;
	/* As libgomp: inside of others, and where their number is new. */
	t->shows_affinity = settings_get()->shows_affinity &&
			    (t->nr_active > 1 || p->size != t->nr);
	if (t->nr < 2 || size_gang(p, t->nr) ||
	    lkdf_gang_run(p->gang, t->nr, run_member, t)) {
		t->nr_active--;
		run_alone(t);
	}
}

void team_init(struct team *t, const struct region *r)
{
	struct team *outer = team_self();

	*t = (struct team){ .fn = r->fn,
			    .data = r->data,
			    .nr = 1,
			    .reductions = r->reductions,
			    .cancels = outer->cancels,
			    .nr_more = outer->nr_more,
			    .level = outer->level + 1,
			    .nr_active = outer->nr_active,
			    .outer = outer,
			    .outer_num = gomp_self.num,
			    .env = gomp_self.env };
	deepen_env(t);
	if (r->first)
		t->first.work = *r->first;
}

unsigned team_run(const struct region *r)
{
	struct team *outer = team_self(), t;
	struct pool *p = NULL;
	unsigned nr;

	team_init(&t, r);
	places_begin(&t, r->flags);
	nr = take_threads(&t, choose_threads(outer, r->nr));
	t.nr = nr;
	if (r->reductions)
		reduce_make(r->reductions, t.nr);
	if (t.nr > 1)
		p = outer->nr_active ? pool_borrow(t.nr) : pool_own(t.nr);
	if (p)
		run_several(&t, p);
	else
		run_alone(&t);
	if (p && outer->nr_active)
		pool_return(p);
	give_threads(&t, nr);
	return t.nr;
}

void team_barrier(void)
{
	struct team *t = team_self();

	if (t->nr > 1)
		lkdf_gang_barrier(gomp_self.c);
	else
		detach_wait(t);
	gomp_self.nr_barriers++;
}

void GOMP_parallel(void (*fn)(void *), void *data, unsigned nr, unsigned flags)
{
	struct region r = { .fn = fn, .data = data, .nr = nr, .flags = flags };

	team_run(&r);
}

/* The data begins with the description, whose copies the program gives back. */
unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned nr,
				  unsigned flags)
{
	struct reduction *reductions = *(struct reduction **)data;
	struct region r = { .fn = fn,
			    .data = data,
			    .nr = nr,
			    .reductions = reductions,
			    .flags = flags };

	reductions->outer = NULL;
	reductions->depth = 1;
	return team_run(&r);
}

void GOMP_barrier(void)
{
	team_barrier();
}

bool GOMP_single_start(void)
{
	struct work block = { .nr = 1 };

	return team_self()->nr == 1 || share_enter(&block);
}

/* NULL: this thread is to run the block, and to end it by the call below. */
void *GOMP_single_copy_start(void)
{
	struct team *t = team_self();
	void *data;

	if (GOMP_single_start())
		return NULL;
	team_barrier();
	/* Before the barrier that follows here the next block has no copy. */
	data = a_load(&t->copy, relaxed);
	team_barrier();
	return data;
}

void GOMP_single_copy_end(void *data)
{
	a_store(&team_self()->copy, data, relaxed);
	team_barrier();
	team_barrier();
}
