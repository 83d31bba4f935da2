/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One 32-byte record per task, ids of 4 bytes in split deques. The owner works
 * above the split with plain accesses; thieves take below it with one
 * compare-and-swap, and ask when nothing is there. A task with one predecessor
 * has no counter; the last decrement re-arms the others. Done tasks are
 * counted per worker and added up when it runs dry.
 *
 * The idea of the split deque: van Dijk, van de Pol, "Lace", 2014.
 */
#include "tests/bench/floor.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_SIZE (1u << 20)
#define QUEUE_MASK (QUEUE_SIZE - 1)
#define NONE UINT32_MAX
#define SPINS_BEFORE_SLEEP 3000
#define SPINS_BEFORE_YIELD 4000
#define MAX_WORKERS 64

struct floor_node {
	floor_fn fn;
	uint32_t arg;
	_Atomic int32_t missing;
	uint16_t nr_succ, nr_pred;
	uint32_t more;
	uint32_t succ[2];
};
_Static_assert(sizeof(struct floor_node) == 32, "two records per cache line");

struct floor_graph {
	struct floor_node *node;
	uint32_t *more, *source;
	uint32_t nr_tasks, nr_sources;
};

struct floor_worker {
	/* Thieves and owner: tail in the low half, split in the high half. */
	alignas(128) _Atomic uint64_t public;

	/* Set by a thief that found nothing, cleared by the owner. */
	alignas(128) atomic_bool is_wanted;

	/* Owner only. */
	alignas(128) uint32_t head;
	uint32_t split;
	uint32_t *queue;

	/* Constant while the threads live. */
	struct floor *floor;
	pthread_t thread;
	int id, cpu;
};

struct floor {
	alignas(128) _Atomic uint32_t round;
	alignas(128) _Atomic int64_t nr_left;
	_Atomic uint32_t nr_asleep;
	atomic_bool is_over;
	alignas(128) const struct floor_graph *graph;
	int nr_workers, nr_started;
	struct floor_worker worker[];
};

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Half of the private part becomes public, at least one. Owner only. */
static void share(struct floor_worker *w)
{
	uint32_t half = (w->head - w->split + 1) / 2;

	atomic_fetch_add(&w->public, (uint64_t)half << 32);
	w->split += half;
	atomic_store_explicit(&w->is_wanted, false, memory_order_relaxed);
}

static inline bool is_asked(const struct floor_worker *w)
{
	return __builtin_expect(
		atomic_load_explicit(&w->is_wanted, memory_order_relaxed), 0);
}

static inline void push(struct floor_worker *w, uint32_t task)
{
	w->queue[w->head++ & QUEUE_MASK] = task;
	if (is_asked(w))
		share(w);
}

/* Takes half of the public part back. Owner only. */
static bool reclaim(struct floor_worker *w)
{
	uint64_t old = atomic_load_explicit(&w->public, memory_order_relaxed);
	uint32_t tail, split, middle;

	do {
		tail = (uint32_t)old;
		split = (uint32_t)(old >> 32);
		middle = tail + (split - tail) / 2;
		w->head = split;
		w->split = split;
		if (tail == split)
			return false;
	} while (!atomic_compare_exchange_weak(&w->public, &old,
					       (uint64_t)middle << 32 | tail));
	w->split = middle;
	return true;
}

static inline uint32_t pop(struct floor_worker *w)
{
	if (w->head == w->split && !reclaim(w))
		return NONE;
	return w->queue[--w->head & QUEUE_MASK];
}

static uint32_t steal(struct floor_worker *victim)
{
	uint64_t old =
		atomic_load_explicit(&victim->public, memory_order_acquire);
	uint32_t tail = (uint32_t)old, split = (uint32_t)(old >> 32);

	if (tail == split) {
		if (!is_asked(victim))
			atomic_store_explicit(&victim->is_wanted, true,
					      memory_order_relaxed);
		return NONE;
	}
	if (!atomic_compare_exchange_strong(&victim->public, &old,
					    (uint64_t)split << 32 | (tail + 1)))
		return NONE;
	return victim->queue[tail & QUEUE_MASK];
}

