/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Features of the running kernel, found by using it, not by its version. */
#include "doctor/doctor.h"
#include "probe/probe.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

void probe_kernel(struct finding *f)
{
	struct utsname u;
	int major = 0, minor = 0;
	char *end;

	if (uname(&u)) {
		finding_say(f, DOCTOR_FAIL, "kernel: uname: %s",
			    strerror(errno));
		return;
	}
	major = (int)strtol(u.release, &end, 10);
	if (*end == '.')
		minor = (int)strtol(end + 1, NULL, 10);
	finding_say(f, DOCTOR_OK, "kernel %s %s", u.release, u.machine);
	if (major > 6 || (major == 6 && minor >= 1))
		return;
	finding_say(f, DOCTOR_WARN, "kernel %s %s: lkdf is tested from 6.1 on",
		    u.release, u.machine);
	finding_fix(f, "boot a kernel of 6.1 or later");
}

void probe_perf(struct finding *f)
{
	char word[32];
	int rc = doctor_read("/proc/sys/kernel/perf_event_paranoid", word,
			     sizeof(word));

	if (rc) {
		finding_say(f, DOCTOR_NONE, "perf events: not in this kernel");
		return;
	}
	if (geteuid() == 0 || atoi(word) <= 1) {
		finding_say(f, DOCTOR_OK, "perf events: perf_event_paranoid=%s",
			    word);
		return;
	}
	finding_say(f, DOCTOR_WARN,
		    "perf events: perf_event_paranoid=%s keeps kernel "
		    "samples from this user",
		    word);
	finding_fix(f, "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
}

/* An empty BPF_PROG_GET_NEXT_ID tells rights from presence. */
void probe_bpf(struct finding *f)
{
	char word[32] = "?", attr[128];
	long rc;

	memset(attr, 0, sizeof(attr));
	rc = syscall(SYS_bpf, 11, attr, sizeof(attr));
	if (!rc || errno == ENOENT) {
		finding_say(f, DOCTOR_OK, "BPF: may be used");
	} else if (errno == ENOSYS) {
		finding_say(f, DOCTOR_NONE, "BPF: not in this kernel");
	} else {
		(void)doctor_read("/proc/sys/kernel/unprivileged_bpf_disabled",
				  word, sizeof(word));
		finding_say(f, DOCTOR_WARN,
			    "BPF: %s (unprivileged_bpf_disabled=%s); "
			    "the policy runs on fewer facts",
			    strerror(EPERM), word);
		finding_fix(f, "CAP_BPF and CAP_PERFMON for the user");
	}
}

/* Not in the group of the pins, or they are root's. */
static void fix_group(struct finding *f, const char *dir)
{
	char group[64];

	if (pins_group(dir, group, sizeof(group)))
		finding_fix(f, "usermod -aG %s USER, and log in again", group);
	else
		finding_fix(f, "as root: lkdf probe stop, then start "
			       "--group GROUP");
}

/*
 * What lkdf probe start has pinned: may this user be seen by it? Where the
 * library looks, see option probe.
 */
void probe_pins(struct finding *f)
{
	const char *dir = getenv("LKDF_PROBE");
	struct pins p;
	char why[192];
	int rc;

	dir = dir ? dir : LKDF_PROBE_DIR;
	if (!*dir) {
		finding_say(f, DOCTOR_NONE, "probe: LKDF_PROBE is empty");
		return;
	}
	rc = pins_open(dir, &p, why, sizeof(why));
	if (!rc) {
		finding_say(f, pins_are_live(&p) ? DOCTOR_OK : DOCTOR_WARN,
			    "probe: %s in %s",
			    pins_are_live(&p) ? "runs" : "does not beat", dir);
		if (!pins_are_live(&p))
			finding_fix(f, "as root: lkdf probe stop, then start");
		pins_close(&p);
		return;
	}
	finding_say(f, rc == -ENOENT ? DOCTOR_NONE : DOCTOR_WARN,
		    "probe: %s; futex words and preemption are not seen", why);
	if (rc == -ENOENT)
		finding_fix(f, "as root: lkdf probe start; in a container also "
			       "-v " LKDF_PROBE_DIR ":" LKDF_PROBE_DIR);
	else if (rc == -EACCES)
		fix_group(f, dir);
	else if (rc == -EPERM || rc == -ENOSYS)
		finding_fix(f, "allow bpf in the container's seccomp profile");
	else
		finding_fix(f, "as root: lkdf probe stop, then start");
}

void probe_memfd(struct finding *f)
{
	char why[200] = "";
	struct lkdf *rt;
	uint64_t caps;

	/* This failure is another finding's. */
	if (lkdf_open(NULL, &rt)) {
		finding_say(f, DOCTOR_NONE, "memfd: no runtime opens");
		return;
	}
	caps = lkdf_caps(rt);
	doctor_caps(rt, "trace ", why, sizeof(why));
	lkdf_close(rt);
	finding_say(f, DOCTOR_OK,
		    "memfd: works; tools can look into the runtime");
	if (caps & LKDF_CAP_TRACE)
		return;
	finding_say(f, DOCTOR_WARN,
		    "memfd: %s; tools cannot look into the runtime", why);
	if (!strncmp(why, "EFBIG", 5))
		finding_fix(f, "a higher limit of file sizes: ulimit -f");
	else
		finding_fix(f, "allow memfd_create in the seccomp profile");
}

void probe_thp(struct finding *f)
{
	char word[64];
	int rc = doctor_read("/sys/kernel/mm/transparent_hugepage/enabled",
			     word, sizeof(word));

	if (rc) {
		finding_say(f, DOCTOR_NONE, "huge pages: not in this kernel");
	} else if (!strstr(word, "[never]")) {
		finding_say(f, DOCTOR_OK, "transparent huge pages: %s", word);
	} else {
		finding_say(f, DOCTOR_WARN,
			    "transparent huge pages: %s; large graphs miss "
			    "the TLB more often",
			    word);
		finding_fix(f, "echo madvise > "
			       "/sys/kernel/mm/transparent_hugepage/enabled");
	}
}

void probe_numa_balancing(struct finding *f)
{
	char word[32];
	int rc = doctor_read("/proc/sys/kernel/numa_balancing", word,
			     sizeof(word));

	if (rc) {
		finding_say(f, DOCTOR_NONE,
			    "NUMA balancing: not in this kernel");
	} else if (!strcmp(word, "0")) {
		finding_say(f, DOCTOR_OK, "kernel.numa_balancing=0");
	} else {
		finding_say(f, DOCTOR_WARN,
			    "kernel.numa_balancing=%s moves pages under lkdf",
			    word);
		finding_fix(f, "sysctl kernel.numa_balancing=0");
	}
}
