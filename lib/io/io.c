/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io.h"

#include "base/err.h"
#include "base/options.h"
#include "check/fiber.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "io/io_multi.h"
#include "io/io_result.h"
#include "io/io_ring.h"
#include "mem/heap.h"
#include "run/frame.h"
#include "task/then.h"
#include "task/traced.h"
#include "task/uses.h"
#include "topo/topo.h"
#include "trace/counters.h"

#include <errno.h>
#include <string.h>

static struct lkdf *rt_of(const struct task *t)
{
	return t->kind->rt;
}

/* ---- from the argument to a request ------------------------------------- */

/* Bytes of the task's use 0; 0: it has none. */
static uint64_t use_size(struct lkdf_ctx *c)
{
	const struct access_table *w =
		c->frame ? c->frame->graph->accesses : NULL;
	const struct access_use *u, *end;
	const struct access_var *v;
	const struct use *own;

	if (!c->frame) {
		own = uses_of(c->task, 0);
		return own ? data_size(own->domain->data, own->part) : 0;
	}
	if (!w)
		return 0;
	u = access_uses(w, c->index, &end);
	if (u == end)
		return 0;
	v = access_var(w, u->var);
	return data_size(v->data, v->part);
}

/* The bytes of a use instead of buf. */
static int take_buffer(struct lkdf_ctx *c, struct lkdf_io *io)
{
	uint64_t size;

	if (!(io->from & LKDF_IO_BUF_USE))
		return 0;
	size = use_size(c);
	io->buf = c->frame ? values_ptr(c, 0) : uses_ptr(c->ex, c->task, 0);
	if (!io->buf)
		return err(-EINVAL, "io %s: the task has no use 0 with bytes",
			   io_op_name(io->op));
	if (!io->len && size > UINT32_MAX)
		return err(-EINVAL, "io %s: use 0 has %llu bytes: too many",
			   io_op_name(io->op), (unsigned long long)size);
	if (io->len > size)
		return err(-EINVAL, "io %s: %u bytes, use 0 has %llu",
			   io_op_name(io->op), io->len,
			   (unsigned long long)size);
	io->len = io->len ? io->len : (uint32_t)size;
	return 0;
}

/* The argument, and where its bytes are. */
static int take_arg(struct lkdf_ctx *c, const void *arg, struct lkdf_io *io)
{
	int rc;

	memcpy(io, arg, sizeof(*io));
	rc = io_op_check(io);
	return rc ? rc : take_buffer(c, io);
}

static void touch_piece(void *u, void *p, size_t size, bool is_written)
{
	if (is_written)
		check_writes(u, p, size);
	else
		check_reads(u, p, size);
}

static int create_request(struct task *t, const struct lkdf_io *io)
{
	struct heap *h = rt_of(t)->heap;
	struct io_req *r = heap_new(h, heap_thread_cache(h), sizeof(*r));

	if (!r)
		return err(-ENOMEM, "io %s: no memory", io_op_name(io->op));
	io_op_init(&r->op, io);
	r->task = t;
	r->end_ns = -1;
	list_init(&r->list);
	r->head = NULL;
	r->item.run = io_run_in_pool;
	r->multi = NULL;
	r->ring = NULL;
	a_store(&r->is_stopping, false, relaxed);
	t->away.io = r;
	t->link.flags |= TASK_AWAY;
	return 0;
}

/* Keeps what came of it. A deadline is told from other cancels. */
static void destroy_request(struct task *t)
{
	struct heap *h = rt_of(t)->heap;
	struct io_op *op = &t->away.io->op;

	if (unlikely(op->result == -ECANCELED && io_cancelled(t->away.io) &&
		     scope_cancelled(t->scope) == -ETIME))
		op->result = -ETIME;
	t->link.flags &= (uint16_t)~TASK_AWAY;
	io_keep_result(t, op->result, op->nr_done);
	io_op_fini(op);
	heap_free(h, heap_thread_cache(h), t->away.io);
	t->away.io = NULL;
}

/* ---- how it runs -------------------------------------------------------- */

/* It ends with the error, whatever is done of it. */
static bool give_up(struct io_req *r, int error)
{
	r->op.result = error;
	return true;
}

/* A small read that has not begun and is at hand: what of it? */
static enum io_next peek_first(struct lkdf *rt, struct io_op *op)
{
	_Atomic(int) *blind = &rt->io_wait->blind_fd;
	int fd = op->io.fd;
	int64_t rc;

	if (op->nr_done || !io_op_is_small(&op->io) ||
	    a_load(blind, relaxed) == fd)
		return IO_AGAIN;
	rc = io_op_peek(&op->io, IO_CACHED);
	if (rc == -EOPNOTSUPP)
		a_store(blind, fd, relaxed);
	return rc < 0 ? IO_AGAIN : io_op_came(op, rc);
}

