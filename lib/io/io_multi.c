/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_multi.h"

#include "base/clock.h"
#include "base/err.h"
#include "graph/graph.h"
#include "io/io_ring.h"
#include "io/io_wave.h"
#include "sched/tick.h"
#include "task/kind.h"
#include "task/then.h"
#include "trace/counters.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define NR_RUNS 16
#define NR_WAITING 64

/* The next step of the task. */
enum step {
	STEP_START,
	STEP_DROP,
	STEP_ARM,
	STEP_GUARD,
	STEP_END,
	STEP_SLEEP,
};

/* ---- the operation ------------------------------------------------------ */

/* It concerns one connection, or is of no consequence: the next one may do. */
static bool is_passing(const struct io_req *r, int64_t res)
{
	switch (res) {
	case -EINTR:
	case -EAGAIN:
	case -ENOBUFS:
	case -ECANCELED:
		return true;
	case -ECONNABORTED:
	case -EPROTO:
		return r->op.io.op == LKDF_IO_ACCEPT;
	default:
		return false;
	}
}

void io_multi_came(struct executor *ex, struct io_req *r, int64_t res)
{
	struct io_multi *m = r->multi;
	bool was_waiting = r->op.is_waiting, is_woken;

	r->op.is_waiting = false;
	lock_take(&m->lock);
	check(m->state == MULTI_ARMED);
	m->must_poll = res == -EAGAIN && !was_waiting;
	m->state = MULTI_RESTS;
	if (res < 0 && !is_passing(r, res)) {
		m->state = MULTI_OVER;
		m->result = m->result ? m->result : res;
	} else if (res == 0 && !was_waiting && !m->has_messages &&
		   r->op.io.op == LKDF_IO_RECV) {
		m->state = io_op_is_sure(&r->op) ? MULTI_OVER : MULTI_RESTS;
	}
	is_woken = multi_wakes(m);
	lock_give(&m->lock);
	if (is_woken)
		then_leave(ex, m->task);
}

/* Somebody else may take it after the poll that comes first, and it blocks. */
static int64_t try_accept(struct io_req *r)
{
	struct lkdf *rt = multi_rt(r->multi);
	int64_t rc;

	pthread_mutex_lock(&rt->io_wait->accept_lock);
	rc = io_op_try(&r->op);
	pthread_mutex_unlock(&rt->io_wait->accept_lock);
	return rc;
}

/* A single try. */
static int64_t try_here(struct io_req *r)
{
	struct io_multi *m = r->multi;

	if (r->op.io.op == LKDF_IO_ACCEPT)
		return try_accept(r);
	if (!m->room)
		m->room = multi_alloc(multi_rt(m), r->op.io.len);
	if (!m->room)
		return -ENOMEM;
	r->op.one.iov_base = m->room;
	r->op.one.iov_len = r->op.io.len;
	return io_op_try(&r->op);
}

void io_multi_run(struct executor *ex, struct io_req *r)
{
	struct io_multi *m = r->multi;
	enum io_piece how;
	int64_t res;

	for (;;) {
		res = io_cancelled(r) ? -ECANCELED : try_here(r);
		if (!wave_is_one(r, res)) {
			if (res == -EAGAIN && !io_wait_add(ex->rt, r))
				return;
			/* Without a thread that polls: it cannot wait. */
			if (res == -EAGAIN)
				res = -ENOMEM;
			if (res == -ECANCELED || !is_passing(r, res))
				break;
			continue;
		}
		how = io_multi_piece(r, (int)res, m->room, false);
		if (how == IO_PIECE_WAKES)
			io_multi_wake(ex, r);
		/* As if the ring had said so. */
		if (how == IO_PIECE_FULL) {
			res = -ECANCELED;
			break;
		}
	}
	io_multi_came(ex, r, res);
}

/* ---- looked after ------------------------------------------------------- */

static void guard_fires(struct timer *t)
{
	struct io_multi *m = container_of(t, struct io_multi, guard);
	bool is_woken;

	lock_take(&m->lock);
	m->is_due = true;
	is_woken = multi_wakes(m);
	lock_give(&m->lock);
	if (is_woken)
		then_leave(runtime_executor(multi_rt(m)), m->task);
}

