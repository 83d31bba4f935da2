/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The size of a ring, a power of two: what perf_event_mlock_kb permits
 * everybody. */
#define RING_PAGES 64u
/* A thread that computes fills a ring in seconds. */
#define MAX_CPUS 1024u

static const struct pmu_row {
	uint64_t config, period;
} rows[NR_PMU_EVENTS] = {
	[PMU_CYCLES] = { PERF_COUNT_HW_CPU_CYCLES, 1000003 },
	[PMU_INSTRUCTIONS] = { PERF_COUNT_HW_INSTRUCTIONS, 1000003 },
	[PMU_MISSES] = { PERF_COUNT_HW_CACHE_MISSES, 1009 },
};

struct pmu_ring {
	int fd[NR_PMU_EVENTS];
	uint64_t id[NR_PMU_EVENTS];
	struct perf_event_mmap_page *page; /* then RING_PAGES of records */
};

/* As the kernel lays them out for our sample_type. */
struct record_sample {
	uint64_t id;
	uint32_t pid, tid;
	uint64_t at;
};

struct record_lost {
	uint64_t id, lost;
};

/* ---- opening ------------------------------------------------------------- */

/*
 * Counters of this process, and inherited: what it starts is counted from
 * exec(2) on, and this process, which calls no exec(2), is not.
 */
static int open_event(enum pmu_event e, int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(a),
		.config = rows[e].config,
		.sample_period = rows[e].period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static size_t ring_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * RING_PAGES;
}

static size_t map_size(void)
{
	return ring_size() + (size_t)sysconf(_SC_PAGESIZE);
}

/* All events of a CPU write into the ring of the first one. */
static int open_ring(struct pmu_ring *g, int cpu)
{
	int e, rc = 0;

	for (e = 0; e < NR_PMU_EVENTS; e++)
		g->fd[e] = -1;
	g->page = MAP_FAILED;
	for (e = 0; e < NR_PMU_EVENTS && !rc; e++) {
		g->fd[e] = open_event((enum pmu_event)e, cpu);
		if (g->fd[e] < 0)
			return g->fd[e];
		if (e)
			rc = ioctl(g->fd[e], PERF_EVENT_IOC_SET_OUTPUT,
				   g->fd[0]);
		else
			g->page = mmap(NULL, map_size(), PROT_READ | PROT_WRITE,
				       MAP_SHARED, g->fd[0], 0);
		if (rc || g->page == MAP_FAILED ||
		    ioctl(g->fd[e], PERF_EVENT_IOC_ID, &g->id[e]))
			rc = -errno;
	}
	return rc;
}

static void close_ring(struct pmu_ring *g)
{
	int e;

	if (g->page != MAP_FAILED)
		munmap(g->page, map_size());
	for (e = 0; e < NR_PMU_EVENTS; e++)
		if (g->fd[e] >= 0)
			close(g->fd[e]);
}

void pmu_stop(struct pmu *p)
{
	while (p->nr_rings)
		close_ring(&p->ring[--p->nr_rings]);
	free(p->ring);
	p->ring = NULL;
}

