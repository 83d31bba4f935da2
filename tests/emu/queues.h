/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The queues of the emulated device (emu.h), a thread for each. A seed decides
 * which of the commands in a queue is next, how long it takes, and whether it
 * is done before the call returns, so that nothing may rely on an order.
 */
#ifndef TESTS_EMU_QUEUES_H
#define TESTS_EMU_QUEUES_H

#include "tests/api/api.h"

#include <lkdf/device.h>
#include <pthread.h>

#define EMU_QUEUES 8 /* with those for copies */
#define EMU_BLOCKS 4096
#define EMU_GRAIN 256
#define EMU_COPY_BYTES 1024 /* that queues for kernels take */

enum emu_entry {
	EMU_INFO,
	EMU_START,
	EMU_STOP,
	EMU_ALLOC,
	EMU_FREE,
	EMU_BUILD,
	EMU_DROP,
	EMU_UPLOAD,
	EMU_FETCH,
	EMU_LAUNCH,
	EMU_QUEUE,
	EMU_MARK,
	EMU_POLL,
	EMU_ARM,
	EMU_NEEDS,
	EMU_FINALIZE,
	EMU_PIN,
	EMU_UNPIN,
	EMU_COPY,
	EMU_FILL,
	EMU_NR_ENTRIES,
};

enum emu_flag {
	EMU_OWN = 1, /* memory of its own */
	EMU_POLLS = 2, /* does not call by itself */
	EMU_ARMS = 4, /* and can be armed */
	EMU_WILD = 8, /* seeded order, delays, and early ends */
	EMU_ORDERED = 16, /* keeps the order within queues for kernels, though
			   * it may say late that something is done */
	EMU_MANAGED = 32, /* has memory that the host has, too */
	EMU_PINS = 64, /* wants to know pinned memory of the host */
	EMU_COPIES = 128, /* copies within itself */
	EMU_CALLS = 256, /* with POLLS: calls by itself, but where it forgets */
	EMU_DEAF = 512, /* with ARMS: never wakes */
	EMU_LATE = 1024, /* with POLLS: poll tells of a loss 250 ms late, and
			  * until then of nothing */
	EMU_WAITS = 2048, /* free waits for all commands that run, and nothing
			   * else is done meanwhile */
	EMU_FILLS = 8192, /* makes zeroes */
	EMU_BUILDS = 4096, /* builds beside all other calls */
	EMU_QUIET = 16384, /* with ORDERED: tells of quiet launches that fail */
	EMU_TOGETHER = 32768, /* with ORDERED: queues for kernels take copies */
};

struct emu;

typedef void (*emu_fn)(struct emu *e, const struct lkdf_launch *l);

/* What code with that text, or entry, is. */
struct emu_kernel {
	const char *name;
	emu_fn fn;
};

/* Work for a queue; what enqueue() makes, too. */
struct emu_command {
	struct emu_command *next;
	void (*run)(struct emu *e, struct emu_command *c);
	struct lkdf_device_op op;
	bool has_op, is_quiet;
	int error;
	void *to;
	const void *from;
	uint64_t bytes;
	int byte; /* of a fill */
	struct lkdf_launch launch;
	struct lkdf_arg arg[LKDF_MAX_PARAMS];
	char value[LKDF_MAX_PARAMS][64];
};

struct emu_queue {
	struct emu *e;
	pthread_t thread;
	struct emu_command *first; /* under lock */
	unsigned seed;
	bool is_ordered;
	bool is_running; /* under lock */
	struct emu_command *late; /* done, and not said */
};

struct emu {
	/* Set by the test before it registers. */
	unsigned flags, nr_queues, seed;
	uint64_t memory; /* bytes */
	const struct emu_kernel *kernels; /* ends with a NULL name */
	struct lkdf_device_info info; /* what else it says */
	struct lkdf_kernel_needs needs; /* size 0: it cannot say */
	uint32_t ops_flags;
	const char *name;

	/* The call of an entry that fails, from 1 on; 0: none. */
	atomic_int fail_at[EMU_NR_ENTRIES];
	int fail_error[EMU_NR_ENTRIES];
	bool fails_late; /* with the op, not the call */

	atomic_int nr[EMU_NR_ENTRIES]; /* calls */
	atomic_int nr_inside; /* more than 1: two calls at a time */
	atomic_int nr_overlaps, nr_run, is_held, nr_held, nr_stale;
	atomic_int nr_forgets; /* ends that are not told by a call */
	atomic_int nr_waited; /* frees while a command ran */
	atomic_int nr_quiet; /* launches that are not told */
	atomic_int build_is_held; /* no build ends */
	atomic_int nr_let; /* commands that may begin though it is held */
	atomic_ullong bytes_up, bytes_down, bytes_within;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct emu_queue queue[EMU_QUEUES];
	unsigned nr_threads, nr_busy; /* commands that run */
	bool is_stopping, is_lost;
	int64_t lost_ns; /* when */
	struct emu_command *done; /* of one that is polled */
	void (*wake_fn)(void *u);
	void *wake_u;

