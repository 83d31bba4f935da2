/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * AutoNUMA put to work on purpose: its scanner takes the access of pages away,
 * so that their next use is a hint. Only in machines made for tests: what it
 * writes holds for all of the system. Linux 6.1 hides such pages from
 * move_pages(2), later ones do not.
 */
#ifndef TESTS_VM_HINTS_H
#define TESTS_VM_HINTS_H

#include <numaif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define HINTS_SWITCH "/proc/sys/kernel/numa_balancing"
#define HINTS_SCAN "/sys/kernel/debug/sched/numa_balancing/"
#define HINTS_PAGE 4096

static void hints_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* No hints until they are waited for. */
__attribute__((unused)) static void hints_off(void)
{
	hints_write(HINTS_SWITCH, "0");
}

static long hints_vmstat(const char *name)
{
	FILE *f = fopen("/proc/vmstat", "re");
	char key[64];
	long v, found = -1;

	while (f && fscanf(f, "%63s %ld", key, &v) == 2) {
		if (!strcmp(key, name))
			found = v;
	}
	if (f)
		fclose(f);
	return found;
}

/* Whether this kernel hides the pages. */
__attribute__((unused)) static bool hints_hide(void)
{
	struct utsname u;

	return !uname(&u) && !strncmp(u.release, "6.1.", 4);
}

/* False: a kernel without AutoNUMA. */
__attribute__((unused)) static bool hints_start(void)
{
	if (access(HINTS_SWITCH, W_OK))
		return false;
	mkdir("/sys/kernel/debug", 0755);
	mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	hints_write(HINTS_SCAN "scan_delay_ms", "10");
	hints_write(HINTS_SCAN "scan_period_min_ms", "50");
	hints_write(HINTS_SCAN "scan_period_max_ms", "100");
	return true;
}

/* Runs until the kernel has put hints on as many pages, at most 20 s. */
__attribute__((unused)) static bool hints_wait(long pages)
{
	long before = hints_vmstat("numa_pte_updates"), now = before;
	time_t end = time(NULL) + 20;
	volatile unsigned x = 0;
	unsigned i;

	hints_write(HINTS_SWITCH, "1");
	while (now < before + pages && time(NULL) < end) {
		for (i = 0; i < 2000000; i++)
			x += i;
		now = hints_vmstat("numa_pte_updates");
	}
	(void)x;
	/* The hints stay. */
	hints_off();
	return now >= before + pages;
}

/* Pages for which move_pages(2) tells no node; -1: it is refused. */
__attribute__((unused)) static int hints_hidden(char *p, uint64_t bytes)
{
	static void *page[HINTS_PAGE];
	static int status[HINTS_PAGE];
	int nr = (int)(bytes / HINTS_PAGE), i, hidden = 0;

	for (i = 0; i < nr; i++)
		page[i] = p + i * HINTS_PAGE;
	if (move_pages(0, (unsigned long)nr, page, NULL, status, 0))
		return -1;
	for (i = 0; i < nr; i++)
		hidden += status[i] < 0;
	return hidden;
}

#endif
