/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Recordings whose fields lie, chunk by chunk: what lkdf trace check, lkdf
 * report, lkdf trace convert and lkdf trace diff make of them. A verb either
 * does its work or says where the file is damaged and why, with little memory,
 * and never crashes or hangs.
 *
 * FUZZ_SEED is where it begins (the time of day), FUZZ_SECONDS how long it goes
 * on (5), in CPU time.
 */
#include "tests/tap.h"
#include "tests/unit/trace_lie.h"
#include "tools/cli/cli.h"
#include "tools/cli/verbs.h"
#include "tools/trace/verbs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

/* No file is larger than 1 MiB. */
#define MOST_MEMORY (768ull << 20)

#ifdef __SANITIZE_ADDRESS__
/* What has no bound is seen where it is asked for. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=768:allocator_may_return_null=1";
}
#endif

/* Of verbs that lkdf has and this program does not call. */
const struct cli_spec completion_spec;

static struct lie whole, lie;
static char file_path[64], base_path[64];
static int file_fd, said_fd, stdout_fd, null_fd;
static char said[4096];

/* What a verb prints is nobody's, but what it says of errors is kept. */
static int run_verb(int (*verb)(int, char **), const char *const *words)
{
	char *argv[10];
	ssize_t n;
	int argc, code, err = dup(2);

	for (argc = 0; words[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	argv[argc] = NULL;
	if (ftruncate(said_fd, 0) || lseek(said_fd, 0, SEEK_SET))
		exit(1);
	fflush(stdout);
	dup2(null_fd, 1);
	dup2(said_fd, 2);
	code = verb(argc, argv);
	fflush(stdout);
	dup2(stdout_fd, 1);
	dup2(err, 2);
	close(err);
	n = pread(said_fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	return code;
}

struct command {
	int (*verb)(int, char **);
	const char *words[9];
	bool finds; /* 1 is no fault: the files differ */
};

static const struct command commands[] = {
	{ trace_check, { "check", file_path, "-v" }, false },
	{ trace_check, { "check", file_path, "--json" }, false },
	{ verb_report, { "report", file_path, "--html", "/dev/null" }, false },
	{ verb_report,
	  { "report", file_path, "--json", "--best-effort" },
	  false },
	{ trace_convert,
	  { "convert", file_path, "--to", "chrome", "-o", "/dev/null",
	    "--best-effort" },
	  false },
	{ trace_convert,
	  { "convert", file_path, "--to", "perfetto", "-o", "/dev/null" },
	  false },
	{ trace_convert,
	  { "convert", file_path, "--to", "csv", "-o", "/dev/null",
	    "--best-effort" },
	  false },
	{ trace_diff, { "diff", base_path, file_path }, true },
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* It is done, or the fault has a place and a name. */
static bool is_fair(const struct command *c, int code)
{
	const char *at = strstr(said, "offset ");

	if (code == CLI_OK || (c->finds && code == CLI_FINDINGS))
		return true;
	return code == CLI_DAMAGED && at && strstr(at, ": ") &&
	       strlen(strstr(at, ": ")) > 5;
}

static void write_to(int fd, const struct lie *l)
{
	if (ftruncate(fd, 0) ||
	    pwrite(fd, l->bytes, l->size, 0) != (ssize_t)l->size)
		exit(1);
}

static int open_file(const char *name, char *path)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		exit(1);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void a_whole_recording_is_read(void)
{
	unsigned i, nr_bad = 0;
	int code;

	lie_begin(&whole);
	lie_write(&whole);
	write_to(file_fd, &whole);
	for (i = 0; i < NR_COMMANDS; i++) {
		code = run_verb(commands[i].verb, commands[i].words);
		nr_bad += code != 0;
		if (code)
			printf("# %s: %d, %s\n", commands[i].words[0], code,
			       said);
	}
	is(nr_bad, 0, "a recording with a chunk of each type is whole");
}

/* One recording; the check, and one of the other commands. */
static bool try_lie(struct rng *r, uint32_t chunk, unsigned *nr_damaged)
{
	unsigned i = rng_range(r, 0, 1), n;
	int code;

	lie = whole;
	lie_change(r, &lie, chunk);
	lie_write(&lie);
	write_to(file_fd, &lie);
	for (n = 0; n < 2; n++, i = rng_range(r, 2, NR_COMMANDS - 1)) {
		code = run_verb(commands[i].verb, commands[i].words);
		*nr_damaged += !n && code == CLI_DAMAGED;
		if (is_fair(&commands[i], code))
			continue;
		printf("# chunk %u: %s %s: %d, %s\n", chunk,
		       commands[i].words[0], commands[i].words[3], code, said);
		return false;
	}
	return true;
}

static void lies_are_borne(uint64_t seed, double seconds)
{
	unsigned nr = 0, nr_bad = 0, nr_damaged = 0;
	double end = cpu_seconds() + seconds;
	struct rusage before, after;
	struct rng r;

	getrusage(RUSAGE_SELF, &before);
	while (cpu_seconds() < end && nr_bad < 10) {
		r.state = seed + nr;
		if (!try_lie(&r, nr % whole.nr, &nr_damaged)) {
			printf("# FUZZ_SEED=%llu\n",
			       (unsigned long long)seed +
				       nr / whole.nr * whole.nr);
			nr_bad++;
		}
		nr++;
	}
	getrusage(RUSAGE_SELF, &after);
	is(nr_bad, 0, "%u recordings: each is read or refused by name", nr);
	ok(nr_damaged && nr_damaged < nr,
	   "%u were damaged, the others were not", nr_damaged);
	ok(after.ru_maxrss - before.ru_maxrss < (long)(MOST_MEMORY >> 10),
	   "%ld KiB of memory at most", after.ru_maxrss);
}

/* What has no bound fails, and is seen; sanitizers map more than that. */
static void bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit most = { MOST_MEMORY, MOST_MEMORY };

	setrlimit(RLIMIT_AS, &most);
#endif
}

static uint64_t number(const char *name, uint64_t other)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : other;
}

int main(void)
{
	uint64_t seed = number("FUZZ_SEED", (uint64_t)time(NULL) << 16);
	uint64_t seconds = number("FUZZ_SECONDS", 5);
	int base_fd;

	tap_start(120 + (unsigned)seconds);
	printf("# FUZZ_SEED=%llu\n", (unsigned long long)seed);
	bound_memory();
	stdout_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	said_fd = memfd_create("said", MFD_CLOEXEC);
	file_fd = open_file("lie", file_path);
	base_fd = open_file("base", base_path);
	lie_begin(&whole);
	lie_write(&whole);
	write_to(base_fd, &whole);
	a_whole_recording_is_read();
	lies_are_borne(seed, (double)seconds);
	return tap_end();
}
