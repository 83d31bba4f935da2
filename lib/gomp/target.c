/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Target blocks are libgomp's, which runs them on the host where there is no
 * device for them; their constructs come here again. This file adds what
 * libgomp cannot know: tasks that the block depends on have ended before, and a
 * block with nowait is not left to a task of libgomp, for which nobody would
 * wait.
 */
#include "gomp/calls.h"
#include "gomp/gomp.h"

#include <dlfcn.h>

#define TARGET_NOWAIT 1u

typedef void (*target_fn)(int device, void (*fn)(void *), size_t nr,
			  void **address, size_t *size, unsigned short *kind,
			  unsigned flags, void **depend, void **args);
typedef void (*update_fn)(int device, size_t nr, void **address, size_t *size,
			  unsigned short *kind, unsigned flags, void **depend);

/* The process has libgomp, because the program is linked with it. */
static void *find_next(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (!fn)
		gomp_refuse(name);
	return fn;
}

static void begin_target(void **depend)
{
	team_self();
	if (depend)
		task_wait();
}

void GOMP_target_ext(int device, void (*fn)(void *), size_t nr, void **address,
		     size_t *size, unsigned short *kind, unsigned flags,
		     void **depend, void **args)
{
	target_fn next = (target_fn)find_next("GOMP_target_ext");
	struct env before;

	begin_target(depend);
	before = gomp_self.env;
	gomp_self.env.nr_teams = 1;
	gomp_self.env.team_num = 0;
	next(device, fn, nr, address, size, kind, flags & ~TARGET_NOWAIT, NULL,
	     args);
	gomp_self.env = before;
}

void GOMP_target_update_ext(int device, size_t nr, void **address, size_t *size,
			    unsigned short *kind, unsigned flags, void **depend)
{
	update_fn next = (update_fn)find_next("GOMP_target_update_ext");

	begin_target(depend);
	next(device, nr, address, size, kind, flags & ~TARGET_NOWAIT, NULL);
}

void GOMP_target_enter_exit_data(int device, size_t nr, void **address,
				 size_t *size, unsigned short *kind,
				 unsigned flags, void **depend)
{
	update_fn next = (update_fn)find_next("GOMP_target_enter_exit_data");

	begin_target(depend);
	next(device, nr, address, size, kind, flags & ~TARGET_NOWAIT, NULL);
}
