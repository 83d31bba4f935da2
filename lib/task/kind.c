/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/kind.h"

#include "base/clock.h"
#include "base/err.h"
#include "check/notes.h"
#include "core/limit.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "core/signals.h"
#include "core/watch.h"
#include "mechanism/holdoff/holdoff.h"
#include "mem/region.h"
#include "scope/scope.h"
#include "task/body.h"
#include "task/checked.h"
#include "task/ctx.h"
#include "task/noted.h"
#include "task/task.h"
#include "task/traced.h"
#include "topo/topo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Asked of kinds with LKDF_BLOCKING only. */
static bool plain_wants_pool(struct task *t)
{
	(void)t;
	return true;
}

static const struct kind_ops plain_kinds = {
	.wants_pool = plain_wants_pool,
};

/* By address: the order in which tokens are taken, everywhere the same. */
static void add_limit(struct lkdf_kind *k, const struct lkdf_limit_use *use)
{
	uint32_t i = k->nr_limits++;

	for (; i && k->limit[i - 1].limit > use->limit; i--)
		k->limit[i] = k->limit[i - 1];
	k->limit[i].limit = use->limit;
	k->limit[i].tokens = (uint32_t)use->tokens;
	limit_get(use->limit);
}

/* Its name in a file, and what its tasks are like. */
static uint32_t tell_kind(const struct lkdf_kind *k,
			  const struct lkdf_kind_attr *a)
{
	struct trace_kind told = {
		.prio = (uint32_t)a->prio,
		.width = k->width,
		.limits = k->nr_limits,
	};

	told.flags |= a->flags & LKDF_BLOCKING ? LKDF_KIND_IS_BLOCKING : 0;
	told.flags |= k->ops->told;
	told.flags |= a->flags & LKDF_SHARED ? LKDF_KIND_IS_SHARED : 0;
	told.flags |= k->nr_limits ? LKDF_KIND_IS_LIMITED : 0;
	return trace_kind(&k->rt->trace, k->name, &told);
}

static void init_fields(struct lkdf_kind *k, const struct lkdf_kind_attr *a)
{
	uint32_t slow = SLOW_UNSAMPLED, i;

	k->fn = k->is_away ? k->ops->begin : a->fn;
	k->later = k->is_away ? a->fn : NULL;
	if (k->rt->check) {
		k->user_fn = k->fn;
		k->fn = checked_body;
	}
	k->arg_size = a->arg_size;
	k->flags = a->flags;
	k->class = a->prio == LKDF_PRIO_DEFAULT
			   ? CLASS_NORMAL
			   : (enum sched_class)(a->prio - 1);
	k->width = a->flags & LKDF_SHARED ? a->width : 1;
	k->on_cancel = a->on_cancel;
	k->drop = a->drop;
	k->scratch_size = a->scratch_size;
	snprintf(k->name, sizeof(k->name), "%s", a->name);
	for (i = 0; i < a->nr_limit; i++)
		add_limit(k, &a->limit[i]);
	k->nr_cpus = a->nr_cpus ? (int)a->nr_cpus : INT_MAX;
	if (a->flags & (LKDF_BLOCKING | LKDF_TEAM) || a->nr_limit ||
	    a->on_cancel || k->is_away)
		slow = SLOW_GENERAL;
	/* Each task goes through the deque, where the seed picks. */
	if (k->rt->sched.order.is_on)
		slow = SLOW_GENERAL;
	slow |= kind_notes(k->rt);
	slow |= k->rt->watch || hooks_want_tasks(&k->rt->hooks) ? SLOW_WATCHED
								: 0;
	k->trace_name = tell_kind(k, a);
	k->task_flags = (slow & SLOW_GENERAL ? TASK_GENERAL : 0) |
			(a->drop ? TASK_HAS_DROP : 0);
	k->is_anywhere = !(a->flags & (LKDF_BLOCKING | LKDF_TEAM)) &&
			 !a->nr_limit && !k->is_away;
	if (k->is_anywhere && k->class == CLASS_URGENT)
		k->task_flags |= TASK_URGENT;
	k->is_child = !k->task_flags && k->class == CLASS_NORMAL &&
		      k->arg_size <= INLINE_ARG;
	k->may_block = a->flags & LKDF_BLOCKING || k->is_away;
	a_store(&k->slow, slow, relaxed);
	kind_set_paths(k, slow);
	a_store(&k->nr_refs, 1, relaxed);
}

static bool copy_ports(struct lkdf_kind *k, const struct lkdf_kind_attr *a)
{
	struct kind_ports *p = calloc(1, sizeof(*p));
	uint16_t i;

	k->ports = p;
	if (!p)
		return false;
	p->nr_in = a->nr_in;
	p->nr_out = a->nr_out;
	for (i = 0; i < p->nr_in; i++)
		p->in_size[i] = (uint16_t)a->in_size[i];
	for (i = 0; i < p->nr_out; i++)
		p->out_size[i] = (uint16_t)a->out_size[i];
	for (i = 0; a->out_drop && i < p->nr_out; i++)
		p->out_drop[i] = a->out_drop[i];
	return true;
}

