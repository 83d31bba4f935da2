/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A cpuset that gets smaller and larger while the runtime is open, with a real
 * cgroup where this process may make one: workers leave with their CPUs and
 * come back to them. What a cpuset does to threads is also done by hand, since
 * each kernel does it in its own way.
 */
#include "tests/api/rt/seats.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The group that this process is in, and the one that is made in it. */
static char parent[PATH_MAX], group[PATH_MAX + 32];

static void start(void)
{
	int i;

	job.rt = api_open("");
	job.kind = api_kind(job.rt, "work", work, 0, 0);
	job.nr_submitted = 0;
	atomic_store(&job.nr_ran, 0);
	/* One that has not begun to run has no name yet. */
	do {
		run_some();
		find_workers();
	} while (job.nr < lkdf_nr_workers(job.rt) && job.nr < MAX_WORKERS);
	for (i = 0; i < job.nr; i++)
		sched_getaffinity(job.tid[i], sizeof(job.own[i]), &job.own[i]);
}

static void stop(void)
{
	lkdf_kind_put(job.kind);
	is(lkdf_close(job.rt), 0, "it closes");
}

/* Each worker is where it was at first. */
static bool all_are_home(void)
{
	cpu_set_t now;
	int i;

	for (i = 0; i < job.nr; i++)
		if (sched_getaffinity(job.tid[i], sizeof(now), &now) ||
		    !CPU_EQUAL(&now, &job.own[i]))
			return false;
	return true;
}

static void all_come_home(const char *when)
{
	while (!all_are_home()) {
		run_some();
		wake_all();
	}
	is(atomic_load(&job.nr_ran), job.nr_submitted,
	   "%s: each worker is on its CPU, all tasks have run", when);
}

/* ---- what the kernel does ------------------------------------------------ */

/* Linux 6.1 gives all threads of a cpuset that changes all of its CPUs. */
static void workers_come_home(void)
{
	cpu_set_t all;
	int i, round;

	CPU_ZERO(&all);
	for (i = 0; i < job.nr; i++)
		CPU_OR(&all, &all, &job.own[i]);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < job.nr; i++)
			must(sched_setaffinity(job.tid[i], sizeof(all), &all));
		all_come_home("threads with all CPUs");
	}
}

/* ---- a cgroup ------------------------------------------------------------ */

static bool put(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX + 64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : write(fd, text, strlen(text));
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text);
}

static bool get(const char *dir, const char *file, char *to, size_t size)
{
	char path[PATH_MAX + 64];
	FILE *f;
	bool has;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	has = f && fgets(to, (int)size, f);
	if (f)
		fclose(f);
	if (has)
		to[strcspn(to, "\n")] = '\0';
	return has;
}

static bool join_group(const char *dir)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	return put(dir, "cgroup.procs", pid);
}

/* Of version 1, where it is usually mounted; or of version 2. */
static bool find_parent(void)
{
	char line[PATH_MAX], *path;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, '/');
		if (path && strstr(line, ":cpuset:"))
			snprintf(parent, sizeof(parent),
				 "/sys/fs/cgroup/cpuset%.3900s", path);
		else if (path && !strncmp(line, "0::", 3) && !parent[0])
			snprintf(parent, sizeof(parent),
				 "/sys/fs/cgroup%.3900s", path);
	}
	if (f)
		fclose(f);
	return parent[0];
}

static void leave_group(void)
{
	int i, rc = -1;

	join_group(parent);
	/* Threads that were joined are in it for a moment more. */
	for (i = 0; i < 5000 && rc; i++) {
		rc = rmdir(group);
		if (rc)
			api_nap_ns(1000000);
	}
	is(rc, 0, "the group is taken away");
}

/* Into a group with all CPUs; false: that may not be. */
static bool enter_group(char *all, size_t size)
{
	char mems[256];

	if (!find_parent())
		return false;
	snprintf(group, sizeof(group), "%s/lkdf-test-%d", parent, getpid());
	if (mkdir(group, 0755))
		return false;
	if ((get(parent, "cpuset.effective_cpus", all, size) &&
	     get(parent, "cpuset.effective_mems", mems, sizeof(mems))) ||
	    (get(parent, "cpuset.cpus.effective", all, size) &&
	     get(parent, "cpuset.mems.effective", mems, sizeof(mems)))) {
		if (put(group, "cpuset.cpus", all) &&
		    put(group, "cpuset.mems", mems) && join_group(group))
			return true;
	}
	rmdir(group);
	return false;
}

/* Down to the first worker's CPU, and up to all again. */
static void a_cpuset_is_followed(void)
{
	char all[256], one[16];
	uint64_t was, benched;
	int round, cpu = 0;

	if (job.nr < 2 || !enter_group(all, sizeof(all))) {
		skip("a cpuset is followed",
		     "one worker, or no cpuset may be made");
		return;
	}
	while (!CPU_ISSET(cpu, &job.own[0]))
		cpu++;
	snprintf(one, sizeof(one), "%d", cpu);
	for (round = 0; round < 3; round++) {
		was = stat_of("lkdf.quota");
		benched = stat_of("lkdf.standby");
		ok(put(group, "cpuset.cpus", one), "a cpuset of CPU %s", one);
		run_until_followed(was, benched);
		is(atomic_load(&job.nr_ran), job.nr_submitted,
		   "it is followed, all tasks have run");
		was = stat_of("lkdf.quota");
		ok(put(group, "cpuset.cpus", all), "of CPUs %s again", all);
		run_until_above("lkdf.quota", was);
		all_come_home("a wider cpuset");
	}
	leave_group();
}

int main(void)
{
	tap_start(100);
	start();
	if (job.nr < 2 || CPU_COUNT(&job.own[0]) != 1)
		skip("workers come home", "one worker, or they are not pinned");
	else
		workers_come_home();
	a_cpuset_is_followed();
	stop();
	return tap_end();
}