/* True for the last predecessor, which also re-arms the counter. */
static inline bool is_ready(struct floor_node *n)
{
	if (n->nr_pred == 1)
		return true;
	if (atomic_load_explicit(&n->missing, memory_order_acquire) != 1 &&
	    atomic_fetch_sub_explicit(&n->missing, 1, memory_order_acq_rel) !=
		    1)
		return false;
	atomic_store_explicit(&n->missing, n->nr_pred, memory_order_relaxed);
	return true;
}

/*
 * Runs a task and goes on with the first successor that it made ready; how
 * many ran.
 */
static inline uint32_t run_from(struct floor_worker *w, struct floor_node *node,
				const uint32_t *more, uint32_t task)
{
	struct floor_node *n;
	const uint32_t *succ;
	uint32_t i, nr, next, nr_done = 0;

	for (; task != NONE; task = next, nr_done++) {
		n = &node[task];
		next = NONE;
		if (is_asked(w) && w->head != w->split)
			share(w);
		n->fn(n->arg);
		nr = n->nr_succ;
		if (nr == 1) {
			if (is_ready(&node[n->succ[0]]))
				next = n->succ[0];
			continue;
		}
		succ = nr <= 2 ? n->succ : more + n->more;
		for (i = 0; i < nr; i++) {
			if (!is_ready(&node[succ[i]]))
				continue;
			if (next == NONE)
				next = succ[i];
			else
				push(w, succ[i]);
		}
	}
	return nr_done;
}

static void run_all(struct floor_worker *w, const struct floor_graph *g,
		    uint32_t task)
{
	int64_t nr_done = 0;

	do {
		nr_done += run_from(w, g->node, g->more, task);
		task = pop(w);
	} while (task != NONE);
	atomic_fetch_sub(&w->floor->nr_left, nr_done);
}

static void help(struct floor_worker *w)
{
	struct floor *f = w->floor;
	uint32_t task;
	unsigned tries = 0;
	int i;

	while (atomic_load_explicit(&f->nr_left, memory_order_acquire) > 0) {
		task = NONE;
		for (i = 1; i < f->nr_workers && task == NONE; i++)
			task = steal(&f->worker[(w->id + i) % f->nr_workers]);
		if (task != NONE) {
			run_all(w, f->graph, task);
			tries = 0;
		} else if (++tries > SPINS_BEFORE_YIELD) {
			sched_yield();
		} else {
			cpu_relax();
		}
	}
}

static void await_round(struct floor *f, uint32_t seen)
{
	unsigned spins = 0;

	while (atomic_load_explicit(&f->round, memory_order_acquire) == seen) {
		if (++spins < SPINS_BEFORE_SLEEP) {
			cpu_relax();
			continue;
		}
		atomic_fetch_add(&f->nr_asleep, 1);
		if (atomic_load(&f->round) == seen)
			futex(&f->round, FUTEX_WAIT, seen);
		atomic_fetch_sub(&f->nr_asleep, 1);
	}
}

static void pin_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *worker_main(void *arg)
{
	struct floor_worker *w = arg;
	struct floor *f = w->floor;
	uint32_t seen = 0;

	pin_to(w->cpu);
	for (;;) {
		await_round(f, seen);
		if (atomic_load(&f->is_over))
			return NULL;
		seen = atomic_load(&f->round);
		help(w);
	}
}

static void start_round(struct floor *f)
{
	atomic_fetch_add(&f->round, 1);
	if (atomic_load(&f->nr_asleep))
		futex(&f->round, FUTEX_WAKE, INT32_MAX);
}

/* The n'th CPU that this process may use, counted round and round. */
static int nth_cpu(const cpu_set_t *set, int n)
{
	int cpu, left = n % CPU_COUNT(set);

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set) && !left--)
			return cpu;
	return 0;
}

