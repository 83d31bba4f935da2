/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ranks of one machine: which CPUs each may use, who shares them, and how
 * they are divided.
 */
#include "mpi/mpi.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int mpi_gather(MPI_Comm comm, const void *own, size_t nr_bytes,
	       struct machine *m)
{
	MPI_Comm local = MPI_COMM_NULL;
	int has = 0, all = 0, rc = -EIO, nr = (int)nr_bytes;

	m->all = NULL;
	if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
				&local))
		return -EIO;
	if (!MPI_Comm_rank(local, &m->rank) && !MPI_Comm_size(local, &m->size))
		m->all = calloc((size_t)m->size, nr_bytes);
	/* A rank without memory leaves with all others. */
	has = m->all != NULL;
	if (!MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_LAND, local) && all &&
	    !MPI_Allgather(own, nr, MPI_BYTE, m->all, nr, MPI_BYTE, local))
		rc = 0;
	else
		free(m->all);
	MPI_Comm_free(&local);
	return rc;
}

/* ---- who shares --------------------------------------------------------- */

static cpu_set_t worker_cpus(struct lkdf *rt)
{
	int i, nr = lkdf_nr_workers(rt);
	char name[64];
	cpu_set_t set;
	uint64_t cpu;

	CPU_ZERO(&set);
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "lkdf.worker.%d.cpu", i);
		if (!lkdf_stat(rt, name, &cpu) && cpu < CPU_SETSIZE)
			CPU_SET(cpu, &set);
	}
	return set;
}

int mpi_tell_shared(struct lkdf_mpi *m)
{
	cpu_set_t own = worker_cpus(m->rt), both;
	struct machine machine;
	const cpu_set_t *sets;
	int i, rc, cpu;

	rc = mpi_gather(m->comm, &own, sizeof(own), &machine);
	if (rc)
		return rc;
	sets = machine.all;
	for (i = machine.rank + 1; i < machine.size; i++) {
		CPU_AND(&both, &own, &sets[i]);
		for (cpu = 0; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &both);)
			cpu++;
		if (cpu == CPU_SETSIZE)
			continue;
		fprintf(stderr,
			"lkdf: mpi: rank %d has workers on CPU %d, and so has "
			"another rank: lkdf_mpi_options() before lkdf_open() "
			"divides the CPUs\n",
			m->rank, cpu);
		break;
	}
	free(machine.all);
	return 0;
}

/* ---- how they are divided ----------------------------------------------- */

static int node_of(int cpu)
{
	char path[80];
	int node;

	for (node = 0; node < CPU_SETSIZE; node++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/node/node%d/cpu%d", node, cpu);
		if (!access(path, F_OK))
			return node;
	}
	return 0;
}

/* CPUs of one node follow each other. How many. */
static int sort_cpus(const cpu_set_t *set, int *cpus)
{
	int node[CPU_SETSIZE], cpu, nr = 0, i, at;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, set))
			continue;
		at = node_of(cpu);
		for (i = nr++; i > 0 && node[i - 1] > at; i--) {
			node[i] = node[i - 1];
			cpus[i] = cpus[i - 1];
		}
		node[i] = at;
		cpus[i] = cpu;
	}
	return nr;
}

/* For cpus[begin .. end). */
static int write_options(char *text, size_t size, const int *cpus, int begin,
			 int end)
{
	int i, used;

	if (begin == end)
		used = snprintf(text, size, "workers=1,pin=off");
	else
		used = snprintf(text, size, "workers=%d,cpus=\"", end - begin);
	for (i = begin; i < end && used >= 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%d%s",
				 cpus[i], i + 1 < end ? "," : "\"");
	return used < 0 || (size_t)used >= size ? -ENOSPC : 0;
}

int lkdf_mpi_options(MPI_Comm comm, char *text, size_t size)
{
	int cpus[CPU_SETSIZE], nr, nr_alike = 0, mine = 0, i, rc;
	struct machine machine;
	const cpu_set_t *sets;
	cpu_set_t own;

	if (!text || !size || comm == MPI_COMM_NULL)
		return -EINVAL;
	if (sched_getaffinity(0, sizeof(own), &own))
		CPU_ZERO(&own);
	rc = mpi_gather(comm, &own, sizeof(own), &machine);
	if (rc)
		return rc;
	sets = machine.all;
	for (i = 0; i < machine.size; i++) {
		if (!CPU_EQUAL(&own, &sets[i]))
			continue;
		mine += i < machine.rank;
		nr_alike++;
	}
	free(machine.all);
	nr = sort_cpus(&own, cpus);
	return write_options(text, size, cpus, nr * mine / nr_alike,
			     nr * (mine + 1) / nr_alike);
}
