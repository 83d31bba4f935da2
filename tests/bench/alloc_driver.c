/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * make bench-alloc: liblkdf-malloc.so against the other allocators, each in
 * processes of its own (alloc.c, with LD_PRELOAD), in interleaved rounds. A
 * row is judged by the ratio to the best peer of that row.
 *
 *	alloc_driver [--quick] [--out FILE] BUILD
 */
#include "tools/bench/bench.h"
#include "tools/json.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BAR_TIME 1.05
#define BAR_RESIDENT 1.25
#define MAX_VALUES 3
#define LIMIT_S 60

enum {
	LKDF,
	GLIBC,
	MIMALLOC,
	JEMALLOC,
	TBB,
	NR_ALLOCATORS
};

static struct allocator {
	const char *name, *preload, *newer;
	bool is_absent;
} allocator[NR_ALLOCATORS] = {
	[LKDF] = { "lkdf", NULL, NULL, false },
	[GLIBC] = { "glibc", "", NULL, false },
	[MIMALLOC] = { "mimalloc", "libmimalloc.so.2.0", "libmimalloc.so.3",
		       false },
	[JEMALLOC] = { "jemalloc", "libjemalloc.so.2", NULL, false },
	[TBB] = { "tbbmalloc", "libtbbmalloc_proxy.so.2", NULL, false },
};

static struct {
	const char *build;
	char lib[4096], program[4096], purity[4096];
	unsigned rounds;
	bool is_quick;
	struct gate gate;
	struct report report;
} bench;

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

static _Noreturn void child(const char *preload, int fd, char *const *argv)
{
	if (dup2(fd, STDOUT_FILENO) < 0)
		_exit(127);
	if (*preload)
		setenv("LD_PRELOAD", preload, 1);
	else
		unsetenv("LD_PRELOAD");
	alarm(LIMIT_S);
	execv(argv[0], argv);
	_exit(127);
}

/* All that the command prints; false: it failed. */
static bool ask(const char *preload, char *const *argv, char *text, size_t size)
{
	size_t at = 0;
	ssize_t nr = 1;
	int fd[2], status;
	pid_t pid;

	if (pipe(fd))
		return false;
	pid = fork();
	if (!pid)
		child(preload, fd[1], argv);
	close(fd[1]);
	while (pid > 0 && nr > 0 && at + 1 < size) {
		nr = read(fd[0], text + at, size - 1 - at);
		at += nr > 0 ? (size_t)nr : 0;
	}
	close(fd[0]);
	text[at] = '\0';
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Numbers of one measurement; false: it failed. */
static bool measure(const struct allocator *a, const char *what,
		    const char *size, double *value, unsigned nr)
{
	char *argv[] = { bench.program, (char *)(uintptr_t)what,
			 (char *)(uintptr_t)size, NULL };
	char text[256], *at = text, *end;
	unsigned i;

	if (!ask(a->preload, argv, text, sizeof(text)))
		return false;
	for (i = 0; i < nr; i++, at = end) {
		value[i] = strtod(at, &end);
		if (end == at)
			return false;
	}
	return true;
}

/* A library that the loader does not find is only a line on stderr: look. */
static bool is_loaded(const char *preload, const char *name)
{
	char *argv[] = { "/bin/cat", "/proc/self/maps", NULL };
	static char text[1 << 16];

	return ask(preload, argv, text, sizeof(text)) && strstr(text, name);
}

static void find_allocators(void)
{
	int i;

	allocator[LKDF].preload = bench.lib;
	for (i = 0; i < NR_ALLOCATORS; i++) {
		struct allocator *a = &allocator[i];

		if (!*a->preload)
			continue;
		a->is_absent = !is_loaded(
			a->preload, i == LKDF ? "liblkdf-malloc" : a->preload);
		if (a->is_absent && a->newer && is_loaded(a->newer, a->newer)) {
			a->preload = a->newer;
			a->is_absent = false;
		}
		if (a->is_absent)
			printf("  absent  %s: cannot be preloaded\n", a->name);
	}
}

/* By allocator and number. */
static struct samples sample[NR_ALLOCATORS][MAX_VALUES];

static void run_rounds(const char *what, const char *size, unsigned nr)
{
	double value[MAX_VALUES];
	unsigned round, i, k;

	memset(sample, 0, sizeof(sample));
	gate_reset(&bench.gate);
	for (round = 0; round < bench.rounds; round++) {
		gate_wait(&bench.gate);
		for (i = 0; i < NR_ALLOCATORS; i++) {
			struct allocator *a =
				&allocator[(i + round) % NR_ALLOCATORS];

			if (a->is_absent || !measure(a, what, size, value, nr))
				continue;
			for (k = 0; k < nr; k++)
				samples_add(&sample[a - allocator][k],
					    value[k]);
		}
	}
}

/* The peer with the lowest median; 0: there is none. */
static int best_peer(unsigned value)
{
	int i, best = 0;
	double low = INFINITY, m;

	for (i = LKDF + 1; i < NR_ALLOCATORS; i++) {
		m = samples_median(&sample[i][value]);
		if (m < low) {
			low = m;
			best = i;
		}
	}
	return best;
}

static void judge(struct bench_row *row, unsigned value, int peer, double per,
		  double bar)
{
	unsigned nr = sample[LKDF][value].nr;

	row_value(row, &sample[LKDF][value], per);
	if (nr < bench.rounds) {
		snprintf(row->note, sizeof(row->note), "%u of %u rounds failed",
			 bench.rounds - nr, bench.rounds);
		row_verdict(row, false);
		return;
	}
	if (!peer)
		return;
	snprintf(row->peer, sizeof(row->peer), "%s", allocator[peer].name);
	row->peer_value = samples_median(&sample[peer][value]) / per;
	row_ratio(row, &sample[LKDF][value], &sample[peer][value]);
	row_judge(row, BAR_AT_MOST, bar, gate_was_fair(&bench.gate));
}

/* What the others took, for the reader. */
static void print_all(const char *name, unsigned value)
{
	int i;

	fprintf(stderr, "# %-16s", name);
	for (i = 0; i < NR_ALLOCATORS; i++)
		fprintf(stderr, "  %s %.4g", allocator[i].name,
			samples_median(&sample[i][value]));
	fprintf(stderr, "\n");
}

static void size_rows(const char *what, const char *title, int workers)
{
	static const struct {
		const char *bytes, *text;
	} size[] = {
		{ "64", "64 B" },	{ "512", "512 B" },
		{ "4096", "4 KiB" },	{ "65536", "64 KiB" },
		{ "1048576", "1 MiB" }, { "16777216", "16 MiB" },
	};
	struct bench_row *row;
	unsigned i;

	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		run_rounds(what, size[i].bytes, 1);
		row = report_add(&bench.report, workers, "ns", "%s %s", title,
				 size[i].text);
		judge(row, 0, best_peer(0), 1, BAR_TIME);
		print_all(row->name, 0);
	}
}

