/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/kernel.h"

#include "base/err.h"
#include "check/device.h"
#include "core/home.h"
#include "core/ops.h"
#include "data/offhost.h"
#include "offload/early.h"
#include "offload/gather.h"
#include "run/offhost_run.h"
#include "task/body.h"
#include "task/checked.h"
#include "task/then.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

/* ---- which device ------------------------------------------------------- */

struct device_code *kernel_code(const struct kernel *k, const struct device *d)
{
	uint32_t i;

	for (i = 0; i < k->attr.nr_code; i++)
		if (!strcmp(k->code[i]->code.device, d->name))
			return k->code[i];
	return NULL;
}

/* NULL: it can; else why not. */
static const char *why_not(const struct kernel *k, const struct device *d)
{
	const struct device_code *c = kernel_code(k, d);

	if (k->is_prefetch)
		return NULL;
	if (k->shut & k->rt->devices->place[d->attr.index]->kind)
		return "place_kinds of the kind's impl lacks its sort of place";
	if (k->attr.enqueue)
		return d->ops.queue && d->ops.mark
			       ? NULL
			       : "the device has no queue and mark";
	if (!c)
		return "the kernel has no code for it";
	if (!c->code.function && !d->ops.build)
		return "the device has no build, and the code no function";
	return NULL;
}

int kernel_check_device(const struct kernel *k, const struct device *d)
{
	const char *why = why_not(k, d), *lost = device_why_lost(d);

	if (lost)
		return err(-ENODEV, "kernel %s: device %s is lost: %s", k->name,
			   d->name, lost);
	if (why)
		return err(-ENODEV, "kernel %s on device %s: %s", k->name,
			   d->name, why);
	if (k->attr.range_from != LKDF_RANGE_NONE &&
	    !device_has(d, LKDF_DEVICE_RANGES))
		return err(-EINVAL,
			   "kernel %s has a range, device %s has not "
			   "LKDF_DEVICE_RANGES",
			   k->name, d->name);
	return 0;
}

/* Without a word: for a choice among many. */
static bool can_run(const struct kernel *k, const struct device *d)
{
	return !a_load(&d->is_lost, relaxed) && !why_not(k, d) &&
	       (k->attr.range_from == LKDF_RANGE_NONE ||
		device_has(d, LKDF_DEVICE_RANGES));
}

/* The device with the fewest tasks that can run it; NULL: none can. */
static struct device *least_loaded(const struct kernel *k)
{
	struct device *d, *best = NULL;
	unsigned i, nr = devices_nr(k->rt);

	for (i = 0; i < nr; i++) {
		d = k->rt->devices->device[i];
		if (can_run(k, d) &&
		    (!best ||
		     a_load(&d->load, relaxed) < a_load(&best->load, relaxed)))
			best = d;
	}
	return best;
}

/* Must the task run on a CPU? */
static bool is_on_host(const struct task *t)
{
	return t->link.flags & TASK_PLACED && t->home & HOME_HOST;
}

static bool has_device(const struct task *t)
{
	return t->link.flags & TASK_PLACED && home_is_device(t->home);
}

static struct device *device_of(const struct task *t)
{
	return rt_of(t)->devices->device[home_device(t->home)];
}

/*
 * The device as far as it is known before the body runs, from the task's home:
 * of a task that chooses in its body, where that is called.
 */
static struct device *find_device(struct task *t)
{
	const struct kernel *k = t->kind->kernel;
	struct device *d;

	if (is_on_host(t))
		return NULL;
	if (has_device(t))
		return device_of(t);
	d = least_loaded(k);
	if (!d)
		return NULL;
	t->home = home_make_device(d->attr.index);
	t->link.flags &= (uint16_t)~TASK_PLACED;
	if (!k->attr.choose)
		t->link.flags |= TASK_PLACED;
	return d;
}

static bool wants_launcher(struct task *t)
{
	struct device *d;

	if (t->link.flags & TASK_CONTINUES)
		return false;
	d = find_device(t);
	if (d)
		start_launcher(rt_of(t), d);
	return d;
}

