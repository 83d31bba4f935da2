/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bringing workers up and taking them down. A worker's memory is one region:
 * the rings of its deques, its list of victims and what it knows of nodes.
 */
#include "sched/sched.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/thrown.h"
#include "mem/os.h"
#include "mem/region.h"
#include "sched/bind.h"
#include "sched/joiner.h"
#include "sched/notify.h"
#include "topo/topo.h"
#include "trace/trace.h"

#include <errno.h>
#include <limits.h>
#include <lkdf/format.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NORMAL_RING 8192
#define OTHER_RING 1024
#define CHILDREN_RING 65536 /* touched where it is needed */

/* A waker spends so long on a sleeper: 7 to 10 us on today's machines. */
#define WAKE_NS 8000

/* About what it takes to hand an item to a worker that spins. */
#define SHARE_NS 400

static uint32_t ring_size(int level)
{
	if (level == DEQUE_CHILDREN)
		return CHILDREN_RING;
	return level == CLASS_NORMAL || level == DEQUE_BOUND ? NORMAL_RING
							     : OTHER_RING;
}

static size_t rings_size(void)
{
	return (2 * NORMAL_RING + (NR_DEQUES - 3) * OTHER_RING +
		CHILDREN_RING) *
	       sizeof(uint64_t);
}

/* Bytes that all mechanisms have of a worker, a node or the scheduler. */
static size_t data_size(const struct sched *s, enum mechanism_owner owner)
{
	return mechanism_lay(s->rows, owner, s->nr_nodes, NULL, NULL);
}

static size_t worker_region_size(const struct sched *s)
{
	return rings_size() + data_size(s, OWNER_WORKER) +
	       (size_t)s->nr_workers * sizeof(int);
}

/* Before it is touched. A made-up machine has no such node. */
static void prefer_node(const struct sched *s, void *at, size_t size, int node)
{
	if (s->nr_nodes > 1 && !s->topo->is_synthetic)
		region_prefer(at, size, s->topo->node[node].os_node);
}

static int node_distance(const struct sched *s, int from, int to)
{
	return from == to ? TOPO_DISTANCE_LOCAL
			  : topo_distance(s->topo, from, to);
}

static int init_deques(struct sched *s, struct worker *w)
{
	size_t size = worker_region_size(s);
	_Atomic(uint64_t) *slot = region_alloc(size);
	uint32_t nr;
	int level;
	char *at;

	if (!slot)
		return err(-ENOMEM, "sched: no memory for worker %d", w->id);
	prefer_node(s, (void *)(uintptr_t)slot, size, w->executor->node);
	for (level = 0; level < NR_DEQUES; level++) {
		nr = ring_size(level);
		deque_init(&w->deque[level], slot, nr - 1);
		slot += nr;
	}
	at = (char *)(void *)slot;
	at += mechanism_lay(s->rows, OWNER_WORKER, s->nr_nodes, w->data, at);
	w->victims = (int *)(void *)at;
	return 0;
}

static size_t shared_size(const struct sched *s)
{
	return (size_t)s->nr_nodes * data_size(s, OWNER_NODE) +
	       data_size(s, OWNER_SCHED);
}

/* The data of mechanisms that is no worker's. */
static int lay_shared(struct sched *s)
{
	char *at = region_alloc(shared_size(s));
	int i;

	if (!at)
		return err(-ENOMEM, "sched: no memory for %d nodes",
			   s->nr_nodes);
	s->memory = at;
	at += mechanism_lay(s->rows, OWNER_SCHED, s->nr_nodes, s->data, at);
	for (i = 0; i < s->nr_nodes; i++)
		at += mechanism_lay(s->rows, OWNER_NODE, s->nr_nodes,
				    s->nodes[i].data, at);
	return 0;
}

static size_t near_size(const struct sched *s)
{
	return (size_t)s->nr_nodes * (size_t)s->nr_nodes * sizeof(int);
}

static void free_workers(struct sched *s)
{
	int i;

	if (s->memory)
		mechanisms_close(s);
	if (s->memory)
		region_free(s->memory, shared_size(s));
	/* The rings of the lowest class lie first in the region. */
	for (i = 0; s->workers && i < s->nr_workers; i++) {
		region_free((void *)(uintptr_t)s->workers[i].deque[0].slot,
			    worker_region_size(s));
		stack_unmap(&s->workers[i].stack);
	}
	region_unmap(s->workers, (size_t)s->nr_workers * sizeof(*s->workers));
	if (s->nodes)
		region_free(s->nodes[0].near, near_size(s));
	region_unmap(s->nodes, (size_t)s->nr_nodes * sizeof(*s->nodes));
	s->workers = NULL;
	s->nodes = NULL;
	s->memory = NULL;
}

