/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Small bytes whose last two readers leave at the same moment, on two workers,
 * may be left over (data.rst): until the next run, not longer, and whoever
 * reads then has its own run's bytes to the end. Two workers are made to leave
 * together until some are left; the next run has one worker only, so nothing
 * may be left after it. Of large bytes and of those with a drop none may be
 * left at all.
 */
#include "tests/api/using.h"

#define NR_DATA 16
#define TRIES_NS SECOND
#define NR_RUNS 2000
/* Both are in their bodies; or one of them has no worker. */
#define NR_LOOKS 200000

struct seen {
	atomic_int nr_readers, nr_wrong;
	bool together;
};

static int make_all(struct lkdf_ctx *c, void *arg)
{
	uint32_t i;

	(void)arg;
	for (i = 0; i < NR_DATA; i++)
		*(uint64_t *)lkdf_ptr(c, i) = lkdf_seq(c) * NR_DATA + i;
	return 0;
}

/* Leaves with the other one. */
static int read_all(struct lkdf_ctx *c, void *arg)
{
	struct seen *s = *(struct seen **)arg;
	/* How many have come when both of this run have: two a run. */
	int even = (atomic_fetch_add(&s->nr_readers, 1) + 2) & ~1;
	uint32_t i;

	for (i = 0; s->together && i < NR_LOOKS; i++)
		if (atomic_load(&s->nr_readers) >= even)
			break;
	for (i = 0; i < NR_DATA; i++)
		if (*(uint64_t *)lkdf_ptr(c, i) != lkdf_seq(c) * NR_DATA + i)
			atomic_fetch_add(&s->nr_wrong, 1);
	return 0;
}

static void add(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
		struct lkdf_data *const *d, uint32_t mode)
{
	struct lkdf_use use[NR_DATA];
	int i;

	for (i = 0; i < NR_DATA; i++)
		use[i] = ON(d[i], mode);
	must(lkdf_graph_add(g, k, arg, use, NR_DATA));
}

static struct lkdf_graph *graph_of(struct lkdf *rt, struct seen **s,
				   uint64_t bytes, void (*at_end)(void *))
{
	struct lkdf_kind *makes = api_kind(rt, "makes", make_all, 0, 0);
	struct lkdf_kind *reads =
		api_kind(rt, "reads", read_all, sizeof(*s), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *d[NR_DATA];
	int i;

	for (i = 0; i < NR_DATA; i++)
		d[i] = DATA(rt, .bytes = bytes, .flags = LKDF_DATA_ONCE,
			    .drop = at_end);
	add(g, makes, NULL, d, LKDF_WRITE);
	add(g, reads, s, d, LKDF_READ);
	add(g, reads, s, d, LKDF_READ);
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(makes);
	lkdf_kind_put(reads);
	return g;
}

static long long used_of(struct lkdf *rt)
{
	uint64_t used;

	must(lkdf_stat(rt, "lkdf.node.0.memory.used", &used));
	return (long long)used;
}

/* Return: bytes left over; 0: in no run. */
static long long leave_together(struct lkdf *rt, struct lkdf_graph *g,
				struct seen *s)
{
	long long before = used_of(rt), left = 0;
	int64_t end = api_now_ns() + TRIES_NS;

	s->together = true;
	while (!left && api_now_ns() < end) {
		must(api_run(g, NULL, NULL));
		left = used_of(rt) - before;
	}
	s->together = false;
	return left;
}

/* A worker has a body that waits: the other one runs all there is. */
static void alone(struct lkdf *rt, struct lkdf_graph *g, long long left)
{
	struct lkdf_kind *waits = api_kind(rt, "waits", pass_gate, 0, 0);
	struct gate gate = { 0 };
	struct lkdf_event passed;
	long long used;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = waits, .arg = &gate),
			 &passed));
	api_until(&gate.entered);
	used = used_of(rt);
	must(api_run(g, NULL, NULL));
	is(used_of(rt), used - left, "nothing is left after the next run");
	atomic_store(&gate.open, 1);
	must(lkdf_event_wait(passed, -1));
	lkdf_kind_put(waits);
}

static void left_until_the_next_run(struct lkdf *rt, uint64_t bytes)
{
	struct seen seen = { 0 }, *arg = &seen;
	struct lkdf_graph *g = graph_of(rt, &arg, bytes, NULL);
	long long left;
	int i;

	for (i = 0; i < 5; i++) {
		left = leave_together(rt, g, &seen);
		ok(left <= (long long)(NR_DATA * (bytes + 512)),
		   "%llu bytes: no more are left than were made",
		   (unsigned long long)bytes);
		if (left)
			alone(rt, g, left);
		else
			skip("what is left", "the two never left together");
	}
	is(seen.nr_wrong, 0, "%llu bytes: each reads its own run's",
	   (unsigned long long)bytes);
	lkdf_graph_put(g);
}

static atomic_int nr_dropped;

static void drop(void *bytes)
{
	*(uint64_t *)bytes = UINT64_MAX;
	atomic_fetch_add(&nr_dropped, 1);
}

/* Large ones, and those that somebody waits for, never are. */
static void none_is_left(struct lkdf *rt, uint64_t bytes,
			 void (*at_end)(void *))
{
	struct seen seen = { .together = true }, *arg = &seen;
	struct lkdf_graph *g = graph_of(rt, &arg, bytes, at_end);
	long long before = used_of(rt);
	int i, nr_left = 0;

	nr_dropped = 0;
	for (i = 0; i < NR_RUNS; i++) {
		must(api_run(g, NULL, NULL));
		nr_left += used_of(rt) != before;
		if (at_end)
			nr_left += nr_dropped != NR_DATA * (i + 1);
	}
	is(nr_left, 0, "%llu bytes%s: none are left", (unsigned long long)bytes,
	   at_end ? " to be dropped" : "");
	is(seen.nr_wrong, 0, "%llu bytes: each reads its own run's",
	   (unsigned long long)bytes);
	lkdf_graph_put(g);
}

int main(void)
{
	struct lkdf *rt = api_open("topology=numa:1 core:2");

	tap_start(60);
	left_until_the_next_run(rt, 8);
	left_until_the_next_run(rt, 5000);
	none_is_left(rt, 8, drop);
	none_is_left(rt, 40000, NULL);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
