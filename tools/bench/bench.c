/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench: same-run comparisons with a floor loop and with other runtimes.
 * Prints ratios and judges them against bars; never a bare time.
 */
#include "bench/bench.h"
#include "cli/verbs.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench_opts {
	struct cli_common common;
	bool is_quick;
	const char *workers, *out, *file, *dir, *device;
};

static const char *suite_name(const void *u, unsigned i);

static const struct cli_row rows[] = {
	{ "quick", 0, CLI_FLAG, offsetof(struct bench_opts, is_quick), NULL,
	  "fewer rounds, below 40 s; leaves the large graphs out" },
	{ "workers", 'w', CLI_TEXT, offsetof(struct bench_opts, workers),
	  "LIST",
	  "numbers of workers, up to 64 of them (1,2; policy: by CPUs)" },
	{ "out", 'o', CLI_TEXT, offsetof(struct bench_opts, out), "FILE",
	  "write the JSON object to a file as well" },
	{ "file", 'f', CLI_TEXT, offsetof(struct bench_opts, file), "FILE",
	  "io: a file to read, of 1 MiB or more (one of its own)" },
	{ "dir", 'd', CLI_TEXT, offsetof(struct bench_opts, dir), "DIR",
	  "io: where its own file is made (/var/tmp)" },
	{ "device", 0, CLI_TEXT, offsetof(struct bench_opts, device), "NAME",
	  "device: which one, opencl or cuda (opencl)" },
};

const struct cli_spec bench_spec = {
	.verb = "bench",
	.usage = "graph|forkjoin|loop|flow|submit|data|io|idle|wake|channel|\n"
		 "                  cpp|placement|policy|device|trace|scale\n"
		 "                  [--quick] [--out FILE] [--file FILE]",
	.help = "Compares lkdf with a floor loop and with other runtimes in\n"
		"the same run, in ratios, each against its bar.\n\n"
		"  graph      dataflow graphs: run, build, memory, METG,\n"
		"             speed-up with short bodies\n"
		"  forkjoin   spawn and join: fib\n"
		"  loop       parallel loops, short and long\n"
		"  flow       loops and branches in graphs, pipelines, ports\n"
		"  submit     tasks that name their data, one at a time\n"
		"  data       blocks passed on: time, memory; Cholesky, LU\n"
		"  io         reads as tasks: page cache, O_DIRECT, tmpfs\n"
		"  idle       what parked workers cost, alone and beside work\n"
		"  wake       from submit to start; liveness; bursts\n"
		"  channel    values from producers to consumers\n"
		"  cpp        lkdf.hpp and coroutines beside the C calls\n"
		"  placement  where pages are: /dev/lkdf, move_pages, numa_maps\n"
		"  policy     contention: locks that bodies meet in, by the way\n"
		"             they run; what facts win, what they cost\n"
		"  device     kernels on an OpenCL device, or a card of CUDA\n"
		"  trace      what a recording costs, and what it loses\n"
		"  scale      what more workers win, and what stops them\n\n"
		"Exit status 1 if a bar is missed; a bar that could not be\n"
		"resolved (CPUs not delivered, peer absent) is null.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 1,
	.without = CLI_NO_VERBOSE,
	.choice = suite_name,
};

static const char *suite_name(const void *u, unsigned i)
{
	(void)u;
	return bench_suites[i].name;
}

int64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void bench_sleep_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

int bench_fail(int rc, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "lkdf bench: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	return rc;
}

int bench_open(int nr_workers, const char *more, struct lkdf **out)
{
	char text[128];
	int rc;

	snprintf(text, sizeof(text), "workers=%d%s%s", nr_workers,
		 more ? "," : "", more ? more : "");
	rc = lkdf_open(text, out);
	if (rc)
		bench_fail(rc, "cannot open a runtime with \"%s\": %s", text,
			   lkdf_errmsg());
	return rc;
}

void bench_step(struct bench *b, double by, const char *what)
{
	report_show(&b->report);
	progress_step(&b->progress, by, what);
}

void bench_round(struct bench *b, const char *what)
{
	bench_step(b, 1, what);
	gate_wait(&b->gate);
}

static int parse_workers(struct bench *b, const char *list)
{
	char *end;
	long nr;

	for (b->nr_counts = 0; b->nr_counts < BENCH_MAX_COUNTS;) {
		nr = strtol(list, &end, 10);
		if (end == list || nr < 1 || nr > 64)
			return -EINVAL;
		b->workers[b->nr_counts++] = (int)nr;
		if (!*end)
			return 0;
		if (*end != ',')
			return -EINVAL;
		list = end + 1;
	}
	return -EINVAL;
}

