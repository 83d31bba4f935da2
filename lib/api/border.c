/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/border.h"

#include "core/forked.h"
#include "data/data.h"
#include "data/place.h"
#include "offload/kernel.h"
#include "task/kind.h"
#include "task/uses_check.h"
#include "topo/topo.h"

#include <string.h>

int border_runtime(const struct lkdf *rt)
{
	if (!rt)
		return err(-EINVAL, "the runtime is NULL");
	return forked_refuse(rt);
}

int border_copy(const void *attr, void *ours, size_t known, const char *what)
{
	const char *bytes = attr;
	uint32_t size;
	size_t i;

	memcpy(&size, attr, sizeof(size));
	if (likely(size == known)) {
		memcpy(ours, attr, known);
		return 0;
	}
	if (size < 2 * sizeof(uint32_t) || size % 4)
		return err(-EINVAL, "%s: size %u is not that of the struct",
			   what, size);
	for (i = known; i < size; i++) {
		if (bytes[i])
			return err(-EINVAL,
				   "%s: size %u, and byte %zu, unknown to this "
				   "library (it knows %zu), is not 0",
				   what, size, i, known);
	}
	memset(ours, 0, known);
	memcpy(ours, attr, size < known ? size : known);
	return 0;
}

int border_owner(const struct lkdf *rt, const char *what, const char *sort,
		 const char *name)
{
	if (!rt)
		return err(-EINVAL, "%s: %s \"%s\" was put", what, sort, name);
	return forked_refuse(rt);
}

const char *border_whose(const struct lkdf *rt)
{
	return rt ? "is of another runtime" : "was put";
}

int border_may_wait(const char *what)
{
	if (thread_self()->loop)
		return err(-EDEADLK, "%s: waiting in a loop's function", what);
	if (thread_self()->executor)
		return err(-EDEADLK,
			   "%s: waiting in a body; use lkdf_then or lkdf_join",
			   what);
	return 0;
}

void border_caller(struct lkdf *rt)
{
	a_add(&rt->nr_callers, 1, relaxed);
}

void border_caller_leaves(struct lkdf *rt)
{
	runtime_show(runtime_executor(rt));
	sched_drain(&rt->sched);
	/* [caller.out] our last use; pairs with [caller.none]. */
	a_sub(&rt->nr_callers, 1, release);
}

int border_unbuilt(const char *what)
{
	return err(-EOPNOTSUPP, "%s is not built yet", what);
}

int border_flags(const char *what, uint32_t flags, uint32_t known)
{
	if (flags & ~known)
		return err(-EINVAL, "%s: unknown flags %#x", what,
			   flags & ~known);
	return 0;
}

int border_timeout(const char *what, int64_t ns)
{
	if (ns < -1)
		return err(-EINVAL,
			   "%s: timeout_ns %lld: expected -1, which is for "
			   "ever, or a time",
			   what, (long long)ns);
	return 0;
}

int border_deadline(const char *what, int64_t ns)
{
	if (ns < 0)
		return err(
			-EINVAL,
			"%s: deadline_ns %lld: expected a time from now on, 0 for none",
			what, (long long)ns);
	return 0;
}

#define TASK_FLAGS (uint32_t)(LKDF_PINNED | LKDF_PROFILE)

static int check_after(const struct lkdf_task *t)
{
	if (!t->after)
		return err(-EINVAL, "task: %u events, but after is NULL",
			   t->nr_after);
	if (t->nr_after > LKDF_MAX_AFTER)
		return err(-E2BIG, "task: after %u events, at most %d",
			   t->nr_after, LKDF_MAX_AFTER);
	return 0;
}

