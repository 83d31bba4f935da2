/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_ring.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "io/io_chain.h"
#include "io/io_multi.h"
#include "task/then.h"
#include "trace/counters.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <string.h>

/* Taken at a time: others may take the next ones meanwhile. */
#define NR_TAKE 32

static struct lkdf *rt_of(const struct worker *w)
{
	return w->executor->rt;
}

/* ---- giving ------------------------------------------------------------- */

static bool fill_entry(struct io_ring *ring, struct io_req *r)
{
	struct io_uring_sqe *sqe = uring_sqe(&ring->u);

	if (!sqe)
		return false;
	io_op_fill(&r->op, sqe);
	io_op_fix(sqe, r->fixed[IO_FIXED_FILE], r->fixed[IO_FIXED_BUFFER]);
	sqe->user_data = (uint64_t)(uintptr_t)r;
	if (unlikely(r->head && r->behind))
		uring_link(&ring->u, sqe);
	return true;
}

/*
 * Says first that there may be some: who submits looks at that afterwards, so
 * either it sees this or we find what it has submitted. True: try again, as
 * long as there are some. The kernel's report of its own success is not enough:
 * in Linux 6.1 an operation that is just woken, finds nothing and waits once
 * more forgets that it was cancelled in between.
 */
static bool cancel_all(struct io_ring *ring)
{
	bool has_missed = false;
	struct io_req *r;
	struct list *l;

	lock_take(&ring->lock);
	/* [ring.cancel] before we ask the kernel; pairs with [ring.again]. */
	a_store(&ring->has_cancelled, true, seq_cst);
	for (l = ring->list.next; l != &ring->list; l = l->next) {
		r = container_of(l, struct io_req, list);
		if (!io_cancelled(r))
			continue;
		uring_cancel(&ring->u, (uint64_t)(uintptr_t)r);
		has_missed = true;
	}
	a_store(&ring->has_cancelled, has_missed, relaxed);
	lock_give(&ring->lock);
	return has_missed;
}

/* The system call, told while somebody records. */
static __attribute__((noinline)) int submit_told(struct io_ring *ring,
						 uint32_t nr)
{
	struct lkdf_stats_slice s = {
		.begin = clock_ticks(),
		.task = NO_SLICE_TASK,
		.number = (uint64_t)LKDF_SPAN_ENTER << 48,
		.value = nr,
	};
	int rc = uring_submit(&ring->u);

	s.end = clock_ticks();
	trace_slice(ring->w->executor->ring, &s);
	return rc;
}

/* Operations that it does not take now it gets again. */
static int submit_ring(struct io_ring *ring)
{
	uint32_t nr = uring_nr_waiting(&ring->u);

	if (!nr)
		return 0;
	return unlikely(trace_is_recording(&rt_of(ring->w)->trace))
		       ? submit_told(ring, nr)
		       : uring_submit(&ring->u);
}

static void flush_ring(struct io_ring *ring)
{
	struct io_req *r;

	do {
		while ((r = ring->later) && fill_entry(ring, r))
			ring->later = r->next;
		if (submit_ring(ring))
			break;
	} while (ring->later);
	/* [ring.again] after we have submitted; pairs with [ring.cancel]. */
	if (unlikely(a_load(&ring->has_cancelled, seq_cst)) && cancel_all(ring))
		io_wait_again(rt_of(ring->w));
}

/* More may follow: see to the rest before what is no operation runs. */
static inline void flush_batch(struct io_ring *ring)
{
	if (likely(uring_nr_waiting(&ring->u) < IO_BATCH))
		return;
	flush_ring(ring);
	ring->is_unguarded = true;
}

/* Under lock: we see the cancel or its kick finds us. */
static inline void enlist_request(struct io_ring *ring, struct io_req *r)
{
	lock_assert_held(&ring->lock);
	r->ring = ring;
	list_append(&ring->list, &r->list);
	a_store(&ring->nr_under_way, a_load(&ring->nr_under_way, relaxed) + 1,
		relaxed);
	if (unlikely(io_cancelled(r)))
		a_store(&ring->has_cancelled, true, relaxed);
	memset(r->fixed, -1, sizeof(r->fixed));
	if (unlikely(ring->fixed[IO_FIXED_FILE].known.taken |
		     ring->fixed[IO_FIXED_BUFFER].known.taken))
		io_fixed_look(ring, r);
}

bool io_ring_issue(struct worker *w, struct io_req *r)
{
	struct io_ring *ring = io_ring_of(w);

	if (!ring)
		return false;
	lock_take(&ring->lock);
	enlist_request(ring, r);
	lock_give(&ring->lock);
	if (ring->later || !fill_entry(ring, r)) {
		r->next = ring->later;
		ring->later = r;
	}
	flush_batch(ring);
	return true;
}

