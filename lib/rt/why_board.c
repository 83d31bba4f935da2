/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that sleep, or wait for a CPU, as the probe has the threads that run
 * them. It tells who holds a futex word where the word itself tells: those of
 * PI and of robust mutexes and of our locks hold a thread's number.
 */
#include "rt/why.h"

#include "core/runtime.h"
#include "signal/src_bpf.h"
#include "task/kind.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Under the runtime's lock: the kind with that number in recordings. */
static const char *kind_named(const struct lkdf *rt, uint32_t number)
{
	const struct lkdf_kind *k;
	const struct list *l;

	mutex_assert_held((pthread_mutex_t *)&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, const struct lkdf_kind, all);
		if (k->trace_name == number)
			return k->name;
	}
	return "?";
}

/* The word may be gone by now: the kernel reads it for us. */
static bool read_word(uint64_t address, uint32_t *word)
{
	struct iovec to = { word, sizeof(*word) };
	struct iovec from = { (void *)(uintptr_t)address, sizeof(*word) };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) ==
	       (ssize_t)sizeof(*word);
}

/*
 * The thread that holds the word; 0: it is not known. The kernel sets the bit
 * of waiters in words of PI mutexes only, the C library in those of robust ones
 * and base/lock.h in its own, too: all have the holder's number beside it.
 */
static uint32_t holder_of(uint64_t address)
{
	uint32_t word = 0, tid;

	if (!address || !read_word(address, &word) || !(word & FUTEX_WAITERS))
		return 0;
	tid = word & FUTEX_TID_MASK;
	return tid && !syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) ? tid : 0;
}

/* Its number if it is one of ours, else -1. */
static int executor_of(const struct lkdf *rt, uint32_t tid)
{
	int i;

	for (i = 0; tid && i < rt->nr_executors; i++)
		if (a_load(&rt->trace.rings[i].start_seq, relaxed) &&
		    a_load(&rt->trace.rings[i].tid, relaxed) == tid)
			return i;
	return -1;
}

static void note_preemptor(struct why_sleep *s, const struct probed_thread *t)
{
	if (t->state != LKDF_STATE_PREEMPTED)
		return;
	s->by_tid = t->by_tid;
	memcpy(s->by, t->by, sizeof(s->by));
}

/* A holder that waits for a CPU is what all others wait for. */
static void look_at_holder(const struct why *y, struct why_sleep *s,
			   const struct probed_source *source)
{
	struct probed_thread t;

	s->holder_tid = holder_of(s->word);
	s->holder = executor_of(y->rt, s->holder_tid);
	memset(&t, 0, sizeof(t));
	if (s->holder >= 0 && source->thread(source->u, s->holder, &t))
		note_preemptor(s, &t);
}

/* Outside of a body a wait is the runtime's own. */
static void look_at_thread(struct why *y, int executor, uint32_t kind,
			   const struct probed_source *source)
{
	struct probed_thread now, *t = &now;
	struct why_sleep *s;

	memset(t, 0, sizeof(*t));
	if (!kind || !source->thread(source->u, executor, t) ||
	    t->state < LKDF_STATE_PREEMPTED || t->state > LKDF_STATE_FUTEX)
		return;
	if (y->nr_sleeps++ >= WHY_BODIES)
		return;
	s = &y->sleep[y->nr_sleeps - 1];
	s->executor = executor;
	s->state = t->state;
	s->ns = t->state_ns;
	s->word = t->state == LKDF_STATE_FUTEX ? t->word : 0;
	s->by_tid = 0;
	note_preemptor(s, t);
	look_at_holder(y, s, source);
	snprintf(s->kind, sizeof(s->kind), "%s", kind_named(y->rt, kind));
}

void why_look_at_board(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct probed_source source;
	uint32_t kind, hz;
	int i;

	if (!src_bpf_source(&rt->signals, &source) ||
	    !(source.sees(source.u, &hz) & LKDF_PROBED_SEES_SWITCHES))
		return;
	y->has_board = true;
	pthread_mutex_lock(&rt->lock);
	for (i = 0; i < rt->nr_executors; i++) {
		kind = a_load(&rt->executors[i].noted, relaxed);
		look_at_thread(y, i, kind, &source);
	}
	pthread_mutex_unlock(&rt->lock);
}