int kind_create_sort(struct lkdf *rt, const struct kind_ops *ops,
		     const struct lkdf_kind_attr *a, struct lkdf_kind **out)
{
	struct lkdf_kind *k;
	int rc = 0;

	if (a->flags & LKDF_BLOCKING && !rt->sched.is_serial)
		rc = blocking_require(&rt->blocking);
	if (a->flags & LKDF_BLOCKING && rt->sched.is_serial)
		notes_blocking(rt->notes, a->name);
	if (!rc && ops->prepare)
		rc = ops->prepare(rt);
	if (rc)
		return rc;
	k = aligned_alloc(CACHE_LINE, sizeof(*k));
	if (!k)
		return err(-ENOMEM, "kind: no memory for \"%s\"", a->name);
	memset(k, 0, sizeof(*k));
	k->rt = rt;
	k->ops = ops;
	k->is_away = ops->begin != NULL;
	k->spin_ticks = rt->spin_ticks;
	k->clock_ticks = rt->clock_ticks;
	if ((a->nr_in || a->nr_out) && !copy_ports(k, a)) {
		free(k);
		return err(-ENOMEM, "kind: no memory for ports of \"%s\"",
			   a->name);
	}
	init_fields(k, a);
	kind_enlist(k);
	a_add(&rt->nr_handles, 1, relaxed);
	*out = k;
	return 0;
}

int kind_create(struct lkdf *rt, const struct lkdf_kind_attr *a,
		struct lkdf_kind **out)
{
	return kind_create_sort(rt, &plain_kinds, a, out);
}

void kind_get(struct lkdf_kind *k)
{
	a_add(&k->nr_refs, 1, relaxed);
}

static struct lkdf_kind *copy_kind(struct lkdf_kind *k, int os_node)
{
	struct lkdf_kind *copy = region_map(sizeof(*copy));
	const size_t rest = offsetof(struct lkdf_kind, rt);

	if (!copy)
		return NULL;
	if (os_node >= 0)
		region_prefer(copy, sizeof(*copy), os_node);
	memcpy((void *)copy, (void *)k, offsetof(struct lkdf_kind, slow));
	memcpy((char *)copy + rest, (char *)k + rest,
	       offsetof(struct lkdf_kind, nr_refs) - rest);
	a_store(&copy->slow, a_load(&k->slow, relaxed), relaxed);
	return copy;
}

/* Under the runtime's lock. */
static struct lkdf_kind *find_copy(struct lkdf_kind *k, int node)
{
	const struct topo *topo = k->rt->topo;
	size_t nr = (size_t)topo->nr_nodes;

	mutex_assert_held(&k->rt->lock);
	if (!k->copies)
		k->copies = calloc(nr, sizeof(*k->copies));
	if (!k->copies)
		return NULL;
	if (!k->copies[node])
		k->copies[node] = copy_kind(k, topo->node[node].os_node);
	return k->copies[node];
}

struct lkdf_kind *kind_on(struct lkdf_kind *k, int node)
{
	const struct topo *topo = k->rt->topo;
	struct lkdf_kind *copy;

	if (topo->nr_nodes == 1 || topo->is_synthetic)
		return k;
	pthread_mutex_lock(&k->rt->lock);
	copy = find_copy(k, node);
	pthread_mutex_unlock(&k->rt->lock);
	return copy;
}

struct lkdf_kind *kind_around(struct lkdf_kind *k, enum kind_step step,
			      lkdf_fn fn)
{
	struct lkdf_kind *made;

	pthread_mutex_lock(&k->rt->lock);
	made = k->around[step];
	if (!made)
		made = copy_kind(k, -1);
	if (made && !k->around[step]) {
		made->fn = fn;
		made->inner[step] = k->fn;
		if (step == AROUND_PROFILE)
			a_or(&made->slow, SLOW_PROFILED, relaxed);
		k->around[step] = made;
	}
	pthread_mutex_unlock(&k->rt->lock);
	return made;
}

struct lkdf_kind *kind_profiled(struct lkdf_kind *k)
{
	return kind_around(k, AROUND_PROFILE, k->fn);
}

struct lkdf_kind *kind_at(struct lkdf_kind *k, uint16_t home)
{
	struct lkdf_kind *p;

	pthread_mutex_lock(&k->rt->lock);
	for (p = k->on_parts; p && p->home != home; p = p->next_on_part)
		continue;
	if (!p) {
		p = copy_kind(k, -1);
		if (p) {
			p->home = home;
			a_or(&p->slow, SLOW_GENERAL, relaxed);
			p->next_on_part = k->on_parts;
			k->on_parts = p;
		}
	}
	pthread_mutex_unlock(&k->rt->lock);
	return p;
}

static void free_copies(struct lkdf_kind *k);

