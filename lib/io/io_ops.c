/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rows that operations of the system have in the tables of core/ops.h.
 */
#include "io/io.h"

#include "core/item.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "io/event_poll.h"
#include "io/io_chain.h"
#include "io/io_far.h"
#include "io/io_ring.h"
#include "run/frame.h"
#include "run/slots.h"
#include "sched/nap.h"
#include "sched/tick.h"

/* How long the draining thread polls before it looks at its inboxes again. */
#define SERIAL_NS 1000000

/* ---- the sort of kinds -------------------------------------------------- */

static int check_op(const void *arg)
{
	return io_op_check(arg);
}

/* Without rings: one that does them, and one that polls. */
static int prepare_rings(struct lkdf *rt)
{
	int rc;

	if (rt->sched.is_serial || !io_ring_error(rt))
		return 0;
	rc = blocking_require(&rt->blocking);
	return rc ? rc : io_wait_require(rt);
}

/* Not to go on as the user's function. */
static bool op_wants_pool(struct task *t)
{
	return a_load(&t->kind->rt->io_rings->error, relaxed) &&
	       !(t->link.flags & TASK_CONTINUES);
}

static const struct chain_ops op_chain = {
	.is_early = io_chain_is_early,
	.adopt = io_chain_adopt,
	.forget = io_chain_forget,
};

const struct kind_ops io_kinds = {
	.begin = io_begin,
	.check_arg = check_op,
	.prepare = prepare_rings,
	.wants_pool = op_wants_pool,
	.told = LKDF_KIND_IS_IO,
	.ended = io_ended,
	.goes_home = io_goes_home,
	.chain = &op_chain,
};

/* ---- completions -------------------------------------------------------- */

static void kick_all(struct lkdf *rt)
{
	if (io_ring_kick(rt))
		io_wait_again(rt);
	io_wait_wake(rt->io_wait);
}

static bool sleep_serial(struct lkdf *rt, int64_t timeout_ns)
{
	bool has_some = event_poll_has_some(rt);

	if (has_some)
		event_poll_for(rt, timeout_ns);
	return has_some;
}

static bool wait_serial(struct worker *w, int64_t nap_ns)
{
	struct lkdf *rt = w->executor->rt;
	bool is_moving = nap_ns != 0;
	struct list ready, *l;

	list_init(&ready);
	if (!io_wait_has_some(rt->io_wait))
		return false;
	io_wait_poll(rt->io_wait, nap_min(nap_ns, SERIAL_NS), &ready);
	sleep_serial(rt, 0);
	/* Nobody else looks at the clock. */
	sched_tick(&rt->sched, rt);
	while (!list_is_empty(&ready)) {
		l = ready.next;
		list_del(l);
		is_moving = true;
		io_run(w->executor, container_of(l, struct io_req, list));
	}
	return is_moving;
}

/* Is the item of a deque a task that is an operation? */
static bool is_item(struct lkdf *rt, uint64_t item)
{
	struct frame *f;

	if (!(item & ITEM_OF_FRAME))
		return LINK_TYPE(item) == LINK_TASK &&
		       task_of(link_of_item(item))->kind->ops == &io_kinds;
	f = slots_frame(rt, item_slot(item));
	return f->recs[item_index(item)].kind->ops == &io_kinds;
}

static bool has_news(const struct completions *c)
{
	return io_ring_has_news(container_of(c, struct io_ring, completions));
}

static bool worker_stays(const struct completions *c)
{
	const struct io_ring *ring =
		container_of(c, struct io_ring, completions);

	return a_load(&ring->nr_under_way, relaxed) || has_news(c);
}

static void look_at_ring(struct completions *c, uint64_t next)
{
	struct io_ring *ring = container_of(c, struct io_ring, completions);

	io_ring_look(ring, is_item(ring->w->executor->rt, next));
}

const struct completion_ops io_completions = {
	.has_news = has_news,
	.look = look_at_ring,
	.stays = worker_stays,
	.guard = io_ring_guard,
	.poll = io_ring_poll,
	.nap = io_far_look,
	.leave = io_far_leave,
	.wait = wait_serial,
	.sleep = sleep_serial,
	.kick = kick_all,
};