/* On this thread, as far as it goes. True: it is over. */
static bool run_here(struct lkdf *rt, struct io_req *r)
{
	struct io_op *op = &r->op;
	enum io_next next;
	bool is_over = r->end_ns >= 0;

	if (peek_first(rt, op) == IO_OVER)
		return true;
	do {
		if (io_cancelled(r))
			return give_up(r, -ECANCELED);
		/* A timeout comes back when its time is over. */
		if (is_over || !io_op_may_wait(op))
			next = io_op_came(op, io_op_call(op));
		else
			next = op->io.op == LKDF_IO_TIMEOUT
				       ? IO_WAIT
				       : io_op_came(op, io_op_try(op));
	} while (next == IO_AGAIN);
	if (next == IO_OVER)
		return true;
	return io_wait_add(rt, r) ? give_up(r, -EAGAIN) : false;
}

void io_run(struct executor *ex, struct io_req *r)
{
	if (unlikely(r->multi != NULL))
		io_multi_run(ex, r);
	else if (run_here(ex->rt, r))
		then_leave(ex, r->task);
}

void io_run_in_pool(void *executor, struct blocking_item *item)
{
	io_run(executor, container_of(item, struct io_req, item));
}

void io_issue(struct worker *w, struct io_req *r)
{
	if (!io_ring_issue(w, r))
		io_issue_call(w->executor, r);
}

void io_issue_call(struct executor *ex, struct io_req *r)
{
	struct lkdf *rt = ex->rt;

	if (!blocking_require(&rt->blocking)) {
		blocking_push(&rt->blocking, &r->item);
		return;
	}
	if (r->multi) {
		io_multi_came(ex, r, -ENOMEM);
		return;
	}
	r->op.result = -EAGAIN;
	then_leave(ex, r->task);
}

static int finish_operation(struct lkdf_ctx *c, void *arg)
{
	return c->task->kind->later(c, arg);
}

void io_is_over(struct task *t)
{
	t->then_fn = finish_operation;
	a_store(&t->then_arrivals, 1, relaxed);
}

/* The node that has what came, if that is worth a way. */
static uint16_t home_of_bytes(const struct task *t, const struct io_op *op)
{
	const struct lkdf *rt = rt_of(t);
	int node;

	if (rt->sched.nr_worker_nodes < 2 || rt->sched.is_serial ||
	    !rt->options->placement || op->result < HOME_MIN_BYTES ||
	    t->link.flags & TASK_PLACED ||
	    (op->io.op != LKDF_IO_READ && op->io.op != LKDF_IO_RECV))
		return HOME_NONE;
	node = heap_memory_of(rt->heap, op->io.buf);
	if (node < 0 || node >= rt->topo->nr_nodes ||
	    !sched_has_worker(&rt->sched, node))
		return HOME_NONE;
	return home_make(node, false);
}

/* On the thread that drains, in serial mode, or on one of the pool. */
static bool run_at_once(struct lkdf_ctx *c, struct task *t)
{
	bool goes_on;

	if (!run_here(c->ex->rt, t->away.io))
		return false;
	/* A function runs on workers only. */
	goes_on = t->kind->later ? c->ex->worker != NULL
				 : t->away.io->op.result >= 0;
	if (goes_on && !t->kind->later)
		t->io_home = home_of_bytes(t, &t->away.io->op);
	if (goes_on)
		destroy_request(t);
	else
		a_store(&t->then_arrivals, 1, relaxed);
	return goes_on;
}

/*
 * What a peek gave: is it the whole operation? Not where bytes of a read are
 * missing, and an error of one comes again with its request.
 */
static bool is_over(const struct lkdf_io *io, int64_t nr)
{
	if (!io_op_is_small(io))
		return nr != -EAGAIN;
	return nr == io->len || nr == 0 || (nr > 0 && io->flags & LKDF_IO_SOME);
}

/* The operation needed no request. */
static int call_later(struct lkdf_ctx *c, void *arg, const struct lkdf_io *io)
{
	lkdf_fn fn = c->task->kind->later;
	int error = c->task->io_error;
	char why[ERRMSG_SIZE];

	if (fn)
		return fn(c, arg);
	if (!error) {
		io_close_untaken(c->task, io);
		return 0;
	}
	io_tell_refusal(io, error, why);
	c->has_why = true;
	return err(error, "%s", why);
}

/* The second of body and operation goes on. */
static void begin_operation(struct executor *ex, struct task *t)
{
	struct io_req *r = t->away.io;

	r->begin_ticks = 0;
	if (unlikely(trace_is_recording(&rt_of(t)->trace))) {
		r->begin_ticks = clock_ticks();
		r->begin_by = ex->now;
	}
	then_begin_away(t, finish_operation);
}

/* It went with the one before it, as far as it came. */
static int begin_early(struct lkdf_ctx *c, void *arg)
{
	struct task *t = c->task;
	struct io_req *r = t->away.io;
	struct lkdf_io io = r->op.io;

	if (r->how == IO_OVER) {
		destroy_request(t);
		return call_later(c, arg, &io);
	}
	r->op.is_waiting = r->how == IO_WAIT;
	begin_operation(c->ex, t);
	io_issue(c->ex->worker, r);
	return then_stay_away(c);
}

