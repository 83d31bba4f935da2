/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tasks of one shape as StarPU-MPI runs them: bodies do nothing, data are a
 * 64th of their size. Rank 0 prints the bytes that all ranks have sent, in
 * sizes of the shape, and the messages that these are.
 *
 *   STARPU_COMM_STATS=1 mpirun -n 16 ranks_starpu stencil
 */
#include "tests/bench/ranks/shape.h"

#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALLER 64

#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION < 4
#define starpu_mpi_comm_stats_retrieve starpu_mpi_comm_amounts_retrieve
#endif

static void do_nothing(void **buffers, void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet codelet = {
	.cpu_funcs = { do_nothing },
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
};

static starpu_data_handle_t *add_data(const struct shape *s, uint32_t rank)
{
	starpu_data_handle_t *h = calloc(s->nr_data, sizeof(*h));
	uint64_t bytes;
	uint32_t i;
	void *p;

	for (i = 0; h && i < s->nr_data; i++) {
		bytes = s->bytes[i] / SMALLER;
		p = s->owner[i] == rank ? calloc(1, bytes) : NULL;
		starpu_vector_data_register(&h[i], p ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)p, (uint32_t)bytes, 1);
		starpu_mpi_data_register(h[i], i, (int)s->owner[i]);
	}
	return h;
}

static enum starpu_data_access_mode mode_of(uint32_t mode)
{
	return mode == SHAPE_READ    ? STARPU_R
	       : mode == SHAPE_WRITE ? STARPU_W
				     : STARPU_RW;
}

static int submit_all(const struct shape *s, starpu_data_handle_t *h)
{
	struct starpu_data_descr use[SHAPE_MAX_USES];
	const struct shape_task *t;
	uint32_t i, u;
	int rc = 0;

	for (i = 0; !rc && i < s->nr_tasks; i++) {
		t = &s->task[i];
		for (u = 0; u < t->nr_uses; u++) {
			use[u].handle = h[t->use[u].data];
			use[u].mode = mode_of(t->use[u].mode);
		}
		rc = starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet,
					    STARPU_DATA_MODE_ARRAY, use,
					    (int)t->nr_uses,
					    STARPU_EXECUTE_ON_NODE,
					    (int)t->rank, 0);
	}
	return rc ? rc : starpu_task_wait_for_all();
}

/* Each message of a shape is as large as the first data that a rank reads of
 * another.
 */
static uint64_t message_bytes(const struct shape *s)
{
	uint32_t i, u;

	for (i = 0; i < s->nr_tasks; i++)
		for (u = 0; u < s->task[i].nr_uses; u++)
			if (s->owner[s->task[i].use[u].data] != s->task[i].rank)
				return s->bytes[s->task[i].use[u].data];
	return 1;
}

static void print_sent(const struct shape *s, int rank, int size)
{
	unsigned long long mine = 0, all = 0;
	size_t *sent = calloc((size_t)size, sizeof(*sent));
	int i;

	if (sent)
		starpu_mpi_comm_stats_retrieve(sent);
	for (i = 0; sent && i < size; i++)
		mine += sent[i];
	free(sent);
	MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0,
		   MPI_COMM_WORLD);
	all *= SMALLER;
	if (!rank)
		printf("{\"shape\":\"%s\",\"ranks\":%d,\"tasks\":%u,"
		       "\"messages\":%llu,\"bytes\":%llu}\n",
		       s->name, size, s->nr_tasks, all / message_bytes(s), all);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t *h;
	struct starpu_conf conf;
	int rank = 0, size = 1;
	struct shape s;
	uint32_t i;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, &conf))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (argc != 2 || !shape_make(&s, argv[1], (uint32_t)size))
		return 2;
	h = add_data(&s, (uint32_t)rank);
	if (!h || submit_all(&s, h))
		return 1;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	print_sent(&s, rank, size);
	for (i = 0; i < s.nr_data; i++)
		starpu_data_unregister(h[i]);
	starpu_mpi_shutdown();
	return 0;
}
