/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Flows of lkdf in a process of their own, for what is counted by process:
 * rerun SHAPE NR BYTES WORKERS TIMES    mallocs, mmaps, page faults of as
 *                                       many warm runs
 * peak SHAPE NR BYTES WORKERS           bytes by which the first run has grown
 *                                       the process at its peak; the peak of
 *                                       lkdf's own count
 */
#include "tests/bench/count_alloc.h"
#include "tests/bench/lkdf_flow.h"
#include "tests/bench/lkdf_graph.h"
#include "tests/bench/peer_loop.h"

#include <sys/resource.h>

#define WARM_UP_RUNS 10
#define BATCHES 3
#define LEAST_WARM_UPS 20
#define MOST_WARM_UPS 200

static struct {
	struct lkdf *rt;
	struct flow flow;
	struct flow_serial serial;
	struct lkdf_flow graph;
} job;

static int open_flow(struct question *q)
{
	char text[64];

	if (flow_init(&job.flow, q->word[1], peer_number(q, 2),
		      peer_number(q, 3)))
		return peer_refuse(q, "no such flow");
	snprintf(text, sizeof(text), "workers=%u", peer_number(q, 4));
	if (lkdf_open(text, &job.rt) ||
	    lkdf_flow_open(&job.graph, job.rt, &job.flow))
		return peer_refuse(q, lkdf_errmsg());
	return 0;
}

static void close_flow(void)
{
	if (job.graph.rt)
		lkdf_flow_close(&job.graph);
	lkdf_close(job.rt);
	if (job.serial.flow)
		flow_serial_fini(&job.serial);
	flow_fini(&job.flow);
	memset(&job, 0, sizeof(job));
}

static int check_runs(struct question *q, uint32_t times)
{
	if (!job.serial.flow && flow_serial_init(&job.serial, &job.flow))
		return peer_refuse(q, "no memory");
	if (!flow_is_right(&job.serial, times))
		return peer_refuse(q, "wrong result");
	return 0;
}

static int run(struct question *q, uint32_t times)
{
	if (lkdf_graph_runs(job.graph.graph, times))
		return peer_refuse(q, lkdf_errmsg());
	return 0;
}

static long minor_faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* Has each worker run as many tasks as the graph has? */
static bool is_warm(int nr_workers)
{
	char name[64];
	uint64_t nr;
	int i;

	for (i = 0; i < nr_workers; i++) {
		snprintf(name, sizeof(name), "lkdf.worker.%d.tasks", i);
		if (lkdf_stat(job.rt, name, &nr) ||
		    nr < job.flow.shape.nr_tasks)
			return false;
	}
	return true;
}

/*
 * A worker fills its caches when it first runs tasks. Whoever is awake first
 * takes a chain, and may keep it for all runs of one call; so there are many
 * calls, until every worker has had its turn. How many runs it took, or -1.
 */
static int warm_up(struct question *q, int nr_workers)
{
	int i = 0;

	while (i < LEAST_WARM_UPS ||
	       (i < MOST_WARM_UPS && !is_warm(nr_workers))) {
		if (run(q, WARM_UP_RUNS))
			return -1;
		i++;
	}
	return i * WARM_UP_RUNS;
}

static int count_runs(struct question *q, uint32_t times, double *out)
{
	struct count_alloc before, after;
	long faults;

	count_alloc_read(&before);
	faults = minor_faults();
	if (run(q, times))
		return -1;
	faults = minor_faults() - faults;
	count_alloc_read(&after);
	out[0] = (double)(after.mallocs - before.mallocs);
	out[1] = (double)(after.mmaps - before.mmaps);
	out[2] = (double)faults;
	return 0;
}

/*
 * The least of a few batches: with several workers an order of events that
 * has not been before may need one block more than ever, once. What runs need
 * again and again is in every batch.
 */
static int answer_rerun(struct question *q)
{
	uint32_t i, k, times = peer_number(q, 5);
	int nr_before = warm_up(q, (int)peer_number(q, 4));
	double out[3];

	if (nr_before < 0)
		return -1;
	for (i = 0; i < BATCHES; i++) {
		if (count_runs(q, times, out))
			return -1;
		for (k = 0; k < 3; k++)
			if (!i || out[k] < q->out[k])
				q->out[k] = out[k];
	}
	return check_runs(q, (uint32_t)nr_before + BATCHES * times) ? -1 : 3;
}

/* Bytes behind a word of /proc/self/status; -1 there is none. */
static double status_bytes(const char *word)
{
	FILE *file = fopen("/proc/self/status", "re");
	double kib = -1;
	char line[256];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)))
			kib = strtod(line + strlen(word), NULL);
	fclose(file);
	return kib * 1024;
}

/* From now on the peak is counted anew. */
static int forget_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");
	int rc;

	if (!file)
		return -1;
	rc = fputs("5", file) < 0;
	return fclose(file) || rc ? -1 : 0;
}

static double counted_peak(void)
{
	uint64_t bytes, all = 0;
	char name[64];
	int node;

	for (node = 0; node < 64; node++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.peak", node);
		if (!lkdf_stat(job.rt, name, &bytes))
			all += bytes;
	}
	return (double)all;
}

static int answer_peak(struct question *q)
{
	double before;

	if (forget_peak())
		return peer_refuse(q, "the kernel keeps no peak");
	before = status_bytes("VmRSS:");
	if (run(q, 1))
		return -1;
	q->out[0] = status_bytes("VmHWM:") - before;
	q->out[1] = counted_peak();
	return check_runs(q, 1) ? -1 : 2;
}

static int peer_answer(struct question *q)
{
	int nr = -1;

	if (q->nr < 5)
		return peer_refuse(q, "too few words");
	if (open_flow(q) == 0) {
		if (peer_is(q, "rerun"))
			nr = answer_rerun(q);
		else if (peer_is(q, "peak"))
			nr = answer_peak(q);
		else
			nr = peer_refuse(q, "unknown question");
	}
	close_flow();
	return nr;
}

int main(void)
{
	return peer_loop();
}
