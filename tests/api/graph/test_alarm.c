/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph of short bodies that meet in a lock, or call the system, goes solo at
 * once, not after eight runs: the counter says so, and the recording has the
 * event with its source and share. Whether two workers get their CPUs, so that
 * they are slower together, depends on the machine: another graph, then, of
 * another size, since a run that takes too long has no trial. A graph whose
 * bodies get slower without a call of the system, as behind a spin lock, goes
 * solo as early.
 */
#include "tests/api/api.h"
#include "tests/api/recorded.h"

#include <lkdf/signals.h>
#include <sys/syscall.h>

#define NR_TASKS 4095
#define NR_CALLS 64
/* Before the first trial without an alarm. */
#define NR_RUNS 7
#define NR_TRIES 4000
#define NR_SIZES 5
#define NR_SLOW 5 /* graphs */
#define STEPS 500 /* some us */

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

static void compute_for(int steps)
{
	volatile uint32_t x = 1;

	while (steps--)
		x = x * 5 + 1;
}

static int compute(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	compute_for(NR_CALLS);
	return 0;
}

/* Set between two runs: bodies take ten times as long. */
static atomic_bool is_slow;

static int slow_down(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	compute_for(atomic_load(&is_slow) ? 10 * STEPS : STEPS);
	return 0;
}

static struct lkdf_graph *make_tree(struct lkdf *rt, struct lkdf_kind *k,
				    uint32_t nr)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	uint32_t i;

	for (i = 0; i < nr; i++)
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
	for (i = 1; i < nr; i++)
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
static int runs_until_alarm(struct lkdf *rt, struct lkdf_kind *k, int try)
{
	struct lkdf_graph *g = make_tree(rt, k, NR_TASKS >> try % NR_SIZES);
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

/* Alarms of that source in the recording of a runtime; *nr_runs before it. */
static int nr_alarms(const char *pins, int source, int *nr_runs)
{
	char options[192], file[64], what[64];
	struct lkdf_kind *k;
	struct lkdf *rt;
	int i, nr;

	snprintf(file, sizeof(file), "%s/on", dir);
	snprintf(options, sizeof(options),
		 "workers=2,probe=\"%s\",trace=%s,final", pins, file);
	rt = api_open(options);
	k = api_kind(rt, "random", call_random, 0, 0);
	for (i = *nr_runs = 0; i < NR_TRIES && !*nr_runs; i++)
		*nr_runs = runs_until_alarm(rt, k, i);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	snprintf(what, sizeof(what), "^event,.*,signal,.*,%d,[1-9][0-9][0-9]*,",
		 source);
	nr = recorded_lines(file, what);
	unlink(file);
	return nr;
}

static void the_threads_tell(void)
{
	int nr_runs, nr = nr_alarms("", LKDF_SIGNAL_SELF, &nr_runs);

	ok(nr_runs > 0, "a graph goes solo after %d runs", nr_runs);
	if (access(probe_tool, X_OK))
		skip("the event is in the recording", "there is no tool");
	else
		ok(nr > 0, "%d events with source and share are recorded", nr);
}

/* The alarms of a graph of which all runs but the first are slow. */
static uint64_t alarms_of_slow_runs(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "slow", slow_down, 0, 0);
	struct lkdf_graph *g = make_tree(rt, k, NR_TASKS);
	uint64_t before = stat_of(rt, "lkdf.runs.alarms");
	int i;

	for (i = 0; i < NR_RUNS; i++) {
		atomic_store(&is_slow, i > 0);
		must(api_run(g, NULL, NULL));
	}
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	return stat_of(rt, "lkdf.runs.alarms") - before;
}

static void slow_runs_tell(void)
{
	struct lkdf *rt = api_open("workers=2,probe=\"\",final");
	int i, nr = 0;

	for (i = 0; i < NR_SLOW; i++)
		nr += alarms_of_slow_runs(rt) == 1;
	is(nr, NR_SLOW, "graphs that get slow: each has an alarm");
	must(lkdf_close(rt));
}

/* Of two shares, which are about the same, the larger one counts: until that is
 * the probe's. */
static void the_probe_tells(const char *self)
{
	char pins[96];
	int i, nr_runs, nr = 0;

	if (getenv("LKDF_VM_NODES")) {
		skip("the probe tells", "in an emulator it takes minutes");
		return;
	}
#ifdef __SANITIZE_THREAD__
	skip("the probe tells",
	     "ThreadSanitizer slows runs, which are the sign by themselves");
	return;
#endif
	if (!probe_start(self, "--hz 1000")) {
		probe_absent("the probe tells");
		probe_end();
		return;
	}
	snprintf(pins, sizeof(pins), "%s/bpf", probe_dir);
	for (i = 0; i < NR_TRIES && !nr; i++)
		nr = nr_alarms(pins, LKDF_SIGNAL_BPF, &nr_runs);
	ok(nr > 0, "runtime %d: the alarm is the probe's", i);
	probe_end();
}

/* No time in the system; and facts that nobody wants to know. */
static void no_alarm_comes(const char *options, lkdf_fn fn)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "none", fn, 0, 0);
	int i;

	for (i = 0; i < 3; i++)
		runs_until_alarm(rt, k, i);
	is(stat_of(rt, "lkdf.runs.alarms"), 0, "%s: no alarm", options);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(200);
	if (!mkdtemp(dir))
		return 1;
	probe_find(argv[0]);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("the alarm comes", "nobody meets anybody on one CPU");
	} else {
		the_threads_tell();
		slow_runs_tell();
		the_probe_tells(argv[0]);
	}
	no_alarm_comes("workers=1,probe=\"\",final", compute);
	no_alarm_comes("workers=2,signal=off,final", call_random);
	rmdir(dir);
	return tap_end();
}