static void run_on_launcher(void *executor, struct blocking_item *item)
{
	struct task *t = container_of(item, struct task, blocking_item);
	struct check *ch = rt_of(t)->check;

	task_run(executor, t);
	/* The launcher comes after all that the kernel comes after. */
	if (unlikely(ch != NULL))
		check_device_hear(ch, DEVICE_GIVEN);
}

static void push_to_device(struct task *t)
{
	t->blocking_item.run = run_on_launcher;
	device_push(device_of(t), t->link.class, &t->blocking_item);
}

/* The user's function says which: once for each task. */
static int choose_device(struct lkdf_ctx *c, struct device **out)
{
	const struct kernel *k = c->task->kind->kernel;
	struct devices *all = k->rt->devices;
	struct lkdf_place *v[LKDF_MAX_DEVICES];
	unsigned i, nr = 0, end = devices_nr(k->rt);
	int rc;

	for (i = 0; i < end; i++)
		if (can_run(k, all->device[i]))
			v[nr++] = all->place[i];
	if (!nr) {
		*out = NULL;
		return 0;
	}
	rc = k->attr.choose(c, v, nr);
	if (rc < 0 && c->has_why)
		return rc;
	if (rc < 0)
		return err(rc, "kernel %s: choose", k->name);
	if ((unsigned)rc >= nr)
		return err(-EINVAL, "kernel %s: choose: %d of %u devices",
			   k->name, rc, nr);
	*out = v[rc]->device;
	return 0;
}

/* The device of the running body's task; NULL: a CPU. */
static int find_target(struct lkdf_ctx *c, struct device **out)
{
	struct task *t = c->task;
	const struct kernel *k = t->kind->kernel;
	int rc = 0;

	*out = NULL;
	if (has_device(t))
		*out = device_of(t);
	else if (!is_on_host(t) && k->attr.choose)
		rc = choose_device(c, out);
	else if (!is_on_host(t))
		*out = least_loaded(k);
	if (!rc && !*out && !t->kind->later)
		rc = err(-ENODEV,
			 is_on_host(t) ? "kernel %s has no fn, which would run "
					 "on the place of the task"
				       : "kernel %s has no fn, and no device "
					 "can run it",
			 k->name);
	return rc;
}

/* ---- its way ------------------------------------------------------------ */

static bool is_launcher(const struct executor *ex, const struct device *d)
{
	return !ex->worker && (uint32_t)ex->id == d->attr.executor;
}

/*
 * Once its bytes are home, or where it goes. has_room: its launcher has taken
 * it, and none of its requests waits for room.
 */
static void begin_request(struct executor *ex, struct kernel_req *r,
			  bool has_room)
{
	struct device *d = r->req.device;

	if (kernel_waits(r))
		return;
	if (r->req.error)
		then_leave(ex, r->task);
	else if (has_room)
		request_begin(d, ex, &r->req);
	else
		request_hand_over(d, &r->req);
}

static void resume_kernel(void *executor, struct blocking_item *item)
{
	begin_request(executor, container_of(item, struct kernel_req, bytes),
		      false);
}

/* Option check: for bodies it touches the bytes of its uses as it begins. */
static void touch_bytes(struct check *ch, const struct device_req *r)
{
	const struct device_operand *o;

	for (o = r->operand; o < r->operand + r->nr_operand; o++)
		if (o->mode & LKDF_WRITE)
			check_writes(ch, o->host, o->bytes);
		else
			check_reads(ch, o->host, o->bytes);
}

static int launch_kernel(struct lkdf_ctx *c, void *arg, struct device *d)
{
	struct task *t = c->task;
	struct kernel_req *r = NULL;
	int rc = kernel_request(c, arg, d, &r);

	start_launcher(rt_of(t), d);
	if ((rc || !r) && c->frame)
		gather_over(c->frame, c->index, rc);
	if (rc || !r)
		return rc;
	if (unlikely(rt_of(t)->check != NULL) && !r->kernel->is_prefetch)
		touch_bytes(rt_of(t)->check, &r->req);
	t->away.kernel = r;
	t->link.flags |= TASK_AWAY;
	then_begin_away(t, t->kind->fn);
	then_stay_away(c);
	r->bytes.run = resume_kernel;
	begin_request(c->ex, r, is_launcher(c->ex, d));
	return 0;
}

static void resume_caller(void *executor, struct blocking_item *item)
{
	then_leave(executor, container_of(item, struct task, blocking_item));
}

