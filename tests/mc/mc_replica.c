/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies for readers on another node: who finds one reads what its version
 * holds, who finds none reads the original, and writers drop what there is,
 * once, while nobody reads it. var.c, claim.c and replica.c are as they are
 * shipped; the bytes are a number.
 */
#include "jobs.h"

#include "core/runtime.h"
#include "data/replica.h"
#include "trace/counters.h"

#include <stdlib.h>

#define NODE 1
#define NR_NODES 2

static struct lkdf rt;
static struct counters counters;
static struct executor executor;
static struct lkdf_data *data;
static int nr_taken, nr_freed;

/* ---- of the layers below ------------------------------------------------ */

/* A late reader is seen by the junk. */
void data_free_block(struct lkdf_data *d, void *p)
{
	mc_assert(d == data);
	mc_see("dropped");
	nr_freed++;
	plain_store((int *)p, -1);
	junk(p, sizeof(int));
}

void *data_block(struct lkdf_data *d, int node)
{
	mc_assert(d == data && node == NODE);
	nr_taken++;
	return mc_alloc(sizeof(int));
}

/* memcpy() of replica.c, by a flag in mc.mk. */
void *mc_memcpy(void *to, const void *from, size_t size);
void *mc_memcpy(void *to, const void *from, size_t size)
{
	mc_assert(size == sizeof(int));
	mc_see("copied");
	plain_store((int *)to, plain_load((const int *)from));
	return to;
}

/* ---- jobs ---------------------------------------------------------------- */

/* As uses.c: settled before the body, looked up in it. */
static void body_look(struct job *j)
{
	bool is_there = replica_make(&executor, data, NODE);
	int *at = is_there ? replica_at(data, NODE) : &value[X];

	(void)j;
	mc_see(is_there ? "a copy" : "the original");
	mc_assert(plain_load(at) == plain_load(&value[X]));
}

static void body_change(struct job *j)
{
	(void)j;
	data_will_write(data);
	plain_store(&value[X], plain_load(&value[X]) + 1);
}

/* Of a part: another one is written meanwhile. */
static void body_change_part(struct job *j)
{
	data_will_write(data);
	plain_store(&value[j->of[0]], plain_load(&value[j->of[0]]) + 1);
}

static void init(void)
{
	size_t size = sizeof(*data->replicas) + NR_NODES * CACHE_LINE;

	init_data();
	nr_taken = nr_freed = 0;
	executor.counters = &counters;
	data = mc_alloc(sizeof(*data));
	memset((void *)data, 0, sizeof(*data));
	data->rt = &rt;
	data->bytes = sizeof(int);
	a_store(&data->domain.at, (void *)&value[X], relaxed);
	data->replicas = mc_alloc(size);
	memset((void *)data->replicas, 0, size);
	data->replicas->nr = NR_NODES;
	mc_name(&data->replicas->node[NODE].at, "copy");
	mc_name(&data->replicas->has_any, "has_any");
}

static void init_readers(void)
{
	init();
	job_of_x(0, body_look, LKDF_READ);
	job_of_x(1, body_look, LKDF_READ);
	job_of_x(2, body_change, LKDF_RW);
}

/* There is a copy; two parts are written, then all is read. */
static void init_parts(void)
{
	init();
	split_x();
	body_look(NULL);
	job_of_part(0, body_change_part, LKDF_RW, 1);
	job_of_part(1, body_change_part, LKDF_RW, 2)->of[0] = Y;
	job_of_x(2, body_look, LKDF_READ);
}

static void one_each(int id)
{
	submit(&jobs[id]);
	run_ready();
}

static void first_reads_too(int id)
{
	submit(&jobs[id]);
	if (!id)
		submit(&jobs[2]);
	run_ready();
}

static void none_is_left(void)
{
	void *p = a_load(&data->replicas->node[NODE].at, relaxed);

	all_gone();
	mc_assert(nr_taken - nr_freed == (p != NULL));
	mc_assert(!p || data->replicas->has_any);
	replicas_drop(data);
	mc_assert(nr_taken == nr_freed);
}

static void two_versions(void)
{
	none_is_left();
	mc_assert(value[X] == 1 && nr_taken <= 2);
}

#define ROW(text, nr, b, before, f, after)                      \
	.name = text, .nr_threads = nr, .bound = b, .stale = 2, \
	.timeouts = -1, .init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("two read and one writes", 3, 2, init_readers, one_each,
	      two_versions),
	  .must_see = { "copied", "a copy", "the original", "dropped" } },
	{ ROW("two write parts, one of them reads all", 2, 3, init_parts,
	      first_reads_too, none_is_left),
	  .must_see = { "copied", "dropped" } },
};

MC_MAIN(table)
