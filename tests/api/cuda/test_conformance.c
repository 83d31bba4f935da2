/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver of CUDA for tests gives the lines that NVIDIA's driver gave
 * (tests/cuda/golden.txt), but for those of unclaimed.txt, which differ. With
 * LKDF_TEST_CUDA=libcuda.so.1 a real driver is asked, one check at a time. Each
 * error that the checks see of a call of the library's stands in
 * tests/cuda/faults.h, so that test_cuda_faults lets it happen.
 */
#include "tests/cuda/faults.h"
#include "tests/cuda/load.h"
#include "tests/tap.h"

#define MAX_LINES 400
#define MUST 270 /* lines that are the same, of the recorded ones */

struct lines {
	char *line[MAX_LINES];
	int nr;
};

/* A file, or what a program prints, without comments and spaces at the end. */
static void read_lines(FILE *f, struct lines *to)
{
	char line[600];
	size_t n;

	while (f && fgets(line, sizeof(line), f) && to->nr < MAX_LINES) {
		n = strcspn(line, "\n");
		while (n && line[n - 1] == ' ')
			n--;
		line[n] = 0;
		if (line[0] != '#')
			to->line[to->nr++] = strdup(line);
	}
}

static void read_file(const char *name, struct lines *to)
{
	FILE *f = fopen(name, "re");

	read_lines(f, to);
	if (f)
		fclose(f);
}

static void run_checks(struct lines *to)
{
	char command[3 * PATH_MAX + 64], program[PATH_MAX], driver[PATH_MAX];
	const char *real = getenv("LKDF_TEST_CUDA");
	FILE *f;

	snprintf(program, sizeof(program), "%s", cuda_file("cuda-conformance"));
	snprintf(driver, sizeof(driver), "%s", cuda_driver());
	snprintf(command, sizeof(command), "%s -j %d -s %s %s 2>/dev/null",
		 program, real && real[0] ? 1 : 6, cuda_file("libcuda_stub.so"),
		 driver);
	f = popen(command, "r");
	read_lines(f, to);
	is(f ? pclose(f) : -1, 0, "the checks run to their end");
}

/* The line that begins with this name; NULL: none. */
static const char *find_line(const struct lines *v, const char *name)
{
	size_t n = strcspn(name, ":") + 1;
	int i;

	for (i = 0; i < v->nr; i++)
		if (!strncmp(v->line[i], name, n))
			return v->line[i];
	return NULL;
}

/* The check counts threads, and ThreadSanitizer has some of its own. */
static bool own_threads(const char *line)
{
#ifdef __SANITIZE_THREAD__
	return !strncmp(line, "init_threads:", 13);
#else
	(void)line;
	return false;
#endif
}

static void compare(const struct lines *golden, const struct lines *got,
		    const struct lines *unclaimed)
{
	int i, nr_same = 0;
	const char *line;

	for (i = 0; i < golden->nr; i++) {
		line = find_line(got, golden->line[i]);
		nr_same += line && !strcmp(line, golden->line[i]);
		if (own_threads(golden->line[i])) {
			skip(golden->line[i], "the sanitizer has threads");
		} else if (find_line(unclaimed, golden->line[i])) {
			ok(line && strcmp(line, golden->line[i]),
			   "differs as told: %s", golden->line[i]);
		} else if (!ok(line && !strcmp(line, golden->line[i]), "%s",
			       golden->line[i])) {
			printf("# got %s\n", line ? line : "nothing");
		}
	}
	ok(nr_same >= MUST, "%d of %d lines are the same, at least %d", nr_same,
	   golden->nr, MUST);
	is(got->nr, golden->nr, "each check has a line that was recorded");
}

static bool stands_there(const struct cuda_fault *f, unsigned error)
{
	int i;

	for (i = 0; i < CUDA_FAULT_ERRORS && f->error[i]; i++)
		if (f->error[i] == error)
			return true;
	return false;
}

/* "cuMemAlloc=2": the call is none of the library's, or the error is there. */
static bool is_let_happen(const char *line)
{
	size_t n = strcspn(line, "="), i;
	unsigned error = (unsigned)strtoul(line + n + 1, NULL, 10);

	for (i = 0; i < NR_CUDA_FAULTS; i++)
		if (strlen(cuda_faults[i].call) == n &&
		    !strncmp(cuda_faults[i].call, line, n))
			return stands_there(&cuda_faults[i], error);
	return true;
}

static void each_error_is_let_happen(FILE *log)
{
	int nr = 0, nr_wrong = 0;
	char line[100];

	rewind(log);
	while (fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = 0;
		nr++;
		if (is_let_happen(line))
			continue;
		nr_wrong++;
		printf("# %s is not in tests/cuda/faults.h\n", line);
	}
	ok(nr > 100, "the checks see %d calls fail", nr);
	is(nr_wrong, 0, "those of the library's calls are let happen");
}

static void free_lines(struct lines *v)
{
	while (v->nr)
		free(v->line[--v->nr]);
}

int main(void)
{
	static struct lines golden, got, unclaimed;
	const char *real = getenv("LKDF_TEST_CUDA");
	char path[] = "/tmp/lkdf-conformance-XXXXXX";
	int fd = mkstemp(path);
	FILE *log = fd < 0 ? NULL : fdopen(fd, "r");

	tap_start(120);
	setenv("FAKE_CUDA_LOG", path, 1);
	read_file("tests/cuda/golden.txt", &golden);
	read_file("tests/cuda/unclaimed.txt", &unclaimed);
	run_checks(&got);
	unlink(path);
	compare(&golden, &got, &unclaimed);
	if (log && !(real && real[0]))
		each_error_is_let_happen(log);
	else
		skip("errors of calls", "a real driver keeps no list");
	if (log)
		fclose(log);
	free_lines(&golden);
	free_lines(&got);
	free_lines(&unclaimed);
	return tap_end();
}