int border_task(const struct lkdf_task **task, struct lkdf_task *room)
{
	const struct lkdf_task *t = *task;
	int rc = 0;

	if (!t)
		return err(-EINVAL, "task: the struct is NULL");
	if (unlikely(t->size != sizeof(*t))) {
		rc = border_copy(t, room, sizeof(*room), "lkdf_task");
		*task = t = room;
	}
	if (rc)
		return rc;
	if (unlikely(t->nr_after))
		rc = check_after(t);
	if (!rc && unlikely(t->deadline_ns))
		rc = border_deadline("task", t->deadline_ns);
	if (rc)
		return rc;
	if (unlikely((t->flags & ~TASK_FLAGS) | t->pad))
		return t->pad ? err(-EINVAL, "task: pad is %u, not 0", t->pad)
			      : border_flags("task", t->flags, TASK_FLAGS);
	if (t->flags & LKDF_PINNED && !t->place)
		return err(-EINVAL, "task: pinned, but no place is given");
	if (t->prio < LKDF_PRIO_DEFAULT || t->prio > LKDF_URGENT)
		return err(-EINVAL,
			   "task: prio %d: expected one of enum lkdf_prio",
			   t->prio);
	return 0;
}

/* On a device only kernels run, and those that it can. */
static int check_device(const struct lkdf_task *t)
{
	const struct lkdf_kind *k = t->kind;

	if (!k || !k->kernel)
		return err(-EINVAL,
			   "task: place is device %s, and kind %s is no kernel",
			   t->place->device->name, k ? k->name : "NULL");
	return kernel_check_device(k->kernel, t->place->device);
}

int border_place(struct lkdf *rt, const struct lkdf_task *t)
{
	const struct lkdf_place *p = t->place;

	if (!p)
		return 0;
	if (p->rt != rt)
		return err(-EINVAL, "task: place is of another runtime");
	if (p->device)
		return check_device(t);
	if (t->kind && t->kind->kernel && !t->kind->later)
		return err(-EINVAL,
			   "task: kernel %s has no fn to run on a node",
			   t->kind->name);
	if (!(t->flags & LKDF_PINNED))
		return 0;
	if (t->kind && t->kind->flags & LKDF_BLOCKING)
		return border_unbuilt("task: pinned, of a kind that blocks");
	if (!sched_has_worker(&rt->sched, p->node))
		return err(-EINVAL,
			   "task: pinned to node %d, which has no "
			   "worker; see option workers",
			   rt->topo->node[p->node].os_node);
	return 0;
}

static __attribute__((noinline)) int refuse_once(const struct lkdf_task *t)
{
	const struct lkdf_use *u = t->use;
	char text[DATA_TEXT];

	while (!(u->data->flags & LKDF_DATA_ONCE))
		u++;
	return err(-EINVAL,
		   "task: %s is LKDF_DATA_ONCE, which tasks of sealed graphs "
		   "use only, and their children",
		   data_text(u->data, 0, text));
}

/*
 * Since a data was used last its first line has gone to the CPU of whoever ran
 * that task. Tasks of a row often use data of a row: then those of the next two
 * are as far from this one's as this one's from the last one's. Strides beyond
 * ROW are taken for no row: a line fetched in vain is taken from who needs it.
 */
#define ROW 65536

static inline void fetch_row(const struct lkdf_use *use, unsigned nr)
{
	uintptr_t *used = thread_self()->used, at, stride;
	unsigned i;

	for (i = 0; i < nr && i < THREAD_USES; i++) {
		at = (uintptr_t)use[i].data;
		stride = at - used[i];
		used[i] = at;
		if (stride + ROW > 2 * ROW)
			continue;
		__builtin_prefetch((const void *)(at + stride), 1);
		__builtin_prefetch((const void *)(at + 2 * stride), 1);
	}
}

int border_uses(const struct lkdf *rt, const struct lkdf_task *t, bool is_child)
{
	uint32_t flags;
	int rc;

	if (likely(t->use && t->nr_use <= LKDF_MAX_USES))
		fetch_row(t->use, t->nr_use);
	rc = uses_check(rt, t->use, t->nr_use, &flags);

	if (!rc && !is_child && unlikely(flags & LKDF_DATA_ONCE))
		return refuse_once(t);
	if (!rc && unlikely(t->kind->kernel != NULL))
		rc = kernel_check_uses(t->kind->kernel, t->use, t->nr_use);
	return rc;
}
