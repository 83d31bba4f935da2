/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/uses.h"

#include "base/err.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "data/offhost.h"
#include "data/replica.h"
#include "data/var_check.h"
#include "mem/heap.h"
#include "task/checked.h"
#include "task/homes.h"
#include "task/move.h"
#include "task/task.h"

#include <errno.h>
#include <stdlib.h>

uint8_t uses_flags(uint32_t mode)
{
	uint8_t flags = mode & LKDF_WEAK ? USE_WEAK : 0;

	_Static_assert((int)USE_READS == LKDF_READ &&
			       (int)USE_WRITES == LKDF_WRITE,
		       "a mode without extras");
	if (likely(mode <= LKDF_RW))
		return (uint8_t)mode;
	if (mode & (LKDF_READ | LKDF_COMMUTE | LKDF_REDUCE | LKDF_MAYBE))
		flags |= USE_READS;
	if (mode & (LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE))
		flags |= USE_WRITES;
	return flags;
}

/* ---- the claim ---------------------------------------------------------- */

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

void uses_free_below(struct lkdf *rt, struct use *u)
{
	struct domain *d = u->below;
	uint32_t i;

	if (likely(!d))
		return;
	failure_put(a_load(&d->whole.failure, relaxed), &rt->log);
	var_forget(&d->whole);
	for (i = 0; i < d->nr_parts; i++) {
		failure_put(a_load(&d->parts[i].failure, relaxed), &rt->log);
		var_forget(&d->parts[i]);
	}
	free(d);
}

/* The domains of its uses may be gone, and the task. */
static void free_claim(struct claim *c)
{
	struct lkdf *rt = c->rt;
	unsigned i;

	for (i = 0; i < c->nr; i++)
		uses_free_below(rt, &c->use[i]);
	failure_put(c->failure, &rt->log);
	heap_free(rt->heap, heap_thread_cache(rt->heap), c);
}

static void bytes_came(void *executor, struct blocking_item *item);

/*
 * Its bytes are to come home first: of a task that a device will run those only
 * that the host looks at before.
 */
static __attribute__((noinline)) bool waits_for_bytes(struct task *t)
{
	const struct kind_ops *ops = t->kind->ops;
	const struct claim *c = t->claim;
	int at;

	t->blocking_item.run = bytes_came;
	if (!ops->host_use)
		return offhost_claim_waits(c, &t->blocking_item);
	at = ops->host_use(t->kind);
	return at >= 0 && at < c->nr &&
	       offhost_use_waits(&c->use[c->use[at].stands_for],
				 &t->blocking_item);
}

/* All it waited for is there. */
static void start_granted(struct executor *ex, struct claim *c)
{
	struct task *t = c->holder;

	check(c->holder);
	if (offhost_is_possible(c->rt) && waits_for_bytes(t))
		return;
	homes_find(ex, t);
	task_has_data(c->rt, ex, t);
}

static void bytes_came(void *executor, struct blocking_item *item)
{
	start_granted(executor,
		      container_of(item, struct task, blocking_item)->claim);
}

static const struct claim_ops ops = { start_granted, free_claim };

bool uses_has(const struct claim *c)
{
	return c->ops == &ops;
}

const struct task *uses_of_bytes(const struct blocking_item *item)
{
	return item->run == bytes_came
		       ? container_of(item, const struct task, blocking_item)
		       : NULL;
}

/* A task's use may do what the other mode asks for. */
static bool use_covers(uint8_t mode, uint32_t asked)
{
	if (mode & LKDF_REDUCE)
		return (asked & LKDF_REDUCE) != 0;
	if (mode & (LKDF_WRITE | LKDF_COMMUTE))
		return true;
	return !(asked & (LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE));
}

/* The use of the parent that covers a child's; NULL: none. */
static struct use *find_cover(const struct claim *c, const struct lkdf_use *u)
{
	const struct domain *d;
	struct use *p;
	unsigned i;

