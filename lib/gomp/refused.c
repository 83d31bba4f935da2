/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls of constructs that are not built. In libgomp they would divide the work
 * of a team that libgomp does not know, and the result would be wrong without
 * a word; so each of them ends the process, and says how to run the program.
 */
#include "gomp/gomp.h"

/* lkdf doctor finds them by the section. */
#define REFUSED(name)                                             \
	void name(void) __attribute__((section("lkdf_refused"))); \
	void name(void)                                           \
	{                                                         \
		gomp_refuse(#name);                               \
	}

REFUSED(GOMP_parallel_start)
REFUSED(GOMP_parallel_end)
REFUSED(GOMP_parallel_loop_static_start)
REFUSED(GOMP_parallel_loop_dynamic_start)
REFUSED(GOMP_parallel_loop_guided_start)
REFUSED(GOMP_parallel_loop_runtime_start)
REFUSED(GOMP_parallel_sections_start)
REFUSED(GOMP_teams)
REFUSED(GOMP_teams4)
REFUSED(GOMP_teams_reg)
