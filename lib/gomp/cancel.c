/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP lets an implementation do without cancellation, as libgomp does unless
 * OMP_CANCELLATION=true: nothing is cancelled, and omp_get_cancellation() says
 * so.
 */
#include "gomp/calls.h"
#include "gomp/gomp.h"

bool GOMP_cancel(int which, bool is_asked)
{
	(void)which;
	(void)is_asked;
	return false;
}

bool GOMP_cancellation_point(int which)
{
	(void)which;
	return false;
}

bool GOMP_barrier_cancel(void)
{
	team_barrier();
	return false;
}
