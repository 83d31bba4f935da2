/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a graph is written as: every task and edge, sealed or not, and names
 * with quotes do no harm. Then what a body may ask about its run.
 */
#include "tests/api/api.h"

#include <fcntl.h>

static char text[1 << 20];

static const char *dump(const struct lkdf_graph *g, const char *format)
{
	char path[] = "/tmp/lkdf-dump-XXXXXX";
	int fd = mkstemp(path);
	ssize_t n = -1;

	unlink(path);
	if (fd >= 0 && !lkdf_graph_dump(g, fd, format)) {
		lseek(fd, 0, SEEK_SET);
		n = read(fd, text, sizeof(text) - 1);
	}
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static int count(const char *in, const char *what)
{
	int nr = 0;

	for (in = strstr(in, what); in; in = strstr(in + 1, what))
		nr++;
	return nr;
}

/* 0: it is JSON, 1: it is not, -1: nobody here can tell. */
static int ask_python(const char *json)
{
	FILE *p;
	int rc;

	if (system("python3 -c 'import json' 2>/dev/null"))
		return -1;
	p = popen("python3 -c 'import json,sys; g=json.load(sys.stdin); "
		  "n=len(g[\"tasks\"]); sys.exit(any(a<0 or b<0 or a>=n or "
		  "b>=n for a,b in g[\"edges\"]))' 2>/dev/null",
		  "w");
	if (!p)
		return -1;
	fputs(json, p);
	rc = pclose(p);
	return rc != 0;
}

static void is_json(const char *what)
{
	int rc = ask_python(text);

	if (rc < 0)
		skip(what, "no python3");
	else
		is(rc, 0, "%s is JSON", what);
}

static void a_graph_is_written(struct lkdf *rt, int nr, bool seal)
{
	struct lkdf_kind *k = api_kind(rt, "a\"kind\\", api_nothing, 0, 0);
	struct lkdf_graph *g;
	int i, edges = 0;

	must(lkdf_graph_create(
		rt, ATTR(lkdf_graph_attr, .name = "with \"quotes\"\n"), &g));
	for (i = 0; i < nr; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 1; i < nr; i++, edges++)
		must(lkdf_graph_order(g, i / 5, i));
	if (nr)
		must(lkdf_graph_label(g, 0, "\\ \" \t last"));
	if (seal)
		must(lkdf_graph_seal(g, NULL));
	dump(g, "json");
	is(count(text, "\"id\":"), nr, "%d tasks are in it", nr);
	is(count(text, "],[") + (count(text, "\"edges\":[[") > 0), edges,
	   "and all edges");
	is_json(seal ? "the sealed graph" : "the open graph");
	dump(g, "dot");
	is(count(text, "[label="), nr, "as dot too");
	is(count(text, " -> "), edges, "with all edges");
	ok(!strncmp(text, "digraph ", 8) && strstr(text, "}\n"),
	   "from the first to the last brace");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* U+FFFD as UTF-8. */
#define NONE "\xef\xbf\xbd"

static void what_is_written_is_utf8(struct lkdf *rt)
{
	static const struct {
		const char *label, *text;
	} cases[] = {
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "a\xff!", "\"a" NONE "!\"" },
		{ "cut \xe2\x82", "\"cut " NONE NONE "\"" },
		{ "long \xc0\x80", "\"long " NONE NONE "\"" },
		{ "\xed\xa0\x80", "\"" NONE NONE NONE "\"" },
		{ "\xf4\x90\x80\x80", "\"" NONE NONE NONE NONE "\"" },
		{ "\x80", "\"" NONE "\"" },
	};
	struct lkdf_kind *k = api_kind(rt, "k\xfe", api_nothing, 0, 0);
	struct lkdf_graph *g;
	int i, nr = sizeof(cases) / sizeof(*cases);

	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = "g\xc3"), &g));
	for (i = 0; i < nr; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		must(lkdf_graph_label(g, i, cases[i].label));
	}
	dump(g, "json");
	for (i = 0; i < nr; i++)
		has(text, cases[i].text, "label %d", i);
	is(count(text, "\"k" NONE "\""), nr, "the name of the kind");
	has(text, "\"g" NONE "\"", "the name of the graph");
	is_json("a graph of such names");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* Three tasks are a loop, and one is that goes round by 200 branches. */