	for (i = 0; i < c->nr; i++) {
		d = c->use[i].domain;
		p = (struct use *)&c->use[c->use[i].stands_for];
		if (d->data == u->data && use_covers(c->use[i].mode, u->mode) &&
		    !p->is_given && (!p->part || p->part == u->part))
			return p;
	}
	return NULL;
}

/* Reductions below are combined unless the parent's use is one, too. */
static int prepare_below(struct use *cover, struct domain *below,
			 const struct lkdf_use *u)
{
	struct var *v = domain_var(below, u->part);
	char text[DATA_TEXT];

	if (!(u->mode & LKDF_REDUCE) || cover->turn == TURN_REDUCE)
		return 0;
	if (below->bytes)
		return err(-EINVAL,
			   "spawn: mode %#x of %s: the bytes of "
			   "LKDF_DATA_ONCE are of this run, and not reduced",
			   u->mode, data_text(u->data, u->part, text));
	/* Once: it may be combined without lock from then on. */
	lock_take(&below->lock);
	if (!v->reduction) {
		v->reduction = domain_var(&u->data->domain, u->part)->reduction;
		below->has_reductions = true;
	}
	lock_give(&below->lock);
	return 0;
}

/* Where a child's use queues. NULL: err() has said why, *rc. */
static struct domain *child_domain(struct task *parent,
				   const struct lkdf_use *u, int *rc)
{
	struct use *cover = NULL;
	struct domain *below;
	char text[DATA_TEXT];

	if (parent->link.flags & TASK_OWNED)
		*rc = parent->owner->open(parent);
	if (*rc)
		return NULL;
	if (parent->link.flags & TASK_HAS_DATA)
		cover = find_cover(parent->claim, u);
	if (!cover) {
		*rc = err(-EACCES,
			  "spawn: no use of the parent %s covers mode %#x of "
			  "%s; declare it there, WEAK if it does not touch it",
			  parent->kind->name, u->mode,
			  data_text(u->data, u->part, text));
		return NULL;
	}
	below = use_below(cover, cover->part ? 0 : u->data->domain.nr_parts);
	if (!below) {
		*rc = err(-ENOMEM, "spawn: no memory for children's uses");
		return NULL;
	}
	*rc = prepare_below(cover, below, u);
	return *rc ? NULL : below;
}

static int fill_use(struct use *u, struct task *parent,
		    const struct lkdf_use *from)
{
	int rc = 0;

	if (unlikely(from->mode & LKDF_REDUCE))
		rc = reduction_prepare(from->data, from->part);
	if (rc)
		return rc;
	u->domain = &from->data->domain;
	if (parent)
		u->domain = child_domain(parent, from, &rc);
	u->part = from->part;
	u->mode = (uint8_t)from->mode;
	u->flags = uses_flags(from->mode);
	return rc;
}

static bool has_parts(const struct lkdf_use *use, unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr; i++)
		if (use[i].part)
			return true;
	return false;
}

int uses_create(struct task *t, struct task *parent, const struct lkdf_use *use,
		unsigned nr)
{
	unsigned nr_all = has_parts(use, nr) ? 2 * nr : nr, i;
	struct heap *h = rt_of(t)->heap;
	struct cache *cache = heap_thread_cache(h);
	size_t size = sizeof(struct claim) + nr_all * sizeof(struct use);
	struct claim *c = heap_new(h, cache, size);
	int rc = 0;

	check(nr);
	if (!c)
		return err(-ENOMEM, "task: no memory for %u uses", nr);
	if (unlikely(rt_of(t)->check != NULL))
		checked_made(t);
	if (likely(cache && nr_all <= 2))
		heap_expect(cache, size);
	c->nr = (uint16_t)nr;
	c->last = 0;
	c->ops = &ops;
	c->holder = t;
	c->rt = rt_of(t);
	for (i = 0; i < nr && !rc; i++)
		rc = fill_use(&c->use[i], parent, &use[i]);
	if (!rc) {
		rc = claim_prepare(c);
		if (rc)
			err(rc, "task: REDUCE and another mode of one data");
	}
	if (rc) {
		heap_free(h, cache, c);
		return rc;
	}
	t->claim = c;
	t->link.flags |= TASK_HAS_DATA;
	return 0;
}