/* From i to the nodes that have workers, nearest first. */
static void sort_nodes(struct sched *s, int i, int *near)
{
	int nr = 0, j, at;

	for (j = 0; j < s->nr_nodes; j++) {
		if (!s->nodes[j].nr_workers)
			continue;
		for (at = nr++; at > 0 && node_distance(s, i, near[at - 1]) >
						  node_distance(s, i, j);
		     at--)
			near[at] = near[at - 1];
		near[at] = j;
	}
	s->nodes[i].near = near;
	s->nr_worker_nodes = nr;
}

static int order_nodes(struct sched *s)
{
	int *near = region_alloc(near_size(s)), i;

	if (!near)
		return err(-ENOMEM, "sched: no memory for %d nodes",
			   s->nr_nodes);
	for (i = 0; i < s->nr_nodes; i++)
		sort_nodes(s, i, near + i * s->nr_nodes);
	return 0;
}

/* Needs the CPUs of all workers. */
static int order_victims(struct sched *s, const int *cpu_index)
{
	const struct topo *t = s->topo;
	size_t size = (size_t)s->nr_workers * sizeof(struct policy_peer);
	struct policy_peer *peer = region_alloc(size);
	const struct topo_cpu *mine, *other;
	int i, j;

	if (!peer)
		return err(-ENOMEM, "sched: no memory for %d workers",
			   s->nr_workers);
	for (i = 0; i < s->nr_workers; i++) {
		mine = &t->cpu[cpu_index[i]];
		for (j = 0; j < s->nr_workers; j++) {
			other = &t->cpu[cpu_index[j]];
			peer[j].distance =
				node_distance(s, mine->node, other->node);
			peer[j].shares_cache = mine->l3 == other->l3;
		}
		s->workers[i].nr_near = policy_steal_order(
			peer, s->nr_workers, i, s->workers[i].victims);
	}
	region_free(peer, size);
	return 0;
}

static void init_worker(struct sched *s, const struct sched_setup *a, int i,
			const struct topo_cpu *cpu)
{
	struct worker *w = &s->workers[i];
	bool is_substitute = i >= s->nr_regular;
	uint32_t bind = a->bind;

	prefer_node(s, w, sizeof(*w), cpu->node);
	prefer_node(s, &a->executors[i], sizeof(a->executors[i]), cpu->node);
	a->init_executor(a->u, i);
	w->id = i;
	w->spawn_inline = (uint32_t)a->options->spawn_inline;
	w->sched = s;
	w->executor = &a->executors[i];
	w->executor->worker = w;
	w->executor->node = cpu->node;
	if (bind == BIND_CPU && is_substitute)
		bind = BIND_NODE;
	w->cpu = bind == BIND_CPU ? cpu->os_cpu : -1;
	a_store(&w->bind, bind, relaxed);
	w->node = &s->nodes[cpu->node];
	w->node->nr_workers += !is_substitute;
	w->rng = 0x9e3779b97f4a7c15ull * (uint64_t)(i + 1);
}

static int init_workers(struct sched *s, const struct sched_setup *a)
{
	int rc = lay_shared(s), i;

	for (i = 0; i < s->nr_nodes; i++)
		prefer_node(s, &s->nodes[i], sizeof(s->nodes[i]), i);
	for (i = 0; i < s->nr_workers && !rc; i++) {
		init_worker(s, a, i, &s->topo->cpu[a->cpu_index[i]]);
		rc = init_deques(s, &s->workers[i]);
	}
	if (!rc)
		rc = order_nodes(s);
	if (!rc)
		rc = order_victims(s, a->cpu_index);
	return rc;
}

/* Synchronous faults stay; SIGPROF stays for profilers. */
static void block_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGTRAP);
	sigdelset(&set, SIGABRT);
	sigdelset(&set, SIGPROF);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

/* First touch: the rings come from the worker's node, and before any run. */
static void touch_rings(struct worker *w)
{
	struct deque *d;
	uint32_t i;

	for (d = w->deque; d < w->deque + NR_DEQUES; d++) {
		if (d == &w->deque[DEQUE_CHILDREN])
			continue;
		for (i = 0; i <= d->mask; i += CACHE_LINE)
			a_store(&d->slot[i], 0, relaxed);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	char name[16];

	THROWN_ENDS_HERE;
	a_store(&w->tid, (int)syscall(SYS_gettid), relaxed);
	block_signals();
	snprintf(name, sizeof(name), "lkdf/%d.%d", w->executor->node, w->id);
	pthread_setname_np(pthread_self(), name);
	thread_adopt(&w->executor->record);
	w->executor->record.executor = w->executor;
	trace_start(w->executor->ring, LKDF_EXECUTOR_WORKER, w->cpu,
		    w->executor->node);
	if (w->sched->ops.start)
		w->sched->ops.start(w);
	foreign_threads(&w->sched->foreign, 1);
	touch_rings(w);
	depth_set(&w->depth, stack_base(&w->stack), stack_size(&w->stack));
	worker_run(w);
	thread_retire();
	return NULL;
}

static int give_stack(struct worker *w, pthread_attr_t *attr, int stack_kib)
{
	const struct topo *t = w->sched->topo;
	int os_node = t->is_synthetic || t->nr_nodes == 1
			      ? -1
			      : t->node[w->executor->node].os_node;
	size_t size = (size_t)stack_kib * 1024;
	int rc;

	if (!size)
		pthread_attr_getstacksize(attr, &size);
	rc = stack_map(&w->stack, max_u64(size, PTHREAD_STACK_MIN), os_node);
	if (rc)
		return -rc;
	return pthread_attr_setstack(attr, stack_base(&w->stack),
				     stack_size(&w->stack));
}

static int start_worker(struct worker *w, int stack_kib)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	rc = give_stack(w, &attr, stack_kib);
	CPU_ZERO(&set);
	if (bind_add(w, &set))
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!rc)
		rc = pthread_create(&w->thread, &attr, worker_main, w);
	pthread_attr_destroy(&attr);
	return rc ? err(-rc, "sched: cannot start worker %d: %s", w->id,
			strerror(rc))
		  : 0;
}

