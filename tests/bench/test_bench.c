/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf bench relies on: shapes, the floor's order, the judgement of a
 * row, JSON and the nearest word.
 */
#include "tests/bench/floor.h"
#include "tests/bench/shapes.h"
#include "tests/tap.h"
#include "tools/bench/peer.h"
#include "tools/bench/report.h"
#include "tools/cli/cli.h"
#include "tools/json.h"

#include <errno.h>
#include <math.h>

static struct shape shape;
static uint32_t *count;
static bool is_wrong;

static void checking(uint32_t task)
{
	if (!shape_in_order(&shape, count, task))
		is_wrong = true;
	count[task]++;
}

static void floor_keeps_order(const char *name, int workers)
{
	struct floor_graph *g;
	struct floor *f;

	is_wrong = false;
	ok(!shape_init(&shape, name, 4096), "%s is drawn", name);
	count = calloc(shape.nr_tasks, sizeof(*count));
	if (!count || floor_open(workers, &f) ||
	    floor_build(&shape, checking, &g)) {
		ok(false, "the floor starts");
		return;
	}
	floor_run(f, g, 50);
	ok(shape_all_ran(&shape, count, 50),
	   "%s with %d workers runs each task once per run", name, workers);
	ok(!is_wrong, "%s with %d workers keeps the order", name, workers);
	count[1]++;
	ok(!shape_all_ran(&shape, count, 50), "a task too often is noticed");
	floor_free(g);
	floor_close(f);
	free(count);
	shape_fini(&shape);
}

static void shapes_have_their_edges(void)
{
	static const struct {
		const char *name;
		uint32_t nr, tasks, edges;
	} want[] = {
		{ "chain", 1000, 1000, 999 },  { "tree", 65536, 65535, 65534 },
		{ "wave", 256, 256, 480 },     { "random", 256, 256, 960 },
		{ "stencil_1d", 80, 80, 198 }, { "no_comm", 80, 80, 72 },
		{ "bcast_tree", 80, 80, 72 },  { "nearest", 80, 80, 306 },
		{ "random_3", 80, 80, 216 },   { "wavefront", 80, 80, 142 },
	};
	struct shape s;
	unsigned i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ok(!shape_init(&s, want[i].name, want[i].nr), "%s is drawn",
		   want[i].name);
		is(s.nr_tasks, want[i].tasks, "tasks of %s", want[i].name);
		is(s.nr_edges, want[i].edges, "edges of %s", want[i].name);
		is(s.succ_at[s.nr_tasks], want[i].edges,
		   "successors of %s are as many", want[i].name);
		shape_fini(&s);
	}
	ok(shape_init(&s, "knot", 10) < 0, "an unknown shape is refused");
}

static enum row_ok judged(double num, double noise, double bar, bool is_fair)
{
	struct samples a = { .nr = 0 }, b = { .nr = 0 };
	struct bench_row row = { .ratio = NAN, .spread = NAN };
	int i;

	for (i = -4; i <= 4; i++) {
		samples_add(&a, num + i * noise);
		samples_add(&b, 10);
	}
	row_ratio(&row, &a, &b);
	row_judge(&row, BAR_AT_MOST, bar, is_fair);
	return row.ok;
}

static void rows_are_judged_by_ratio(void)
{
	struct bench_row row = { .ratio = NAN, .spread = NAN };

	is(judged(12, 0, 1.6, true), ROW_TRUE, "below the bar is true");
	is(judged(20, 0, 1.6, true), ROW_FALSE, "above the bar is false");
	is(judged(20, 0, 1.6, false), ROW_NULL, "an unfair machine is null");
	is(judged(17, 2, 1.6, true), ROW_NULL, "a spread over the bar is null");
	is(judged(40, 2, 1.6, true), ROW_FALSE, "far above it is false");
	row_judge(&row, BAR_AT_LEAST, 1, true);
	is(row.ok, ROW_NULL, "what was not measured is null");
}

static void quantiles_interpolate(void)
{
	struct samples s = { .nr = 0 };
	int i;

	ok(isnan(samples_median(&s)), "no samples have no median");
	for (i = 10; i >= 0; i--)
		samples_add(&s, i);
	is(samples_median(&s) * 10, 50, "median of 0 .. 10");
	is(samples_quantile(&s, 0.1) * 10, 10, "10 %% quantile of 0 .. 10");
	is(samples_quantile(&s, 0.75) * 10, 75, "75 %% quantile of 0 .. 10");
}

