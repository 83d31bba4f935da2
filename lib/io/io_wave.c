/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_wave.h"

#include "base/clock.h"
#include "core/completion.h"
#include "run/frame.h"
#include "sched/tick.h"
#include "task/then.h"
#include "trace/counters.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int io_multi_take(const struct lkdf_io_wave *w)
{
	struct wave *v = (struct wave *)(uintptr_t)w;
	int fd = a_xchg(&v->fd, -1, relaxed);

	return fd < 0 ? -EBADF : fd;
}

void wave_drop(struct lkdf *rt, struct wave *v)
{
	int fd = a_load(&v->fd, relaxed);

	if (fd >= 0)
		close(fd);
	multi_free(rt, v);
}

/* NULL: no memory. */
static struct wave *make_wave(const struct io_req *r, int64_t res,
			      const void *bytes)
{
	size_t size = bytes ? (size_t)res : 0;
	struct wave *v =
		multi_alloc(r->task->kind->rt, sizeof(struct wave) + size);

	if (!v)
		return NULL;
	memset(v, 0, sizeof(*v));
	v->wave.result = res;
	v->wave.buf = v->bytes;
	v->wave.u = r->multi->feed.u;
	v->wave.fd = r->op.io.fd;
	v->multi = r->multi;
	if (size)
		memcpy(v->bytes, bytes, size);
	a_store(&v->fd, r->op.io.op == LKDF_IO_ACCEPT ? (int)res : -1, relaxed);
	return v;
}

void io_multi_wake(struct executor *ex, struct io_req *r)
{
	then_leave(ex, r->task);
}

/* The completion carries data, not only the end of the stream. */
bool wave_is_one(const struct io_req *r, int64_t res)
{
	if (r->op.is_waiting || res < 0)
		return false;
	return res > 0 || r->op.io.op == LKDF_IO_ACCEPT ||
	       r->multi->has_messages;
}

/* No memory for it: the operation ends with that. */
static void lose_wave(struct io_req *r, int64_t res)
{
	struct io_multi *m = r->multi;

	if (r->op.io.op == LKDF_IO_ACCEPT)
		close((int)res);
	lock_take(&m->lock);
	m->result = -ENOMEM;
	lock_give(&m->lock);
	a_store(&r->is_stopping, true, relaxed);
}

enum io_piece io_multi_piece(struct io_req *r, int res, const void *bytes,
			     bool is_last)
{
	enum io_piece how = IO_PIECE_KEPT;
	struct io_multi *m = r->multi;
	struct wave *v;

	if (!wave_is_one(r, res))
		return IO_PIECE_KEPT;
	v = make_wave(r, res, bytes);
	if (!v) {
		lose_wave(r, res);
		return IO_PIECE_FULL;
	}
	lock_take(&m->lock);
	v->wave.seq = m->nr_waves++;
	list_append(&m->waves, &v->list);
	m->nr_waiting++;
	if (!is_last && m->nr_runs < m->feed.nr_runs && !m->is_stalled &&
	    multi_wakes(m))
		how = IO_PIECE_WAKES;
	else if (m->nr_waiting >= m->feed.nr_waiting)
		how = IO_PIECE_FULL;
	lock_give(&m->lock);
	return how;
}

/* ---- runs and tasks ----------------------------------------------------- */

static void wave_ended(struct event_waiter *w, int error)
{
	struct wave *v = container_of(w, struct wave, waiter);
	struct io_multi *m = v->multi;
	struct lkdf *rt = multi_rt(m);
	bool is_woken;

	(void)error;
	wave_drop(rt, v);
	lock_take(&m->lock);
	m->nr_runs--;
	m->is_stalled = false;
	is_woken = multi_wakes(m);
	lock_give(&m->lock);
	if (is_woken)
		then_leave(runtime_executor(rt), m->task);
}

/* A deadline's scope is its task's alone. *ns: what is left; 0: no end. */
static struct lkdf_scope *scope_of(const struct task *t, int64_t *ns)
{
	struct lkdf_scope *s = t->scope;
	int64_t end, left;

	*ns = 0;
	for (; s->is_own; s = s->parent) {
		end = a_load(&s->end_ns, relaxed);
		left = end ? end - timers_now(&s->rt->sched.timers) : 0;
		if (end && left <= 0)
			left = 1;
		if (end && (!*ns || left < *ns))
			*ns = left;
	}
	return s;
}

static int begin_wave(struct io_multi *m, struct wave *v,
		      struct lkdf_event *done)
{
	struct lkdf_run run = { .size = sizeof(run),
				.arg = &v->wave,
				.flags = LKDF_RUN_NOWAIT };
	struct lkdf_task t = { .size = sizeof(t),
			       .arg = &v->wave,
			       .kind = m->feed.kind };
	int64_t ns;
	struct lkdf_scope *s = scope_of(m->task, &ns);

	run.deadline_ns = t.deadline_ns = ns;
	if (m->feed.graph)
		return frame_start(m->feed.graph, s, &run, NULL, done);
	return task_submit(multi_rt(m), s, &t, done);
}

static void fire_again(struct timer *t)
{
	struct io_multi *m = container_of(t, struct io_multi, timer);
	bool is_woken;

	lock_take(&m->lock);
	m->is_stalled = false;
	is_woken = multi_wakes(m);
	lock_give(&m->lock);
	if (is_woken)
		then_leave(runtime_executor(multi_rt(m)), m->task);
}

/* The wave waits on: until a run of ours ends, or for a while. */
static void put_back(struct io_multi *m, struct wave *v)
{
	struct sched *s = &multi_rt(m)->sched;

	lock_take(&m->lock);
	list_push(&m->waves, &v->list);
	m->nr_waiting++;
	m->nr_runs--;
	m->is_stalled = true;
	lock_give(&m->lock);
	if (m->timer.fire)
		sched_del_timer(s, &m->timer);
	m->again_ns = m->again_ns * 2 < WAVE_AGAIN_MAX_NS ? m->again_ns * 2
							  : WAVE_AGAIN_MAX_NS;
	m->timer.fire = fire_again;
	m->timer.end_ns = timers_now(&s->timers) + m->again_ns;
	sched_add_timer(s, &m->timer);
}

/* It cannot start: no more of them. */
static void give_up(struct io_multi *m, struct wave *v, int error)
{
	struct lkdf *rt = multi_rt(m);

	wave_drop(rt, v);
	lock_take(&m->lock);
	m->nr_runs--;
	lock_give(&m->lock);
	m->error = m->error ? m->error : error;
	a_store(&multi_req(m)->is_stopping, true, relaxed);
	completion_kick(rt);
}

void wave_start(struct lkdf_ctx *c, struct io_multi *m, struct wave *v)
{
	struct lkdf_event done;
	int rc = begin_wave(m, v, &done);

	if (rc == -EAGAIN) {
		put_back(m, v);
		return;
	}
	if (rc) {
		give_up(m, v, rc);
		return;
	}
	m->again_ns = WAVE_AGAIN_NS;
	counter_add(c->ex->counters, COUNTER_WAVES, 1);
	v->waiter.fn = wave_ended;
	event_call_give(done, &v->waiter);
}
