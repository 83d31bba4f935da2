/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench idle, second part: few tasks are ready and most workers have
 * nothing to do. They must not cost those that work: the same with 4 workers
 * and with 1, chains of a graph and a chain of tasks that each spawn the next.
 */
#include "tests/bench/suites/sweeps.h"

#include <lkdf/lkdf.h>

#include <string.h>

#define CHAIN_TASKS 50000
#define NR_RUNS 20
#define NR_TASKS (CHAIN_TASKS * NR_RUNS)
#define MANY 4
#define BAR 1.05

struct few {
	struct lkdf *rt;
	struct lkdf_kind *nothing, *relay;
	struct lkdf_graph *one, *two; /* chains side by side */
};

enum {
	ONE_CHAIN,
	TWO_CHAINS,
	SPAWNED,
	NR_SORTS
};

static const char *const sort_names[NR_SORTS] = { "one-chain", "two-chains",
						  "spawned" };

static int nothing_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

struct baton {
	struct lkdf_kind *kind;
	uint32_t left;
};

static int relay_body(struct lkdf_ctx *c, void *arg)
{
	struct baton b = *(struct baton *)arg;

	return --b.left ? lkdf_spawn(c, b.kind, &b) : 0;
}

static int make_kind(struct lkdf *rt, lkdf_fn fn, uint32_t arg_size,
		     struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = "few",
				    .fn = fn,
				    .arg_size = arg_size };

	return lkdf_kind_create(rt, &a, out);
}

static int make_chains(struct few *f, int32_t nr_chains,
		       struct lkdf_graph **out)
{
	int rc = lkdf_graph_create(f->rt, NULL, out);
	int32_t i;

	for (i = 0; i < CHAIN_TASKS && !rc; i++) {
		lkdf_graph_add(*out, f->nothing, NULL, NULL, 0);
		if (i >= nr_chains)
			lkdf_graph_order(*out, i - nr_chains, i);
	}
	return rc ? rc : lkdf_graph_seal(*out, NULL);
}

static int few_open(struct few *f, int workers)
{
	int rc;

	memset(f, 0, sizeof(*f));
	rc = bench_open(workers, NULL, &f->rt);
	if (rc)
		return rc;
	rc = make_kind(f->rt, nothing_body, 0, &f->nothing);
	if (!rc)
		rc = make_kind(f->rt, relay_body, sizeof(struct baton),
			       &f->relay);
	if (!rc)
		rc = make_chains(f, 1, &f->one);
	if (!rc)
		rc = make_chains(f, 2, &f->two);
	return rc ? bench_fail(rc, "few: %s", lkdf_errmsg()) : 0;
}

static void few_close(struct few *f)
{
	if (!f->rt)
		return;
	lkdf_graph_put(f->one);
	lkdf_graph_put(f->two);
	lkdf_kind_put(f->nothing);
	lkdf_kind_put(f->relay);
	lkdf_close(f->rt);
}

static int few_start(struct few *f, int sort, struct lkdf_event *done)
{
	struct baton b = { f->relay, NR_TASKS };
	struct lkdf_task t = { .size = sizeof(t), .kind = f->relay, .arg = &b };
	struct lkdf_run r = { .size = sizeof(r), .times = NR_RUNS };

	if (sort == SPAWNED)
		return lkdf_submit(f->rt, NULL, &t, done);
	return lkdf_graph_run(sort == ONE_CHAIN ? f->one : f->two, NULL, &r,
			      done);
}

static int few_batch(struct few *f, int sort, struct samples *to)
{
	struct lkdf_event done;
	int64_t start = bench_now_ns();
	int rc = few_start(f, sort, &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		return bench_fail(rc, "few: %s", lkdf_errmsg());
	samples_add(to, (double)(bench_now_ns() - start) / NR_TASKS);
	return 0;
}

static void few_row(struct bench *b, int sort, const struct samples *one,
		    const struct samples *many)
{
	struct bench_row *row = report_add(&b->report, MANY, "ns/task",
					   "few/%s/slower", sort_names[sort]);

	row_value(row, many, 1);
	snprintf(row->peer, sizeof(row->peer), "1 worker");
	row->peer_value = samples_median(one);
	row_ratio(row, many, one);
	row_judge(row, BAR_AT_MOST, BAR, gate_was_fair(&b->gate));
}

static unsigned few_rounds(const struct bench *b)
{
	return b->is_quick ? 7 : 21;
}

double bench_few_steps(const struct bench *b)
{
	return few_rounds(b);
}

int bench_few(struct bench *b)
{
	struct samples by_one[NR_SORTS], by_many[NR_SORTS];
	struct few one = { .rt = NULL }, many = { .rt = NULL };
	unsigned i;
	int rc, sort;

	memset(by_one, 0, sizeof(by_one));
	memset(by_many, 0, sizeof(by_many));
	rc = few_open(&one, 1);
	if (!rc)
		rc = few_open(&many, MANY);
	gate_reset(&b->gate);
	for (i = 0; i < few_rounds(b) && !rc; i++) {
		bench_round(b, "few");
		for (sort = 0; sort < NR_SORTS && !rc; sort++) {
			rc = few_batch(&one, sort, &by_one[sort]);
			if (!rc)
				rc = few_batch(&many, sort, &by_many[sort]);
		}
	}
	for (sort = 0; sort < NR_SORTS && !rc; sort++)
		few_row(b, sort, &by_one[sort], &by_many[sort]);
	few_close(&one);
	few_close(&many);
	return rc;
}
