/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf probe for tests: started by the tool, in a directory of its own. */
#ifndef TESTS_API_PROBE_H
#define TESTS_API_PROBE_H

#include "tests/tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>

/* The pins are in dir/bpf. */
static char probe_dir[64], probe_tool[PATH_MAX + 16];
static pid_t probe_owner;

static bool probe_run(const char *words)
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line), "'%s' probe %s --dir %s/bpf >%s/log 2>&1",
		 probe_tool, words, probe_dir, probe_dir);
	return system(line) == 0;
}

/* Where the tool is. self is argv[0]. */
static void probe_find(const char *self)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", self);
	/* In a machine of tests/vm it is one up, of a room's tests three. */
	dirname(path);
	snprintf(probe_tool, sizeof(probe_tool), "%s/../../lkdf", path);
	if (access(probe_tool, X_OK))
		snprintf(probe_tool, sizeof(probe_tool), "%s/../lkdf", path);
	if (access(probe_tool, X_OK))
		snprintf(probe_tool, sizeof(probe_tool), "%s/../../../lkdf",
			 path);
}

/*
 * Also at exit(). A test that is killed leaves its probe to the next script
 * that starts one, see probe_sweep() in tests/tools/probe.sh.
 */
static void probe_end(void)
{
	char line[128];

	if (probe_owner != getpid() || access(probe_dir, F_OK))
		return;
	probe_run("stop");
	snprintf(line, sizeof(line), "rm -rf %s", probe_dir);
	if (system(line))
		printf("# %s stays\n", probe_dir);
}

/* Names this process, for the sweep. */
static void probe_name_owner(void)
{
	char path[80];
	FILE *f;

	probe_owner = getpid();
	snprintf(path, sizeof(path), "%s/probe.pid", probe_dir);
	f = fopen(path, "we");
	if (!f)
		return;
	fprintf(f, "%d\n", probe_owner);
	fclose(f);
}

/* False: there are no rights, or no programs. */
__attribute__((unused)) static bool probe_start(const char *self,
						const char *words)
{
	char start[128];

	probe_find(self);
	snprintf(probe_dir, sizeof(probe_dir), "/tmp/lkdf-probe-XXXXXX");
	snprintf(start, sizeof(start), "start %s", words);
	if (geteuid() || !mkdtemp(probe_dir) || chmod(probe_dir, 0755))
		return false;
	probe_name_owner();
	atexit(probe_end);
	return probe_run(start);
}

/* A number of /proc/self/status, written to the base. */
static uint64_t probe_own(const char *key, int base)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = strlen(key);
	uint64_t value = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && line[n] == ':')
			value = strtoull(line + n + 1, NULL, base);
	if (f)
		fclose(f);
	return value;
}

static bool probe_says(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char text[4096] = "";

	if (f && fread(text, 1, sizeof(text) - 1, f) == 0)
		text[0] = '\0';
	if (f)
		fclose(f);
	return strstr(text, word) != NULL;
}

/* CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN, as bits: of the first user namespace
 * only they count. */
#define PROBE_CAPS (1ull << 39 | 1ull << 38 | 1ull << 21)

/* All that it needs is there: then it has to load. */
static bool probe_must_load(void)
{
	char log[128];

	snprintf(log, sizeof(log), "%s/log", probe_dir);
	return !geteuid() && !access(probe_tool, X_OK) &&
	       !access("/sys/kernel/btf/vmlinux", R_OK) &&
	       probe_says("/proc/self/uid_map", "4294967295") &&
	       (probe_own("CapEff", 16) & PROBE_CAPS) == PROBE_CAPS &&
	       !probe_own("Seccomp", 10) &&
	       !probe_says("/sys/kernel/security/lockdown",
			   "[confidentiality]") &&
	       !probe_says(log, "built without BPF");
}

/* Instead of tests: skipped where it may be absent, else it has failed. */
__attribute__((unused)) static void probe_absent(const char *what)
{
	char line[128];

	if (!probe_must_load()) {
		skip(what, "needs root, BPF and the programs built in");
		return;
	}
	ok(false, "%s: the probe loads where nothing is missing", what);
	snprintf(line, sizeof(line), "sed 's/^/# /' %s/log", probe_dir);
	if (system(line))
		printf("# it says nothing\n");
}

#endif