int floor_open(int nr_workers, struct floor **out)
{
	struct floor_worker *w;
	struct floor *f;
	cpu_set_t set;
	size_t size;
	int i;

	if (nr_workers < 1 || nr_workers > MAX_WORKERS)
		return -EINVAL;
	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	size = sizeof(*f) + (size_t)nr_workers * sizeof(f->worker[0]);
	f = aligned_alloc(128, size);
	if (!f)
		return -ENOMEM;
	memset(f, 0, size);
	f->nr_workers = nr_workers;
	for (i = 0; i < nr_workers; i++) {
		w = &f->worker[i];
		w->floor = f;
		w->id = i;
		w->cpu = nth_cpu(&set, i);
		w->queue = malloc(QUEUE_SIZE * sizeof(uint32_t));
		if (!w->queue)
			goto close_floor;
		memset(w->queue, 0, QUEUE_SIZE * sizeof(uint32_t));
	}
	f->nr_started = 1;
	for (i = 1; i < nr_workers; i++, f->nr_started++) {
		w = &f->worker[i];
		if (pthread_create(&w->thread, NULL, worker_main, w))
			goto close_floor;
	}
	*out = f;
	return 0;

close_floor:
	floor_close(f);
	return -ENOMEM;
}

void floor_close(struct floor *f)
{
	int i;

	if (!f)
		return;
	atomic_store(&f->is_over, true);
	start_round(f);
	for (i = 1; i < f->nr_started; i++)
		pthread_join(f->worker[i].thread, NULL);
	for (i = 0; i < f->nr_workers; i++)
		free(f->worker[i].queue);
	free(f);
}

static uint32_t fill_node(struct floor_graph *g, const struct shape *s,
			  uint32_t task, uint32_t nr_more)
{
	const uint32_t *succ = s->succ + s->succ_at[task];
	struct floor_node *n = &g->node[task];

	n->arg = task;
	n->nr_succ = (uint16_t)(s->succ_at[task + 1] - s->succ_at[task]);
	n->nr_pred = (uint16_t)(s->pred_at[task + 1] - s->pred_at[task]);
	atomic_init(&n->missing, n->nr_pred);
	n->more = nr_more;
	if (!n->nr_pred)
		g->source[g->nr_sources++] = task;
	if (n->nr_succ <= 2) {
		memcpy(n->succ, succ, n->nr_succ * sizeof(*succ));
		return nr_more;
	}
	memcpy(g->more + nr_more, succ, n->nr_succ * sizeof(*succ));
	return nr_more + n->nr_succ;
}

/* Successors that do not fit into their record. */
static uint32_t count_more(const struct shape *s)
{
	uint32_t i, nr, all = 0;

	for (i = 0; i < s->nr_tasks; i++) {
		nr = s->succ_at[i + 1] - s->succ_at[i];
		all += nr > 2 ? nr : 0;
	}
	return all;
}

int floor_build(const struct shape *s, floor_fn fn, struct floor_graph **out)
{
	struct floor_graph *g = calloc(1, sizeof(*g));
	uint32_t i, nr_more = 0;

	if (!g)
		return -ENOMEM;
	g->nr_tasks = s->nr_tasks;
	g->node = aligned_alloc(64, ((size_t)s->nr_tasks + 1) / 2 * 64);
	g->more = malloc(((size_t)count_more(s) + 1) * sizeof(uint32_t));
	g->source = malloc((size_t)s->nr_tasks * sizeof(uint32_t));
	if (!g->node || !g->more || !g->source) {
		floor_free(g);
		return -ENOMEM;
	}
	for (i = 0; i < s->nr_tasks; i++) {
		g->node[i].fn = fn;
		nr_more = fill_node(g, s, i, nr_more);
	}
	*out = g;
	return 0;
}

void floor_free(struct floor_graph *g)
{
	if (!g)
		return;
	free(g->node);
	free(g->more);
	free(g->source);
	free(g);
}

static void run_once(struct floor *f, const struct floor_graph *g)
{
	struct floor_worker *w = &f->worker[0];
	uint32_t i;

	atomic_store(&f->nr_left, (int64_t)g->nr_tasks);
	if (f->nr_workers > 1)
		start_round(f);
	for (i = g->nr_sources; i-- > 1;)
		push(w, g->source[i]);
	run_all(w, g, g->source[0]);
	help(w);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t floor_run(struct floor *f, const struct floor_graph *g, unsigned times)
{
	uint64_t start;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	pin_to(f->worker[0].cpu);
	f->graph = g;
	start = now_ns();
	while (times--)
		run_once(f, g);
	start = now_ns() - start;
	sched_setaffinity(0, sizeof(set), &set);
	return start;
}
