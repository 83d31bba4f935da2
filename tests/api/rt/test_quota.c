/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CPUs are taken from the workers' threads while they run, as taskset -a and a
 * cpuset do, and given back: no task is lost, and the runtime says what it saw,
 * in counters and in its recording. The quota of a cgroup is
 * unit/sched/test_seats.c.
 */
#include "tests/api/recorded.h"
#include "tests/api/rt/seats.h"

#include <string.h>

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
		benched = stat_of("lkdf.standby");
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

/* Events signal_quota of the recording by a worker that has looked; of so
 * many seats, or of any number with -1. */
static int count_seats(const char *file, int seats)
{
	char pattern[80], number[16] = "[0-9]*";

	if (seats >= 0)
		snprintf(number, sizeof(number), "%d", seats);
	snprintf(pattern, sizeof(pattern), "^event,.*,signal_quota,.*,%d,%s,",
		 LKDF_SIGNAL_SELF, number);
	return recorded_lines(file, pattern);
}

/* After close. quota: how often the runtime has followed. */
static void the_recording_tells(const char *file, uint64_t quota)
{
	int all = count_seats(file, -1), whole = count_seats(file, job.nr);

	ok(all > 0 && (uint64_t)all <= quota,
	   "%d events signal_quota of %llu, by the workers themselves", all,
	   (unsigned long long)quota);
	if (job.nr > __builtin_popcountll(job.nodes))
		ok(whole > 0 && whole < all, "%d of all workers, %d of fewer",
		   whole, all - whole);
}

/* Until each has run: one that has not begun to has no name yet. */
static void open_job(const char *file, const char *more)
{
	char options[96];

	snprintf(options, sizeof(options), "trace=%s%s", file, more);
	memset(&job, 0, sizeof(job));
	job.rt = api_open(options);
	job.kind = api_kind(job.rt, "work", work, 0, 0);
	run_some();
	while (job.nr < lkdf_nr_workers(job.rt)) {
		run_some();
		find_workers();
	}
}

static void cpus_come_and_go(const char *more)
{
	char file[] = "/tmp/lkdf-quota-XXXXXX";
	uint64_t quota;

	close(must(mkstemp(file)));
	open_job(file, more);
	is(stat_of("lkdf.standby"), 0, "at first nobody is on standby%s", more);
	if (job.nr < 2)
		skip("workers follow their CPUs", "there is one worker only");
	else
		workers_follow_their_cpus();
	lkdf_kind_put(job.kind);
	quota = stat_of("lkdf.quota");
	is(lkdf_close(job.rt), 0, "it closes");
	if (job.nr < 2)
		skip("the recording tells", "there is one worker only");
	else if (access(probe_tool, X_OK))
		skip("the recording tells", "there is no tool");
	else
		the_recording_tells(file, quota);
	unlink(file);
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(100);
	probe_find(argv[0]);
	cpus_come_and_go("");
	/* Tasks lie aside, and the worker that has the token may have to go. */
	cpus_come_and_go(",narrow=force");
	return tap_end();
}