static void json_is_escaped(void)
{
	char text[512] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct json j;

	json_init(&j, f);
	json_open_flat(&j, NULL, '{');
	json_text(&j, "a\"b", "c\\d\n\x01");
	json_number(&j, "nan", NAN);
	json_bool(&j, "yes", true);
	json_open(&j, "list", '[');
	json_int(&j, NULL, -1);
	json_int(&j, NULL, 2);
	json_close(&j, ']');
	json_close(&j, '}');
	fclose(f);
	has(text, "\"a\\\"b\": \"c\\\\d\\n\\u0001\"", "text is escaped");
	has(text, "\"nan\": null", "no number is null");
	has(text, "\"list\": [-1, 2]}", "a flat list stays on its line");
}

/* A row is shown when the next one, or a round, begins; once. */
static void rows_come_one_by_one(void)
{
	static struct report r;
	struct samples none = { .nr = 0 }, one = { .nr = 0 };
	struct bench_row *row;
	char text[2048] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	samples_add(&one, 5);
	report_init(&r, "flow");
	report_start(&r, f, false);
	has(text, "workers", "the head comes first");
	row = report_add(&r, 1, "ns", "first");
	ok(!row_peer(row, "tbb", &none, "absent"), "a peer is not built");
	row_judge(row, BAR_AT_LEAST, 2, true);
	is(row->ok, ROW_NULL, "its bar is null");
	ok(!strstr(text, "first"), "a row that is written is not shown");
	row = report_add(&r, 1, "ns", "second");
	has(text, "absent tbb", "a row is shown before the next");
	ok(!strstr(text, "tbb absent") && !strstr(text, "tbb:"),
	   "and says so in one word");
	ok(!row_peer(row, "tbb", &none, "died"), "a peer has died");
	report_show(&r);
	has(text, "tbb: died", "its row says that");
	row = report_add(&r, 1, "ns", "third");
	ok(row_peer(row, "tbb", &one, "died"), "one that answered is there");
	is(row->peer_value, 5, "with its median");
	report_end(&r);
	has(text, "0 bars held, 0 missed, 1 not resolved", "bars are counted");
	ok(strstr(strstr(text, "first") + 1, "first") == NULL,
	   "no row is shown twice");
	fclose(f);
	report_fini(&r);
}

static void absent_peers_stay_absent(void)
{
	double out[PEER_MAX_VALUES];
	struct peer p;

	ok(!peer_open(&p, "peer_of_nobody"), "a peer that is not built");
	is(peer_ask(&p, out, "hello"), -ENOENT, "answers nothing");
	has(p.why, "absent", "and is absent still");
	peer_close(&p);
}

/* For tests/bench/figures.py. */
static void report_names_its_suite(void)
{
	static struct report r;
	char text[2048] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	report_init(&r, "flow");
	r.is_quick = true;
	report_add(&r, 2, "ns", "loop/%d", 2)->ok = ROW_FALSE;
	report_json(&r, f);
	fclose(f);
	report_fini(&r);
	has(text, "\"suite\": \"flow\"", "an object names its suite");
	has(text, "\"quick\": true", "and says that it was quick");
	has(text, "\"name\": \"loop/2\"", "with its rows");
}

static const char *word(const void *words, unsigned i)
{
	return ((const char *const *)words)[i];
}

static void nearest_word_is_found(void)
{
	static const char *const words[] = { "topo", "doctor", "bench", NULL };
	const char *near = cli_nearest("benhc", word, words);

	ok(near && !strcmp(near, "bench"), "a typo finds its word");
	ok(!cli_nearest("quicksilver", word, words), "a stranger finds none");
}

int main(void)
{
	tap_start(60);
	shapes_have_their_edges();
	floor_keeps_order("wave", 1);
	floor_keeps_order("random", 2);
	floor_keeps_order("tree", 3);
	rows_are_judged_by_ratio();
	quantiles_interpolate();
	json_is_escaped();
	rows_come_one_by_one();
	absent_peers_stay_absent();
	report_names_its_suite();
	nearest_word_is_found();
	return tap_end();
}
