/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/target.h"

#include "cli/cli.h"
#include "utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *verb, const char *what, const char *word)
{
	char try[64];
	struct cli_error e = { verb, CLI_USAGE, NULL, try };

	snprintf(try, sizeof(try), "lkdf %s --help", verb);
	return cli_fail(&e, "%s%s%s%s", what, word ? " \"" : "",
			word ? word : "", word ? "\"" : "");
}

void target_name(int pid, char *to, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(to, size, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(to, (int)size, f))
		to[strcspn(to, "\n")] = '\0';
	fclose(f);
	utf8_tame(to);
}

void target_each(void (*fn)(void *u, int pid, const char *name), void *u)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	char name[64];

	while (dir && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		target_name(atoi(d->d_name), name, sizeof(name));
		fn(u, atoi(d->d_name), name);
	}
	if (dir)
		closedir(dir);
}

int target_refuse(const char *verb, int pid, int rc)
{
	struct cli_error e = { verb, CLI_GONE, NULL, NULL };

	if (!rc)
		return cli_fail(&e, "process %d has no lkdf runtime", pid);
	e.code = cli_code_of(rc);
	if (e.code == CLI_DENIED)
		e.needs = "the same user, or CAP_SYS_PTRACE";
	return cli_fail(&e, "process %d: %s", pid, strerror(-rc));
}

struct named {
	const char *name;
	int nr, pid; /* how many have the name, the last of them */
};

static void count_named(void *u, int pid, const char *name)
{
	struct named *n = u;

	if (strcmp(name, n->name))
		return;
	n->pid = pid;
	n->nr++;
}

int target_find(const char *verb, const char *name, int *pid)
{
	struct cli_error e = { verb, CLI_GONE, NULL, NULL };
	struct named n = { .name = name };
	char *end;
	long number;

	if (!name)
		return refuse(verb, "which process? -p PID|NAME", NULL);
	errno = 0;
	number = strtol(name, &end, 10);
	if (end != name && !*end) {
		if (errno || number < 1 || number > INT32_MAX)
			return refuse(verb, "no process has the number", name);
		*pid = (int)number;
		return 0;
	}
	target_each(count_named, &n);
	*pid = n.pid;
	if (n.nr == 1)
		return 0;
	if (n.nr > 1)
		return refuse(verb,
			      "several processes have the name, give the PID "
			      "of one:",
			      name);
	return cli_fail(&e, "no process has the name \"%s\"", name);
}
