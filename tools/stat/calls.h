/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of a runtime that are in a system call while they have work, and in
 * which, from /proc: without a probe, and where the runtime answers nobody. Two
 * threads at one futex word are no proof of a deadlock: who holds it is told
 * where the word is that of a mutex of glibc whose owner lives.
 */
#ifndef TOOLS_STAT_CALLS_H
#define TOOLS_STAT_CALLS_H

#include "json.h"
#include "stat/stats.h"

struct call_seen {
	bool is_worker;
	uint32_t executor, thread;
	char state; /* as in /proc/PID/stat */
	char call[32]; /* "" where it is not told */
	char text[256]; /* what it waits for; or why that is not told */
};

/* So many in found, of those that there are; those of idle workers are none. */
unsigned calls_find(const struct stats *s, int pid, struct call_seen *found,
		    unsigned most);

void calls_print(const struct stats *s, int pid);
void calls_json(const struct stats *s, int pid, struct json *j);

#endif