/* With those that may go with it. */
static void issue_op(struct worker *w, struct io_req *r)
{
	struct task *t = r->task;

	if (likely(!(t->link.flags & TASK_OWNED) ||
		   !(t->frame->recs[t->index].flags & REC_LEADS)) ||
	    r->op.nr_done || !io_ring_issue_chain(w, r))
		io_issue(w, r);
}

/* It comes again and again. */
static int begin_multi(struct lkdf_ctx *c)
{
	int rc;

	begin_operation(c->ex, c->task);
	rc = io_multi_create(c->task);
	if (!rc)
		return io_multi_go_on(c, NULL);
	destroy_request(c->task);
	c->has_why = true;
	return rc;
}

int io_begin(struct lkdf_ctx *c, void *arg)
{
	struct task *t = c->task;
	bool is_worker = c->ex->worker && !rt_of(t)->sched.is_serial;
	int64_t nr = -EAGAIN;
	struct lkdf_io io;
	int rc;

	if (unlikely(t->link.flags & TASK_AWAY))
		return begin_early(c, arg);
	rc = take_arg(c, arg, &io);
	if (unlikely(rt_of(t)->check != NULL) && !rc)
		io_op_each_piece(&io, touch_piece, rt_of(t)->check);
	if (!rc && is_worker && !(io.flags & LKDF_IO_MULTI))
		nr = io_ring_peek(c->ex->worker, &io);
	if (!rc && is_over(&io, nr)) {
		io_keep_result(t, nr, 0);
		return call_later(c, arg, &io);
	}
	if (!rc)
		rc = create_request(t, &io);
	if (!rc && io.flags & LKDF_IO_MULTI)
		return begin_multi(c);
	if (rc) {
		c->has_why = true;
		return rc;
	}
	begin_operation(c->ex, t);
	/* The rest of what was at hand; an error comes again. */
	if (nr > 0)
		io_op_came(&t->away.io->op, nr);
	if (is_worker)
		issue_op(c->ex->worker, t->away.io);
	else if (run_at_once(c, t))
		return call_later(c, arg, &io);
	return then_stay_away(c);
}

/* ---- how it ends -------------------------------------------------------- */

static void fail_op(struct executor *ex, struct task *t,
		    const struct lkdf_io *io, int error)
{
	char why[ERRMSG_SIZE];

	io_tell_refusal(io, error, why);
	task_fail(t, error, why, ex->id);
}

static bool count_home(struct executor *ex, int node)
{
	bool is_away = !ex || ex->node != node;

	if (ex && is_away)
		counter_add(ex->counters, COUNTER_HOMED, 1);
	return is_away;
}

bool io_goes_home(struct executor *ex, struct task *t)
{
	struct lkdf *rt = rt_of(t);
	int node = home_node(t->io_home);

	if (t->io_home == HOME_NONE || !count_home(ex, node))
		return false;
	t->link.type = LINK_TASK_DONE;
	if (sched_push(&rt->sched, node, &t->link))
		runtime_has_woken(rt, ex);
	return true;
}

/* ex has taken it; what it makes ready was made so by the operation. */
static __attribute__((noinline)) void note_end(struct executor *ex,
					       const struct task *t)
{
	const struct io_req *r = t->away.io;
	const struct lkdf_stats_slice s = {
		.begin = r->begin_ticks,
		.end = clock_ticks(),
		.task = NO_SLICE_TASK,
		.name = t->kind->trace_name,
		.ready = r->begin_ticks,
		.by = r->begin_by,
		.number = (uint64_t)LKDF_SPAN_OPERATION << 48 |
			  (ex ? traced_begin(ex) : 0),
		.value = (uint64_t)r->op.result,
	};

	if (ex)
		trace_slice(ex->ring, &s);
	else
		trace_slice_outside(trace_outside(&rt_of(t)->trace), &s);
}

bool io_ended(struct executor *ex, struct task *t)
{
	struct lkdf_io io = t->away.io->op.io;

	if (t->away.io->multi)
		return false;
	if (unlikely(t->away.io->begin_ticks))
		note_end(ex, t);
	t->io_home = home_of_bytes(t, &t->away.io->op);
	destroy_request(t);
	if (t->io_home != HOME_NONE && t->kind->later) {
		count_home(ex, home_node(t->io_home));
		t->home = t->io_home;
		t->io_home = HOME_NONE;
		t->link.flags |= TASK_PLACED;
	}
	if (t->kind->later)
		return false;
	if (t->io_error)
		fail_op(ex, t, &io, t->io_error);
	else
		io_close_untaken(t, &io);
	return true;
}

/* ---- all of them --------------------------------------------------------- */

int io_init(struct lkdf *rt, int mode)
{
	io_wait_init(rt->io_wait);
	return io_rings_init(rt, mode);
}

void io_stop(struct lkdf *rt)
{
	io_wait_stop(rt->io_wait, !rt->sched.is_serial);
}

void io_fini(struct lkdf *rt)
{
	io_wait_fini(rt->io_wait);
}

void io_abandon(struct lkdf *rt)
{
	/* The thread that held it at the fork is not here. */
	pthread_mutex_init(&rt->io_wait->lock, NULL);
	io_wait_stop(rt->io_wait, false);
	io_wait_fini(rt->io_wait);
}