void uses_destroy(struct task *t)
{
	check(t->claim);
	heap_free(rt_of(t)->heap, heap_thread_cache(rt_of(t)->heap), t->claim);
	t->link.flags &= (uint16_t)~TASK_HAS_DATA;
}

int uses_read_nothing(const struct task *t, const struct use *u)
{
	char text[DATA_TEXT];

	return err(-ENODATA,
		   "task of kind %s: nobody has written %s, which it reads",
		   t->kind->name, data_text(u->domain->data, u->part, text));
}

int uses_enter(struct executor *ex, struct task *t)
{
	struct use *why;
	int rc;

	check(t->claim);
	/* A task that waits may be over, and gone, when that returns. */
	rc = claim_enter(ex, t->claim, &why);
	if (rc > 0 && offhost_is_possible(rt_of(t)) && waits_for_bytes(t))
		return 0;
	if (rc > 0)
		homes_find(ex, t);
	if (unlikely(rc < 0))
		uses_read_nothing(t, why);
	return rc;
}

/* ---- around the body ---------------------------------------------------- */

struct use *uses_of(struct task *t, unsigned index)
{
	if (!(t->link.flags & TASK_HAS_DATA) || index >= t->claim->nr)
		return NULL;
	return &t->claim->use[t->claim->use[index].stands_for];
}

/* A weak parent has not looked at what was there before its children wrote. */
static int error_in(struct domain *d, uint32_t part, struct failure **failure)
{
	struct var *v = domain_var(d, part);
	uint32_t i;
	int error;

	/* A graph's task sees what it uses as one. */
	if (!v)
		v = &d->whole;
	error = var_error(d, v, failure);
	if (error || !d->above ||
	    !(d->above->flags & (USE_WEAK | USE_UNSEEN)) || var_has_value(d, v))
		return error;
	error = error_in(d->above->domain, part, failure);
	if (!error || part || !d->nr_parts)
		return error;
	/* For a whole, the parts that they have not written. */
	*failure = NULL;
	for (i = 1, error = 0; i <= d->nr_parts && !error; i++)
		if (!var_has_value(d, domain_var(d, i)))
			error = error_in(d->above->domain, i, failure);
	return error;
}

int uses_error(const struct use *u, struct failure **failure)
{
	return error_in(u->domain, u->part, failure);
}

/* The first to write a part's pages brings them to its node. */
static void note_node(struct executor *ex, struct lkdf_data *d, uint32_t part)
{
	struct var *v = domain_var(&d->domain, part);

	if (a_load(&v->node, relaxed) < 0)
		a_store(&v->node, ex->node, relaxed);
}

static int no_bytes(const struct use *u)
{
	char text[DATA_TEXT];

	err(-ENODATA, "nobody has written %s",
	    data_text(u->domain->data, u->part, text));
	return ENODATA;
}

/* By its first line: bytes, no error, and nothing else to be asked. */
static inline bool is_ready(const struct use *u)
{
	/* [data.look] pairs with [data.at]. */
	return a_load(&u->domain->at, acquire) && var_is_plain(u->var) &&
	       !a_load(&u->var->error, relaxed);
}

/* > 0: its input is not there; < 0: no memory. */
static __attribute__((noinline)) int begin_use(struct executor *ex,
					       const struct use *u, bool always,
					       struct failure **failure)
{
	struct lkdf_data *d = u->domain->data;
	int error;

