/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A ring of worker 1 for scenarios: the kernel on its other side, the layers
 * above io_ring.c and below it, and a first state with operations under way.
 *
 * The kernel's entries and completions are plain memory that is always up to
 * date here: only the orders around them are checked.
 */
#ifndef MC_RING_H
#define MC_RING_H

#include "base/bell.h"
#include "base/err.h"
#include "base/log.h"
#include "core/runtime.h"
#include "io/io_far.h"
#include "io/io_ring.h"
#include "lay.h"
#include "mc.h"
#include "mem/region.h"
#include "sched/notify.h"
#include "task/then.h"
#include "trace/counters.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#define NR_WORKERS 3
#define NR_NODES 2
#define NR_OPS 3
#define NR_ENTRIES 4

/* Where an operation is. */
enum place {
	OUTSIDE,
	IN_KERNEL,
	OVER,
};

static struct kernel {
	_Atomic(uint32_t) sq_head, sq_tail, sq_flags, cq_head, cq_tail, lock;
	struct io_uring_sqe sqes[NR_ENTRIES];
	struct io_uring_cqe cqes[NR_ENTRIES];
} kernel;

static struct op {
	struct io_req req;
	struct task task;
	_Alignas(LINK_ALIGN) struct link goes_on;
	_Atomic(uint32_t) place;
	/* Plain: who takes it sees who filled it, and who completed it. */
	int filled, posted;
	int nr_came;
	int64_t result;
} ops[NR_OPS], nobody; /* of entries that were never filled */

static struct lkdf rt;
static struct io_rings rings;
static struct lkdf_scope scope;
static struct lkdf_kind kind;
static struct io_ring *ring;
static void *ring_room;
static _Atomic(struct io_ring *) ring_of[NR_WORKERS];
/* The ring is on the first one. */
static struct sched_node nodes[NR_NODES];
static int near[NR_NODES][NR_NODES];
static struct io_unattended unattended[NR_NODES];
static struct worker workers[NR_WORKERS];
static struct executor executors[NR_WORKERS];
static struct counters counters[NR_WORKERS];
static _Atomic(uint64_t) slots[NR_WORKERS][NR_DEQUES][4];
static int victims[NR_WORKERS][NR_WORKERS];
static _Atomic(uint32_t) nr_ran, nr_gone;
static bool is_polled; /* the device takes the entries, no system call */
static uint32_t nr_wanted; /* the last of them stops the workers */

/* ---- the kernel --------------------------------------------------------- */

static struct op *op_of(uint64_t user_data)
{
	struct io_req *r = (struct io_req *)(uintptr_t)user_data;

	return container_of(r, struct op, req);
}

/*
 * A completion; its CPU is the one that calls. The kernel's store is a release
 * only. C++20 puts a load that sees it after one that does not in the one order
 * all the same, and so do the CPUs we know; RC11 does that for stores that are
 * in the order themselves.
 */
static void post(struct op *op, int res)
{
	uint32_t open = 0, tail;

	while (!a_cas(&kernel.lock, &open, 1, acquire, relaxed)) {
		open = 0;
		a_pause();
	}
	plain_store(&op->posted, 1);
	tail = a_load(&kernel.cq_tail, relaxed);
	mc_assert(tail - a_load(&kernel.cq_head, acquire) < NR_ENTRIES);
	kernel.cqes[tail % NR_ENTRIES] = (struct io_uring_cqe){
		.user_data = (uint64_t)(uintptr_t)&op->req, .res = res
	};
	a_store(&kernel.cq_tail, tail + 1, seq_cst);
	a_store(&kernel.lock, 0, release);
}

/* Who has it ends it: the device, or a cancel. */
static bool claim(struct op *op)
{
	uint32_t place = IN_KERNEL;

	return a_cas(&op->place, &place, OVER, seq_cst, seq_cst);
}

static long submit(void)
{
	uint32_t head = a_load(&kernel.sq_head, relaxed);
	uint32_t tail = a_load(&kernel.sq_tail, acquire), i;
	struct op *op;

	for (i = head; i != tail; i++) {
		op = op_of(kernel.sqes[i % NR_ENTRIES].user_data);
		mc_assert(plain_load(&op->filled) == 1);
		a_store(&op->place, IN_KERNEL, seq_cst);
	}
	a_store(&kernel.sq_head, tail, release);
	return tail - head;
}

static long cancel(const struct io_uring_sync_cancel_reg *reg)
{
	struct op *op = op_of(reg->addr);

	if (!claim(op)) {
		mc_see("missed");
		errno = ENOENT;
		return -1;
	}
	mc_see("cancelled");
	post(op, -ECANCELED);
	bell_ring(0);
	return 0;
}