static void loops_are_written(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int i;

	for (i = 0; i < 5; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 1; i < 5; i++)
		must(lkdf_graph_order(g, i - 1, i));
	must(lkdf_graph_back(g, 3, 0, 1));
	for (i = 0; i < 200; i++)
		must(lkdf_graph_back(g, 4, (uint16_t)i, 4));
	ok(!strstr(dump(g, "json"), "loops"), "before seal there are no loops");
	must(lkdf_graph_seal(g, NULL));
	dump(g, "json");
	has(text, "{\"head\":1,\"members\":3,\"region\":true}",
	    "a loop of three, with a region");
	has(text, "{\"head\":4,\"members\":1,\"region\":false}",
	    "a loop of one with too many edges for a region");
	is_json("a graph of loops");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/*
 * A task comes after so many of those before it: there are 64 bytes for the
 * edges of a task, and four take less, six more (graph/region.h).
 */
#define DENSE 64
#define TURNS 40

static struct {
	int nr_calls, nr_bad;
} dense;

static int count_turn(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;

	(void)c;
	dense.nr_bad += dense.nr_calls++ % DENSE != task;
	return dense.nr_calls == TURNS * DENSE ? LKDF_NO_BRANCH : 0;
}

static void edges_of_a_region_are_bounded(struct lkdf *rt, int nr_edges,
					  const char *want)
{
	struct lkdf_kind *k = api_kind(rt, "dense", count_turn, sizeof(int), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t before, turns;
	int i, n;

	for (i = 0; i < DENSE; i++) {
		must(lkdf_graph_add(g, k, &i, NULL, 0));
		for (n = 1; n <= nr_edges && n <= i; n++)
			must(lkdf_graph_order(g, i - n, i));
	}
	must(lkdf_graph_back(g, DENSE - 1, 0, 0));
	must(lkdf_graph_seal(g, NULL));
	dump(g, "json");
	has(text, want, "a loop with %d edges a task", nr_edges);
	dense.nr_calls = dense.nr_bad = 0;
	must(lkdf_stat(rt, "lkdf.iterations", &before));
	is(api_run(g, NULL, NULL), 0, "it ends");
	must(lkdf_stat(rt, "lkdf.iterations", &turns));
	is(turns - before, TURNS - 1, "it goes round so often");
	is(dense.nr_calls, TURNS * DENSE, "all of its tasks run");
	is(dense.nr_bad, 0, "in their order");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

struct asked {
	const void *want_arg;
	uint64_t next_seq;
	int bad, nr;
};

static int ask(struct lkdf_ctx *c, void *arg)
{
	struct asked *a = arg;
	int cpu = -1, node = -1;

	a->bad += lkdf_run_arg(c) != a->want_arg;
	a->bad += lkdf_seq(c) != a->next_seq++;
	a->bad += lkdf_worker(c) < 0 ||
		  lkdf_worker(c) >= lkdf_nr_executors(lkdf_runtime(c));
	a->bad += lkdf_where(c, &cpu, &node) || cpu < 0 || node < 0;
	a->bad += lkdf_where(c, NULL, NULL) != 0;
	a->nr++;
	return 0;
}

static bool count_down(void *u)
{
	return --*(int *)u == 0;
}

static void a_body_is_told_of_its_run(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "ask", ask, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct asked a = { .want_arg = &g };
	int left = 7;

	must(lkdf_graph_add(g, k, &a, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .arg = &g)), 0, "with an arg");
	is(api_run(g, NULL, ATTR(lkdf_run, .arg = &g, .times = 10)), 0,
	   "ten times");
	a.want_arg = NULL;
	is(api_run(g, NULL, ATTR(lkdf_run, .until = count_down, .u = &left)), 0,
	   "until told");
	is(a.nr, 18, "one, ten and seven runs");
	left = 100;
	is(api_run(g, NULL,
		   ATTR(lkdf_run, .until = count_down, .u = &left, .times = 3)),
	   0, "both: what comes first");
	is(a.nr, 21, "three more");
	is(left, 98, "until is not asked after the last");
	is(a.bad, 0, "all answers were right");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open_workers(2);
	a_graph_is_written(rt, 0, false);
	a_graph_is_written(rt, 0, true);
	a_graph_is_written(rt, 1, true);
	a_graph_is_written(rt, 3000, false);
	a_graph_is_written(rt, 3000, true);
	what_is_written_is_utf8(rt);
	loops_are_written(rt);
	edges_of_a_region_are_bounded(rt, 4, "\"region\":true");
	edges_of_a_region_are_bounded(rt, 6, "\"region\":false");
	a_body_is_told_of_its_run(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