/* CPUs that are offline have no events, and no threads. */
int pmu_open(struct pmu *p)
{
	long cpu, nr = sysconf(_SC_NPROCESSORS_CONF);
	int rc = -ENODEV;

	memset(p, 0, sizeof(*p));
	if (nr < 1 || nr > (long)MAX_CPUS)
		return -E2BIG;
	p->ring = calloc((size_t)nr, sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	for (cpu = 0; cpu < nr; cpu++) {
		rc = open_ring(&p->ring[p->nr_rings], (int)cpu);
		if (!rc) {
			p->nr_rings++;
			continue;
		}
		close_ring(&p->ring[p->nr_rings]);
		if (rc != -ENODEV)
			break;
	}
	if (p->nr_rings && (!rc || rc == -ENODEV))
		return 0;
	pmu_stop(p);
	return rc;
}

/* ---- reading ------------------------------------------------------------- */

/* Bytes of a ring from at on, which may go around its end. */
static void copy_out(const struct pmu_ring *g, uint64_t at, void *to,
		     size_t size)
{
	const char *from = (const char *)g->page + sysconf(_SC_PAGESIZE);
	size_t whole = ring_size(), first = (size_t)(at % whole);
	size_t part = size < whole - first ? size : whole - first;

	memcpy(to, from + first, part);
	memcpy((char *)to + part, from, size - part);
}

static void keep_sample(struct pmu *p, const struct pmu_ring *g,
			const struct record_sample *s)
{
	size_t cap = p->cap ? p->cap * 2 : 4096;
	struct pmu_sample *more;
	int e;

	for (e = 0; e < NR_PMU_EVENTS && g->id[e] != s->id; e++)
		continue;
	if (e == NR_PMU_EVENTS)
		return;
	if (p->nr == p->cap) {
		more = realloc(p->sample, cap * sizeof(*more));
		if (!more) {
			p->nr_lost++;
			return;
		}
		p->sample = more;
		p->cap = cap;
	}
	p->sample[p->nr++] = (struct pmu_sample){
		.at = s->at,
		.tid = s->tid,
		.event = (enum pmu_event)e,
	};
}

static void read_record(struct pmu *p, const struct pmu_ring *g, uint64_t at,
			const struct perf_event_header *h)
{
	struct record_sample sample;
	struct record_lost lost;

	if (h->type == PERF_RECORD_SAMPLE &&
	    h->size == sizeof(*h) + sizeof(sample)) {
		copy_out(g, at + sizeof(*h), &sample, sizeof(sample));
		keep_sample(p, g, &sample);
	} else if (h->type == PERF_RECORD_LOST &&
		   h->size >= sizeof(*h) + sizeof(lost)) {
		copy_out(g, at + sizeof(*h), &lost, sizeof(lost));
		p->nr_lost += lost.lost;
	}
}

static void drain_ring(struct pmu *p, struct pmu_ring *g)
{
	uint64_t head = __atomic_load_n(&g->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = g->page->data_tail;
	struct perf_event_header h;

	while (head - at >= sizeof(h) && head - at <= ring_size()) {
		copy_out(g, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		read_record(p, g, at, &h);
		at += h.size;
	}
	__atomic_store_n(&g->page->data_tail, head, __ATOMIC_RELEASE);
}

void pmu_drain(struct pmu *p)
{
	unsigned i;

	for (i = 0; i < p->nr_rings; i++)
		drain_ring(p, &p->ring[i]);
}

void pmu_free(struct pmu *p)
{
	pmu_stop(p);
	free(p->sample);
	memset(p, 0, sizeof(*p));
}

/* ---- whose they are ------------------------------------------------------ */

/* The body of that lane at that time, the innermost; NULL: none. */
static const struct slice *body_at(const struct report *r, const struct lane *l,
				   uint64_t at)
{
	uint32_t from = l->first, to = l->first + l->nr_slices, mid;
	unsigned back;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (r->slice[mid].begin <= at)
			from = mid + 1;
		else
			to = mid;
	}
	/* Bodies that ran within one are behind it. */
	for (back = 0; from > l->first && back < 256; back++)
		if (r->slice[--from].end > at)
			return &r->slice[from];
	return NULL;
}

static const struct lane *lane_of(const struct report *r, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < r->nr_lanes; i++)
		if (r->lane[i].has_started && r->lane[i].tid == tid)
			return &r->lane[i];
	return NULL;
}

void pmu_attribute(const struct pmu *p, const struct report *r,
		   struct pmu_counts *by_kind)
{
	const struct pmu_sample *s;
	const struct slice *body;
	const struct lane *l;

	for (s = p->sample; s < p->sample + p->nr; s++) {
		l = s->at >= r->start_ns ? lane_of(r, s->tid) : NULL;
		body = l ? body_at(r, l, s->at - r->start_ns) : NULL;
		if (body)
			by_kind[body->kind].n[s->event] +=
				rows[s->event].period;
	}
}