	if (u->flags & USE_READS && !always) {
		error = uses_error(u, failure);
		if (unlikely(error))
			return -error;
	}
	/* [data.look] pairs with [data.at]. */
	if (u->turn != TURN_REDUCE && likely(!u->domain->bytes) &&
	    unlikely(!a_load(&d->domain.at, acquire))) {
		if (u->flags & USE_READS && always)
			return 0;
		if (u->flags & USE_READS)
			return no_bytes(u);
		if (!data_bytes(d, ex->node))
			return -ENOMEM;
	}
	if (unlikely(d->is_mapped && u->flags & USE_WRITES))
		note_node(ex, d, u->part);
	/* Children may reduce into it, too. */
	if (unlikely(d->reduce && u->turn == TURN_WRITE &&
		     !(u->flags & USE_READS) && !u->domain->bytes))
		return reduction_begin(d, u->part);
	return 0;
}

int uses_begin(struct executor *ex, struct task *t, struct failure **failure)
{
	bool always = t->kind->flags & LKDF_ALWAYS;
	uint32_t flags = 0;
	struct use *u;
	int rc = 0;

	check(t->claim);
	*failure = NULL;
	for (u = t->claim->first; u && !rc; u = u->after) {
		use_expect_next(u);
		if (u->flags & (USE_WEAK | USE_HIDDEN) || is_ready(u))
			continue;
		if (offhost_is_possible(rt_of(t)))
			offhost_begin(u, !t->kind->ops->host_use);
		rc = begin_use(ex, u, always, failure);
		flags |= u->domain->data->flags;
	}
	if (unlikely(flags & DATA_MOVES) && !rc)
		move_uses(ex, t);
	return rc;
}

void uses_leave(struct executor *ex, struct use *u)
{
	struct check *ch = u->domain->rt->check;

	if (unlikely(ch != NULL))
		var_tell(ch, u->var, u->turn);
	use_leave(ex, u, 0, NULL);
}

void uses_end_body(struct executor *ex, struct task *t)
{
	struct use *u, *after;

	check(t->claim);
	if (likely(!t->claim->has_weak))
		return;
	for (u = t->claim->first; u; u = after) {
		after = u->after;
		if (u->flags & USE_WEAK && !u->is_given)
			uses_leave(ex, u);
	}
}

/*
 * A copy for LKDF_REDUCE: of whatever the topmost use of the same mode is of,
 * since that is what is combined. u stands for the use of the part.
 */
static void *copy_of(struct executor *ex, const struct use *u, uint32_t part)
{
	struct lkdf_data *d = u->domain->data;
	char *bytes;

	while (u->domain->above && u->domain->above->turn == TURN_REDUCE)
		u = u->domain->above;
	bytes = reduction_copy(ex, d, u->part);
	return bytes ? bytes + data_offset(d, part) - data_offset(d, u->part)
		     : NULL;
}

/* For any other use than those below. */
static __attribute__((noinline)) void *ptr_of(struct executor *ex,
					      struct task *t, unsigned index)
{
	struct use *u = uses_of(t, index);
	struct lkdf_data *d = u->domain->data;
	/* For a use that another one stands for: its own part. */
	uint32_t part = t->claim->use[index].part;
	char *at;

	if (u->is_given || u->flags & USE_WEAK)
		return NULL;
	/* Children have reduced into it, and were joined. */
	if (u->below)
		domain_combine(u->below);
	if (u->turn == TURN_REDUCE)
		return copy_of(ex, u, part);
	/* [data.look] pairs with [data.at]. */
	at = u->copy		? replica_at(d, u->copy - 1)
	     : u->domain->bytes ? u->domain->bytes
				: a_load(&d->domain.at, acquire);
	return at && part ? at + data_offset(d, part) : at;
}

void *uses_ptr(struct executor *ex, struct task *t, unsigned index)
{
	const struct use *u;

	if (!(t->link.flags & TASK_HAS_DATA) || index >= t->claim->nr)
		return NULL;
	u = &t->claim->use[index];
	if (unlikely((u->stands_for ^ index) | u->is_given |
		     (u->flags & USE_WEAK)) ||
	    !var_is_plain(u->var))
		return ptr_of(ex, t, index);
	/* [data.look] as above. */
	return a_load(&u->domain->at, acquire);
}