bool io_ring_issue_chain(struct worker *w, struct io_req *head)
{
	struct io_ring *ring = io_ring_of(w);
	struct io_req *r;
	uint32_t nr;

	/* Entries that do not go in one call are not linked. */
	if (!ring || ring->later || uring_room(&ring->u) < IO_CHAIN)
		return false;
	nr = io_chain_make(head);
	if (nr == 1)
		return false;
	lock_take(&ring->lock);
	for (r = head; r; r = r->behind)
		enlist_request(ring, r);
	lock_give(&ring->lock);
	for (r = head; r; r = r->behind)
		fill_entry(ring, r);
	flush_batch(ring);
	counter_add(w->executor->counters, COUNTER_LINKED, nr - 1);
	return true;
}

/* ---- taking ------------------------------------------------------------- */

static struct io_req *req_of(const struct io_uring_cqe *cqe)
{
	return (struct io_req *)(uintptr_t)cqe->user_data;
}

/*
 * A piece of many that an operation gives: its buffer is the kernel's again. An
 * operation that has enough for now is asked to stop; if it is not found it
 * gives another one. False: nobody waits for this one.
 */
static bool take_piece(struct io_ring *ring, struct io_req *r,
		       const struct io_uring_cqe *cqe)
{
	uint16_t at = (uint16_t)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
	bool has_buffer = cqe->flags & IORING_CQE_F_BUFFER;
	bool is_last = !(cqe->flags & IORING_CQE_F_MORE);
	struct uring_buffers *b = NULL;
	const char *bytes = NULL;
	enum io_piece how;

	if (has_buffer) {
		b = &ring->buffers[io_piece_class(r->op.io.len)];
		bytes = uring_buffer(b, at);
	}
	how = io_multi_piece(r, cqe->res, bytes, is_last);
	if (has_buffer)
		uring_buffers_lend(b, at);
	if (how == IO_PIECE_FULL && !is_last)
		uring_cancel(&ring->u, (uint64_t)(uintptr_t)r);
	return how == IO_PIECE_WAKES;
}

/*
 * Under is_taken, as the last of an operation is behind all others: what of
 * it is there to be done without; user_data 0: nothing.
 */
static void take_pieces(struct io_ring *ring, struct io_uring_cqe *cqe,
			uint32_t nr)
{
	bool is_wanted;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (likely(!req_of(&cqe[i])->multi))
			continue;
		is_wanted = take_piece(ring, req_of(&cqe[i]), &cqe[i]);
		if (cqe[i].flags & IORING_CQE_F_MORE && !is_wanted)
			cqe[i].user_data = 0;
	}
}

/*
 * Under lock: leaves those that end an operation, whose number it returns, and
 * pieces that somebody waits for; of several others of one the last only.
 */
static uint32_t sort_out(struct io_uring_cqe *cqe, uint32_t nr,
			 uint32_t *nr_kept)
{
	uint32_t i, nr_over = 0;
	struct io_req *r;

	*nr_kept = 0;
	for (i = 0; i < nr; i++) {
		r = req_of(&cqe[i]);
		if (unlikely(!r))
			continue;
		if (cqe[i].flags & IORING_CQE_F_MORE) {
			if (r->multi)
				cqe[(*nr_kept)++] = cqe[i];
			else
				r->op.result = cqe[i].res;
			continue;
		}
		list_del(&r->list);
		if (cqe[i].flags & IORING_CQE_F_NOTIF)
			cqe[i].res = (int32_t)r->op.result;
		cqe[(*nr_kept)++] = cqe[i];
		nr_over++;
	}
	return nr_over;
}

/*
 * Some completions. False: somebody else takes them, and will look again when
 * done.
 */
static bool take_some(struct io_ring *ring, struct io_uring_cqe *cqe,
		      uint32_t *nr)
{
	uint32_t open = 0, nr_over, nr_taken;

	/* [ring.take] what the last one has taken; pairs with [ring.taken].
	 * seq_cst: who finds it taken has seen what the holder will look for
	 * once more. */
	if (!a_cas(&ring->is_taken, &open, 1, seq_cst, seq_cst))
		return false;
	nr_taken = uring_take(&ring->u, cqe, NR_TAKE);
	take_pieces(ring, cqe, nr_taken);
	lock_take(&ring->lock);
	nr_over = sort_out(cqe, nr_taken, nr);
	a_store(&ring->nr_under_way,
		a_load(&ring->nr_under_way, relaxed) - nr_over, relaxed);
	lock_give(&ring->lock);
	/* [ring.taken] the head of the completions; pairs with [ring.take].
	 * seq_cst: before [uring.ready]. */
	a_store(&ring->is_taken, 0, seq_cst);
	return true;
}

/*
 * The kernel gives an operation up when it gets no thread for it, as happens
 * while signals come fast. A thread of ours can do most of them.
 */
static bool is_given_up(const struct io_req *r, int res)
{
	return res == -ECANCELED && r->op.io.op != LKDF_IO_SQE &&
	       !io_cancelled(r);
}

