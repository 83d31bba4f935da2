/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls by which programs ask and set. Fortran's names end in _, and in _8_
 * where integers have eight bytes; they take pointers.
 */
#include "gomp/calls.h"
#include "gomp/gomp.h"
#include "gomp/places.h"
#include "gomp/theirs.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#define ALIAS(name) __attribute__((alias(#name)))

/* A question without arguments. */
#define ASK(name)                      \
	int name(void);                \
	int name##_(void) ALIAS(name); \
	int name(void)

/* A number that is set. */
#define SET(name)                                   \
	void name(int n);                           \
	void name##_(const int32_t *n);             \
	void name##_8_(const int64_t *n);           \
	void name##_(const int32_t *n)              \
	{                                           \
		name(*n);                           \
	}                                           \
	void name##_8_(const int64_t *n)            \
	{                                           \
		name((int)(*n > INT_MAX	  ? INT_MAX \
			   : *n < INT_MIN ? INT_MIN \
					  : *n));   \
	}                                           \
	void name(int n)

static const struct team *find_team(int level, unsigned *num)
{
	const struct team *t = team_self();

	*num = gomp_self.num;
	if (level < 0 || (unsigned)level > t->level)
		return NULL;
	while (t->level > (unsigned)level) {
		*num = t->outer_num;
		t = t->outer;
	}
	return t;
}

ASK(omp_get_thread_num)
{
	return (int)gomp_self.num;
}

ASK(omp_get_num_threads)
{
	return (int)team_self()->nr;
}

ASK(omp_get_max_threads)
{
	unsigned limit, nr;

	team_self();
	limit = gomp_self.env.thread_limit;
	nr = gomp_self.env.nr_threads;
	if (!nr)
		nr = pool_default();
	return (int)(nr < limit ? nr : limit);
}

ASK(omp_get_num_procs)
{
	cpu_set_t cpus;

	if (places_nr_cpus())
		return places_nr_cpus();
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&cpus);
}

ASK(omp_in_parallel)
{
	return team_self()->nr_active > 0;
}

ASK(omp_get_dynamic)
{
	team_self();
	return gomp_self.env.is_dynamic;
}

ASK(omp_get_nested)
{
	team_self();
	return gomp_self.env.max_levels > team_self()->nr_active + 1;
}

ASK(omp_get_thread_limit)
{
	team_self();
	return (int)gomp_self.env.thread_limit;
}

ASK(omp_get_max_active_levels)
{
	team_self();
	return (int)gomp_self.env.max_levels;
}

ASK(omp_get_supported_active_levels)
{
	return INT_MAX;
}

ASK(omp_get_level)
{
	return (int)team_self()->level;
}

ASK(omp_get_active_level)
{
	return (int)team_self()->nr_active;
}

ASK(omp_in_final)
{
	return gomp_self.is_final;
}

ASK(omp_in_explicit_task)
{
	return gomp_self.is_explicit;
}

ASK(omp_get_default_device)
{
	team_self();
	return gomp_self.env.device;
}

ASK(omp_get_cancellation)
{
	return settings_get()->cancels;
}

ASK(omp_get_proc_bind)
{
	team_self();
	return (int)gomp_self.env.bind;
}

ASK(omp_get_place_num)
{
	return places_here();
}

static struct part part_self(void)
{
	struct part all = { 0, places_nr() };

	team_self();
	return gomp_self.part.nr ? gomp_self.part : all;
}

ASK(omp_get_partition_num_places)
{
	return (int)part_self().nr;
}

ASK(omp_get_max_task_priority)
{
	return 0;
}

SET(omp_set_num_threads)
{
	team_self();
	gomp_self.env.nr_threads = n < 1	     ? 1
				   : n > MAX_THREADS ? MAX_THREADS
						     : (unsigned)n;
}

SET(omp_set_dynamic)
{
	team_self();
	gomp_self.env.is_dynamic = n != 0;
}

SET(omp_set_nested)
{
	team_self();
	if (n)
		gomp_self.env.max_levels = INT_MAX;
	else if (gomp_self.env.max_levels > 1)
		gomp_self.env.max_levels = 1;
}

SET(omp_set_max_active_levels)
{
	team_self();
	if (n >= 0)
		gomp_self.env.max_levels = (unsigned)n;
}

SET(omp_set_default_device)
{
	team_self();
	gomp_self.env.device = n < 0 ? 0 : n;
}

ASK(omp_get_num_teams)
{
	team_self();
	return (int)gomp_self.env.nr_teams;
}

ASK(omp_get_team_num)
{
	return (int)gomp_self.env.team_num;
}

ASK(omp_get_max_teams)
{
	return (int)league_teams();
}

ASK(omp_get_teams_thread_limit)
{
	return (int)league_threads();
}

SET(omp_set_num_teams)
{
	league_set_teams(n);
}

