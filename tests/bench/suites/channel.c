/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench channel: values of 8 bytes through one bounded channel, from one
 * producer to one consumer and from half of the workers to the other half,
 * beside as many threads at a ring of the same room with a mutex. Every value
 * is counted at both ends.
 */
#include "bench/arms.h"
#include "tests/bench/suites/suites.h"

#include "tests/bench/lkdf_graph.h"
#include "tests/bench/work.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 1024
#define VALUES 131072u /* of a round, without work */
#define VALUES_BUSY 16384u
#define MAX_PAIRS 64
#define BAR_PEER 1.2
#define BAR_ONE_WORKER 1.5

static const struct {
	const char *name;
	bool is_wide; /* half of the workers are producers */
	uint32_t units; /* of work at both ends, for each value */
} parts[] = {
	{ "one", false, 0 },
	{ "wide", true, 0 },
	{ "wide/500", true, 500 },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* ---- a ring with a mutex, and threads ----------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t has_room, has_value;
	uint64_t slot[ROOM];
	uint32_t first, nr;
	bool is_over;
} ring = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.has_room = PTHREAD_COND_INITIALIZER,
	.has_value = PTHREAD_COND_INITIALIZER,
};

static void ring_put(uint64_t value)
{
	pthread_mutex_lock(&ring.lock);
	while (ring.nr == ROOM)
		pthread_cond_wait(&ring.has_room, &ring.lock);
	ring.slot[(ring.first + ring.nr++) % ROOM] = value;
	pthread_mutex_unlock(&ring.lock);
	pthread_cond_signal(&ring.has_value);
}

static bool ring_take(uint64_t *value)
{
	bool found;

	pthread_mutex_lock(&ring.lock);
	while (!ring.nr && !ring.is_over)
		pthread_cond_wait(&ring.has_value, &ring.lock);
	found = ring.nr != 0;
	if (found) {
		*value = ring.slot[ring.first];
		ring.first = (ring.first + 1) % ROOM;
		ring.nr--;
	}
	pthread_mutex_unlock(&ring.lock);
	pthread_cond_signal(&ring.has_room);
	return found;
}

static void ring_end(void)
{
	pthread_mutex_lock(&ring.lock);
	ring.is_over = true;
	pthread_mutex_unlock(&ring.lock);
	pthread_cond_broadcast(&ring.has_value);
}

/* ---- both sides --------------------------------------------------------- */

/* One of each round, for a producer or a consumer. */
struct end {
	uint64_t next, last; /* values that a producer sends */
	uint64_t sum; /* of those that a consumer got */
	bool has_worked; /* for the next one */
	pthread_t thread;
};

static struct {
	struct lkdf_channel *channel;
	struct end producer[MAX_PAIRS], consumer[MAX_PAIRS];
	atomic_int nr_left; /* producers */
	uint32_t units;
	unsigned nr_pairs;
	uint64_t nr_values;
} job;

static void prepare(void)
{
	uint64_t each = job.nr_values / job.nr_pairs;
	unsigned i;

	for (i = 0; i < job.nr_pairs; i++) {
		job.producer[i] = (struct end){ .next = i * each,
						.last = (i + 1) * each };
		job.consumer[i] = (struct end){ .sum = 0 };
	}
	job.producer[job.nr_pairs - 1].last = job.nr_values;
	atomic_store(&job.nr_left, (int)job.nr_pairs);
}

static bool all_came(void)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < job.nr_pairs; i++)
		sum += job.consumer[i].sum;
	return sum == job.nr_values * (job.nr_values - 1) / 2;
}

static bool is_last(void)
{
	return atomic_fetch_sub(&job.nr_left, 1) == 1;
}

static int produce(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	int rc;

	for (; e->next < e->last; e->next++) {
		if (!e->has_worked)
			work_for(job.units);
		e->has_worked = true;
		rc = lkdf_send(c, job.channel, &e->next);
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
		e->has_worked = false;
	}
	return is_last() ? lkdf_channel_end(job.channel, 0) : 0;
}

static int consume(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	uint64_t value;
	int rc;

	while (!(rc = lkdf_recv(c, job.channel, &value))) {
		e->sum += value;
		work_for(job.units);
	}
	if (rc == -ENODATA)
		return 0;
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static void *producer_main(void *arg)
{
	struct end *e = arg;

	for (; e->next < e->last; e->next++) {
		work_for(job.units);
		ring_put(e->next);
	}
	if (is_last())
		ring_end();
	return NULL;
}

static void *consumer_main(void *arg)
{
	struct end *e = arg;
	uint64_t value;

	while (ring_take(&value)) {
		e->sum += value;
		work_for(job.units);
	}
	return NULL;
}

/* ---- rounds ------------------------------------------------------------- */

struct arm {
	int workers;
	struct lkdf *rt;
	struct lkdf_kind *producer, *consumer;
	struct samples by_lkdf, by_mutex;
};

static int submit_pair(struct arm *a, unsigned i)
{
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = a->consumer,
			       .arg = &job.consumer[i] };
	int rc = lkdf_submit(a->rt, NULL, &t, NULL);

	t.kind = a->producer;
	t.arg = &job.producer[i];
	return rc ? rc : lkdf_submit(a->rt, NULL, &t, NULL);
}

