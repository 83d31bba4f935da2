/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/suites/device_cuda.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_S 60 /* for a fault that is never told */

static int64_t by_driver(struct raw_cuda *r)
{
	return raw_cuda_fault(r);
}

/* The runtime has run a kernel before. */
static int64_t by_library(struct raw_cuda *r)
{
	struct lkdf_event done;
	int64_t start, ns;
	struct side s;
	int rc = side_open(&s, "devices=cuda", r);

	if (!rc)
		rc = side_submit(&s, s.empty, NULL, NULL);
	if (!rc)
		rc = lkdf_scope_wait(s.rt, NULL, -1);
	start = bench_now_ns();
	if (!rc)
		rc = side_submit(&s, s.wild, NULL, &done);
	if (rc)
		return -EIO;
	rc = lkdf_event_wait(done, -1);
	ns = bench_now_ns() - start;
	side_close(&s);
	return rc == -ENODEV ? ns : -EIO;
}

static void run_child(int fd, int64_t (*fn)(struct raw_cuda *r))
{
	char why[96];
	struct raw_cuda *r;
	int64_t ns = -ENODEV;

	alarm(LONGEST_S);
	r = raw_cuda_open(why, sizeof(why));
	if (r)
		ns = fn(r);
	_exit(write(fd, &ns, sizeof(ns)) != sizeof(ns));
}

static int64_t in_child(int64_t (*fn)(struct raw_cuda *r))
{
	int64_t ns = -EIO;
	int fd[2];
	pid_t pid;

	if (pipe(fd))
		return -errno;
	pid = fork();
	if (!pid)
		run_child(fd[1], fn);
	close(fd[1]);
	if (pid < 0 || read(fd[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = -EIO;
	close(fd[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ns;
}

void device_cuda_faults(struct cards *c)
{
	c->raw_fault_ns = in_child(by_driver);
	c->lkdf_fault_ns = in_child(by_library);
}
