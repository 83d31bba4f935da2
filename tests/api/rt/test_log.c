/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors that nobody has asked for are lines on standard error, unless there
 * is a callback or LKDF_LOG=none.
 */
#include "tests/api/rt/stderr.h"

static int fail(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, -EILSEQ, "%s", (const char *)arg);
}

static void close_at_last(struct lkdf *rt)
{
	while (lkdf_close(rt) == -EBUSY)
		usleep(100);
}

/* A submitted task fails, or the run of a graph. */
static void fail_once(struct lkdf *rt, bool in_graph, const char *why)
{
	struct lkdf_kind *k = api_kind(rt, "burner", fail, 0, 0);
	struct lkdf_graph *g = NULL;

	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = "oven"), &g));
	must(lkdf_graph_add(g, k, why, NULL, 0));
	must(lkdf_graph_label(g, 0, "bread"));
	must(lkdf_graph_seal(g, NULL));
	if (in_graph)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	else
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = why), NULL));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* What a program with an error that nobody asks for writes. */
static const char *written(const char *options, bool in_graph, const char *why)
{
	struct lkdf *rt;

	stderr_keep();
	rt = api_open(options);
	fail_once(rt, in_graph, why);
	close_at_last(rt);
	return stderr_text();
}

static void errors_are_lines(void)
{
	const char *text = written("workers=2", false, "it\nburns");

	is(nr_lines(text), 1, "an error is one line");
	has(text,
	    "lkdf: error: unobserved error: task burner of kind burner failed: "
	    "it burns\n",
	    "the task, its kind and why");
	text = written("workers=2", true, "it\nburns");
	is(nr_lines(text), 1, "so is that of a run");
	has(text,
	    "lkdf: error: unobserved error: task bread of kind burner in graph "
	    "oven failed: it burns\n",
	    "its label and the graph, too");
}

/* A scope keeps its first error, which counts those that come after. */
static void one_line_counts_those_behind(void)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = NULL;
	struct lkdf_kind *k;
	const char *text;
	struct lkdf *rt;
	int i;

	stderr_keep();
	rt = api_open("workers=2");
	k = api_kind(rt, "burner", fail, 0, 0);
	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = "x"),
				 NULL));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	close_at_last(rt);
	text = stderr_text();
	is(nr_lines(text), 1, "a hundred errors of a scope are one line");
	has(text, "failed: x (and 99 more)\n", "which counts them");
}

static void what_is_asked_for_is_not_written(void)
{
	struct lkdf_event e, later;
	struct lkdf_kind *k;
	const char *text;
	struct lkdf *rt;
	int i;

	stderr_keep();
	rt = api_open("workers=2");
	k = api_kind(rt, "burner", fail, 0, 0);
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = "x"), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EILSEQ, "one wait for many errors");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = "x"), &e));
	is(lkdf_event_wait(e, -1), -EILSEQ, "a wait for one error");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = "late"),
			 &later));
	is(lkdf_event_wait(later, -1), -EILSEQ, "and for another");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
	text = stderr_text();
	is(nr_lines(text), 0, "nothing is written");
	printf("%s%s", text[0] ? "# " : "", text);
}

/* The scope keeps an error that is known: it does not stand for another. */
static void what_nobody_can_ask_for_is_written(void)
{
	struct lkdf_event e;
	struct lkdf_kind *k;
	struct lkdf *rt;

	stderr_keep();
	rt = api_open("workers=2");
	k = api_kind(rt, "burner", fail, 0, 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = "x"), &e));
	is(lkdf_event_wait(e, -1), -EILSEQ, "the first error is known");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = "late"),
			 NULL));
	lkdf_kind_put(k);
	close_at_last(rt);
	has(stderr_text(), "failed: late\n", "the next one is written");
}

static int is_late(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	while (!lkdf_cancelled(c))
		usleep(1000);
	return 0;
}

static atomic_int nr_child_runs;

/* Returns an error of its own beside a child run whose deadline passes. */
static int fail_beside_a_run(struct lkdf_ctx *c, void *arg)
{
	atomic_fetch_add(&nr_child_runs, 1);
	must(lkdf_spawn_graph(c, *(struct lkdf_graph **)arg,
			      ATTR(lkdf_run, .deadline_ns = 2000000)));
	return -EDOM;
}

static struct lkdf_graph *graph_of(struct lkdf *rt, lkdf_fn fn,
				   struct lkdf_graph *part)
{
	struct lkdf_kind *k = api_kind(rt, "one", fn, sizeof(part), 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	must(lkdf_graph_add(g, k, &part, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	return g;
}

static uint64_t nr_runs(struct lkdf *rt)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, "lkdf.runs", &nr));
	return nr;
}

/* depth: child runs, one in the other; fewer where the deadline of one is over
 * before its task begins. */
static const char *written_beside_runs(const char *options, int depth,
				       bool waits)
{
	struct lkdf_graph *g[3];
	struct lkdf_event done;
	struct lkdf *rt;
	int i;

	stderr_keep();
	rt = api_open(options);
	g[0] = graph_of(rt, is_late, NULL);
	for (i = 1; i <= depth; i++)
		g[i] = graph_of(rt, fail_beside_a_run, g[i - 1]);
	atomic_store(&nr_child_runs, 0);
	must(lkdf_graph_run(g[depth], NULL, NULL, waits ? &done : NULL));
	if (waits)
		is(lkdf_event_wait(done, -1), -EDOM,
		   "the outer run has failed");
	while (nr_runs(rt) <= (uint64_t)atomic_load(&nr_child_runs))
		usleep(100);
	for (i = 0; i <= depth; i++)
		lkdf_graph_put(g[i]);
	close_at_last(rt);
	return stderr_text();
}