static void add_guard(struct io_multi *m, uint64_t nr_waves)
{
	m->guard_ns *= 2;
	if (!m->is_guarded || m->seen_waves != nr_waves)
		m->guard_ns = GUARD_NS;
	if (m->guard_ns > GUARD_MAX_NS)
		m->guard_ns = GUARD_MAX_NS;
	m->is_guarded = true;
	m->seen_waves = nr_waves;
	m->guard.fire = guard_fires;
	m->guard.end_ns = timers_now(&multi_rt(m)->sched.timers) + m->guard_ns;
	sched_add_timer(&multi_rt(m)->sched, &m->guard);
}

static bool has_something(const struct io_req *r)
{
	short events = POLLIN | POLLRDHUP;
	struct pollfd p = { .fd = r->op.io.fd, .events = events };

	return poll(&p, 1, 0) > 0 && !(p.revents & POLLNVAL);
}

/* It has been silent for a while, or has just come to rest. */
static void look_after(struct io_multi *m)
{
	struct io_req *r = multi_req(m);
	uint64_t nr_waves;
	bool is_armed;

	lock_take(&m->lock);
	m->is_due = false;
	is_armed = m->state == MULTI_ARMED;
	nr_waves = m->nr_waves;
	lock_give(&m->lock);
	if (!is_armed) {
		m->is_guarded = false;
		return;
	}
	if (nr_waves == m->seen_waves && has_something(r))
		io_ring_stir(r);
	add_guard(m, nr_waves);
}

static void arm_multi(struct lkdf_ctx *c, struct io_req *r)
{
	struct lkdf_io *io = &r->op.io;
	struct worker *w = c->ex->worker;
	struct lkdf *rt = c->ex->rt;

	counter_add(c->ex->counters, COUNTER_ARMED, 1);
	if (rt->sched.is_serial) {
		io_multi_run(c->ex, r);
		return;
	}
	r->op.is_waiting = r->multi->must_poll;
	if (w &&
	    (io->op == LKDF_IO_ACCEPT || io_ring_has_buffers(w, io->len))) {
		io_issue(w, r);
		if (!r->multi->is_guarded)
			add_guard(r->multi, 0);
		return;
	}
	r->op.is_waiting = false;
	io_issue_call(c->ex, r);
}

/* ---- the task ----------------------------------------------------------- */

/* Under lock. */
static struct wave *first_shot(struct io_multi *m)
{
	struct list *l = m->waves.next;

	lock_assert_held(&m->lock);
	if (l == &m->waves)
		return NULL;
	list_del(l);
	check(m->nr_waiting);
	m->nr_waiting--;
	return container_of(l, struct wave, list);
}

/* Under lock: of one that nobody has. */
static enum step look_at_rest(struct io_multi *m, bool is_wanted)
{
	check(m->state == MULTI_RESTS);
	lock_assert_held(&m->lock);
	if (!is_wanted) {
		m->state = MULTI_OVER;
		m->result = m->result ? m->result : -ECANCELED;
		return STEP_SLEEP;
	}
	if (m->nr_waiting > m->feed.nr_waiting / 2)
		return STEP_SLEEP;
	m->state = MULTI_ARMED;
	return STEP_ARM;
}

/* Under lock. */
static enum step look_for_wave(struct io_multi *m, struct wave **v)
{
	bool is_wanted = !io_cancelled(multi_req(m));

	check(m->nr_runs <= m->feed.nr_runs);
	lock_assert_held(&m->lock);
	if (m->is_due)
		return STEP_GUARD;
	if (!is_wanted) {
		*v = first_shot(m);
		if (*v)
			return STEP_DROP;
	} else if (m->nr_runs < m->feed.nr_runs && !m->is_stalled) {
		*v = first_shot(m);
		m->nr_runs += *v != NULL;
		if (*v)
			return STEP_START;
	}
	if (m->state == MULTI_RESTS && look_at_rest(m, is_wanted) == STEP_ARM)
		return STEP_ARM;
	if (m->state == MULTI_OVER && !m->nr_waiting && !m->nr_runs)
		return STEP_END;
	return STEP_SLEEP;
}

static enum step next_step(struct io_multi *m, struct wave **v)
{
	enum step step;

