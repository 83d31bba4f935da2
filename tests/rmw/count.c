/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts by place. A place is found by its line and the end of its file's name
 * in a table that only grows; whoever wins a free row fills it in. The last
 * thread of a cache line stands in a table that may mix up two lines, of which
 * there are far fewer than rows.
 */
#include "tests/rmw/count.h"

#include "tests/rmw/rmw_atomic.h"

#include <stdlib.h>
#include <string.h>

#define NR_ROWS 4096 /* a power of two */
#define NR_LINES (1u << 16)

enum row_state {
	ROW_FREE,
	ROW_TAKEN,
	ROW_SET,
};

struct row {
	_Atomic(uint32_t) state;
	const char *file, *function;
	int line;
	_Atomic(uint64_t) nr, nr_moved;
};

static struct row rows[NR_ROWS];
static _Atomic(uint32_t) last[NR_LINES], nr_threads;
static _Thread_local uint32_t self;

static uint32_t hash_of(const char *file, int line)
{
	uint32_t hash = 2166136261u ^ (uint32_t)line;

	for (; *file; file++)
		hash = (hash ^ (uint8_t)*file) * 16777619u;
	return hash;
}

static struct row *row_of(const char *file, const char *function, int line)
{
	uint32_t i = hash_of(file, line), old;
	struct row *r;

	for (;; i++) {
		r = &rows[i % NR_ROWS];
		old = atomic_load(&r->state);
		if (old == ROW_FREE && atomic_compare_exchange_strong(
					       &r->state, &old, ROW_TAKEN)) {
			r->file = file;
			r->function = function;
			r->line = line;
			atomic_store(&r->state, ROW_SET);
			return r;
		}
		while (atomic_load(&r->state) != ROW_SET)
			;
		if (r->line == line && !strcmp(r->file, file))
			return r;
	}
}

/* True: another thread than before locks that line. */
static int has_moved(uintptr_t address)
{
	uintptr_t line = address / 64;
	uint32_t i = (uint32_t)(line ^ line >> 16 ^ line >> 29) % NR_LINES;

	if (!self)
		self = atomic_fetch_add(&nr_threads, 1) + 1;
	return atomic_exchange(&last[i], self) != self;
}

void rmw_count(const char *file, const char *function, int line,
	       uintptr_t address)
{
	struct row *r = row_of(file, function, line);

	atomic_fetch_add(&r->nr, 1);
	if (has_moved(address))
		atomic_fetch_add(&r->nr_moved, 1);
}

void rmw_start(void)
{
	unsigned i;

	for (i = 0; i < NR_ROWS; i++) {
		atomic_store(&rows[i].nr, 0);
		atomic_store(&rows[i].nr_moved, 0);
	}
}

void rmw_each(void (*tell)(const struct rmw_place *p, void *u), void *u)
{
	struct rmw_place p;
	unsigned i;

	for (i = 0; i < NR_ROWS; i++) {
		if (atomic_load(&rows[i].state) != ROW_SET)
			continue;
		p = (struct rmw_place){ rows[i].file, rows[i].function,
					rows[i].line, atomic_load(&rows[i].nr),
					atomic_load(&rows[i].nr_moved) };
		if (p.nr)
			tell(&p, u);
	}
}
