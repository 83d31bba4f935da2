/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker of a stream that runs a serial stage: while somebody asks for work
 * it goes on with that stage and leaves the wave to others, if bodies take long
 * enough; else it goes on with the wave. There is one worker, so the order is
 * its own, and the source stands in for who asks.
 */
#include "core/runtime.h"
#include "task/ctx.h"
#include "task/kind.h"

#include "tests/api/api.h"

#define NR_STAGES 3
#define NR_WAVES 256
#define INFLIGHT 8

/* Bodies that may come right after their wave's body before. */
#define MOST ((NR_STAGES - 1) * NR_WAVES)

static struct {
	struct lkdf *rt;
	struct lkdf_kind *kind[NR_STAGES];
	bool asks;
	uint32_t ticks; /* of the last sample, as if */
	uint64_t next[NR_STAGES], last_wave;
	unsigned last_stage, nr_followed, nr_wrong;
} line;

/* Of a wave: its stage before was the body before. */
static int stage(struct lkdf_ctx *c, void *arg)
{
	unsigned i = *(unsigned *)arg;
	uint64_t wave = line.next[i]++;

	line.nr_wrong += i && wave >= line.next[i - 1];
	line.nr_followed +=
		i && line.last_wave == wave && line.last_stage == i - 1;
	line.last_wave = wave;
	line.last_stage = i;
	/* Measured calls would say what a body takes here. */
	a_store(&line.kind[i]->slow, 0, relaxed);
	a_store(&line.kind[i]->body_ticks, line.ticks, relaxed);
	if (line.asks)
		a_or(&c->ex->worker->attn, ATTN_STEAL, relaxed);
	else
		a_and(&c->ex->worker->attn, ~ATTN_STEAL, relaxed);
	return 0;
}

static struct lkdf_graph *graph_of(void)
{
	struct lkdf_graph *g = api_graph(line.rt, INFLIGHT);
	unsigned i;

	for (i = 0; i < NR_STAGES; i++) {
		line.kind[i] =
			api_kind(line.rt, "stage", stage, sizeof(unsigned), 0);
		must(lkdf_graph_add(g, line.kind[i], &i, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, (int)i - 1, (int)i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* How many of MOST did. The first bodies are measured, whatever they say. */
static unsigned followed(struct lkdf_graph *g, bool asks, uint64_t ns)
{
	const struct sched *s = &line.rt->sched;
	unsigned i, bad = 0;

	for (i = 0; i < NR_STAGES; i++)
		line.next[i] = 0;
	line.nr_followed = line.nr_wrong = 0;
	line.asks = asks;
	line.ticks = (uint32_t)(ns * s->ticks_per_1024ns / 1024);
	is(api_run(g, NULL,
		   ATTR(lkdf_run, .flags = LKDF_RUN_STREAM, .times = NR_WAVES)),
	   0, "a stream whose bodies take %llu ns%s", (unsigned long long)ns,
	   asks ? ", and somebody asks" : "");
	for (i = 0; i < NR_STAGES; i++)
		bad += line.next[i] != NR_WAVES;
	is(bad + line.nr_wrong, 0, "all %d waves, in order", NR_WAVES);
	printf("# %u followed\n", line.nr_followed);
	return line.nr_followed;
}

int main(void)
{
	struct lkdf_graph *g;
	unsigned i;

	tap_start(60);
	line.rt = api_open("workers=1,solo_runs=0");
	g = graph_of();
	ok(followed(g, false, 500) > MOST * 3 / 4, "nobody asks: waves go on");
	ok(followed(g, true, 50) > MOST * 3 / 4,
	   "somebody does, of short bodies: too");
	ok(followed(g, true, 500) < MOST / 4, "of longer ones: stages go on");
	ok(followed(g, false, 500) > MOST * 3 / 4,
	   "and no more when nobody asks");
	lkdf_graph_put(g);
	for (i = 0; i < NR_STAGES; i++)
		lkdf_kind_put(line.kind[i]);
	must(lkdf_close(line.rt));
	return tap_end();
}
