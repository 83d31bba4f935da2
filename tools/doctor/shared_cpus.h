/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CPUs to which workers of two runtimes are bound, in one process or in two:
 * while one of them spins or computes the other waits.
 */
#ifndef TOOLS_DOCTOR_SHARED_CPUS_H
#define TOOLS_DOCTOR_SHARED_CPUS_H

#define SHARED_TEXT 96

struct shared_cpus {
	char cpus[SHARED_TEXT]; /* "0-1,4"; "": there are none */
	char pids[SHARED_TEXT]; /* "12, 13", whose runtimes they are */
};

/*
 * Looks at each process that may be looked at; pid 0: all that share a CPU,
 * else those that share one with a runtime of that process.
 */
void shared_cpus_find(int pid, struct shared_cpus *to);

#endif
