/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The end of a child that has an event, and that of a group: complete.c,
 * child_error.c and group.c as they are shipped. Who has joined finds that the
 * event has fired and that what the child did is there; the body that the event
 * tells of the child's error takes it away while others fail, whose errors
 * stay; the last child tells the end of a closed group, or the owner does, who
 * took the count back.
 */
#include "task/complete.h"

#include "data/claim.h"
#include "event_below.h"
#include "sched/current.h"
#include "task/after.h"
#include "task/checked.h"
#include "task/group.h"
#include "task/then.h"

static struct lkdf_kind kind = { .rt = &rt };
static struct lkdf_scope scope;
static struct task above, child[2], group;
static struct failure failure[2];
static struct lkdf_event done;
static struct event_tap tap;
static struct lkdf_ctx context;
static struct executor executor;
static struct thread thread;
static int what_child_did; /* plain: the protocol orders it */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* As in the product, but that no child runs here. */
void task_await_children(struct executor *ex, struct task *t)
{
	if (group_has_event(t))
		mc_see("taken back");
	while (task_has_children(t))
		a_pause();
}

int task_join_on(struct executor *ex, struct task *t)
{
	task_await_children(ex, t);
	task_count_anew(t);
	return 0;
}

int task_may_join(const struct lkdf_ctx *c)
{
	return 0;
}

void task_free_arg(struct task *t)
{
}

void scope_count(struct lkdf_scope *s, const struct tally *t)
{
}

void task_wake_join(struct lkdf *r, struct task *t)
{
	mc_fail("nobody sleeps");
}

NOT_REACHED(void, after_end, struct task *t)
NOT_REACHED(void, checked_drop, struct task *t)
NOT_REACHED(void, claim_leave, struct executor *ex, struct claim *c, int error,
	    struct failure *f)
NOT_REACHED(void, completion_kick, struct lkdf *r)
NOT_REACHED(struct lkdf_scope *, deadline_leave, struct lkdf_scope *own)
NOT_REACHED(const char *, err_text, void)
NOT_REACHED(struct failure *, failure_create, const struct lkdf_error *e,
	    const char *k)
NOT_REACHED(void, failure_put_beside, struct failure *first, struct failure *f,
	    const struct log *log)
NOT_REACHED(struct limit_waiter *, limit_give, struct lkdf_limit *l,
	    uint32_t nr)
NOT_REACHED(bool, limit_take, struct lkdf_limit *l, uint32_t nr, bool was_woken)
NOT_REACHED(bool, limit_wait, struct lkdf_limit *l, struct limit_waiter *w,
	    uint32_t nr, bool was_woken)
NOT_REACHED(void, log_text, const struct log *l, int level, const char *fmt,
	    ...)
NOT_REACHED(void, scope_fail, struct lkdf_scope *s, int error,
	    struct failure *f)
NOT_REACHED(void, scope_leave, struct lkdf_scope *s, uint32_t nr)
NOT_REACHED(struct task *, task_create, struct lkdf *r, struct executor *ex,
	    struct lkdf_kind *k, const void *arg, int prio)
NOT_REACHED(int, task_may_have_child, const struct task *parent,
	    const struct lkdf_kind *k)
NOT_REACHED(struct task *, task_of_ctx, struct lkdf_ctx *c)
NOT_REACHED(void, task_start, struct lkdf *r, struct executor *ex,
	    struct task *t)
NOT_REACHED(void, task_text, const struct task *t, char *text, size_t size)
NOT_REACHED(void, then_continue, struct executor *ex, struct task *t)
NOT_REACHED(void, trace_slice, struct trace_ring *r,
	    const struct lkdf_stats_slice *s)
NOT_REACHED(void, trace_slice_outside, struct trace_ring *o,
	    const struct lkdf_stats_slice *s)
NOT_REACHED(void, worker_be_watched, struct worker *w)
NOT_REACHED(void, worker_show_made, struct worker *w)
#pragma GCC diagnostic pop

/* ------------------------------------------------------------------------- */

static void begin_task(struct task *t, struct task *parent)
{
	memset(t, 0, sizeof(*t));
	t->link.type = LINK_TASK;
	t->kind = &kind;
	t->scope = &scope;
	a_store(&t->live, 0, relaxed);
	a_store(&t->child_err, 0, relaxed);
	a_store(&t->parent, NULL, relaxed);
	if (parent)
		task_adopt(parent, t);
}

static void begin(void)
{
	begin_events_anew();
	what_child_did = 0;
	begin_task(&above, NULL);
	executor.id = OUTSIDE_ID;
	thread.current = &context;
	context = (struct lkdf_ctx){ .ex = &executor, .task = &above };
	memset(failure, 0, sizeof(failure));
	a_store(&rt.failed_lock.word, 0, relaxed);
	mc_name(&above.live, "live of the parent");
	mc_name(&group.live, "live of the group");
}

