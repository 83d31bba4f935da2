/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A command that a verb runs: its runtimes send their memfd through a socket,
 * so that the verb has them when the command is gone.
 */
#ifndef TOOLS_STAT_CHILD_H
#define TOOLS_STAT_CHILD_H

#include "stat/stats.h"

#include <sys/types.h>

struct child {
	pid_t pid;
	int socket, pidfd;
	struct stats stats[STATS_MAX];
	unsigned nr_stats;
	int status; /* of waitpid() */
	int64_t start_ns, end_ns;
};

/*
 * Starts argv with LKDF_SOCKET set. Signals of the terminal go to the command;
 * the verb ignores them. 0; or an exit code, and it has been said why.
 */
int child_start(struct child *c, const char *verb, char **argv);

/* Takes memfds until the command ends: 0; 1: the time is up (< 0: never). */
int child_wait(struct child *c, int64_t timeout_ns);

/* Its exit status, or 128 + signal. */
int child_code(const struct child *c);
void child_fini(struct child *c);

int64_t child_now_ns(void);

#endif