	char *base, *alias; /* of the device, of its kernels */
	struct {
		uint64_t at, bytes;
	} block[EMU_BLOCKS];
	unsigned nr_blocks;
	unsigned nr_managed, nr_pinned;
};

/* A kernel sets it: its launch ends with that. */
__attribute__((unused)) static _Thread_local int emu_error;

/* Where a kernel finds argument i. */
__attribute__((unused)) static void *
emu_at(struct emu *e, const struct lkdf_launch *l, unsigned i)
{
	const struct lkdf_arg *a = &l->arg[i];
	char *at = (char *)(uintptr_t)a->value + a->offset;

	return e->flags & EMU_OWN ? e->alias + (at - e->base) : at;
}

/* The same for memory whose address is the value of argument i. */
__attribute__((unused)) static void *
emu_value_at(struct emu *e, const struct lkdf_launch *l, unsigned i)
{
	char *at;

	memcpy(&at, l->arg[i].value, sizeof(at));
	return at >= e->base && at < e->base + e->memory
		       ? e->alias + (at - e->base)
		       : at;
}

/* Counts a call: the error that it is to give, or 0. */
static int emu_count(struct emu *e, enum emu_entry entry)
{
	int nr = atomic_fetch_add(&e->nr[entry], 1) + 1;

	return nr == atomic_load(&e->fail_at[entry]) ? e->fail_error[entry] : 0;
}

/* The same for a call that comes while no other is made. */
static int emu_enter(struct emu *e, enum emu_entry entry)
{
	if (atomic_fetch_add(&e->nr_inside, 1))
		atomic_fetch_add(&e->nr_overlaps, 1);
	return emu_count(e, entry);
}

static int emu_leave(struct emu *e, int rc)
{
	atomic_fetch_sub(&e->nr_inside, 1);
	return rc;
}

/* ---- queues ------------------------------------------------------------- */

static void emu_say_done(struct emu *e, struct emu_command *c)
{
	if (lkdf_device_done(c->op, c->error) == -ESTALE)
		atomic_fetch_add(&e->nr_stale, 1);
}

/* Is it for poll() to say that a command is done? */
static bool emu_forgets(struct emu *e)
{
	int nr = atomic_load(&e->nr_forgets);

	if (!(e->flags & EMU_CALLS))
		return true;
	while (nr > 0 &&
	       !atomic_compare_exchange_weak(&e->nr_forgets, &nr, nr - 1))
		;
	return nr > 0;
}

/* Under lock: the last is told first, where nothing is quiet. */
static void emu_add_done(struct emu *e, struct emu_command *c)
{
	struct emu_command **at = &e->done;

	while (e->flags & EMU_QUIET && *at)
		at = &(*at)->next;
	c->next = *at;
	*at = c;
}

/* The command is over, and gone. */
static void emu_end(struct emu *e, struct emu_command *c)
{
	void (*wake)(void *u) = NULL;
	void *u = NULL;

	if (!c->has_op || (c->is_quiet && !c->error)) {
		free(c);
		return;
	}
	if (e->flags & EMU_POLLS && emu_forgets(e)) {
		pthread_mutex_lock(&e->lock);
		emu_add_done(e, c);
		wake = e->flags & EMU_DEAF ? NULL : e->wake_fn;
		u = e->wake_u;
		e->wake_fn = NULL;
		pthread_mutex_unlock(&e->lock);
		if (wake)
			wake(u);
		return;
	}
	emu_say_done(e, c);
	free(c);
}

/* A command that emu_pick() or emu_push() has counted. */
static void emu_run(struct emu *e, struct emu_command *c)
{
	if (!c->error && c->run)
		c->run(e, c);
	atomic_fetch_add(&e->nr_run, 1);
	pthread_mutex_lock(&e->lock);
	if (!--e->nr_busy)
		pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->lock);
}

/* Under lock: the next of the queue; a mark is behind what was before it. */
static struct emu_command *emu_pick(struct emu *e, struct emu_queue *q)
{
	struct emu_command **at = &q->first, *c;
	unsigned skip = 0;

	if (atomic_load(&e->is_held) && !e->is_lost) {
		if (!q->first || !atomic_load(&e->nr_let))
			return NULL;
		atomic_fetch_sub(&e->nr_let, 1);
	}
	if (e->flags & EMU_WILD && !q->is_ordered)
		skip = (unsigned)rand_r(&q->seed) % 3;
	while (skip-- && *at && (*at)->has_op && (*at)->next &&
	       (*at)->next->has_op && (*at)->next->run)
		at = &(*at)->next;
	c = *at;
	q->is_running = c;
	if (!c)
		return NULL;
	*at = c->next;
	e->nr_busy++;
	return c;
}

