/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf itself as a peer program, for what needs a fresh process or counters
 * in malloc:
 * graph SHAPE NR WORKERS TIMES     ns of TIMES runs of one built graph
 * build SHAPE NR WORKERS           ns of create, add, order and seal
 * cycle SHAPE NR WORKERS           ns of build, run and put
 * once SHAPE NR WORKERS            the same, with a data for each task
 * open WORKERS                     CPU ns until the first runtime, and the
 *                                  second one, is there
 * memory SHAPE NR INFLIGHT         bytes of heap, bytes of other mappings
 * rerun SHAPE NR WORKERS TIMES     mallocs, mmaps, page faults of warm runs
 * traced SHAPE NR WORKERS TIMES    getppid(2) marks the first and last warm
 *                                  run, for a tracer that counts
 */
#include "tests/bench/count_alloc.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/lkdf_once.h"
#include "tests/bench/peer_loop.h"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Among them those that try on how many workers runs are faster. */
#define WARM_UP_RUNS 40

static struct peer_job {
	struct shape shape;
	uint32_t *count;
	struct lkdf *rt;
	struct lkdf_kind *kind;
	uint32_t nr_runs;
} job;

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++*(uint32_t *)arg;
	return 0;
}

/* Everything but the graph. 0, or -1 and why. */
static int prepare(struct question *q, int workers)
{
	char text[64];

	if (shape_init(&job.shape, q->word[1], peer_number(q, 2)))
		return peer_refuse(q, "no such shape");
	job.count = calloc(job.shape.nr_tasks, sizeof(*job.count));
	job.nr_runs = 0;
	snprintf(text, sizeof(text), "workers=%d", workers);
	if (!job.count || lkdf_open(text, &job.rt) ||
	    lkdf_graph_kind(job.rt, "bench", body, &job.kind))
		return peer_refuse(q, lkdf_errmsg());
	return 0;
}

static void clean_up(void)
{
	lkdf_kind_put(job.kind);
	lkdf_close(job.rt);
	free(job.count);
	shape_fini(&job.shape);
	memset(&job, 0, sizeof(job));
}

static int build(struct question *q, uint32_t inflight, struct lkdf_graph **g)
{
	if (lkdf_graph_of(job.rt, job.kind, &job.shape, job.count, inflight, g))
		return peer_refuse(q, lkdf_errmsg());
	return 0;
}

static int run(struct question *q, struct lkdf_graph *g, uint32_t times)
{
	if (lkdf_graph_runs(g, times))
		return peer_refuse(q, lkdf_errmsg());
	job.nr_runs += times;
	if (!shape_all_ran(&job.shape, job.count, job.nr_runs))
		return peer_refuse(q, "wrong result");
	return 0;
}

static int answer_graph(struct question *q, struct lkdf_graph *g)
{
	uint32_t times = peer_number(q, 4);
	int64_t start;

	if (run(q, g, 1))
		return -1;
	start = peer_now_ns();
	if (lkdf_graph_runs(g, times))
		return peer_refuse(q, lkdf_errmsg());
	q->out[0] = (double)(peer_now_ns() - start);
	job.nr_runs += times;
	if (!shape_all_ran(&job.shape, job.count, job.nr_runs))
		return peer_refuse(q, "wrong result");
	return 1;
}

static long minor_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

static int answer_rerun(struct question *q, struct lkdf_graph *g)
{
	struct count_alloc before, after;
	long faults;

	if (run(q, g, WARM_UP_RUNS))
		return -1;
	count_alloc_read(&before);
	faults = minor_faults();
	if (run(q, g, peer_number(q, 4)))
		return -1;
	faults = minor_faults() - faults;
	count_alloc_read(&after);
	q->out[0] = (double)(after.mallocs - before.mallocs);
	q->out[1] = (double)(after.mmaps - before.mmaps);
	q->out[2] = (double)faults;
	return 3;
}

struct marks {
	uint32_t at, last;
};

/* Asked after each run; marks the first warm one and the last but few. */
static bool mark(void *u)
{
	struct marks *m = u;

	m->at++;
	if (m->at == WARM_UP_RUNS || m->at == m->last)
		syscall(SYS_getppid);
	return m->at >= m->last;
}

static int answer_traced(struct question *q, struct lkdf_graph *g)
{
	struct marks m = { 0, WARM_UP_RUNS + peer_number(q, 4) };
	struct lkdf_run r = { .size = sizeof(r), .until = mark, .u = &m };
	struct lkdf_event done;

	if (lkdf_graph_run(g, NULL, &r, &done) || lkdf_event_wait(done, -1))
		return peer_refuse(q, lkdf_errmsg());
	q->out[0] = m.at;
	return 1;
}

