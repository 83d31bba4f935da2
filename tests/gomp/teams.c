/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Teams of OpenMP on the host, and target blocks without a device: each line is
 * the same with libgomp.
 */
#include <omp.h>
#include <stdio.h>

/* gcc refuses the call itself in a block of teams. */
static int limit_here(void)
{
	return omp_get_thread_limit();
}

static void leagues(void)
{
	int nr = 0, sum = 0, wrong = 0, limit = 0, i;

	printf("outside: %d of %d\n", omp_get_team_num(), omp_get_num_teams());
#pragma omp teams reduction(+ : nr)
	nr += 100 + omp_get_num_teams();
	printf("teams: %d\n", nr);
#pragma omp teams num_teams(4) thread_limit(2) reduction(+ : sum, wrong) \
	reduction(max : limit)
	{
		int team = omp_get_team_num();

#pragma omp parallel reduction(+ : wrong)
		{
			wrong += omp_get_team_num() != team;
			wrong += omp_get_num_teams() != 4;
			wrong += omp_get_num_threads() > 2;
#pragma omp single
#pragma omp task shared(wrong)
			{
				if (omp_get_team_num() != team) {
#pragma omp atomic
					wrong++;
				}
			}
		}
		sum = sum * 10 + team;
		if (limit_here() > limit)
			limit = limit_here();
	}
	printf("four: %d, %d wrong, limit %d\n", sum, wrong, limit);
	sum = 0;
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : sum)
	for (i = 0; i < 1000; i++)
		sum += i;
#pragma omp teams num_teams(5)
#pragma omp distribute dist_schedule(static, 7)
	for (i = 0; i < 100; i++) {
#pragma omp atomic
		sum += omp_get_team_num() == i / 7 % 5;
	}
	printf("distribute: %d, %d of %d\n", sum, omp_get_team_num(),
	       omp_get_num_teams());
	omp_set_num_teams(2);
	omp_set_teams_thread_limit(3);
	nr = 0;
#pragma omp teams reduction(+ : nr)
	nr += 10 * omp_get_num_teams() + limit_here();
	printf("asked for: %d %d %d\n", nr, omp_get_max_teams(),
	       omp_get_teams_thread_limit());
	omp_set_num_teams(0);
	omp_set_teams_thread_limit(0);
}

static void targets(void)
{
	int n = 0, own = 5, a[100] = { 0 }, i;

#pragma omp target map(tofrom : n) firstprivate(own)
	n += own++;
#pragma omp target teams distribute parallel for map(tofrom : n, a) \
	reduction(+ : n) num_teams(2)
	for (i = 0; i < 100; i++) {
		n += i;
		a[i] = i;
	}
	printf("target: %d %d %d, %d of %d\n", n, own, a[99],
	       omp_get_team_num(), omp_get_num_teams());
#pragma omp target data map(tofrom : a)
	{
#pragma omp target update to(a)
#pragma omp target map(a)
		a[3] = 4;
	}
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task depend(out : n)
		n = 1;
#pragma omp target map(tofrom : n) depend(inout : n) nowait
		n = n * 10 + 2;
#pragma omp task depend(in : n)
		n = n * 10 + 3;
#pragma omp taskwait
#pragma omp target enter data map(to : a) nowait
#pragma omp target exit data map(from : a)
	}
	printf("in order: %d %d\n", n, a[3]);
}

int main(void)
{
	leagues();
	targets();
	return 0;
}
