/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Devices: what lkdf finds of them, and what is missing for more. */
#include "doctor/doctor.h"

#include <lkdf/lkdf.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 10000 /* of a driver */

/* Names of those that there are, as far as they fit. */
static void list_devices(struct lkdf *rt, unsigned nr, char *to, size_t size)
{
	struct lkdf_place *place[LKDF_MAX_DEVICES];
	size_t used = 0;
	unsigned i;
	int n;

	nr = nr < LKDF_MAX_DEVICES ? nr : LKDF_MAX_DEVICES;
	lkdf_places(rt, LKDF_PLACE_GPU, place, nr);
	to[0] = '\0';
	for (i = 0; i < nr && used < size; i++) {
		struct lkdf_device_info info = { .size = sizeof(info) };

		if (lkdf_place_info(place[i], &info))
			continue;
		n = snprintf(to + used, size - used, "%s%s, %llu MiB",
			     used ? "; " : "", info.name,
			     (unsigned long long)info.memory >> 20);
		used += n > 0 ? (size_t)n : 0;
	}
}

static void say_none(struct finding *f, const char *why)
{
	if (!strncmp(why, "places: ", 8))
		why += 8;
	finding_say(f, DOCTOR_NONE, "%.200s", why);
	finding_fix(f, "the driver's package, and the loader "
		       "ocl-icd-libopencl1; pocl-opencl-icd makes a device of "
		       "the CPUs");
}

static void look_at_opencl(struct finding *f)
{
	char names[160];
	struct lkdf *rt;
	int nr;

	if (lkdf_open("workers=1,devices=opencl", &rt)) {
		finding_say(f, DOCTOR_FAIL,
			    "cannot open a runtime with devices=opencl: %.160s",
			    lkdf_errmsg());
		finding_fix(f, "devices=none");
		return;
	}
	nr = lkdf_places(rt, LKDF_PLACE_GPU, NULL, 0);
	if (nr > 0) {
		list_devices(rt, (unsigned)nr, names, sizeof(names));
		finding_say(f, DOCTOR_OK,
			    "opencl: %d device%s with devices=opencl: %s", nr,
			    nr == 1 ? "" : "s", names);
	} else {
		say_none(f, lkdf_errmsg());
	}
	lkdf_close(rt);
}

/* Drivers write to standard error, abort, or never come back. */
static void answer(int to)
{
	struct finding f = { .name = "opencl" };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, 2);
	look_at_opencl(&f);
	_exit(write(to, &f, sizeof(f)) == sizeof(f) ? 0 : 1);
}

static void say_no_answer(struct finding *f, pid_t pid, bool is_late)
{
	int status = 0;

	if (is_late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (is_late)
		finding_say(f, DOCTOR_WARN,
			    "opencl: a driver does not answer within %d s",
			    ANSWER_MS / 1000);
	else if (WIFSIGNALED(status))
		finding_say(f, DOCTOR_WARN,
			    "opencl: a driver ends the process: %s",
			    strsignal(WTERMSIG(status)));
	else
		finding_say(f, DOCTOR_WARN,
			    "opencl: a driver ends the process, status %d",
			    WEXITSTATUS(status));
	finding_fix(f, "devices=none, which is the default, until "
		       "OCL_ICD_VENDORS or /etc/OpenCL/vendors names others");
}

/* In a process of its own: a driver that fails is a finding, too. */
void probe_opencl(struct finding *f)
{
	struct pollfd p = { .events = POLLIN };
	const char *name = f->name;
	int fd[2], nr;
	pid_t pid;

	fflush(stdout);
	if (pipe2(fd, O_CLOEXEC)) {
		finding_say(f, DOCTOR_WARN, "opencl: cannot look: %s",
			    strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		answer(fd[1]);
	close(fd[1]);
	p.fd = fd[0];
	do
		nr = pid < 0 ? 0 : poll(&p, 1, ANSWER_MS);
	while (nr < 0 && errno == EINTR);
	if (pid < 0)
		finding_say(f, DOCTOR_WARN, "opencl: cannot look: no process");
	else if (nr > 0 && read(fd[0], f, sizeof(*f)) == sizeof(*f))
		waitpid(pid, NULL, 0);
	else
		say_no_answer(f, pid, nr <= 0);
	f->name = name;
	close(fd[0]);
}

/* The version of the driver, as 12040; 0: it does not tell. */
static int cuda_version(void *library)
{
	int (*get)(int *version);
	int version = 0;

	*(void **)&get = dlsym(library, "cuDriverGetVersion");
	return get && !get(&version) ? version : 0;
}

void probe_cuda(struct finding *f)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int version;

	if (!library) {
		finding_say(f, DOCTOR_NONE, "cuda: no NVIDIA driver: %.180s",
			    dlerror());
		finding_fix(f, "NVIDIA's driver, of which devices=opencl uses "
			       "the OpenCL part");
		return;
	}
	version = cuda_version(library);
	finding_say(f, DOCTOR_NONE,
		    "cuda: an NVIDIA driver for CUDA %d.%d, which this version "
		    "of lkdf does not use",
		    version / 1000, version % 1000 / 10);
	finding_fix(f, "devices=opencl, if the driver has its OpenCL part; "
		       "lkdf_place_register() for a device of your own");
	/* It stays: drivers have threads. */
}