static int with_graph(struct question *q)
{
	struct lkdf_graph *g;
	int rc;

	if (build(q, 1, &g))
		return -1;
	if (peer_is(q, "graph"))
		rc = answer_graph(q, g);
	else if (peer_is(q, "rerun"))
		rc = answer_rerun(q, g);
	else
		rc = answer_traced(q, g);
	lkdf_graph_put(g);
	return rc;
}

static int answer_cycle(struct question *q, bool is_build)
{
	struct lkdf_graph *g;
	int64_t start = peer_now_ns();

	if (build(q, 1, &g))
		return -1;
	if (is_build)
		q->out[0] = (double)(peer_now_ns() - start);
	else if (run(q, g, 1))
		return -1;
	lkdf_graph_put(g);
	if (!is_build)
		q->out[0] = (double)(peer_now_ns() - start);
	return 1;
}

static int answer_once(struct question *q)
{
	struct once o;
	int64_t start;
	int rc = once_init(&o, job.rt, &job.shape);

	if (!rc) {
		start = peer_now_ns();
		rc = once_live(&o, job.rt);
		q->out[0] = (double)(peer_now_ns() - start);
	}
	if (rc)
		rc = peer_refuse(q, lkdf_errmsg());
	else
		rc = once_is_right(&o) ? 1 : peer_refuse(q, "wrong result");
	once_fini(&o);
	return rc;
}

static int answer_open(struct question *q)
{
	struct lkdf *rt;
	char text[64];
	int64_t start;
	int i;

	snprintf(text, sizeof(text), "workers=%u", peer_number(q, 1));
	for (i = 0; i < 2; i++) {
		start = peer_cpu_ns();
		if (lkdf_open(text, &rt))
			return peer_refuse(q, lkdf_errmsg());
		q->out[i] = (double)(peer_cpu_ns() - start);
		lkdf_close(rt);
	}
	return i;
}

/* Bytes of private writable mappings. */
static double data_bytes(void)
{
	long pages[6] = { 0 };
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%ld %ld %ld %ld %ld %ld", &pages[0], &pages[1],
		   &pages[2], &pages[3], &pages[4], &pages[5]) != 6)
		pages[5] = 0;
	fclose(file);
	return (double)pages[5] * (double)sysconf(_SC_PAGESIZE);
}

/* Live heap bytes; and mapped ones that are not the heap's. */
static void look_at_memory(double *heap, double *mapped)
{
	struct mallinfo2 m = mallinfo2();

	*heap = (double)m.uordblks + (double)m.hblkhd;
	*mapped = data_bytes() - (double)m.arena - (double)m.hblkhd;
}

static int answer_memory(struct question *q)
{
	struct lkdf_graph *g;
	double heap, mapped, heap_after, mapped_after;

	look_at_memory(&heap, &mapped);
	if (build(q, peer_number(q, 3), &g))
		return -1;
	look_at_memory(&heap_after, &mapped_after);
	lkdf_graph_put(g);
	q->out[0] = heap_after - heap;
	q->out[1] = mapped_after > mapped ? mapped_after - mapped : 0;
	q->out[2] = job.shape.nr_tasks;
	return 3;
}

static int answer(struct question *q)
{
	if (peer_is(q, "memory"))
		return answer_memory(q);
	if (peer_is(q, "once"))
		return answer_once(q);
	if (peer_is(q, "build") || peer_is(q, "cycle"))
		return answer_cycle(q, peer_is(q, "build"));
	if (peer_is(q, "graph") || peer_is(q, "rerun") || peer_is(q, "traced"))
		return with_graph(q);
	return peer_refuse(q, "unknown question");
}

/* The runtime stays for the next question about the same graph. */
static int peer_answer(struct question *q)
{
	static char now[64];
	bool is_memory = peer_is(q, "memory");
	char asked[64];

	if (peer_is(q, "open"))
		return answer_open(q);
	if (q->nr < 4)
		return peer_refuse(q, "too few words");
	snprintf(asked, sizeof(asked), "%.20s %.20s %.20s", q->word[1],
		 q->word[2], q->word[3]);
	if (strcmp(asked, now)) {
		if (job.rt)
			clean_up();
		now[0] = '\0';
		if (prepare(q, is_memory ? 1 : (int)peer_number(q, 3)))
			return -1;
		memcpy(now, asked, sizeof(now));
	}
	return answer(q);
}

int main(void)
{
	return peer_loop();
}
