/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs a command as a container's seccomp profile does, without a call:
 *
 *	no_call bpf|perf_event_open ERRNO COMMAND...
 */
#include "tests/api/probe/seccomp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int error = argc > 3 ? atoi(argv[2]) : 0;
	unsigned nr = error && !strcmp(argv[1], "bpf") ? SYS_bpf
						       : SYS_perf_event_open;

	if (!error || !seccomp_refuse(nr, error))
		return 99;
	execvp(argv[3], argv + 3);
	return 98;
}
