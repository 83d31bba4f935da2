/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph of short bodies that meet in a lock, or call the system, goes solo at
 * once, not after eight runs: the counter says so, and the recording has the
 * event with its source and share. Whether two workers get their CPUs, so that
 * they are slower together, depends on the machine: another graph, then.
 */
#include "tests/api/api.h"

#include <libgen.h>
#include <limits.h>
#include <sys/syscall.h>

#define NR_TASKS 4095
#define NR_CALLS 64
/* Before the first trial without an alarm. */
#define NR_RUNS 7
#define NR_TRIES 4000

static char dir[] = "/tmp/lkdf-alarm-XXXXXX";

static int call_random(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_CALLS; i++)
		random();
	return 0;
}

static int compute(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_CALLS; i++)
		x = x * 5 + 1;
	return 0;
}

static struct lkdf_graph *make_tree(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	uint32_t i;

	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 1; i < NR_TASKS; i++)
		must(lkdf_graph_order(g, (i - 1) / 2, i));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

/* Runs of a graph until the alarm; 0: there was none. */
static int runs_until_alarm(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_graph *g = make_tree(rt, k);
	int i;

	for (i = 1; i <= NR_RUNS; i++) {
		must(api_run(g, NULL, NULL));
		if (stat_of(rt, "lkdf.runs.alarms"))
			break;
	}
	if (i <= NR_RUNS) {
		must(api_run(g, NULL, NULL));
		ok(stat_of(rt, "lkdf.runs.solo") > 0,
		   "the run after it is solo");
	}
	lkdf_graph_put(g);
	return i <= NR_RUNS ? i : 0;
}

/* Lines of the recording that begin so; -1: there is no tool. */
static int count_lines(const char *self, const char *file, const char *what)
{
	char path[PATH_MAX], line[2 * PATH_MAX];
	FILE *f;
	int nr = 0;

	snprintf(path, sizeof(path), "%s", self);
	dirname(path);
	snprintf(line, sizeof(line), "%s/../../../lkdf", path);
	if (access(line, X_OK))
		return -1;
	snprintf(line, sizeof(line),
		 "'%s/../../../lkdf' trace convert --to csv '%s' | "
		 "grep -c '%s'",
		 path, file, what);
	f = popen(line, "r");
	if (!f || fscanf(f, "%d", &nr) != 1)
		nr = -2;
	if (f)
		pclose(f);
	return nr;
}

static void the_alarm_comes(const char *self)
{
	char options[128], file[64];
	struct lkdf_kind *k;
	int i, runs = 0, nr;
	struct lkdf *rt;

	snprintf(file, sizeof(file), "%s/on", dir);
	snprintf(options, sizeof(options),
		 "workers=2,probe=\"\",trace=%s,final", file);
	rt = api_open(options);
	k = api_kind(rt, "random", call_random, 0, 0);
	for (i = 0; i < NR_TRIES && !runs; i++)
		runs = runs_until_alarm(rt, k);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	ok(runs > 0, "graph %d goes solo after %d runs", i, runs);
	nr = count_lines(self, file, "^event,.*,signal,");
	if (nr == -1)
		skip("the event is in the recording", "there is no tool");
	else
		ok(nr > 0, "%d events are in the recording", nr);
	nr = count_lines(self, file, "^event,.*,signal,.*,1,[1-9][0-9][0-9]*,");
	if (nr != -1)
		ok(nr > 0, "with its source, the threads, and its share");
	unlink(file);
}

/* No time in the system; and facts that nobody wants to know. */
static void no_alarm_comes(const char *options, lkdf_fn fn)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "none", fn, 0, 0);
	int i;

	for (i = 0; i < 3; i++)
		runs_until_alarm(rt, k);
	is(stat_of(rt, "lkdf.runs.alarms"), 0, "%s: no alarm", options);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(100);
	if (!mkdtemp(dir))
		return 1;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip("the alarm comes", "nobody meets anybody on one CPU");
	else
		the_alarm_comes(argv[0]);
	no_alarm_comes("workers=1,probe=\"\",final", compute);
	no_alarm_comes("workers=2,signal=off,final", call_random);
	rmdir(dir);
	return tap_end();
}