static void join_workers(struct sched *s)
{
	int i;

	/* [sched.stop] before the wake-up; pairs with [sched.stopping]. */
	a_store(&s->is_stopping, 1, seq_cst);
	notify_all(s);
	mechanisms_stop(s);
	for (i = 0; i < s->nr_started; i++)
		pthread_join(s->workers[i].thread, NULL);
	s->nr_started = 0;
}

static int start_workers(struct sched *s, const struct sched_setup *a)
{
	int rc = 0, i;

	for (i = 0; i < s->nr_workers && !s->is_serial && !rc; i++) {
		rc = start_worker(&s->workers[i], (int)a->options->stack_kib);
		if (!rc)
			s->nr_started++;
	}
	return rc;
}

int sched_start(struct sched *s, const struct sched_setup *a)
{
	const struct options *o = a->options;
	int rc;

	memset(s, 0, sizeof(*s));
	timers_init(&s->timers);
	s->ops = *a->ops;
	s->rows = a->rows;
	s->topo = a->topo;
	s->nr_workers = a->nr_workers;
	s->nr_regular = a->nr_regular;
	s->nr_nodes = a->topo->nr_nodes;
	s->options = o;
	s->log = a->log;
	s->is_serial = o->serial != 0;
	order_init(&s->order, (uint64_t)o->order);
	if (s->order.is_on)
		timers_be_virtual(&s->timers);
	s->is_pinned = a->bind == BIND_CPU;
	s->is_bound = a->bind == BIND_NODE;
	s->ticks_per_1024ns = clock_ticks_per_1024ns();
	if (o->omp)
		foreign_find(&s->foreign);
	if (!a->is_crowded)
		s->spin_ticks = sched_ticks(s, (uint64_t)o->spin_us * 1000);
	a_store(&s->spin, s->spin_ticks, relaxed);
	mechanism_sort(&s->calls, s->rows, s->ticks_per_1024ns);
	s->wake_ticks = sched_ticks(s, WAKE_NS);
	s->share_ticks = sched_ticks(s, SHARE_NS);
	s->nodes = region_map((size_t)s->nr_nodes * sizeof(*s->nodes));
	s->workers = region_map((size_t)s->nr_workers * sizeof(*s->workers));
	if (!s->nodes || !s->workers)
		rc = err(-ENOMEM, "sched: no memory for %d workers",
			 s->nr_workers);
	else
		rc = init_workers(s, a);
	if (!rc)
		rc = mechanisms_open(s, a);
	if (!rc)
		rc = start_workers(s, a);
	if (rc)
		sched_stop(s);
	else
		mechanisms_started(s);
	return rc;
}

void sched_stop(struct sched *s)
{
	if (s->nr_started)
		join_workers(s);
	free_workers(s);
}

void sched_abandon(struct sched *s)
{
	s->nr_started = 0;
	free_workers(s);
}

static inline void push_link(struct sched *s, struct inbox *in,
			     struct link *link)
{
	uint64_t item = link_item(link);

	inbox_push(in, link);
	if (unlikely(joiner_is_any(s)))
		joiner_tell(s, item);
}

bool sched_push(struct sched *s, int node, struct link *link)
{
	push_link(s, &s->nodes[node].inbox, link);
	return notify_any(s, &s->nodes[node]);
}

bool sched_push_bound(struct sched *s, int node, struct link *link)
{
	push_link(s, &s->nodes[node].bound, link);
	return notify_bound(&s->nodes[node]);
}

int sched_home(struct sched *s)
{
	int os, i;

	if (s->nr_nodes == 1 || s->topo->is_synthetic)
		return s->nodes[0].near[0];
	os = os_current_node();
	for (i = 0; i < s->nr_nodes; i++)
		if (s->topo->node[i].os_node == os)
			return s->nodes[i].near[0];
	return s->nodes[0].near[0];
}

void sched_look(struct sched *s)
{
	int i;

	for (i = 0; i < s->nr_workers; i++)
		/* [sched.look] the news before it; pairs with [run.look]. */
		a_or(&s->workers[i].attn, ATTN_LOOK, seq_cst);
}
