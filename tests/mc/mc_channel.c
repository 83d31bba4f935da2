/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Channels, the threads that wait at them and the bodies that return
 * LKDF_AGAIN: channel.c, channel_wait.c and again.c as they are shipped, above
 * locks, events and taps. No wake-up is lost: no value lies beside a receiver
 * that sleeps, nor room beside a sender, whoever else comes late, has its time
 * up or is cancelled; and the last reference comes after all uses. A thread
 * that sleeps for ever is a deadlock here, a task that does is told by final().
 */
#define NR_SLOTS 12

#include "channel/channel_wait.h"
#include "task/again.h"
#include "task/kind.h"
#include "task/then.h"

#include "channel_below.h"
#include "event_below.h"

#define NR_TASKS 2
#define A_WHILE 5000000000ll /* five looks at the clock, see event_below.h */
#define SPARE (NR_SLOTS - 4) /* events from here on are of executors */

static struct lkdf_channel *ch;
static _Atomic(uint32_t) is_alive;
static struct lkdf_scope scope, other_scope;
static struct lkdf_kind kind;
static struct executor executor;
static struct task task[NR_TASKS];
static _Atomic(uint32_t) nr_received, nr_ended;
static int made[NR_TASKS + 2]; /* plain: each value comes after it */

/* ---- values ------------------------------------------------------------- */

static void received(uint32_t v)
{
	mc_assert(plain_load(&made[v]) == 1);
	a_add(&nr_received, 1, relaxed);
}

static int try_send(uint32_t v)
{
	plain_store(&made[v], 1);
	return channel_send(ch, &v);
}

static void send_for(uint32_t v)
{
	plain_store(&made[v], 1);
	mc_assert(channel_send_for(ch, &v, -1, NULL) == 0);
}

static int recv_for(int64_t timeout_ns, const struct lkdf_scope *s)
{
	uint32_t v;
	int rc = channel_recv_for(ch, &v, timeout_ns, s);

	if (!rc)
		received(v);
	return rc;
}

/* ---- tasks: what then.c does of them ------------------------------------ */

static void leave(struct task *t);

static void call(struct task *t, lkdf_fn fn)
{
	struct lkdf_ctx c = { .ex = &executor, .task = t };
	int rc = fn(&c, t->arg);

	if (again_looks(&c, rc) && again_ended(&c, &rc)) {
		leave(t);
		return;
	}
	mc_see(rc ? "a task is refused" : "a task ends");
	mc_assert(!rc || rc == -ECANCELED || rc == -ENODATA);
	a_add(&nr_ended, 1, relaxed);
}

/* The second of body and event goes on. */
static void leave(struct task *t)
{
	if (a_add(&t->then_arrivals, 1, acq_rel) != 1)
		return;
	t->link.flags |= TASK_CONTINUES;
	mc_see("a task goes on");
	call(t, t->then_fn);
}

static void tap_fired(struct event_tap *tap, int error)
{
	(void)error;
	event_put(tap->event);
	leave(container_of(tap, struct task, tap));
}

void then_wait(struct task *t, lkdf_fn fn, struct lkdf_event on)
{
	t->then_fn = fn;
	a_store(&t->then_arrivals, 0, relaxed);
	t->tap.event = on;
	t->tap.fn = tap_fired;
	event_tap_add_in(&t->tap, t->scope);
}

/* Its argument: the value comes back for another one. */
static int receive(struct lkdf_ctx *c, void *arg)
{
	uint32_t v;
	int rc = again_tried(c, ch, CHANNEL_VALUES, channel_recv(ch, &v));

	if (rc)
		return rc == -EAGAIN ? LKDF_AGAIN : rc;
	received(v);
	return arg ? channel_send(ch, &v) : 0;
}

