/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf_stat() and lkdf_describe(): names, exact sums, shapes. */
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <lkdf/device.h>
#include <lkdf/lkdf.h>
#include <sys/stat.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define NR_TASKS 1000
#define TIMES 7

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int refuse(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t v = UINT64_MAX;

	if (lkdf_stat(rt, name, &v))
		printf("# %s: %s\n", name, lkdf_errmsg());
	return v;
}

static void run_a_graph(struct lkdf *rt, lkdf_fn first, uint64_t times)
{
	struct lkdf_kind *k, *rest;
	struct lkdf_event done;
	struct lkdf_graph *g;
	int i;

	lkdf_kind_create(rt, ATTR(lkdf_kind_attr, .name = "first", .fn = first),
			 &k);
	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "rest", .fn = nothing), &rest);
	lkdf_graph_create(rt, NULL, &g);
	lkdf_graph_add(g, k, NULL, NULL, 0);
	for (i = 1; i < NR_TASKS; i++) {
		lkdf_graph_add(g, rest, NULL, NULL, 0);
		lkdf_graph_order(g, i / 2, i);
	}
	lkdf_graph_seal(g, NULL);
	lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = times), &done);
	lkdf_event_wait(done, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(rest);
}

/* The workers tell their counters a little after the end of a run. */
static uint64_t stat_when(struct lkdf *rt, const char *name, uint64_t want)
{
	uint64_t v = stat_of(rt, name);
	int i;

	for (i = 0; i < 5000 && v != want; i++) {
		usleep(1000);
		v = stat_of(rt, name);
	}
	return v;
}

static void tasks_are_counted_exactly(struct lkdf *rt)
{
	uint64_t sum = 0;
	char name[64];
	int i;

	is(stat_of(rt, "lkdf.tasks"), 0, "no task has run yet");
	run_a_graph(rt, nothing, TIMES);
	is(stat_when(rt, "lkdf.tasks", NR_TASKS * TIMES), NR_TASKS * TIMES,
	   "each body is counted once");
	for (i = 0; i < lkdf_nr_workers(rt); i++) {
		snprintf(name, sizeof(name), "lkdf.worker.%d.tasks", i);
		sum += stat_of(rt, name);
	}
	is(sum, NR_TASKS * TIMES, "the workers' counters add up to the sum");
	is(stat_of(rt, "lkdf.runs"), 1, "one run has ended");
	is(stat_of(rt, "lkdf.workers"), 2, "the blocking pool is no worker");
	is(lkdf_nr_workers(rt), 2, "and is not counted as one");
	is(lkdf_nr_executors(rt), 2 + 4 + LKDF_MAX_DEVICES + 2,
	   "but its threads and those of devices have numbers");
	is(lkdf_nr_workers(NULL), -EINVAL, "no runtime has no workers");
	is(lkdf_nr_executors(NULL), -EINVAL, "and no numbers");
}

static void failures_are_counted(struct lkdf *rt)
{
	uint64_t before = stat_of(rt, "lkdf.tasks");

	run_a_graph(rt, refuse, 1);
	is(stat_when(rt, "lkdf.tasks", before + 1), before + 1,
	   "only the first body is called");
	is(stat_when(rt, "lkdf.skipped", NR_TASKS - 1), NR_TASKS - 1,
	   "all others are skipped");
	is(stat_of(rt, "lkdf.failed"), 1, "one has failed");
}

static _Atomic(int) has_begun;

/* Until the counter moves; the worker that waits adds to it meanwhile. */
static int until_counted(struct lkdf_ctx *c, void *arg)
{
	struct lkdf *rt = lkdf_runtime(c);
	int i;

	(void)arg;
	has_begun = 1;
	for (i = 0; i < 5000 && !stat_of(rt, "lkdf.join_idle_ns"); i++)
		usleep(1000);
	return 0;
}

/* The other worker has taken the child when we join it. */
static int join_other(struct lkdf_ctx *c, void *arg)
{
	int i;

	lkdf_spawn(c, arg, NULL);
	for (i = 0; i < 5000 && !has_begun; i++)
		usleep(1000);
	return lkdf_join(c);
}

static void idle_workers_are_told(struct lkdf *rt)
{
	struct lkdf_kind *child, *parent;
	struct lkdf_event done;

	lkdf_kind_create(rt,
			 ATTR(lkdf_kind_attr, .name = "child",
			      .fn = until_counted, .flags = LKDF_SHARED),
			 &child);
	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "parent", .fn = join_other),
		&parent);
	is(stat_of(rt, "lkdf.join_idle_ns"), 0, "no join has waited yet");
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = parent, .arg = child),
		    &done);
	lkdf_event_wait(done, -1);
	ok(stat_of(rt, "lkdf.join_idle_ns"), "a join that waits is counted");
	ok(stat_of(rt, "lkdf.steal_rounds"), "so are looks for work");
	ok(stat_of(rt, "lkdf.wake_depth") <= stat_of(rt, "lkdf.wakes"),
	   "no chain has more links than there were wake-ups");
	lkdf_kind_put(child);
	lkdf_kind_put(parent);
}

