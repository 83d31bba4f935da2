/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How workers get their rings, and what a ring's own threads of the kernel may
 * do: at most 4 for each CPU of the node on files, 64 on all else, and only on
 * the node's CPUs. Each worker has such threads of its own; see ring/uring.h.
 */
#include "io/io_ring.h"

#include "base/bell.h"
#include "base/err.h"
#include "base/log.h"
#include "core/runtime.h"
#include "io/io_far.h"
#include "mem/region.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_SQ 256
#define NR_CQ 1024

/* Threads of the kernel: on files, for each CPU; on all else. */
#define NR_BOUNDED 4
#define NR_UNBOUNDED 64

/*
 * A completion that has lain for so long waits for a worker that is busy; see
 * io_far.h.
 */
#define LATE_NS 500000

/* In io_rings.lacks: the worker, above the errno. */
#define LACKS_SHIFT 12

/* A peek that took as long has waited. */
#define LONG_NS 20000

static struct lkdf *rt_of(const struct worker *w)
{
	return w->executor->rt;
}

int io_ring_error(struct lkdf *rt)
{
	struct io_rings *all = rt->io_rings;
	int rc;

	if (rt->sched.is_serial || all->mode == IO_THREADS)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&rt->lock);
	rc = a_load(&all->error, relaxed);
	if (rc == IO_UNKNOWN) {
		rc = uring_probe();
		a_store(&all->error, rc, relaxed);
	}
	pthread_mutex_unlock(&rt->lock);
	return rc;
}

const char *io_ring_why(struct lkdf *rt)
{
	int rc = io_ring_error(rt);

	if (rt->sched.is_serial)
		return "serial=yes";
	if (rt->io_rings->mode == IO_THREADS)
		return "io=threads";
	return rc ? uring_why(rc) : NULL;
}

void io_ring_how(struct lkdf *rt, char *to, size_t size)
{
	const struct io_rings *all = rt->io_rings;
	int rc = a_load(&all->threads_error, relaxed);
	const char *where = "on the node's CPUs";
	int lacks = a_load(&all->lacks, relaxed);

	if (lacks) {
		snprintf(to, size, "worker %d uses threads: %s",
			 lacks >> LACKS_SHIFT,
			 uring_why(-(lacks & ((1 << LACKS_SHIFT) - 1))));
		return;
	}
	if (!sched_is_bound(&rt->sched))
		where = "on any CPU, as workers are not bound";
	else if (rc)
		where = strerror(-rc);
	snprintf(to, size,
		 "io=steal; a worker's own threads of the kernel: %d for each "
		 "CPU of its node and %d, %s",
		 NR_BOUNDED, NR_UNBOUNDED, where);
}

/* ---- a ring of the worker's own ----------------------------------------- */

/* The node's bell, or -errno. */
static int bell_of(struct lkdf *rt, struct sched_node *node)
{
	int *bell = &rt->io_rings->bell[node - rt->sched.nodes];

	pthread_mutex_lock(&rt->lock);
	if (*bell < 0)
		*bell = bell_open();
	if (*bell >= 0)
		park_set_bell(&node->park, *bell);
	pthread_mutex_unlock(&rt->lock);
	return *bell;
}

static int bind_threads(struct lkdf *rt, const struct uring *u,
			const struct topo_node *node)
{
	const struct topo_cpu *cpu = &rt->topo->cpu[node->first_cpu];
	int max = 0, i, rc;
	unsigned char *bits;
	size_t size;

	for (i = 0; i < node->nr_cpus; i++)
		max = cpu[i].os_cpu > max ? cpu[i].os_cpu : max;
	size = (size_t)(max / 64 + 1) * sizeof(uint64_t);
	bits = calloc(1, size);
	if (!bits)
		return -ENOMEM;
	for (i = 0; i < node->nr_cpus; i++)
		((uint64_t *)(void *)bits)[cpu[i].os_cpu / 64] |=
			(uint64_t)1 << cpu[i].os_cpu % 64;
	rc = uring_bind_threads(u, bits, size);
	free(bits);
	return rc;
}

/* Its ring does without, if it must. */
static void tell_threads(struct worker *w, const struct uring *u)
{
	struct lkdf *rt = rt_of(w);
	const struct topo_node *node =
		&rt->topo->node[w->node - rt->sched.nodes];
	int rc = uring_limit_threads(u, NR_BOUNDED * (uint32_t)node->nr_cpus,
				     NR_UNBOUNDED);

	if (!rc && sched_is_bound(&rt->sched))
		rc = bind_threads(rt, u, node);
	if (!rc)
		return;
	a_store(&rt->io_rings->threads_error, rc, relaxed);
	log_text(&rt->log, LKDF_LOG_INFO,
		 "io: the kernel's threads of worker %d: %s", w->id,
		 strerror(-rc));
}

