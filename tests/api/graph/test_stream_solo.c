/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams of short stages: one worker takes all waves for a while where that is
 * faster, and waves that change hands stay in order, up to their end.
 */
#include "tests/api/api.h"

#define NR_STAGES 4
#define MOST 2000000u

struct line {
	struct lkdf *rt;
	uint64_t end;
	atomic_ullong
		next[NR_STAGES]; /* written by its stage, which is serial */
	atomic_int nr_wrong;
	uint64_t nr_solo;
	bool until_solo;
};

static struct line line;

static uint64_t solo_runs(void)
{
	uint64_t nr = 0;

	must(lkdf_stat(line.rt, "lkdf.runs.solo", &nr));
	return nr;
}

/* A look at the counter is long for such a stage, so it is a rare one. */
static int ask(struct lkdf_ctx *c, void *arg)
{
	uint64_t n = line.next[0];

	(void)c;
	(void)arg;
	if (line.until_solo && n % 20000 == 19999)
		line.nr_solo = solo_runs();
	if (n == line.end || line.nr_solo)
		return LKDF_END;
	line.next[0] = n + 1;
	return 0;
}

static int pass(struct lkdf_ctx *c, void *arg)
{
	unsigned stage = *(unsigned *)arg;

	(void)c;
	if (atomic_fetch_add(&line.next[stage], 1) >=
	    atomic_load(&line.next[stage - 1]))
		atomic_fetch_add(&line.nr_wrong, 1);
	return 0;
}

static struct lkdf_graph *graph_of(struct lkdf *rt, struct lkdf_kind *source,
				   struct lkdf_kind *stage, uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(rt, inflight);
	unsigned i;

	must(lkdf_graph_add(g, source, NULL, NULL, 0));
	for (i = 1; i < NR_STAGES; i++) {
		must(lkdf_graph_add(g, stage, &i, NULL, 0));
		must(lkdf_graph_order(g, (int)i - 1, (int)i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void run(struct lkdf_graph *g, uint64_t end, uint32_t max_waves)
{
	unsigned i;

	for (i = 0; i < NR_STAGES; i++)
		atomic_store(&line.next[i], 0);
	atomic_store(&line.nr_wrong, 0);
	line.end = end;
	must(api_run(g, NULL,
		     ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
			  .max_waves = max_waves)));
}

static bool is_whole(void)
{
	unsigned i;

	for (i = 1; i < NR_STAGES; i++)
		if (line.next[i] != line.next[0])
			return false;
	return !line.nr_wrong;
}

static void short_stages_go_solo(const char *options, bool may)
{
	struct lkdf *rt = line.rt = api_open(options);
	struct lkdf_kind *source = api_kind(rt, "ask", ask, 0, 0);
	struct lkdf_kind *stage =
		api_kind(rt, "pass", pass, sizeof(unsigned), 0);
	struct lkdf_graph *g = graph_of(rt, source, stage, 64);
	uint64_t end;
	int bad = 0;

	line.nr_solo = 0;
	line.until_solo = true;
	run(g, may ? MOST : 100000, 0);
	ok(is_whole(), "%s: %llu waves in order", options,
	   (unsigned long long)line.next[0]);
	is(solo_runs() != 0, may, "%s solo", may ? "some went" : "none goes");
	line.until_solo = false;
	line.nr_solo = 0;
	for (end = 0; end < 1000; end += 37) {
		run(g, end, (uint32_t)end % 5);
		bad += line.next[0] != end || !is_whole();
	}
	is(bad, 0, "and streams of any length end where they should");
	lkdf_graph_put(g);
	lkdf_kind_put(stage);
	lkdf_kind_put(source);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	short_stages_go_solo("workers=2", true);
	short_stages_go_solo("workers=4", true);
	short_stages_go_solo("workers=2,solo_runs=0", false);
	short_stages_go_solo("workers=1", false);
	return tap_end();
}