static void free_variant(struct lkdf_kind *k)
{
	if (!k)
		return;
	free_copies(k);
	region_unmap(k, sizeof(*k));
}

static void free_copies(struct lkdf_kind *k)
{
	struct lkdf_kind *p, *next;
	int i;

	for (i = 0; k->copies && i < k->rt->topo->nr_nodes; i++)
		region_unmap(k->copies[i], sizeof(*k));
	free(k->copies);
	for (i = 0; i < NR_STEPS; i++)
		free_variant(k->around[i]);
	for (p = k->on_parts; p; p = next) {
		next = p->next_on_part;
		free_variant(p);
	}
}

static void free_all(struct lkdf_kind *k)
{
	struct lkdf_kind *next;
	struct lkdf *rt;
	uint32_t i;

	for (; k; k = next) {
		next = k->next_dead;
		for (i = 0; i < k->nr_limits; i++)
			limit_put(k->limit[i].limit);
		free_copies(k);
		free(k->ports);
		if (k->ops->free)
			k->ops->free(k);
		rt = k->rt;
		k->rt = NULL;
		handle_bury(rt, k);
	}
}

void kind_abandon(struct lkdf *rt)
{
	free_all(rt->dead_kinds);
	rt->dead_kinds = NULL;
}

void kind_reap(struct lkdf *rt)
{
	struct lkdf_kind *k = NULL, *p;

	pthread_mutex_lock(&rt->lock);
	/* Under lock: whatever has one of those kinds was started before. */
	if (!scope_live(rt->root)) {
		k = rt->dead_kinds;
		rt->dead_kinds = NULL;
		for (p = k; p; p = p->next_dead)
			list_del(&p->all);
	}
	pthread_mutex_unlock(&rt->lock);
	free_all(k);
}

void kind_put(struct lkdf_kind *k)
{
	struct lkdf *rt;

	/* [kind.put] all uses before the free; pairs with itself. */
	if (!k || a_sub(&k->nr_refs, 1, acq_rel) != 1)
		return;
	rt = k->rt;
	a_store(&k->is_dead, true, relaxed);
	a_sub(&rt->nr_handles, 1, relaxed);
	pthread_mutex_lock(&rt->lock);
	k->next_dead = rt->dead_kinds;
	rt->dead_kinds = k;
	pthread_mutex_unlock(&rt->lock);
	kind_reap(rt);
}

static int call_watched(const struct lkdf_kind *k, struct lkdf_ctx *c,
			lkdf_fn fn, void *arg)
{
	struct watch *w = k->rt->watch;
	struct watch_body outer;
	int rc;

	if (!w)
		return noted_or_not(k, c, fn, arg);
	outer = watch_begin(w, c->ex->id, k);
	rc = noted_or_not(k, c, fn, arg);
	watch_end(w, c->ex->id, outer);
	return rc;
}

/* A tool of the option hooks is told, too. */
static int call_hooked(const struct lkdf_kind *k, struct lkdf_ctx *c,
		       lkdf_fn fn, void *arg)
{
	uint32_t executor = (uint32_t)c->ex->id;
	struct hooks *h = &k->rt->hooks;
	uint64_t id = hooks_task_begin(h, k->name, executor);
	int rc = call_watched(k, c, fn, arg);

	hooks_task_end(h, id, executor);
	return rc;
}

/* Calls the body and tells those who want to know. */
static int call_body(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
		     void *arg)
{
	if (unlikely(a_load(&k->slow, relaxed) & SLOW_WATCHED))
		return call_hooked(k, c, fn, arg);
	return noted_or_not(k, c, fn, arg);
}

int kind_call(struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn, void *arg)
{
	struct worker *w = c->ex->worker;
	bool outer;
	int rc;

	if (!w)
		return call_body(k, c, fn, arg);
	/* A join runs other bodies within this one. */
	outer = w->offers.may_be_long;
	w->offers.may_be_long = a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT;
	rc = call_body(k, c, fn, arg);
	w->offers.may_be_long = outer;
	return rc;
}

int kind_call_timed(struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
		    void *arg)
{
	bool is_traced = a_load(&k->slow, relaxed) & SLOW_TRACED;
	uint64_t start, end, number;
	int rc;

	if (kind_is_noted_only(k))
		return call_body(k, c, fn, arg);
	number = is_traced ? traced_begin_body(c->ex, k) : 0;
	start = clock_ticks();
	rc = kind_call(k, c, fn, arg);
	end = clock_ticks();
	if (c->put_off)
		return rc;
	if (unlikely(holdoff_is_alone(c->ex->worker)))
		kind_sample_alone(k, end - start);
	else
		kind_sample(k, end - start);
	if (end - start >= k->spin_ticks)
		worker_look_soon(c->ex->worker);
	if (is_traced)
		traced_record(c, k, number, start, end);
	if (a_load(&k->slow, relaxed) & SLOW_PROFILED)
		c->owner->took(c->frame, c->index, end - start);
	return rc;
}
