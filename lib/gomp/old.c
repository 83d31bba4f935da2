/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions of programs that gcc before 4.9 has compiled: the thread begins one
 * by a call, runs the function itself, and ends the region by another call.
 * Members of a gang run inside a call, so such a region has one thread, which
 * does all of its work.
 */
#include "gomp/detach.h"
#include "gomp/loop.h"

#include <pthread.h>
#include <stdlib.h>

struct old_region {
	struct team team;
	struct self before;
	struct old_region *outer;
};

static __thread struct old_region *region
	__attribute__((tls_model("initial-exec")));

static void tell_once(void)
{
	gomp_say("regions have one thread: the program is compiled by gcc "
		 "before 4.9");
}

static void begin_region(const struct work *first)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct old_region *r = aligned_alloc(CACHE_LINE, sizeof(*r));

	pthread_once(&once, tell_once);
	if (!r)
		gomp_die("no memory for a region");
	*r = (struct old_region){ .outer = region };
	team_init(&r->team, &(struct region){ .first = first });
	r->before = gomp_self;
	team_enter(&r->team, r->before.c, 0, r);
	region = r;
}

void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned nr)
{
	(void)fn;
	(void)data;
	(void)nr;
	begin_region(NULL);
}

void GOMP_parallel_end(void)
{
	struct old_region *r = region;

	detach_wait(&r->team);
	share_free_work(&r->team.first.work);
	gomp_self = r->before;
	region = r->outer;
	free(r);
}

/* ---- regions that are nothing but a loop or sections -------------------- */

#define PARALLEL_ARGS                                                      \
	void (*fn)(void *), void *data, unsigned nr, long begin, long end, \
		long step

static void begin_loop(const struct bounds *b, unsigned schedule, long chunk)
{
	struct work first = loop_work(b, schedule, chunk_of_call(chunk), false);

	begin_region(&first);
}

#define PARALLEL_LOOP(name, schedule)                                     \
	void GOMP_parallel_loop_##name##_start(PARALLEL_ARGS, long chunk) \
	{                                                                 \
		struct bounds b = loop_bounds(begin, end, step);          \
                                                                          \
		(void)fn;                                                 \
		(void)data;                                               \
		(void)nr;                                                 \
		begin_loop(&b, schedule, chunk);                          \
	}

PARALLEL_LOOP(static, SCHEDULE_STATIC)
PARALLEL_LOOP(dynamic, SCHEDULE_DYNAMIC)
PARALLEL_LOOP(guided, SCHEDULE_GUIDED)

void GOMP_parallel_loop_runtime_start(PARALLEL_ARGS)
{
	struct bounds b = loop_bounds(begin, end, step);

	(void)fn;
	(void)data;
	(void)nr;
	begin_loop(&b, SCHEDULE_RUNTIME, 0);
}

void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned nr,
				  unsigned nr_sections)
{
	struct work first = loop_sections(nr_sections);

	(void)fn;
	(void)data;
	(void)nr;
	begin_region(&first);
}
