/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CPUs are taken from the workers' threads while they run, as taskset -a and a
 * cpuset do, and given back: no task is lost, and the runtime says what it saw.
 * The quota of a cgroup is unit/sched/test_seats.c.
 */
#include "tests/api/seats.h"

#include <string.h>

/* Threads that are called lkdf/NODE.WORKER. */
static void find_workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	char path[300], name[32];
	int node, id;
	struct dirent *d;
	FILE *f;

	while (dir && job.nr < MAX_WORKERS && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) &&
		    sscanf(name, "lkdf/%d.%d", &node, &id) == 2) {
			job.tid[job.nr++] = (pid_t)atoi(d->d_name);
			job.nodes |= 1ull << (node % 64);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
}

static void take_cpus(void)
{
	int i;

	for (i = 0; i < job.nr; i++)
		sched_getaffinity(job.tid[i], sizeof(job.own[i]), &job.own[i]);
	for (i = 1; i < job.nr; i++)
		must(sched_setaffinity(job.tid[i], sizeof(job.own[0]),
				       &job.own[0]));
}

static void give_cpus(void)
{
	int i;

	for (i = 0; i < job.nr; i++)
		must(sched_setaffinity(job.tid[i], sizeof(job.own[i]),
				       &job.own[i]));
}

static void workers_follow_their_cpus(void)
{
	uint64_t was, benched;
	int round;

	for (round = 0; round < 3; round++) {
		was = stat_of("lkdf.quota");
		benched = stat_of("lkdf.benched");
		take_cpus();
		run_until_followed(was, benched);
		is(atomic_load(&job.nr_ran), job.nr_submitted,
		   "all tasks have run, with fewer CPUs");
		was = stat_of("lkdf.quota");
		give_cpus();
		run_until_above("lkdf.quota", was);
		is(atomic_load(&job.nr_ran), job.nr_submitted,
		   "all tasks have run, with all CPUs again");
	}
}

int main(void)
{
	tap_start(100);
	job.rt = api_open("");
	job.kind = api_kind(job.rt, "work", work, 0, 0);
	run_some();
	/* One that has not begun to run has no name yet. */
	while (job.nr < lkdf_nr_workers(job.rt)) {
		job.nr = 0;
		run_some();
		find_workers();
	}
	is(stat_of("lkdf.benched"), 0, "at first nobody is on the bench");
	if (job.nr < 2)
		skip("workers follow their CPUs", "there is one worker only");
	else
		workers_follow_their_cpus();
	lkdf_kind_put(job.kind);
	is(lkdf_close(job.rt), 0, "it closes");
	return tap_end();
}