static int lkdf_side(struct arm *a)
{
	struct lkdf_channel_attr attr = { .size = sizeof(attr),
					  .value_size = sizeof(uint64_t),
					  .depth = ROOM };
	int64_t start;
	unsigned i;
	int rc = lkdf_channel_create(a->rt, &attr, &job.channel);

	if (rc)
		return bench_fail(rc, "channel: %s", lkdf_errmsg());
	prepare();
	start = bench_now_ns();
	for (i = 0; i < job.nr_pairs && !rc; i++)
		rc = submit_pair(a, i);
	if (!rc)
		rc = lkdf_scope_wait(a->rt, NULL, -1);
	samples_add(&a->by_lkdf,
		    (double)(bench_now_ns() - start) / (double)job.nr_values);
	lkdf_channel_put(job.channel);
	if (rc)
		return bench_fail(rc, "channel: %s", lkdf_errmsg());
	return all_came() ? 0 : bench_fail(-EBADMSG, "channel: a value lost");
}

static int mutex_side(struct arm *a)
{
	int64_t start;
	unsigned i;

	prepare();
	ring.first = ring.nr = 0;
	ring.is_over = false;
	start = bench_now_ns();
	for (i = 0; i < job.nr_pairs; i++)
		if (pthread_create(&job.consumer[i].thread, NULL, consumer_main,
				   &job.consumer[i]) ||
		    pthread_create(&job.producer[i].thread, NULL, producer_main,
				   &job.producer[i]))
			return bench_fail(-EAGAIN, "channel: no thread");
	for (i = 0; i < job.nr_pairs; i++) {
		pthread_join(job.producer[i].thread, NULL);
		pthread_join(job.consumer[i].thread, NULL);
	}
	samples_add(&a->by_mutex,
		    (double)(bench_now_ns() - start) / (double)job.nr_values);
	return all_came() ? 0 : bench_fail(-EBADMSG, "ring: a value is lost");
}

static int channel_round(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;
	int pairs = parts[part].is_wide ? a->workers / 2 : 1, rc;

	(void)b;
	job.units = parts[part].units;
	job.nr_values = job.units ? VALUES_BUSY : VALUES;
	job.nr_pairs = pairs < 1	   ? 1
		       : pairs > MAX_PAIRS ? MAX_PAIRS
					   : (unsigned)pairs;
	rc = lkdf_side(a);
	return rc ? rc : mutex_side(a);
}

/* ---- rows --------------------------------------------------------------- */

static void channel_rows(struct bench *b, const void *arm, const void *first,
			 unsigned part)
{
	const struct arm *a = arm, *one = first;
	bool is_fair = gate_was_fair(&b->gate);
	struct bench_row *row;

	row = report_add(&b->report, a->workers, "ns/value", "%s/%d",
			 parts[part].name, a->workers);
	row_value(row, &a->by_lkdf, 1);
	if (row_peer(row, "mutex", &a->by_mutex, NULL))
		row_ratio(row, &a->by_lkdf, &a->by_mutex);
	row_judge(row, BAR_AT_MOST, BAR_PEER, is_fair);
	if (a == one || one->workers != 1)
		return;
	row = report_add(&b->report, a->workers, "ns/value", "%s/%d/slower",
			 parts[part].name, a->workers);
	row_value(row, &a->by_lkdf, 1);
	row_ratio(row, &a->by_lkdf, &one->by_lkdf);
	row_judge(row, BAR_AT_MOST, BAR_ONE_WORKER, is_fair);
	snprintf(row->note, sizeof(row->note), "by one worker");
}

static int channel_build(const struct bench *b, void *arm, unsigned part)
{
	struct arm *a = arm;

	(void)b;
	(void)part;
	a->by_lkdf.nr = a->by_mutex.nr = 0;
	return 0;
}

static int channel_open(void *arm, int workers)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr),
				       .flags = LKDF_SHARED,
				       .name = "producer",
				       .fn = produce };
	struct arm *a = arm;
	int rc = bench_open(workers, NULL, &a->rt);

	a->workers = workers;
	if (rc)
		return rc;
	rc = lkdf_kind_create(a->rt, &attr, &a->producer);
	attr.name = "consumer";
	attr.fn = consume;
	if (!rc)
		rc = lkdf_kind_create(a->rt, &attr, &a->consumer);
	return rc ? bench_fail(rc, "kind: %s", lkdf_errmsg()) : 0;
}

static void channel_close(void *arm)
{
	struct arm *a = arm;

	lkdf_kind_put(a->producer);
	lkdf_kind_put(a->consumer);
	lkdf_close(a->rt);
}

static const char *channel_name(unsigned part)
{
	return parts[part].name;
}

static unsigned channel_rounds(const struct bench *b, unsigned part)
{
	(void)part;
	return b->is_quick ? 5 : 15;
}

static const struct bench_arms arms = {
	.size = sizeof(struct arm),
	.open = channel_open,
	.close = channel_close,
	.name = channel_name,
	.rounds = channel_rounds,
	.build = channel_build,
	.round = channel_round,
	.rows = channel_rows,
};

double bench_channel_steps(const struct bench *b)
{
	return bench_arms_steps(b, &arms, NR_PARTS);
}

int bench_channel(struct bench *b)
{
	return bench_arms(b, &arms, NR_PARTS);
}