static void mix_rows(void)
{
	int peer = allocator[MIMALLOC].is_absent ? 0 : MIMALLOC;
	struct bench_row *row;

	run_rounds("mix", NULL, 3);
	row = report_add(&bench.report, 4, "ns", "mixed, CPU time");
	judge(row, 0, best_peer(0), 1, INFINITY);
	row->dir = BAR_NONE;
	row->ok = ROW_NULL;
	row->note[0] = '\0';
	print_all(row->name, 0);
	row = report_add(&bench.report, 4, "MiB", "mixed, peak resident");
	judge(row, 1, peer, 1024, BAR_RESIDENT);
	print_all(row->name, 1);
	row = report_add(&bench.report, 4, "MiB", "mixed, resident at end");
	judge(row, 2, peer, 1024, BAR_RESIDENT);
	print_all(row->name, 2);
}

static void purity_row(void)
{
	char nr[] = "10000000", text[64], *end;
	char *argv[] = { bench.purity, nr, NULL };
	struct bench_row *row;

	row = report_add(&bench.report, 2, "blocks", "foreign of 10000000");
	if (!ask("", argv, text, sizeof(text))) {
		snprintf(row->note, sizeof(row->note), "failed");
		row_verdict(row, false);
		return;
	}
	row->value = strtod(text, &end);
	row->bar = 0;
	row->dir = BAR_AT_MOST;
	row_verdict(row, end != text && row->value == 0);
}

static int parse(int argc, char **argv, const char **out)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			bench.is_quick = true;
		else if (!strcmp(argv[i], "--out") && i + 1 < argc)
			*out = argv[++i];
		else
			bench.build = argv[i];
	}
	if (!bench.build)
		return -EINVAL;
	snprintf(bench.lib, sizeof(bench.lib), "%s/liblkdf-malloc.so",
		 bench.build);
	snprintf(bench.program, sizeof(bench.program), "%s/tests/bench/alloc",
		 bench.build);
	snprintf(bench.purity, sizeof(bench.purity),
		 "%s/tests/bench/alloc_purity", bench.build);
	bench.rounds = bench.is_quick ? 5 : 11;
	return 0;
}

static bool write_json(const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!path)
		return true;
	if (!f) {
		fprintf(stderr, "alloc_driver: %s: %s\n", path,
			strerror(errno));
		return false;
	}
	report_json(&bench.report, f);
	return fclose(f) == 0;
}

int main(int argc, char **argv)
{
	const char *out = NULL;
	bool good;

	if (parse(argc, argv, &out)) {
		fprintf(stderr,
			"usage: alloc_driver [--quick] [--out FILE] BUILD\n");
		return 2;
	}
	gate_init(&bench.gate, 2000000000,
		  bench.is_quick ? 10000000000 : 60000000000);
	report_init(&bench.report, "alloc");
	find_allocators();
	size_rows("same", "same thread", 1);
	size_rows("pair", "two threads", 2);
	mix_rows();
	purity_row();
	report_text(&bench.report, stdout, false);
	good = write_json(out) && !report_has_false(&bench.report);
	report_fini(&bench.report);
	return good ? 0 : 1;
}