/* The owner's thread, of the program, is in a block of a loop. */
static void resume(int id)
{
	thread_record = id ? NULL : &thread;
}

static bool has_fired(struct lkdf_event e)
{
	return !event_is_valid(e) || event_has_fired(e);
}

static void end_child(struct task *t)
{
	plain_store(&what_child_did, 1);
	task_complete(NULL, t);
}

/* ---- a child ------------------------------------------------------------ */

static void begin_child(void)
{
	begin();
	begin_task(&child[0], &above);
	event_create(&rt, NULL, 1, 2, &done);
	child[0].done = done;
	child[0].link.flags = TASK_HAS_DONE;
}

static void join_child(int id)
{
	if (id) {
		end_child(&child[0]);
		return;
	}
	if (has_fired(done))
		mc_see("fired before the join");
	while (task_has_children(&above))
		a_pause();
	mc_assert(event_has_fired(done));
	mc_assert(plain_load(&what_child_did) == 1);
	event_put(done);
}

/* ---- errors ------------------------------------------------------------- */

static void body_is_told(struct event_tap *t, int error)
{
	mc_assert(error == -EIO);
	/* The parent has it by now, and perhaps that of the other. */
	mc_assert(a_load(&failure[0].child_of, relaxed) == &above);
	complete_seen(&above, t->event);
	mc_assert(!a_load(&failure[0].child_of, relaxed));
	mc_see(a_load(&above.child_err, relaxed) ? "left the other's"
						 : "took it");
	a_add(&nr_calls, 1, relaxed);
	event_put(t->event);
}

/* Both fail, and the parent's body is told of the first. */
static void begin_failing(void)
{
	int i;

	begin_child();
	begin_task(&child[1], &above);
	for (i = 0; i < 2; i++)
		complete_failed(&child[i], ENDED_FAILED, -EIO - i, &failure[i]);
	tap = (struct event_tap){ .event = done, .fn = body_is_told };
	event_tap_add(&tap);
}

static void both_fail(int id)
{
	task_complete(NULL, &child[id]);
}

/* What it was told it does not end with, but with the other's error. */
static void other_is_left(void)
{
	mc_assert(a_load(&nr_calls, relaxed) == 1);
	mc_assert(a_load(&above.live, relaxed) == -2);
	mc_assert(a_load(&above.child_err, relaxed) == -EIO - 1);
	mc_assert(above.child_failure == &failure[1] && !failure[1].beside);
}

/* ---- groups ------------------------------------------------------------- */

static void begin_group(void)
{
	begin();
	group_begin(&context, &above, &group);
	begin_task(&child[0], &group);
}

static void close_and(int (*await)(void))
{
	mc_assert(!group_event(&group, &done));
	if (has_fired(done))
		mc_see("fired before the wait");
	await();
	mc_assert(has_fired(done));
	mc_assert(plain_load(&what_child_did) == 1);
	mc_assert(!task_has_children(&group));
	event_put(done);
}

static int wait_for_group(void)
{
	return group_wait(&group);
}

static int join_body(void)
{
	group_await_all(&context);
	while (task_has_children(&above))
		a_pause();
	return 0;
}

static void wait_closed(int id)
{
	if (id)
		end_child(&child[0]);
	else
		close_and(wait_for_group);
}

static void join_closed(int id)
{
	if (id)
		end_child(&child[0]);
	else
		close_and(join_body);
}

static void no_child_is_left(void)
{
	mc_assert(!task_has_children(&above));
	mc_assert(a_load(&nr_taken, relaxed) >= 1);
}

static const struct mc_scenario table[] = {
	{ .name = "a join sees the event of its child fired",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = begin_child,
	  .thread = join_child,
	  .resume = resume,
	  .must_see = { "fired before the join" } },
	{ .name = "a body is told of one child while another fails",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = begin_failing,
	  .thread = both_fail,
	  .final = other_is_left,
	  .resume = resume,
	  .must_see = { "took it", "left the other's" } },
	{ .name = "the owner waits for a group that it has closed",
	  .nr_threads = 2,
	  .bound = 4,
	  .init = begin_group,
	  .thread = wait_closed,
	  .final = no_child_is_left,
	  .resume = resume,
	  .must_see = { "taken back", "fired before the wait" } },
	{ .name = "the body joins after it has closed a group",
	  .nr_threads = 2,
	  .bound = 4,
	  .init = begin_group,
	  .thread = join_closed,
	  .final = no_child_is_left,
	  .resume = resume,
	  .must_see = { "fired before the wait" } },
};

MC_MAIN(table)
