/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf probe for tests: started by the tool, in a directory of its own. */
#ifndef TESTS_API_PROBE_H
#define TESTS_API_PROBE_H

#include "tests/tap.h"

#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>

/* The pins are in dir/bpf. */
static char probe_dir[64], probe_tool[PATH_MAX + 16];

static bool probe_run(const char *words)
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line), "'%s' probe %s --dir %s/bpf >%s/log 2>&1",
		 probe_tool, words, probe_dir, probe_dir);
	return system(line) == 0;
}

/* self is argv[0]. False: there are no rights, or no programs. */
static bool probe_start(const char *self, const char *words)
{
	char path[PATH_MAX], start[128];

	snprintf(path, sizeof(path), "%s", self);
	/* In a machine of tests/vm it is one up. */
	dirname(path);
	snprintf(probe_tool, sizeof(probe_tool), "%s/../../lkdf", path);
	if (access(probe_tool, X_OK))
		snprintf(probe_tool, sizeof(probe_tool), "%s/../lkdf", path);
	snprintf(probe_dir, sizeof(probe_dir), "/tmp/lkdf-probe-XXXXXX");
	snprintf(start, sizeof(start), "start %s", words);
	return !geteuid() && mkdtemp(probe_dir) && !chmod(probe_dir, 0755) &&
	       probe_run(start);
}

static void probe_end(void)
{
	char line[128];

	if (geteuid() || access(probe_dir, F_OK))
		return;
	probe_run("stop");
	snprintf(line, sizeof(line), "rm -rf %s", probe_dir);
	if (system(line))
		printf("# %s stays\n", probe_dir);
}

#endif
