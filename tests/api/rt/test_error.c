/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors: what a failing task takes with it and what not, who is told, and
 * that the next run starts afresh.
 */
#include "tests/api/api.h"

static const int worker_counts[] = { 1, 2, 8 };

struct cell {
	atomic_int nr;
	atomic_int *error; /* fails with it unless 0 */
};

static int run_cell(struct lkdf_ctx *c, void *arg)
{
	struct cell *cell = arg;
	int error = cell->error ? atomic_load(cell->error) : 0;

	atomic_fetch_add(&cell->nr, 1);
	return error ? lkdf_fail(c, error, "cell says %d", -error) : 0;
}

#define ROWS 12
#define COLS 40

/* ROWS chains of COLS; chain 3 fails in the middle, a sink joins 3 and 4. */
static struct lkdf_graph *make_rows(struct lkdf *rt, struct lkdf_kind *k,
				    struct cell *cell, uint32_t inflight)
{
	struct lkdf_graph *g;
	int i, sink;

	must(lkdf_graph_create(
		rt, ATTR(lkdf_graph_attr, .name = "rows", .inflight = inflight),
		&g));
	for (i = 0; i < ROWS * COLS; i++) {
		must(lkdf_graph_add(g, k, &cell[i], NULL, 0));
		if (i % COLS)
			must(lkdf_graph_order(g, i - 1, i));
	}
	sink = must(lkdf_graph_add(g, k, &cell[i], NULL, 0));
	must(lkdf_graph_order(g, 4 * COLS - 1, sink));
	must(lkdf_graph_order(g, 5 * COLS - 1, sink));
	must(lkdf_graph_label(g, 3 * COLS + 20, "bad"));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static int count_wrong(const struct cell *cell, int runs, int failed)
{
	int i, bad = 0, want;

	for (i = 0; i <= ROWS * COLS; i++) {
		want = runs;
		if (i == ROWS * COLS || (i > 3 * COLS + 20 && i < 4 * COLS))
			want -= failed;
		bad += cell[i].nr != want;
	}
	return bad;
}

static void only_descendants_are_skipped(struct lkdf *rt, uint32_t flags,
					 uint32_t inflight)
{
	static struct cell cell[ROWS * COLS + 1];
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_kind *k = api_kind(rt, "cell", run_cell, 0, flags);
	struct lkdf_event done;
	struct lkdf_scope *s;
	struct lkdf_graph *g;
	atomic_int error = -EILSEQ;
	int i;

	memset(cell, 0, sizeof(cell));
	cell[3 * COLS + 20].error = &error;
	g = make_rows(rt, k, cell, inflight);
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "err"), &s));
	must(lkdf_graph_run(g, s, ATTR(lkdf_run, .times = 50), &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(50000);
	ok(e.err == -EILSEQ && e.id == 3 * COLS + 20, "the first is told");
	has(e.graph, "rows", "with its graph");
	has(e.task, "bad", "and label");
	has(e.why, "cell says", "and text");
	ok(e.nr_failed == 1 && e.nr_skipped == COLS - 20, "1 and 20 counted");
	is(lkdf_event_wait(done, -1), -EILSEQ, "an error ends repetitions");
	is(count_wrong(cell, 1, 1), 0, "only descendants are skipped");
	is(lkdf_scope_wait(rt, s, -1), 0, "the scope does not tell it again");
	is(lkdf_scope_wait(rt, s, -1), 0, "nor later");
	e.err = 0;
	must(lkdf_scope_error(rt, s, &e));
	is(e.err, -EILSEQ, "it stays to be asked for");
	for (i = 0; i < 20; i++) {
		atomic_store(&error, i % 2 ? -EIO : 0);
		is(api_run(g, s, NULL), i % 2 ? -EIO : 0, "run %d again", i);
	}
	is(count_wrong(cell, 21, 11), 0, "counters are armed anew each time");
	is(lkdf_scope_wait(rt, s, -1), 0, "each call has told its own");
	must(lkdf_scope_error(rt, s, &e));
	ok(e.nr_failed == 11 && e.nr_skipped == 11 * (COLS - 20),
	   "the scope counts all of them");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the root has no other");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

struct log {
	atomic_int nr_errors;
	char last[512];
};

static void note_log(void *u, int level, const char *text)
{
	struct log *log = u;

	if (level != LKDF_LOG_ERROR)
		return;
	snprintf(log->last, sizeof(log->last), "%s", text);
	atomic_fetch_add(&log->nr_errors, 1);
}

static int fail_once(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, -EIO, "secret %d", *(int *)arg);
}

static void an_unseen_error_goes_to_the_log(void)
{
	struct log log = { .nr_errors = 0 };
	struct lkdf_kind *k;
	struct lkdf_scope *s;
	struct lkdf_event done;
	struct lkdf *rt;

	must(lkdf_open_with(ATTR(lkdf_open_attr, .options = "workers=2",
				 .log = note_log, .u = &log),
			    &rt));
	k = api_kind(rt, "fails", fail_once, sizeof(int), 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &(int){ 1 }),
			 &done));
	is(lkdf_event_wait(done, -1), -EIO, "a task fails");
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &(int){ 2 }),
			 NULL));
	is(lkdf_scope_wait(rt, s, -1), -EIO, "a second in a scope");
	lkdf_scope_put(s);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the root tells none again");
	is(log.nr_errors, 0, "what was looked at is not logged");
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &(int){ 3 }),
			 NULL));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	while (lkdf_close(rt) == -EBUSY)
		api_nap_ns(50000);
	is(log.nr_errors, 1, "what nobody looked at is, once");
	has(log.last, "secret 3", "with its text");
}

static int fail_by_index(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, -*(int *)arg, "index %d", *(int *)arg);
}

static void the_first_error_wins(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "f", fail_by_index, sizeof(int), 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s;
	char text[32];
	int i, rc;

	must(lkdf_scope_create(rt, NULL, &s));
	is(lkdf_scope_error(rt, s, &e), 0, "a scope without error");
	ok(!e.err && !e.nr_failed, "says so");
	for (i = 1; i <= 100; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &i),
				 NULL));
	rc = lkdf_scope_wait(rt, s, -1);
	must(lkdf_scope_error(rt, s, &e));
	is(e.err, rc, "error and text are of the same task");
	snprintf(text, sizeof(text), "index %d", -rc);
	has(e.why, text, "as the text says");
	is(e.nr_failed, 100, "all are counted");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		only_descendants_are_skipped(rt, 0, 1);
		only_descendants_are_skipped(rt, 0, 3);
		only_descendants_are_skipped(rt, LKDF_BLOCKING, 1);
		only_descendants_are_skipped(rt, LKDF_SHARED, 2);
		the_first_error_wins(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	an_unseen_error_goes_to_the_log();
	return tap_end();
}
