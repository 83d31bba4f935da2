/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* CPUs that this process gets, its clock and its limits. */
#include "doctor/doctor.h"
#include "doctor/shared_cpus.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024 * 1024)

void probe_cpus(struct finding *f)
{
	long all = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;
	int mine;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		finding_say(f, DOCTOR_WARN, "CPUs: sched_getaffinity: %s",
			    strerror(errno));
		finding_fix(f, "more than %d CPUs need a larger set",
			    CPU_SETSIZE);
		return;
	}
	mine = CPU_COUNT(&set);
	finding_say(f, DOCTOR_OK, "CPUs: %d of %ld", mine, all);
	if (mine >= all)
		return;
	finding_say(f, DOCTOR_WARN,
		    "CPUs: %d of %ld; affinity or cpuset excludes the others",
		    mine, all);
	finding_fix(f, "taskset -c 0-%ld, or the cpuset of the container",
		    all - 1);
}

/* The source of a description in JSON; "" if it has none. */
static void take_source(const char *json, char *to, size_t size)
{
	static const char key[] = "\"source\":\"";
	const char *at = strstr(json, key);

	at = at ? at + strlen(key) : "";
	snprintf(to, size, "%.*s", (int)strcspn(at, "\""), at);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* CPU time until a runtime is there; below 0: none opens. */
static double time_open(void)
{
	double ms = cpu_ms();
	struct lkdf *rt;

	if (lkdf_open(NULL, &rt))
		return -1;
	ms = cpu_ms() - ms;
	lkdf_close(rt);
	return ms;
}

/* The first runtime of this process: findings before it open none. */
void probe_open(struct finding *f)
{
	double first = time_open(), again = time_open();

	/* This failure is another finding's. */
	if (first < 0 || again < 0) {
		finding_say(f, DOCTOR_NONE, "open: no runtime opens");
		return;
	}
	finding_say(
		f, DOCTOR_OK,
		"open: %.1f ms of CPU, %.1f again in a process: the first "
		"runtime reads the machine and measures the clock for all; "
		"rings and threads of the blocking pool come with their first "
		"use",
		first, again);
}

void probe_topology(struct finding *f)
{
	char text[4096], source[160];
	struct lkdf *rt;

	/* This failure is another finding's. */
	if (lkdf_open(NULL, &rt)) {
		finding_say(f, DOCTOR_NONE, "topology: no runtime opens");
		return;
	}
	doctor_describe(rt, "topo", "json", text, sizeof(text));
	lkdf_close(rt);
	take_source(text, source, sizeof(source));
	finding_say(f, DOCTOR_OK, "topology: %s", source);
	if (!strstr(source, "no hwloc") && !strstr(source, "sysconf"))
		return;
	f->level = DOCTOR_WARN;
	finding_fix(f, "mount /proc, and /sys with its CPUs and nodes; until "
		       "then caches are unknown and all memory is one node");
}

void probe_shared_cpus(struct finding *f)
{
	struct shared_cpus s;

	shared_cpus_find(0, &s);
	if (!s.cpus[0]) {
		finding_say(f, DOCTOR_OK,
			    "bound workers: no CPU has those of two runtimes");
		return;
	}
	finding_say(f, DOCTOR_WARN,
		    "bound workers: CPUs %s have those of two runtimes or "
		    "more, processes %s",
		    s.cpus, s.pids);
	finding_fix(f, "pin=auto and fewer workers than CPUs, or cpus= of its "
		       "own for each");
}

/*
 * The least quota of this process's cgroup and the groups above it, in CPUs, as
 * the library has found it in either version; 0: none; < 0: no runtime opens.
 */
static double quota_of_runtime(void)
{
	static const char key[] = "\"quota_milli\":";
	char text[512];
	struct lkdf *rt;
	const char *at;

	if (lkdf_open(NULL, &rt))
		return -1;
	doctor_describe(rt, "topo", "json", text, sizeof(text));
	lkdf_close(rt);
	at = strstr(text, key);
	return at ? atof(at + strlen(key)) / 1000 : -1;
}

void probe_quota(struct finding *f)
{
	double cpus = quota_of_runtime();

	if (cpus < 0) {
		finding_say(f, DOCTOR_NONE, "cgroup: no runtime opens");
		return;
	}
	if (cpus == 0) {
		finding_say(f, DOCTOR_OK, "cgroup: no CPU quota");
		return;
	}
	finding_say(f, DOCTOR_OK, "cgroup: quota of %.2f CPUs", cpus);
	if (cpus >= 2)
		return;
	finding_say(f, DOCTOR_WARN,
		    "cgroup: quota of %.2f CPUs; below 2 workers do not spin",
		    cpus);
	finding_fix(f, "raise cpu.max, or cpu.cfs_quota_us of version 1, if "
		       "latency matters");
}

void probe_load_average(struct finding *f)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double load;

	if (getloadavg(&load, 1) != 1) {
		finding_say(f, DOCTOR_NONE, "load: the kernel does not tell");
		return;
	}
	finding_say(f, DOCTOR_OK,
		    "load: %.1f threads ran or wanted to, "
		    "of late, on %ld CPUs",
		    load, cpus);
	if (load <= (double)cpus)
		return;
	f->level = DOCTOR_WARN;
	finding_fix(f, "measure when others are done: figures of now say "
		       "little");
}

static int has_flag(const char *flags, const char *flag)
{
	const char *at = flags;
	size_t len = strlen(flag);

	while ((at = strstr(at, flag)) != NULL) {
		if (at[-1] == ' ' && (!at[len] || strchr(" \n", at[len])))
			return 1;
		at += len;
	}
	return 0;
}

void probe_tsc(struct finding *f)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[8192];
	int good = -1;

	while (file && good < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, "flags", 5))
			good = has_flag(line, "constant_tsc") &&
			       has_flag(line, "nonstop_tsc");
	if (file)
		fclose(file);
	if (good < 0) {
		finding_say(f, DOCTOR_NONE, "TSC: no x86");
		return;
	}
	finding_say(f, DOCTOR_OK, "TSC: invariant");
	if (good)
		return;
	finding_say(f, DOCTOR_WARN,
		    "TSC: not invariant; traces use clock_gettime");
	finding_fix(f, "let the hypervisor pass invtsc through");
}

void probe_memlock(struct finding *f)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r)) {
		finding_say(f, DOCTOR_WARN, "RLIMIT_MEMLOCK: %s",
			    strerror(errno));
		return;
	}
	if (r.rlim_cur == RLIM_INFINITY) {
		finding_say(f, DOCTOR_OK, "RLIMIT_MEMLOCK: unlimited");
		return;
	}
	finding_say(f, DOCTOR_OK, "RLIMIT_MEMLOCK: %llu MiB",
		    (unsigned long long)r.rlim_cur / MIB);
	if (r.rlim_cur >= 64ull * MIB || geteuid() == 0)
		return;
	f->level = DOCTOR_WARN;
	finding_fix(f, "ulimit -l, or LimitMEMLOCK=, for registered buffers");
}

void probe_nofile(struct finding *f)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r)) {
		finding_say(f, DOCTOR_WARN, "RLIMIT_NOFILE: %s",
			    strerror(errno));
		return;
	}
	finding_say(f, DOCTOR_OK, "RLIMIT_NOFILE: %llu",
		    (unsigned long long)r.rlim_cur);
	if (r.rlim_cur >= 1024)
		return;
	f->level = DOCTOR_WARN;
	finding_fix(f, "ulimit -n 1024 or more: each worker has a ring");
}
