/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Devices: what lkdf finds of them, and what is missing for more. */
#include "doctor/doctor.h"

#include <lkdf/lkdf.h>

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

/* A word of the option devices, and what helps where it finds nothing. */
struct backend {
	const char *name, *package, *without;
};

static const struct backend opencl = {
	"opencl",
	"the driver's package, and the loader ocl-icd-libopencl1; "
	"pocl-opencl-icd makes a device of the CPUs",
	"devices=none, which is the default, until OCL_ICD_VENDORS or "
	"/etc/OpenCL/vendors names others",
};

static const struct backend cuda = {
	"cuda",
	"NVIDIA's driver of CUDA 12.0 or later, or cuda_library= where it is; "
	"texts in CUDA C also need libnvrtc of the CUDA Toolkit",
	"devices=none, which is the default, or devices=opencl",
};

const char *text_of_places(void)
{
	static const char call[] = "places: ";
	const char *text = lkdf_errmsg();

	return strncmp(text, call, sizeof(call) - 1) ? ""
						     : text + sizeof(call) - 1;
}

static void say_none(struct finding *f, const struct backend *b)
{
	finding_say(f, DOCTOR_NONE, "%.200s", text_of_places());
	finding_fix(f, "%s", b->package);
}

static void look_at_devices(struct finding *f, const struct backend *b)
{
	char names[160], options[64];
	const char *note;
	struct lkdf *rt;
	int nr;

	snprintf(options, sizeof(options), "workers=1,devices=%s", b->name);
	if (lkdf_open(options, &rt)) {
		finding_say(f, DOCTOR_FAIL,
			    "cannot open a runtime with devices=%s: %.160s",
			    b->name, lkdf_errmsg());
		finding_fix(f, "devices=none");
		return;
	}
	nr = lkdf_places(rt, LKDF_PLACE_GPU, NULL, 0);
	if (nr > 0) {
		list_devices(rt, (unsigned)nr, names, sizeof(names));
		note = text_of_places();
		finding_say(f, DOCTOR_OK,
			    "%s: %d device%s with devices=%s: %s%s%.160s",
			    b->name, nr, nr == 1 ? "" : "s", b->name, names,
			    note[0] ? "; " : "", note);
	} else {
		say_none(f, b);
	}
	lkdf_close(rt);
}

/* Drivers write to standard error, abort, or never come back. */
static void answer(int to, const struct backend *b)
{
	struct finding f = { .name = b->name };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, 2);
	look_at_devices(&f, b);
	_exit(write(to, &f, sizeof(f)) == sizeof(f) ? 0 : 1);
}

static void say_no_answer(struct finding *f, const struct backend *b, pid_t pid,
			  bool is_late)
{
	int status = 0;

	if (is_late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (is_late)
		finding_say(f, DOCTOR_WARN,
			    "%s: a driver does not answer within %d s", b->name,
			    ANSWER_MS / 1000);
	else if (WIFSIGNALED(status))
		finding_say(f, DOCTOR_WARN, "%s: a driver ends the process: %s",
			    b->name, strsignal(WTERMSIG(status)));
	else
		finding_say(f, DOCTOR_WARN,
			    "%s: a driver ends the process, status %d", b->name,
			    WEXITSTATUS(status));
	finding_fix(f, "%s", b->without);
}

/* In a process of its own: a driver that fails is a finding, too. */
static void probe_backend(struct finding *f, const struct backend *b)
{
	struct pollfd p = { .events = POLLIN };
	const char *name = f->name;
	int fd[2], nr;
	pid_t pid;

	fflush(stdout);
	if (pipe2(fd, O_CLOEXEC)) {
		finding_say(f, DOCTOR_WARN, "%s: cannot look: %s", b->name,
			    strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		answer(fd[1], b);
	close(fd[1]);
	p.fd = fd[0];
	do
		nr = pid < 0 ? 0 : poll(&p, 1, ANSWER_MS);
	while (nr < 0 && errno == EINTR);
	if (pid < 0)
		finding_say(f, DOCTOR_WARN, "%s: cannot look: no process",
			    b->name);
	else if (nr > 0 && read(fd[0], f, sizeof(*f)) == sizeof(*f))
		waitpid(pid, NULL, 0);
	else
		say_no_answer(f, b, pid, nr <= 0);
	f->name = name;
	close(fd[0]);
}

void probe_opencl(struct finding *f)
{
	probe_backend(f, &opencl);
}

void probe_cuda(struct finding *f)
{
	probe_backend(f, &cuda);
}