static int send_it(struct lkdf_ctx *c, void *arg)
{
	uint32_t v = 0;
	int rc;

	(void)arg;
	plain_store(&made[v], 1);
	rc = again_tried(c, ch, CHANNEL_ROOM, channel_send(ch, &v));
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static void cancel(void)
{
	cancel_scope(&scope, &rt);
}

/* ---- the first state ---------------------------------------------------- */

/* As many as all executors will want. */
static void fill_magazine(void)
{
	struct magazine *m = &executor.magazine[POOL_EVENT];
	int i;

	*m = (struct magazine){ 0 };
	for (i = SPARE; i < NR_SLOTS; i++)
		magazine_put(m, &slots[i]);
}

static void begin(uint32_t depth, uint32_t flags)
{
	struct lkdf_channel_attr a = {
		.value_size = sizeof(uint32_t),
		.depth = depth,
		.flags = flags,
	};
	int i;

	begin_events_anew();
	fill_magazine();
	a_store(&is_alive, 1, relaxed);
	rt.is_alive = &is_alive;
	a_store(&rt.nr_handles, 0, relaxed);
	executor.rt = &rt;
	kind.rt = &rt;
	kind.fn = receive;
	kind.flags = 0;
	scope.rt = other_scope.rt = &rt;
	a_store(&scope.cancel_err, 0, relaxed);
	a_store(&nr_received, 0, relaxed);
	a_store(&nr_ended, 0, relaxed);
	for (i = 0; i < NR_TASKS; i++) {
		memset(&task[i], 0, sizeof(task[i]));
		task[i].kind = &kind;
		task[i].scope = &other_scope;
	}
	memset(made, 0, sizeof(made));
	channel_create(&rt, &a, &ch);
	mc_name(&ch->lock.word, "channel");
	mc_name(&ch->queue.tail, "tail");
}

static void begin_one(void)
{
	begin(1, 0);
}

static void begin_two(void)
{
	begin(2, 0);
}

static void begin_latest(void)
{
	begin(1, LKDF_CHANNEL_LATEST);
}

/* Both wait, the first one in a scope. */
static void begin_waiting(void)
{
	begin(2, 0);
	task[0].scope = &scope;
	task[0].arg = &task[0];
	call(&task[0], receive);
	call(&task[1], receive);
}

static void begin_full(void)
{
	begin(1, 0);
	mc_assert(try_send(1) == 0);
	kind.fn = send_it;
}

static void all_is_received(uint32_t nr)
{
	mc_assert(a_load(&nr_received, relaxed) == nr);
	mc_assert(channel_count(ch) == 0);
}

/* ---- threads ------------------------------------------------------------ */

static void two_senders(int id)
{
	if (id) {
		send_for((uint32_t)id);
		return;
	}
	mc_assert(recv_for(-1, NULL) == 0);
	mc_assert(recv_for(-1, NULL) == 0);
}

static void two_are_received(void)
{
	all_is_received(2);
}

/* A value for one, that another one may let lie. */
static void a_time_is_up(int id)
{
	uint32_t v = 1;

	if (id == 0)
		mc_assert(try_send(v) == 0);
	else if (id == 1)
		mc_assert(recv_for(-1, NULL) == 0);
	else if (recv_for(A_WHILE, NULL) == 0)
		mc_assert(try_send(v) == 0);
	else
		mc_see("the time is up");
}

static void a_thread_is_cancelled(int id)
{
	int rc;

	if (id == 0) {
		mc_assert(try_send(1) == 0);
		cancel();
	} else if (id == 1) {
		mc_assert(recv_for(-1, NULL) == 0);
	} else {
		rc = recv_for(-1, &scope);
		mc_assert(!rc || rc == -ECANCELED);
		mc_see(rc ? "cancelled" : "first");
		if (!rc)
			mc_assert(try_send(1) == 0);
	}
}

/* Who is under way takes one value: the second one wakes the other. */
static void two_values_beside_two_receivers(int id)
{
	if (id) {
		mc_assert(recv_for(-1, NULL) == 0);
		return;
	}
	mc_assert(try_send(1) == 0);
	mc_assert(try_send(2) == 0);
}

static void nothing_lies(void)
{
	mc_assert(channel_count(ch) == 0);
}

static void an_end_beside_a_send(int id)
{
	int rc;

	if (id == 0) {
		channel_end(ch, 0);
	} else if (id == 1) {
		rc = try_send(1);
		mc_assert(!rc || rc == -EPIPE);
		mc_see(rc ? "refused" : "sent");
	} else {
		do {
			rc = recv_for(-1, NULL);
		} while (!rc);
		mc_assert(rc == -ENODATA);
	}
}

static void the_latest(int id)
{
	if (id == 0) {
		mc_assert(try_send(1) == 0);
		mc_assert(try_send(2) == 0);
	} else {
		mc_assert(recv_for(-1, NULL) == 0);
	}
}

static void is_dropped_or_there(void)
{
	uint32_t v = 0;

	if (!channel_count(ch))
		mc_see("the second");
	else
		mc_assert(channel_recv(ch, &v) == 0 && v == 2);
}

/* The user and one who waits give it back. */
static void the_last_put(int id)
{
	int rc;

	if (id == 0) {
		channel_end(ch, 0);
		channel_put(ch);
		return;
	}
	rc = recv_for(-1, NULL);
	mc_assert(rc == -ENODATA);
	channel_put(ch);
}

static void begin_shared(void)
{
	begin(1, 0);
	channel_get(ch);
}

static void is_given_back(void)
{
	mc_assert(a_load(&rt.nr_handles, relaxed) == 0);
}

/* ---- tasks -------------------------------------------------------------- */

static void a_task_beside_a_send(int id)
{
	if (id)
		call(&task[0], receive);
	else
		mc_assert(try_send(1) == 0);
}

static void one_ends(void)
{
	mc_assert(a_load(&nr_ended, relaxed) == 1);
	mc_assert(a_load(&nr_blocks, relaxed) == 0);
	all_is_received(1);
}

static void a_task_beside_a_receive(int id)
{
	if (id)
		call(&task[0], send_it);
	else
		mc_assert(recv_for(-1, NULL) == 0);
}

static void one_is_sent(void)
{
	uint32_t v;

	mc_assert(a_load(&nr_ended, relaxed) == 1);
	mc_assert(channel_recv(ch, &v) == 0 && v == 0);
	mc_assert(channel_count(ch) == 0);
}

static void a_task_is_cancelled(int id)
{
	if (id)
		cancel();
	else
		mc_assert(try_send(1) == 0);
}

static void both_end(void)
{
	mc_assert(a_load(&nr_ended, relaxed) == 2);
	mc_assert(a_load(&nr_blocks, relaxed) == 0);
	mc_assert(channel_count(ch) == 0);
}

static void an_end_beside_a_cancel(int id)
{
	if (id)
		cancel();
	else
		channel_end(ch, 0);
}

static const struct mc_scenario table[] = {
	{ .name = "two senders, one receiver, room for one",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = two_senders,
	  .final = two_are_received },
	{ .name = "two values, two receivers",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_two,
	  .thread = two_values_beside_two_receivers,
	  .final = two_are_received },
	{ .name = "a receiver whose time is up passes the wake on",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = 1,
	  .init = begin_two,
	  .thread = a_time_is_up,
	  .final = nothing_lies,
	  .must_see = { "the time is up" } },
	{ .name = "a receiver that is cancelled passes the wake on",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_two,
	  .thread = a_thread_is_cancelled,
	  .final = nothing_lies,
	  .must_see = { "cancelled", "first" } },
	{ .name = "an end beside a send and a receiver",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = an_end_beside_a_send,
	  .must_see = { "refused", "sent" } },
	{ .name = "the latest of two",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_latest,
	  .thread = the_latest,
	  .final = is_dropped_or_there,
	  .must_see = { "the second" } },
	{ .name = "the last reference",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_shared,
	  .thread = the_last_put,
	  .final = is_given_back },
	{ .name = "a task that receives",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_one,
	  .thread = a_task_beside_a_send,
	  .final = one_ends,
	  .must_see = { "a task goes on" } },
	{ .name = "a task that sends",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = begin_full,
	  .thread = a_task_beside_a_receive,
	  .final = one_is_sent,
	  .must_see = { "a task goes on" } },
	{ .name = "a task that is cancelled passes the wake on",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_waiting,
	  .thread = a_task_is_cancelled,
	  .final = both_end,
	  .must_see = { "a task is refused" } },
	{ .name = "an end beside a cancel",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = begin_waiting,
	  .thread = an_end_beside_a_cancel,
	  .final = both_end },
};

MC_MAIN(table)