static void completions_came(struct worker *w, struct io_req *r, int res)
{
	enum io_next next;

	if (unlikely(r->multi != NULL)) {
		io_multi_came(w->executor, r, res);
		return;
	}
	if (unlikely(r->head != NULL)) {
		r = io_chain_came(r, res);
		if (!r)
			return;
		res = r->came;
	}
	if (unlikely(is_given_up(r, res))) {
		r->op.is_waiting = false;
		io_issue_call(w->executor, r);
		return;
	}
	next = io_op_came(&r->op, res);
	if (next != IO_OVER && io_cancelled(r)) {
		r->op.result = -ECANCELED;
		next = IO_OVER;
	}
	if (next == IO_OVER) {
		then_leave(w->executor, r->task);
		return;
	}
	r->op.is_waiting = next == IO_WAIT;
	io_issue(w, r);
}

static bool take_ring(struct worker *w, struct io_ring *ring)
{
	struct io_uring_cqe cqe[NR_TAKE];
	bool has_some = false;
	uint32_t nr, i;

	while (uring_looks_ready(&ring->u) && take_some(ring, cqe, &nr)) {
		for (i = 0; i < nr; i++) {
			if (unlikely(cqe[i].flags & IORING_CQE_F_MORE))
				io_multi_wake(w->executor, req_of(&cqe[i]));
			else
				completions_came(w, req_of(&cqe[i]),
						 cqe[i].res);
		}
		has_some |= nr != 0;
	}
	return has_some;
}

/* ---- refused ------------------------------------------------------------ */

/* Operations that the kernel has not taken, the oldest first. */
static struct io_req *take_all_back(struct io_ring *ring)
{
	struct io_req *all = NULL, *r;
	uint64_t at;

	while ((r = ring->later)) {
		ring->later = r->next;
		r->next = all;
		all = r;
	}
	while ((at = uring_take_back(&ring->u))) {
		r = (struct io_req *)(uintptr_t)at;
		r->next = all;
		all = r;
	}
	return all;
}

/*
 * The kernel takes no more, as when a filter has come that refuses the call:
 * threads do what waits, and what follows. Operations that it has it will
 * complete.
 */
static void give_up(struct io_ring *ring)
{
	struct io_req *r = take_all_back(ring), *next;

	io_ring_tell_lack(ring->w, a_load(&ring->u.refused, relaxed));
	for (; r; r = next) {
		next = r->next;
		lock_take(&ring->lock);
		list_del(&r->list);
		a_store(&ring->nr_under_way,
			a_load(&ring->nr_under_way, relaxed) - 1, relaxed);
		lock_give(&ring->lock);
		completions_came(ring->w, r,
				 r->op.io.op == LKDF_IO_SQE ? -EOPNOTSUPP
							    : -ECANCELED);
	}
}

/* Between two tasks. */
static void flush_all(struct io_ring *ring)
{
	flush_ring(ring);
	if (unlikely(a_load(&ring->u.refused, relaxed)) &&
	    (ring->later || uring_nr_waiting(&ring->u)))
		give_up(ring);
}

void io_ring_look(struct io_ring *ring, bool next_is_io)
{
	if (!next_is_io)
		flush_all(ring);
	take_ring(ring->w, ring);
	if (next_is_io)
		return;
	/* The rest goes on as a further operation. */
	if (uring_nr_waiting(&ring->u))
		flush_all(ring);
	ring->is_unguarded = false;
	io_ring_guard(ring->w);
}

bool io_ring_poll(struct worker *w)
{
	struct lkdf *rt = rt_of(w);
	bool has_some = false;
	struct io_ring *ring;
	int i;

	/* Its threads are not bound: one may wait for this very CPU. */
	if (unlikely(blocking_is_busy(&rt->blocking)))
		blocking_make_room(&rt->blocking);
	if (likely(!a_load(&rt->io_rings->nr, relaxed)))
		return false;
	if (w->io.ring && io_ring_has_news(w->io.ring))
		flush_all(w->io.ring);
	for (i = 0; i < rt->nr_workers; i++) {
		ring = io_ring_at(rt->io_rings, i);
		if (ring && ring->w->node == w->node)
			has_some |= take_ring(w, ring);
	}
	if (unlikely(w->io.far != NULL)) {
		has_some |= take_ring(w, w->io.far);
		w->io.far = NULL;
	}
	if (!w->io.ring)
		return has_some;
	if (uring_nr_waiting(&w->io.ring->u))
		flush_all(w->io.ring);
	w->io.waits = uring_nr_waiting(&w->io.ring->u) || w->io.ring->later;
	return has_some;
}

void io_ring_stir(struct io_req *r)
{
	if (r->ring)
		uring_cancel(&r->ring->u, (uint64_t)(uintptr_t)r);
}

/* ---- all of them -------------------------------------------------------- */

bool io_ring_kick(struct lkdf *rt)
{
	bool has_missed = false;
	struct io_ring *ring;
	int i;

	for (i = 0; i < rt->nr_workers; i++) {
		ring = io_ring_at(rt->io_rings, i);
		if (ring && cancel_all(ring))
			has_missed = true;
	}
	return has_missed;
}