/* Of an ordered queue some ends are told after the next one's. */
static void emu_tell(struct emu *e, struct emu_queue *q, struct emu_command *c)
{
	struct emu_command *late;
	bool is_late;

	pthread_mutex_lock(&e->lock);
	late = q->late;
	is_late = c && !c->is_quiet && q->is_ordered && e->flags & EMU_WILD &&
		  !late && !(rand_r(&q->seed) % 3);
	q->late = is_late ? c : NULL;
	pthread_mutex_unlock(&e->lock);
	if (c && !is_late)
		emu_end(e, c);
	if (late)
		emu_end(e, late);
}

static void *emu_thread(void *arg)
{
	struct emu_queue *q = arg;
	struct emu *e = q->e;
	struct emu_command *c;
	unsigned i;

	pthread_mutex_lock(&e->lock);
	for (;;) {
		c = emu_pick(e, q);
		if (!c && q->late) {
			pthread_mutex_unlock(&e->lock);
			emu_tell(e, q, NULL);
			pthread_mutex_lock(&e->lock);
			continue;
		}
		if (!c && e->is_stopping)
			break;
		if (!c) {
			pthread_cond_wait(&e->wake, &e->lock);
			continue;
		}
		i = e->flags & EMU_WILD ? (unsigned)rand_r(&q->seed) % 4 : 0;
		pthread_mutex_unlock(&e->lock);
		/* Some copies take much longer than a kernel does. Naps: on a
		 * busy machine a yield is as long as all others' turns. */
		if (i == 3 && q < &e->queue[2])
			api_nap_ns(100000);
		if (i)
			api_nap_ns(i * 1000);
		emu_run(e, c);
		emu_tell(e, q, c);
		pthread_mutex_lock(&e->lock);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

static int emu_push(struct emu *e, unsigned queue, struct emu_command *c)
{
	struct emu_queue *q = &e->queue[queue];
	struct emu_command **at = &q->first;
	bool is_early;

	pthread_mutex_lock(&e->lock);
	if (e->is_lost)
		c->error = -ENODEV;
	is_early = e->flags & EMU_WILD && !*at && c->has_op && c->run &&
		   !(q->is_ordered && (q->is_running || q->late)) &&
		   !atomic_load(&e->is_held) && !(rand_r(&q->seed) % 8);
	e->nr_busy += is_early;
	if (!is_early) {
		while (*at)
			at = &(*at)->next;
		c->next = NULL;
		*at = c;
		if (atomic_load(&e->is_held))
			atomic_fetch_add(&e->nr_held, 1);
		pthread_cond_broadcast(&e->wake);
	}
	pthread_mutex_unlock(&e->lock);
	if (is_early) {
		emu_run(e, c);
		emu_end(e, c);
	}
	return 0;
}

static struct emu_command *emu_command(struct lkdf_device_op op)
{
	struct emu_command *c = calloc(1, sizeof(*c));

	c->op = op;
	c->has_op = true;
	return c;
}

/* A command that the entry may have to fail. */
static int emu_give(struct emu *e, enum emu_entry entry, unsigned queue,
		    struct emu_command *c)
{
	int error = emu_enter(e, entry);

	if (error && !e->fails_late) {
		free(c);
		return emu_leave(e, error);
	}
	c->error = error;
	return emu_leave(e, emu_push(e, queue, c));
}

/* From now on nothing begins; and again. */
__attribute__((unused)) static void emu_hold(struct emu *e)
{
	atomic_store(&e->is_held, 1);
}

__attribute__((unused)) static void emu_release(struct emu *e)
{
	pthread_mutex_lock(&e->lock);
	atomic_store(&e->is_held, 0);
	pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->lock);
}

/* So many of those that are held back may begin. */
__attribute__((unused)) static void emu_let(struct emu *e, int nr)
{
	pthread_mutex_lock(&e->lock);
	atomic_fetch_add(&e->nr_let, nr);
	pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->lock);
}

/* Until so many commands are held back. */
__attribute__((unused)) static void emu_until_held(struct emu *e, int nr)
{
	while (atomic_load(&e->nr_held) < nr)
		api_nap_ns(50000);
}

__attribute__((unused)) static int64_t emu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* All that it holds is gone; ops say so when no command touches the host. */
__attribute__((unused)) static void emu_lose(struct emu *e)
{
	struct emu_command *c, *all = NULL;
	unsigned i;

	pthread_mutex_lock(&e->lock);
	e->is_lost = true;
	e->lost_ns = emu_now_ns();
	for (i = 0; i < EMU_QUEUES; i++)
		while ((c = e->queue[i].first)) {
			e->queue[i].first = c->next;
			c->next = all;
			all = c;
		}
	while (e->nr_busy)
		pthread_cond_wait(&e->wake, &e->lock);
	pthread_mutex_unlock(&e->lock);
	while ((c = all)) {
		all = c->next;
		c->error = -ENODEV;
		emu_end(e, c);
	}
}

#endif