static const struct bench_suite *find_suite(const char *name, int *code)
{
	struct cli_error e = { "bench", CLI_USAGE, NULL, "lkdf bench --help" };
	const char *near;
	char try[64];
	unsigned i;

	for (i = 0; name && bench_suites[i].name; i++)
		if (!strcmp(name, bench_suites[i].name))
			return &bench_suites[i];
	near = name ? cli_nearest(name, suite_name, NULL) : NULL;
	if (near) {
		snprintf(try, sizeof(try), "lkdf bench %s", near);
		e.try = try;
	}
	*code = name ? cli_fail(&e, "unknown suite \"%s\"", name)
		     : cli_fail(&e, "which suite? "
				    "graph, forkjoin, loop, flow, submit, "
				    "data, io, idle, wake, channel, cpp, "
				    "placement, policy, device, trace or "
				    "scale");
	return NULL;
}

/* The JSON object in a file of its own. 0 or the exit code. */
static int write_file(const struct report *r, const char *path)
{
	struct cli_error e = { "bench", CLI_DENIED, NULL, "another --out" };
	FILE *file = fopen(path, "we");

	if (!file) {
		e.code = cli_code_of(-errno);
		return cli_fail(&e, "cannot write %s: %s", path,
				strerror(errno));
	}
	report_json(r, file);
	if (!fclose(file))
		return CLI_OK;
	return cli_fail(&e, "cannot write %s: %s", path, strerror(errno));
}

static void show(struct report *r, const struct bench_opts *o)
{
	if (o->common.is_json)
		report_json(r, stdout);
	else
		report_end(r);
}

static int measure(struct bench *b, const struct bench_suite *suite,
		   const struct bench_opts *o)
{
	int rc;

	report_init(&b->report, suite->name);
	b->report.is_quick = b->is_quick;
	if (!o->common.is_json)
		report_start(&b->report, stdout, !o->common.is_quiet);
	progress_start(&b->progress, suite->steps(b), o->common.is_quiet);
	rc = suite->run(b);
	progress_end(&b->progress);
	if (rc) {
		rc = cli_code_of(rc);
	} else {
		show(&b->report, o);
		if (o->out)
			rc = write_file(&b->report, o->out);
		if (!rc && report_has_false(&b->report))
			rc = CLI_FINDINGS;
	}
	report_fini(&b->report);
	return rc;
}

/*
 * Becomes lkdf-bench, which lies beside this program or on PATH. Where it does
 * not, goes on with the rows of this program, or refuses.
 */
static int start_whole(const struct bench_suite *suite, char **argv,
		       bool is_quiet)
{
	struct cli_error e = { "bench", CLI_ABSENT, NULL, "make bench-peers" };
	char exe[2048];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len > 0 && (size_t)len + sizeof("-bench") < sizeof(exe)) {
		memcpy(exe + len, "-bench", sizeof("-bench"));
		execv(exe, argv);
	}
	execvp("lkdf-bench", argv);
	if (!suite->run)
		return cli_fail(&e,
				"suite %s is in the program lkdf-bench, which "
				"the sources build and nobody installs",
				suite->name);
	if (!is_quiet)
		fprintf(stderr,
			"lkdf bench: without sweeps, which are in lkdf-bench; "
			"make bench-peers builds it in the sources\n");
	return CLI_OK;
}

/* words: argv as it was before it was parsed. */
static int run_verb(int argc, char **argv, char **words)
{
	struct cli_error e = { "bench", CLI_USAGE, NULL, "--workers 1,2" };
	struct bench_opts o = { .device = "opencl" };
	const struct bench_suite *suite;
	struct bench b = { .rounds = 21 };
	int code;

	if (!cli_parse(&bench_spec, argc, argv, &o, &code))
		return code;
	suite = find_suite(argv[1], &code);
	if (!suite)
		return code;
	b.is_told = o.workers != NULL;
	if (parse_workers(&b, b.is_told ? o.workers : "1,2"))
		return cli_fail(&e,
				"--workers \"%s\" is no list of 1 to %d "
				"numbers of 1 .. 64",
				o.workers, BENCH_MAX_COUNTS);
	e.try = "--device cuda";
	if (strcmp(o.device, "opencl") != 0 && strcmp(o.device, "cuda") != 0)
		return cli_fail(&e, "--device \"%s\" is opencl or cuda",
				o.device);
	code = bench_is_whole ? CLI_OK
			      : start_whole(suite, words, o.common.is_quiet);
	if (code)
		return code;
	b.is_quick = o.is_quick;
	b.file = o.file;
	b.device = o.device;
	b.dir = o.dir ? o.dir : "/var/tmp";
	if (b.is_quick)
		b.rounds = 7;
	gate_init(&b.gate, b.is_quick ? 1000000000ll : 5000000000ll,
		  b.is_quick ? 6000000000ll : 60000000000ll);
	return measure(&b, suite, &o);
}

int verb_bench(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 1, sizeof(*words));
	int code;

	if (!words)
		return cli_code_of(-ENOMEM);
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	code = run_verb(argc, argv, words);
	free(words);
	return code;
}