static bool waits_here(struct lkdf_ctx *c)
{
	struct task *t = c->task;

	if (c->frame)
		return offhost_run_waits(t, true);
	return t->link.flags & TASK_HAS_DATA &&
	       offhost_claim_waits(t->claim, &t->blocking_item);
}

/* On a CPU, once its bytes are home. */
static int begin_here(struct lkdf_ctx *c, void *arg)
{
	struct task *t = c->task;
	int rc = 0;

	if (!offhost_is_possible(c->ex->rt))
		return t->kind->later(c, arg);
	then_begin_away(t, begin_here);
	t->blocking_item.run = resume_caller;
	if (waits_here(c))
		return then_stay_away(c);
	if (c->frame)
		rc = offhost_run_begin(c, true);
	else if (t->link.flags & TASK_HAS_DATA)
		offhost_begin_all(t->claim);
	return rc ? rc : t->kind->later(c, arg);
}

const struct task *kernel_of_queued(const struct blocking_item *item)
{
	const struct device_req *q = request_of_item(item);

	if (q)
		return container_of(q, const struct kernel_req, req)->task;
	return item->run == run_on_launcher
		       ? container_of(item, const struct task, blocking_item)
		       : NULL;
}

const struct task *kernel_of_bytes(const struct blocking_item *item)
{
	if (item->run == resume_kernel)
		return container_of(item, const struct kernel_req, bytes)->task;
	return item->run == resume_caller
		       ? container_of(item, const struct task, blocking_item)
		       : NULL;
}

static int begin_kernel(struct lkdf_ctx *c, void *arg)
{
	struct device *d;
	int rc = find_target(c, &d);

	if (!rc && !d)
		return begin_here(c, arg);
	if (!rc)
		rc = launch_kernel(c, arg, d);
	if (unlikely(rt_of(c->task)->check != NULL))
		check_device_tell(rt_of(c->task)->check, DEVICE_GIVEN);
	if (rc < 0 && c->task->kind->kernel->is_prefetch)
		return 0;
	if (rc < 0)
		c->has_why = true;
	return rc;
}

void kernel_count(struct executor *ex, const struct kernel_req *r)
{
	counter_add(ex->counters, COUNTER_KERNELS, !r->kernel->is_prefetch);
	counter_add(ex->counters, COUNTER_UPLOADED, r->req.bytes_up);
	counter_add(ex->counters, COUNTER_FETCHED, r->req.bytes_down);
}

static bool kernel_ended(struct executor *ex, struct task *t)
{
	struct kernel_req *r = t->away.kernel;

	if (unlikely(rt_of(t)->check != NULL))
		checked_left(t);
	t->link.flags &= (uint16_t)~TASK_AWAY;
	t->away.kernel = NULL;
	kernel_count(ex, r);
	if (r->req.error && !r->kernel->is_prefetch)
		task_fail(t, r->req.error, r->req.why, ex->id);
	kernel_free_request(rt_of(t), r);
	return true;
}

static int check_no_arg(const void *arg)
{
	(void)arg;
	return 0;
}

static bool stays_here(struct executor *ex, struct task *t)
{
	(void)ex;
	(void)t;
	return false;
}

/* Tasks whose kernel was given ahead have no object. */
static void adopt_nothing(struct task *t)
{
	(void)t;
}

/* The range is found before the request is made. */
static int host_use(const struct lkdf_kind *k)
{
	return k->kernel->attr.range_from == LKDF_RANGE_USE
		       ? (int)k->kernel->attr.range_at
		       : -1;
}

static void free_kind(struct lkdf_kind *k)
{
	kernel_free(k->kernel);
}

static const struct chain_ops kernel_chain = {
	.is_early = early_is_given,
	.joins = early_joins,
	.adopt = adopt_nothing,
	.forget = early_forget,
};

const struct kind_ops kernel_kinds = {
	.begin = begin_kernel,
	.check_arg = check_no_arg,
	.free = free_kind,
	.wants_pool = wants_launcher,
	.told = LKDF_KIND_IS_DEVICE,
	.push = push_to_device,
	.ended = kernel_ended,
	.goes_home = stays_here,
	.chain = &kernel_chain,
	.host_use = host_use,
};
