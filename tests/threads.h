/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of this process by name. The kernel lists a thread for a moment more
 * when it has been joined: one on its way out is left out.
 */
#ifndef TESTS_THREADS_H
#define TESTS_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define THREAD_EXITING 4u /* PF_EXITING of the kernel */

struct found_thread {
	int tid;
	char name[16];
};

/* False: it has gone, or is going. */
static bool read_found(const char *task, struct found_thread *t)
{
	char path[64], text[512] = "", *name, *end;
	unsigned flags = THREAD_EXITING;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.12s/stat", task);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end ||
	    sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return false;
	*end = '\0';
	snprintf(t->name, sizeof(t->name), "%s", name + 1);
	return sscanf(text, "%d", &t->tid) == 1 && !(flags & THREAD_EXITING);
}

/* How often it has gone to sleep; -1: it is not there. */
__attribute__((unused)) static long thread_sleeps(int tid)
{
	char path[64], line[128];
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &nr) == 1)
			break;
	if (f)
		fclose(f);
	return nr;
}

/* Whose name begins so; the first max of them. Return: their number. */
__attribute__((unused)) static int
threads_find(const char *begin, struct found_thread *to, int max)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	int nr = 0;

	while (dir && nr < max && (d = readdir(dir)))
		if (d->d_name[0] != '.' && read_found(d->d_name, &to[nr]))
			nr += !strncmp(to[nr].name, begin, strlen(begin));
	if (dir)
		closedir(dir);
	return nr;
}

#endif
