/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/stuck.h"

#include "core/runtime.h"
#include "rt/why.h"

#include <dirent.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <unistd.h>

/* The sanitizer has a thread of its own, which does nothing for the program. */
extern void __tsan_acquire(void *addr) __attribute__((weak));

static int count_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	int nr = 0;

	if (!d)
		return -1;
	while ((e = readdir(d)))
		nr += e->d_name[0] != '.';
	closedir(d);
	return nr;
}

/* Nobody else is here who could signal an event. */
static bool is_only_thread(const struct lkdf *rt)
{
	int nr = count_threads();

	return nr > 0 &&
	       nr <= 1 + (__tsan_acquire != NULL) + (rt->watch != NULL);
}

void stuck_tell(struct lkdf *rt)
{
	bool in_body = thread_self()->executor != NULL;

	if (!is_only_thread(rt))
		return;
	log_text(&rt->log, LKDF_LOG_ERROR,
		 "deadlock: nothing is ready or under way, and the only thread "
		 "waits%s, lkdf_why() says:",
		 in_body ? " in a body" : "");
	why_log(rt, "deadlock");
	fflush(NULL);
	_exit(STUCK_STATUS);
}

/* A body may wait in stdio, so what is in its buffers is lost. */
void stuck_stalled(struct lkdf *rt)
{
	log_text(&rt->log, LKDF_LOG_ERROR,
		 "stall: with one thread the program does not go on: a body "
		 "that waits for another one, or for the thread that runs it, "
		 "by other means than lkdf's cannot be checked");
	_exit(STALL_STATUS);
}