static void unknown_names_are_refused(struct lkdf *rt)
{
	static const char *const bad[] = {
		"",
		"tasks",
		"lkdf.",
		"lkdf.nonsense",
		"lkdf.worker.",
		"lkdf.worker.0",
		"lkdf.worker.0.",
		"lkdf.worker.-1.tasks",
		"lkdf.worker.99999999999999999999.tasks",
		"lkdf.worker.1000.tasks",
		"lkdf.worker.0.nonsense",
	};
	uint64_t v = 77;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is(lkdf_stat(rt, bad[i], &v), -ENOENT, "\"%s\" is unknown",
		   bad[i]);
	is(v, 77, "the value is not touched");
	is(lkdf_stat(rt, NULL, &v), -EINVAL, "NULL is no name");
	has(lkdf_errmsg(), "NULL", "and it is said why");
}

static void a_cpu_is_told_where_pinned(struct lkdf *rt)
{
	bool is_pinned = lkdf_caps(rt) & LKDF_CAP_PINNED;
	uint64_t cpu;

	is(lkdf_stat(rt, "lkdf.worker.0.cpu", &cpu), is_pinned ? 0 : -ENOENT,
	   "a worker has a CPU if it is %s", is_pinned ? "bound" : "not bound");
	is(lkdf_stat(rt, "lkdf.worker.2.cpu", &cpu), -ENOENT,
	   "a thread of the blocking pool has none");
}

static char *describe(struct lkdf *rt, const char *what, const char *format)
{
	char path[] = "/tmp/lkdf-test-XXXXXX";
	int fd = mkstemp(path), rc;
	struct stat st;
	char *text;

	unlink(path);
	rc = lkdf_describe(rt, what, format, fd);
	is(rc, 0, "%s is described as %s", what, format);
	fstat(fd, &st);
	text = calloc(1, (size_t)st.st_size + 1);
	if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
		text[0] = '\0';
	close(fd);
	return text;
}

/* Fed to a parser that is not ours. */
static void is_json(const char *text)
{
	FILE *p;

	if (system("python3 -c 'import json' 2>/dev/null")) {
		skip("which is JSON", "no python3");
		return;
	}
	p = popen("python3 -m json.tool >/dev/null", "w");
	if (p)
		fputs(text, p);
	ok(p && pclose(p) == 0, "which is JSON");
}

static void descriptions_have_their_shape(struct lkdf *rt)
{
	static const struct {
		const char *what, *part;
	} rows[] = {
		{ "topo", "node" },
		{ "caps", "pinned" },
		{ "caps", "memory of a node is bound to it" },
		{ "options", "spin_us" },
		{ "stats", "lkdf.worker.1.tasks" },
		{ "stats", ".memory.remote_frees" },
		{ "stats", "lkdf.memory.interleaved.used" },
	};
	size_t i;
	char *text;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text = describe(rt, rows[i].what, "text");
		has(text, rows[i].part, "the text says %s", rows[i].part);
		free(text);
		text = describe(rt, rows[i].what, "json");
		has(text, rows[i].part, "so does the JSON");
		is_json(text);
		free(text);
	}
	is(lkdf_describe(rt, "nonsense", "text", 1), -EINVAL,
	   "nonsense is not described");
	is(lkdf_describe(rt, "topo", "xml", 1), -EINVAL,
	   "xml is no format here");
	is(lkdf_describe(rt, "topo", "text", -1), -EBADF,
	   "an error of write is forwarded");
}

static void options_show_their_values(void)
{
	struct lkdf *rt;
	char *text;

	if (lkdf_open("spin_us=123,workers=1", &rt)) {
		ok(false, "a runtime opens");
		return;
	}
	text = describe(rt, "options", "text");
	has(text, "spin_us=123 us", "a value that was given is shown");
	has(text, "blocking=64 threads (1 .. 4096)",
	    "so is a default, and the range");
	free(text);
	lkdf_close(rt);
}

static void a_refused_file_is_an_error_of_open(void)
{
	char dir[] = "/tmp/lkdf-stat-XXXXXX", fifo[64], option[80];
	struct lkdf *rt = NULL;

	if (!mkdtemp(dir))
		exit(1);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(option, sizeof(option), "trace=%s", fifo);
	is(mkfifo(fifo, 0600), 0, "there is a FIFO");
	is(lkdf_open(option, &rt), -EEXIST, "a trace does not replace it");
	has(lkdf_errmsg(), fifo, "the message names it");
	unlink(fifo);
	rmdir(dir);
	is(lkdf_open("trace=/nonexistent/folder/file", &rt), -ENOENT,
	   "a folder that is not there is refused");
	ok(!rt, "no runtime was made");
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	unsetenv("LKDF_TRACE");
	if (!is(lkdf_open("workers=2,blocking=4", &rt), 0, "a runtime opens"))
		return tap_end();
	tasks_are_counted_exactly(rt);
	failures_are_counted(rt);
	idle_workers_are_told(rt);
	unknown_names_are_refused(rt);
	a_cpu_is_told_where_pinned(rt);
	descriptions_have_their_shape(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	options_show_their_values();
	a_refused_file_is_an_error_of_open();
	return tap_end();
}