	lock_take(&m->lock);
	step = look_for_wave(m, v);
	if (step == STEP_SLEEP) {
		/* The counts are for the waker and the body. */
		a_store(&m->task->then_arrivals, 0, relaxed);
		m->is_asleep = true;
	}
	lock_give(&m->lock);
	return step;
}

static void destroy_multi(struct io_multi *m)
{
	struct lkdf *rt = multi_rt(m);

	if (m->timer.fire)
		sched_del_timer(&rt->sched, &m->timer);
	if (m->guard.fire)
		sched_del_timer(&rt->sched, &m->guard);
	multi_free(rt, m->room);
	multi_free(rt, m);
}

static int end_multi(struct lkdf_ctx *c, struct io_multi *m)
{
	struct io_req *r = multi_req(m);

	check(list_is_empty(&m->waves) && !m->nr_runs);
	r->op.result = m->result ? m->result : (int64_t)m->nr_waves;
	if (m->error)
		r->op.result = m->error;
	r->multi = NULL;
	destroy_multi(m);
	io_is_over(c->task);
	return then_stay_away(c);
}

int io_multi_go_on(struct lkdf_ctx *c, void *arg)
{
	struct io_multi *m = c->task->away.io->multi;
	struct wave *v = NULL;

	(void)arg;
	for (;;) {
		switch (next_step(m, &v)) {
		case STEP_START:
			wave_start(c, m, v);
			break;
		case STEP_DROP:
			wave_drop(multi_rt(m), v);
			break;
		case STEP_ARM:
			arm_multi(c, multi_req(m));
			break;
		case STEP_GUARD:
			look_after(m);
			break;
		case STEP_END:
			return end_multi(c, m);
		case STEP_SLEEP:
			return then_stay_away(c);
		}
	}
}

static int check_feed(const struct task *t, const struct lkdf_io_feed *f)
{
	const struct lkdf *rt = t->kind->rt;

	if (t->kind->flags & LKDF_ALWAYS)
		return err(-EINVAL, "io: MULTI does not go with ALWAYS");
	if (f->size != sizeof(*f) || f->flags)
		return err(-EINVAL, "io: lkdf_io_feed of %u bytes, flags %#x",
			   f->size, f->flags);
	if (!f->graph == !f->kind)
		return err(-EINVAL, "io: a feed has a graph or a kind");
	if (f->graph && (f->graph->rt != rt || !f->graph->is_sealed))
		return err(-EINVAL,
			   "io: a feed's graph %s is not sealed, or "
			   "of another runtime",
			   f->graph->name);
	if (f->kind && (f->kind->rt != rt || f->kind->arg_size ||
			f->kind->ops == &io_kinds))
		return err(-EINVAL,
			   "io: a feed's kind %s has an arg_size, is "
			   "an operation, or of another runtime",
			   f->kind->name);
	return 0;
}

static void set_bounds(struct lkdf_io_feed *f)
{
	uint32_t most = f->graph ? f->graph->nr_frames : UINT32_MAX;

	if (!f->nr_runs)
		f->nr_runs = f->graph ? most : NR_RUNS;
	if (f->nr_runs > most)
		f->nr_runs = most;
	if (!f->nr_waiting)
		f->nr_waiting = NR_WAITING;
	check(f->nr_runs);
}

static bool has_messages(const struct lkdf_io *io)
{
	socklen_t size = sizeof(int);
	int type = SOCK_STREAM;

	if (io->op != LKDF_IO_RECV ||
	    getsockopt(io->fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return false;
	return type == SOCK_DGRAM || type == SOCK_RAW;
}

int io_multi_create(struct task *t)
{
	struct lkdf_io *io = &t->away.io->op.io;
	const struct lkdf_io_feed *f = io->buf;
	int rc = check_feed(t, f);
	struct io_multi *m;

	if (rc)
		return rc;
	m = multi_alloc(t->kind->rt, sizeof(*m));
	if (!m)
		return err(-ENOMEM, "io: no memory for a feed");
	memset(m, 0, sizeof(*m));
	m->task = t;
	m->feed = *f;
	set_bounds(&m->feed);
	m->has_messages = has_messages(io);
	m->again_ns = WAVE_AGAIN_NS;
	list_init(&m->waves);
	io->len = io->len ? io->len : IO_PIECE;
	t->away.io->multi = m;
	t->then_fn = io_multi_go_on;
	return 0;
}