SET(omp_set_teams_thread_limit)
{
	league_set_threads(n);
}

/* ---- pauses ------------------------------------------------------------- */

#define OMP_INITIAL_DEVICE (-1)

int omp_pause_resource(int kind, int device);
int omp_pause_resource_(const int32_t *kind, const int32_t *device);
int omp_pause_resource_all(int kind);
int omp_pause_resource_all_(const int32_t *kind);

/* Threads go, if none of them is in a region; 0, or -1. */
static int pause_host(void)
{
	if (team_self()->level)
		return -1;
	pool_pause();
	return 0;
}

int omp_pause_resource(int kind, int device)
{
	const struct theirs *t = theirs_get();

	if (device == OMP_INITIAL_DEVICE || !t->get_initial_device ||
	    device == t->get_initial_device())
		return pause_host();
	return t->pause_resource ? t->pause_resource(kind, device) : -1;
}

int omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
	return omp_pause_resource(*kind, *device);
}

int omp_pause_resource_all(int kind)
{
	(void)kind;
	return pause_host();
}

int omp_pause_resource_all_(const int32_t *kind)
{
	return omp_pause_resource_all(*kind);
}

/* ---- with arguments ----------------------------------------------------- */

void omp_get_partition_place_nums(int *place);
void omp_get_partition_place_nums_(int32_t *place);
void omp_get_partition_place_nums_8_(int64_t *place);
int omp_get_ancestor_thread_num(int level);
int omp_get_ancestor_thread_num_(const int32_t *level);
int omp_get_ancestor_thread_num_8_(const int64_t *level);
int omp_get_team_size(int level);
int omp_get_team_size_(const int32_t *level);
int omp_get_team_size_8_(const int64_t *level);
void omp_set_schedule(unsigned kind, int chunk);
void omp_set_schedule_(const int32_t *kind, const int32_t *chunk);
void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk);
void omp_get_schedule(unsigned *kind, int *chunk);
void omp_get_schedule_(int32_t *kind, int32_t *chunk);
void omp_get_schedule_8_(int32_t *kind, int64_t *chunk);

static int level_of(int64_t level)
{
	return level < 0 || level > INT_MAX ? -1 : (int)level;
}

void omp_get_partition_place_nums(int *place)
{
	struct part p = part_self();
	unsigned i;

	for (i = 0; i < p.nr; i++)
		place[i] = (int)(p.first + i);
}

void omp_get_partition_place_nums_(int32_t *place)
{
	omp_get_partition_place_nums(place);
}

void omp_get_partition_place_nums_8_(int64_t *place)
{
	struct part p = part_self();
	unsigned i;

	for (i = 0; i < p.nr; i++)
		place[i] = p.first + i;
}

int omp_get_ancestor_thread_num(int level)
{
	unsigned num;

	return find_team(level, &num) ? (int)num : -1;
}

int omp_get_ancestor_thread_num_(const int32_t *level)
{
	return omp_get_ancestor_thread_num(*level);
}

int omp_get_ancestor_thread_num_8_(const int64_t *level)
{
	return omp_get_ancestor_thread_num(level_of(*level));
}

int omp_get_team_size(int level)
{
	unsigned num;
	const struct team *t = find_team(level, &num);

	return t ? (int)t->nr : -1;
}

int omp_get_team_size_(const int32_t *level)
{
	return omp_get_team_size(*level);
}

int omp_get_team_size_8_(const int64_t *level)
{
	return omp_get_team_size(level_of(*level));
}

void omp_set_schedule(unsigned kind, int chunk)
{
	unsigned schedule = kind & ~SCHEDULE_MONOTONIC;

	team_self();
	if (schedule < SCHEDULE_STATIC || schedule > SCHEDULE_AUTO)
		return;
	gomp_self.env.schedule = schedule;
	gomp_self.env.chunk = chunk > 0 ? (uint64_t)chunk : 0;
	if (schedule != SCHEDULE_STATIC && chunk < 1)
		gomp_self.env.chunk = 1;
}

void omp_set_schedule_(const int32_t *kind, const int32_t *chunk)
{
	omp_set_schedule((unsigned)*kind, *chunk);
}

void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk)
{
	omp_set_schedule((unsigned)*kind, level_of(*chunk));
}

void omp_get_schedule(unsigned *kind, int *chunk)
{
	team_self();
	*kind = gomp_self.env.schedule;
	*chunk = (int)gomp_self.env.chunk;
}

void omp_get_schedule_(int32_t *kind, int32_t *chunk)
{
	unsigned schedule;

	omp_get_schedule(&schedule, chunk);
	*kind = (int32_t)schedule;
}

void omp_get_schedule_8_(int32_t *kind, int64_t *chunk)
{
	unsigned schedule;
	int n;

	omp_get_schedule(&schedule, &n);
	*kind = (int32_t)schedule;
	*chunk = n;
}