long mc_syscall(long nr, ...);

/* Instead of syscall(2). */
long mc_syscall(long nr, ...)
{
	void *arg;
	va_list ap;

	if (nr == SYS_io_uring_enter)
		return is_polled ? 0 : submit();
	mc_assert(nr == SYS_io_uring_register);
	va_start(ap, nr);
	(void)va_arg(ap, int);
	mc_assert(va_arg(ap, unsigned) == IORING_REGISTER_SYNC_CANCEL);
	arg = va_arg(ap, void *);
	va_end(ap);
	return cancel(arg);
}

#include "ring_below.h"

/* ---- the world ---------------------------------------------------------- */

static void init_worker(int id)
{
	struct worker *w = &workers[id];
	int i;

	a_store(&w->attn, 0, relaxed);
	w->executor = &executors[id];
	w->executor->worker = w;
	w->executor->rt = &rt;
	w->executor->counters = &counters[id];
	memset(&counters[id], 0, sizeof(counters[id]));
	w->sched = &rt.sched;
	w->node = nodes;
	w->id = id;
	w->victims = victims[id];
	w->nr_near = NR_WORKERS - 1;
	a_store(&w->other_classes, 0, relaxed);
	w->idle.phase = PHASE_BUSY;
	w->looks.nr_picks = 0;
	w->looks.look_at = INBOX_EVERY;
	w->offers.behind_ticks = w->offers.offered_at = 0;
	w->io.ring = NULL;
	w->io.has_failed = w->io.waits = false;
	w->io.far = NULL;
	for (i = 0; i < NR_WORKERS - 1; i++)
		victims[id][i] = (id + 1 + i) % NR_WORKERS;
	for (i = 0; i < NR_DEQUES; i++)
		deque_init(&w->deque[i], slots[id][i], 3);
	a_store(&ring_of[id], NULL, relaxed);
}

static void init_node(int at)
{
	struct sched_node *n = &nodes[at];
	int i;

	park_init(&n->park);
	a_store(&n->park.is_watched, 0, relaxed);
	a_store(&n->inbox.head, NULL, relaxed);
	a_store(&n->bound.head, NULL, relaxed);
	a_store(&n->load.nr_tasks, 0, relaxed);
	for (i = 0; i < NR_DEQUES; i++) {
		a_store(&n->backlog[i].first, NULL, relaxed);
		a_store(&n->backlog[i].lock.word, 0, relaxed);
		plain_store(&n->backlog[i].last, NULL);
	}
	for (i = 0; i < NR_NODES; i++)
		near[at][i] = (at + i) % NR_NODES;
	n->near = near[at];
	a_store(&unattended[at].mark, 0, relaxed);
	a_store(&unattended[at].nr_idle, 0, relaxed);
}

static void init_nodes(void)
{
	int i;

	mc_bell_init();
	mc_bell_carries();
	for (i = 0; i < NR_NODES; i++) {
		init_node(i);
		lay_node(&nodes[i], i);
	}
	park_set_bell(&nodes[0].park, 0);
}

static void init_kernel(void)
{
	a_store(&kernel.sq_head, 0, relaxed);
	a_store(&kernel.sq_tail, 0, relaxed);
	a_store(&kernel.sq_flags, 0, relaxed);
	a_store(&kernel.cq_head, 0, relaxed);
	a_store(&kernel.cq_tail, 0, relaxed);
	a_store(&kernel.lock, 0, relaxed);
	mc_name(&kernel.sq_head, "sq_head");
	mc_name(&kernel.sq_tail, "sq_tail");
	mc_name(&kernel.cq_head, "cq_head");
	mc_name(&kernel.cq_tail, "cq_tail");
}

/* Empty. */
static void init_ring(void)
{
	uintptr_t at;

	ring_room = mc_alloc(sizeof(*ring) + CACHE_LINE);
	at = (uintptr_t)ring_room + CACHE_LINE - 1;
	ring = (struct io_ring *)(at & ~(uintptr_t)(CACHE_LINE - 1));
	memset((void *)ring, 0, sizeof(*ring));
	ring->w = &workers[1];
	ring->u.fd = 7;
	ring->u.sq_mask = ring->u.cq_mask = NR_ENTRIES - 1;
	ring->u.sq_head = &kernel.sq_head;
	ring->u.sq_tail = &kernel.sq_tail;
	ring->u.sq_flags = &kernel.sq_flags;
	ring->u.cq_head = &kernel.cq_head;
	ring->u.cq_tail = &kernel.cq_tail;
	ring->u.sqes = kernel.sqes;
	ring->u.cqes = kernel.cqes;
	list_init(&ring->list);
	a_store(&ring->u.refused, 0, relaxed);
	a_store(&ring->is_taken, 0, relaxed);
	a_store(&ring->lock.word, 0, relaxed);
	a_store(&ring->nr_under_way, 0, relaxed);
	a_store(&ring->has_cancelled, 0, relaxed);
	a_store(&ring->far_seen, 0, relaxed);
	a_store(&ring->far_since, 0, relaxed);
	workers[1].io.ring = ring;
	a_store(&ring_of[1], ring, relaxed);
	mc_name(&ring->is_taken, "is_taken");
	mc_name(&ring->has_cancelled, "has_cancelled");
}

