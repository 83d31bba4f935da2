/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/reduce.h"

#include "gomp/calls.h"
#include "gomp/cancel.h"

#include <stdlib.h>
#include <string.h>

void reduce_make(struct reduction *r, unsigned nr_threads)
{
	size_t align = r->memory < CACHE_LINE ? CACHE_LINE : r->memory;
	size_t size = r->size * nr_threads;
	void *memory;

	memory = aligned_alloc(align, (size + align - 1) & ~(align - 1));
	if (!memory)
		gomp_die("no memory for the variables of a reduction");
	memset(memory, 0, size);
	r->memory = (uintptr_t)memory;
	r->end = r->memory + size;
}

void reduce_free(struct reduction *r)
{
	free((void *)r->memory);
}

void reduce_share(struct reduction *r, const struct reduction *first)
{
	reduce_free(r);
	r->memory = first->memory;
	r->end = first->end;
}

void reduce_begin(struct reduction *r)
{
	r->outer = gomp_self.reductions;
	r->depth = gomp_self.depth;
	gomp_self.reductions = r;
}

/* ---- groups of tasks ---------------------------------------------------- */

void group_begin(bool is_of_construct)
{
	team_self();
	gomp_self.depth++;
	cancel_begin_group(is_of_construct);
}

void GOMP_taskgroup_start(void)
{
	group_begin(false);
}

/* All children and what is below them, those from before the group as well. */
void GOMP_taskgroup_end(void)
{
	struct reduction *r = gomp_self.reductions;

	task_wait();
	if (r && r->depth == gomp_self.depth)
		gomp_self.reductions = r->outer;
	cancel_end_group();
	gomp_self.depth--;
}

void GOMP_taskgroup_reduction_register(uintptr_t *reductions)
{
	struct reduction *r = (struct reduction *)reductions;

	reduce_make(r, team_self()->nr);
	reduce_begin(r);
}

/* Its group has ended. */
void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions)
{
	reduce_free((struct reduction *)reductions);
}

/* All threads have ended their tasks, and the first one has added them up. */
void GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
	struct reduction *r = gomp_self.reductions;

	GOMP_taskgroup_end();
	if (!gomp_self.num)
		reduce_free(r);
	if (!is_cancelled)
		team_barrier();
}

/* ---- a task's copies ---------------------------------------------------- */

/* The address is the variable's own, or one in some thread's copies. */
static bool find_offset(const struct reduction *r, uintptr_t address,
			uintptr_t *offset)
{
	uintptr_t i;

	for (i = 0; i < r->nr; i++) {
		if (r->variable[i].address != address)
			continue;
		*offset = r->variable[i].offset;
		return true;
	}
	if (address < r->memory || address >= r->end)
		return false;
	*offset = (address - r->memory) % r->size;
	return true;
}

static const struct reduction *find_reduction(uintptr_t address,
					      uintptr_t *offset)
{
	const struct reduction *r = gomp_self.reductions;

	while (r && !find_offset(r, address, offset))
		r = r->outer;
	if (!r)
		gomp_die("a task reduces a variable that no construct around "
			 "it reduces");
	return r;
}

static uintptr_t find_original(const struct reduction *r, uintptr_t offset)
{
	uintptr_t i = 0;

	while (i + 1 < r->nr && r->variable[i].offset != offset)
		i++;
	return r->variable[i].address;
}

/* For the first nr_originals the variable itself follows, behind all nr. */
void GOMP_task_reduction_remap(size_t nr, size_t nr_originals, void **address)
{
	const struct reduction *r;
	uintptr_t offset;
	size_t i;

	for (i = 0; i < nr; i++) {
		r = find_reduction((uintptr_t)address[i], &offset);
		address[i] =
			(void *)(r->memory + gomp_self.num * r->size + offset);
		if (i < nr_originals)
			address[nr + i] = (void *)find_original(r, offset);
	}
}