static int open_ring(struct worker *w, struct io_ring *ring)
{
	struct uring_attr a = { .nr_sq = NR_SQ, .nr_cq = NR_CQ };
	int rc;

	list_init(&ring->list);
	ring->w = w;
	ring->long_ticks =
		(uint64_t)LONG_NS * w->sched->ticks_per_1024ns / 1024;
	ring->late_ticks =
		(uint64_t)LATE_NS * w->sched->ticks_per_1024ns / 1024;
	a.wake_fd = bell_of(rt_of(w), w->node);
	if (a.wake_fd < 0)
		return a.wake_fd;
	rc = uring_open(&ring->u, &a);
	if (!rc)
		tell_threads(w, &ring->u);
	return rc;
}

void io_ring_tell_lack(struct worker *w, int error)
{
	struct lkdf *rt = rt_of(w);

	a_store(&rt->io_rings->lacks, w->id << LACKS_SHIFT | -error, relaxed);
	log_text(&rt->log, LKDF_LOG_INFO, "io: worker %d has no ring: %s",
		 w->id, uring_why(error));
}

struct io_ring *io_ring_make(struct worker *w)
{
	struct lkdf *rt = rt_of(w);
	struct io_rings *all = rt->io_rings;
	struct io_ring *ring;
	int rc;

	if (w->io.has_failed)
		return NULL;
	if (io_ring_error(rt)) {
		w->io.has_failed = true;
		return NULL;
	}
	ring = region_map(sizeof(*ring));
	rc = ring ? open_ring(w, ring) : -ENOMEM;
	if (rc) {
		region_unmap(ring, sizeof(*ring));
		w->io.has_failed = true;
		io_ring_tell_lack(w, rc);
		return NULL;
	}
	w->io.ring = ring;
	ring->completions.ops = &io_completions;
	ring->completions.next = w->io.completions;
	w->io.completions = &ring->completions;
	pthread_mutex_lock(&rt->lock);
	io_fixed_copy(rt, ring);
	/* [ring.born] its fields; pairs with [ring.look]. */
	a_store(&all->ring[w->id], ring, release);
	pthread_mutex_unlock(&rt->lock);
	a_add(&all->nr, 1, relaxed);
	return ring;
}

bool io_ring_has_buffers(struct worker *w, uint32_t len)
{
	struct io_ring *ring = io_ring_of(w);
	unsigned class = io_piece_class(len);
	struct uring_buffers *b;
	uint32_t nr = IO_BUFFERS / len;
	int rc;

	if (!ring)
		return false;
	b = &ring->buffers[class];
	if (b->ring || b->has_failed)
		return b->ring != NULL;
	if (nr < IO_NR_BUFFERS)
		nr = IO_NR_BUFFERS;
	rc = uring_buffers_open(b, &ring->u, (uint16_t) class, nr, len);
	if (rc)
		log_text(&rt_of(w)->log, LKDF_LOG_INFO,
			 "io: worker %d has no buffers of %u bytes: %s", w->id,
			 len, strerror(-rc));
	return !rc;
}

int io_rings_init(struct lkdf *rt, int mode)
{
	size_t nr_nodes = (size_t)rt->topo->nr_nodes;
	struct io_rings *all = rt->io_rings;

	all->mode = mode;
	a_store(&all->error, IO_UNKNOWN, relaxed);
	all->ring = calloc((size_t)rt->nr_workers, sizeof(*all->ring));
	all->bell = malloc(nr_nodes * sizeof(*all->bell));
	all->unattended = region_map(nr_nodes * sizeof(*all->unattended));
	all->nr_nodes = nr_nodes;
	if (all->bell)
		memset(all->bell, -1, nr_nodes * sizeof(*all->bell));
	if (!all->ring || !all->bell || !all->unattended)
		return err(-ENOMEM, "io: no memory");
	return 0;
}

static void close_ring(struct io_ring *ring)
{
	unsigned i;

	if (!ring)
		return;
	uring_close(&ring->u);
	for (i = 0; i < IO_NR_PIECES; i++)
		uring_buffers_close(&ring->buffers[i]);
	region_unmap(ring, sizeof(*ring));
}

void io_rings_fini(struct lkdf *rt)
{
	struct io_rings *all = rt->io_rings;
	int i;

	for (i = 0; all->ring && i < rt->nr_workers; i++)
		close_ring(a_load(&all->ring[i], relaxed));
	for (i = 0; all->bell && i < rt->topo->nr_nodes; i++)
		if (all->bell[i] >= 0 && own_fd_is_anonymous(all->bell[i]))
			close(all->bell[i]);
	free((void *)all->ring);
	free(all->bell);
	region_unmap(all->unattended, all->nr_nodes * sizeof(*all->unattended));
	all->ring = NULL;
	all->bell = NULL;
	all->unattended = NULL;
}