static void init_op(struct op *op)
{
	memset((void *)op, 0, sizeof(*op));
	op->req.task = &op->task;
	op->req.end_ns = -1;
	list_init(&op->req.list);
	op->task.kind = &kind;
	op->task.scope = &scope;
	op->task.away.io = &op->req;
	a_store(&op->place, OUTSIDE, relaxed);
	plain_store(&op->filled, 0);
	plain_store(&op->posted, 0);
}

static void init(void)
{
	int i;

	rt.nr_workers = NR_WORKERS;
	rt.io_rings = &rings;
	rings.ring = ring_of;
	rings.unattended = unattended;
	a_store(&rings.nr, 1, relaxed);
	rt.sched.workers = workers;
	rt.sched.nodes = nodes;
	rt.sched.nr_workers = rt.sched.nr_regular = NR_WORKERS;
	rt.sched.nr_nodes = rt.sched.nr_worker_nodes = 1;
	rt.sched.ticks_per_1024ns = 1;
	rows_sort(&rt.sched);
	lay_data(&rt.sched);
	a_store(&rt.sched.is_stopping, 0, relaxed);
	timers_init(&rt.sched.timers);
	a_store(&scope.cancel_err, 0, relaxed);
	init_kernel();
	init_nodes();
	for (i = 0; i < NR_WORKERS; i++)
		init_worker(i);
	init_ring();
	for (i = 0; i < NR_OPS; i++)
		init_op(&ops[i]);
	init_op(&nobody);
	for (i = 0; i < NR_ENTRIES; i++) {
		kernel.cqes[i].user_data = (uint64_t)(uintptr_t)&nobody.req;
		kernel.sqes[i].user_data = (uint64_t)(uintptr_t)&nobody.req;
	}
	is_polled = false;
	a_store(&nr_ran, 0, relaxed);
	a_store(&nr_gone, 0, relaxed);
	mc_name(&nodes[0].park.word, "park");
	mc_name(&nodes[0].park.is_watched, "is_watched");
	mc_name(&nr_ran, "nr_ran");
}

/* As io_ring_issue() and its flush, long ago. */
static void init_under_way(uint32_t nr)
{
	uint32_t i;

	init();
	for (i = 0; i < nr; i++) {
		a_store(&ops[i].place, IN_KERNEL, relaxed);
		plain_store(&ops[i].filled, 1);
		list_append(&ring->list, &ops[i].req.list);
	}
	a_store(&ring->nr_under_way, nr, relaxed);
	nr_wanted = nr;
}

static bool is_stopping(void)
{
	return a_load(&rt.sched.is_stopping, seq_cst) != 0;
}

/* As join_workers() in sched.c. */
static void stop(void)
{
	a_store(&rt.sched.is_stopping, 1, seq_cst);
	notify_all(&rt.sched);
}

/* The device; its interrupt is on the CPU that calls. */
static void complete(struct op *op)
{
	if (!claim(op))
		return;
	post(op, 1);
	bell_ring(0);
}

/* A long body: it ends when all that were under way have gone on. */
static void run(struct worker *w, uint64_t item)
{
	(void)item;
	io_ring_guard(w);
	if (a_add(&nr_ran, 1, relaxed) + 1 == nr_wanted) {
		stop();
		return;
	}
	while (a_load(&nr_ran, relaxed) < nr_wanted)
		a_pause();
	mc_see("another went on");
}

static void all_came_once(void)
{
	uint32_t i;

	for (i = 0; i < nr_wanted; i++)
		mc_assert(ops[i].nr_came == 1);
	mc_assert(a_load(&kernel.cq_head, relaxed) ==
		  a_load(&kernel.cq_tail, relaxed));
	mc_assert(!a_load(&ring->nr_under_way, relaxed));
	mc_assert(!a_load(&ring->is_taken, relaxed));
	mc_assert(list_is_empty(&ring->list));
}

#endif