static void a_parent_stands_for_its_child_run(const char *options)
{
	int depth;

	for (depth = 1; depth <= 2; depth++) {
		is(nr_lines(written_beside_runs(options, depth, true)), 0,
		   "%s: an outer run that is waited for leaves no line",
		   options);
		is(nr_lines(written_beside_runs(options, depth, false)), 1,
		   "%s: one that nobody waits for leaves one", options);
	}
}

static struct lkdf_kind *volatile never_put;

static void levels_work_without_a_callback(void)
{
	const char *text = written("workers=2,log=none", false, "x");
	struct lkdf *rt;

	is(nr_lines(text), 0, "log=none is silent");
	setenv("LKDF_LOG", "none", 1);
	is(nr_lines(written("workers=2", false, "x")), 0,
	   "so is LKDF_LOG=none");
	setenv("LKDF_LOG", "error", 1);
	is(nr_lines(written("workers=2", false, "x")), 1, "error says errors");
	setenv("LKDF_LOG", "info", 1);
	has(written("workers=2", false, "x"),
	    "lkdf: error: ", "info says errors");
	stderr_keep();
	rt = api_open("workers=2");
	never_put = api_kind(rt, "burner", fail, 0, 0);
	must(lkdf_close(rt));
	has(stderr_text(), "lkdf: info: close: ", "and what was not put");
	setenv("LKDF_LOG", "debug", 1);
	ok(nr_lines(written("workers=2", false, "x")) > 0, "so does debug");
	unsetenv("LKDF_LOG");
}

static void wild_frees_are_written(void)
{
	struct lkdf *rt;

	stderr_keep();
	rt = api_open("workers=1");
	lkdf_free(rt, &rt);
	must(lkdf_close(rt));
	has(stderr_text(), "lkdf: error: free: ", "a wild free is an error");
}

static void note(void *u, int level, const char *text)
{
	(void)text;
	atomic_fetch_add((atomic_int *)u + level, 1);
}

static void a_callback_replaces_it(void)
{
	atomic_int nr[3] = { 0 };
	struct lkdf *rt;

	stderr_keep();
	must(lkdf_open_with(
		LKDF_OPEN(.options = "workers=2", .log = note, .u = nr), &rt));
	fail_once(rt, false, "x");
	close_at_last(rt);
	is(nr_lines(stderr_text()), 0, "with a callback nothing is written");
	is(nr[LKDF_LOG_ERROR], 1, "it is called for each error");
	atomic_store(&nr[LKDF_LOG_ERROR], 0);
	must(lkdf_open_with(ATTR(lkdf_open_attr,
				 .options = "workers=2,log=none", .log = note,
				 .u = nr),
			    &rt));
	fail_once(rt, false, "x");
	close_at_last(rt);
	is(nr[LKDF_LOG_ERROR], 0, "log=none silences a callback");
}

/* ---- the same error again and again ------------------------------------- */

#define NR_SAME 2000

/* Its child fails, and nobody asks: it has an error of its own. */
static int fail_beside_a_child(struct lkdf_ctx *c, void *arg)
{
	must(lkdf_spawn(c, *(struct lkdf_kind **)arg, NULL));
	return -EDOM;
}

/* Lines with the first text, and the sum of the counts in those with it. */
static unsigned long count_told(const char *text, int *nr_counts)
{
	unsigned long sum = 0;
	const char *line = text, *at;

	*nr_counts = 0;
	for (; line; line = strchr(line, '\n'), line += line != NULL) {
		sum += !strncmp(
			line, "lkdf: error: unobserved error: task burns", 41);
		at = strstr(line, "unobserved errors: ");
		if (!at || at > strchrnul(line, '\n'))
			continue;
		sum += strtoul(at + strlen("unobserved errors: "), NULL, 10);
		++*nr_counts;
	}
	return sum;
}

static int burn(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

static void the_same_error_is_counted(void)
{
	int64_t begin = api_now_ns(), seconds;
	struct lkdf_kind *k, *burns;
	struct lkdf_event done;
	int i, nr_counts;
	const char *text;
	struct lkdf *rt;

	stderr_keep();
	rt = api_open("workers=2");
	burns = api_kind(rt, "burns", burn, 0, 0);
	k = api_kind(rt, "beside", fail_beside_a_child, sizeof(burns), 0);
	for (i = 0; i < NR_SAME; i++) {
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &burns),
				 &done));
		lkdf_event_wait(done, -1);
	}
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(burns);
	close_at_last(rt);
	text = stderr_text();
	seconds = (api_now_ns() - begin) / 1000000000 + 1;
	is(count_told(text, &nr_counts), NR_SAME,
	   "each error is a line or in a count");
	ok(nr_lines(text) - nr_counts <= 8 * (seconds + 1),
	   "at most eight lines a second: %d in %d s", nr_lines(text),
	   (int)seconds);
	ok(nr_counts >= 1 && nr_counts <= seconds + 1, "and %d counts",
	   nr_counts);
}

int main(void)
{
	tap_start(60);
	unsetenv("LKDF_LOG");
	errors_are_lines();
	one_line_counts_those_behind();
	the_same_error_is_counted();
	what_nobody_can_ask_for_is_written();
	what_is_asked_for_is_not_written();
	a_parent_stands_for_its_child_run("workers=2");
	a_parent_stands_for_its_child_run("serial=yes");
	levels_work_without_a_callback();
	wild_frees_are_written();
	a_callback_replaces_it();
	return tap_end();
}
