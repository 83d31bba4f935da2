/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks with many successors, which have one predecessor or several: each runs
 * once in each run, behind all of its predecessors, and where one of them fails
 * exactly what lies behind it is skipped, in that run and in no other. With and
 * without bytes that are passed on, on one worker and on more.
 */
#include "tests/api/using.h"

#define ROWS 12
#define WIDTH 60
#define NR_TASKS (ROWS * WIDTH)

struct net {
	uint8_t edge[NR_TASKS][WIDTH]; /* to the next row */
	uint32_t pred[NR_TASKS][WIDTH], nr_pred[NR_TASKS];
	int fails; /* task; -1: none */
	uint32_t run;
	uint32_t ran[NR_TASKS]; /* the last run in which it did */
	atomic_int nr_wrong;
};

struct job {
	struct net *net;
	uint32_t task;
};

static struct net net;
static struct job job[NR_TASKS];

static uint64_t seed = 20261123;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void add_edge(struct net *n, uint32_t from, uint32_t to)
{
	if (n->edge[from][to % WIDTH])
		return;
	n->edge[from][to % WIDTH] = 1;
	n->pred[to][n->nr_pred[to]++] = from;
}

/* In turns: all to all, few to many with one arrival each, and drawn ones. */
static void draw_net(struct net *n)
{
	uint32_t row, i, k, below;

	memset(n, 0, sizeof(*n));
	n->fails = -1;
	for (row = 0; row + 1 < ROWS; row++) {
		for (i = 0; i < WIDTH; i++) {
			below = (row + 1) * WIDTH;
			if (row % 4 == 1)
				add_edge(n, row * WIDTH + i / 20, below + i);
			for (k = 0; row % 4 == 3 && k < WIDTH; k++)
				add_edge(n, row * WIDTH + i, below + k);
			for (k = draw(24); row % 2 == 0 && k; k--)
				add_edge(n, row * WIDTH + i,
					 below + draw(WIDTH));
		}
	}
}

static int body(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;
	struct net *n = j->net;
	const uint64_t *in;
	uint64_t *out = lkdf_ptr(c, 0);
	uint32_t i;

	for (i = 0; i < n->nr_pred[j->task]; i++) {
		in = lkdf_ptr(c, i + 1);
		if (n->ran[n->pred[j->task][i]] != n->run ||
		    (in && *in != n->pred[j->task][i] + n->run))
			atomic_fetch_add(&n->nr_wrong, 1);
	}
	if (n->ran[j->task] == n->run)
		atomic_fetch_add(&n->nr_wrong, 1);
	if ((int)j->task == n->fails)
		return -EIO;
	n->ran[j->task] = n->run;
	if (out)
		*out = j->task + n->run;
	return 0;
}

/* Tasks that are wrongly skipped, or wrongly run. */
static int nr_misjudged(const struct net *n)
{
	static bool is_dead[NR_TASKS];
	uint32_t t, i;
	int nr = 0;

	for (t = 0; t < NR_TASKS; t++) {
		is_dead[t] = (int)t == n->fails;
		for (i = 0; i < n->nr_pred[t]; i++)
			is_dead[t] |= is_dead[n->pred[t][i]];
		nr += is_dead[t] == (n->ran[t] == n->run);
	}
	return nr;
}

static struct lkdf_graph *build(struct lkdf *rt, struct lkdf_kind *k,
				bool has_data, struct lkdf_data **data)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_use use[WIDTH + 1];
	uint32_t t, i;

	for (t = 0; t < NR_TASKS; t++) {
		job[t] = (struct job){ &net, t };
		if (has_data)
			data[t] =
				DATA(rt, .bytes = 24, .flags = LKDF_DATA_ONCE);
		use[0] = ON(data[t], LKDF_WRITE);
		for (i = 0; i < net.nr_pred[t]; i++)
			use[i + 1] = ON(data[net.pred[t][i]], LKDF_READ);
		must(lkdf_graph_add(g, k, &job[t], has_data ? use : NULL,
				    has_data ? net.nr_pred[t] + 1 : 0));
		for (i = 0; i < net.nr_pred[t] && !has_data; i++)
			must(lkdf_graph_order(g, (int32_t)net.pred[t][i],
					      (int32_t)t));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void run_all(struct lkdf *rt, const char *options, bool has_data)
{
	static struct lkdf_data *data[NR_TASKS];
	struct lkdf_kind *k = api_kind(rt, "fan", body, 0, 0);
	int wrong = 0, errors = 0, i, rc;
	struct lkdf_graph *g;

	draw_net(&net);
	memset((void *)data, 0, sizeof(data));
	g = build(rt, k, has_data, data);
	for (i = 0; i < 40; i++) {
		net.run++;
		/* Every other run is whole. */
		net.fails = i % 2 ? (int)draw(NR_TASKS) : -1;
		rc = api_run(g, NULL, NULL);
		errors += rc != (i % 2 ? -EIO : 0);
		wrong += nr_misjudged(&net);
	}
	is(errors, 0, "%s%s: runs fail where a task does", options,
	   has_data ? ", data" : "");
	is(wrong, 0, "%s: what lies behind it is skipped, no more", options);
	is(net.nr_wrong, 0, "%s: each once, behind all before it", options);
	lkdf_graph_put(g);
	for (i = 0; i < NR_TASKS && has_data; i++)
		lkdf_data_put(data[i]);
	lkdf_kind_put(k);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2",
					       "serial=yes" };
	struct lkdf *rt;
	size_t i;
	int round;

	tap_start(120);
	printf("# seed %llu\n", (unsigned long long)seed);
	for (i = 0; i < LENGTH(options); i++) {
		rt = api_open(options[i]);
		for (round = 0; round < 3; round++) {
			run_all(rt, options[i], false);
			run_all(rt, options[i], true);
		}
		is(lkdf_close(rt), 0, "%s: the runtime closes", options[i]);
	}
	return tap_end();
}
