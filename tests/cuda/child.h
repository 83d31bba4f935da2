/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of faults share: kernels on data, checked, and cases that are
 * processes of their own, since a fault is for all of one.
 */
#ifndef TESTS_CUDA_CHILD_H
#define TESTS_CUDA_CHILD_H

#include "tests/api/device/device.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>

#define NR DEVICE_NR

/* 0: all words are 2. */
__attribute__((unused)) static int check_data(struct lkdf_data *d)
{
	void *bytes;
	uint64_t *x;
	int rc = lkdf_data_acquire(d, LKDF_READ, -1, &bytes), i;

	if (rc)
		return rc;
	for (i = 0, x = bytes; i < NR && !rc; i++)
		rc = x[i] == 2 ? 0 : -EBADMSG;
	lkdf_data_release(d);
	return rc;
}

/* A kernel that adds 1 to each; its error, or that of the call that gave it. */
__attribute__((unused)) static int run_add(struct lkdf *rt, struct lkdf_kind *k,
					   struct lkdf_place *p,
					   struct lkdf_data *d)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;
	uint64_t one = 1;
	int rc;

	rc = lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &one, .place = p,
				   .use = &use, .nr_use = 1),
			 &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}

/* The error of the first of three kernels that fails, with its text; 0: none.
 */
__attribute__((unused)) static int run_kernels(struct lkdf *rt,
					       struct lkdf_place *p)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d;
	int rc = 0, got, i;

	for (i = 0; i < 3; i++) {
		d = device_data(rt, NR, 1);
		got = run_add(rt, k, p, d);
		got = got ? got : check_data(d);
		if (got && !rc) {
			rc = got;
			printf("# %s\n", lkdf_errmsg());
		}
		lkdf_data_put(d);
	}
	lkdf_kind_put(k);
	return rc;
}

/*
 * The stack of a child that dies, to the descriptor of the test: what reads the
 * pipe has no room for it. A sanitizer that ends the process itself has printed
 * its own.
 */
#define DYING_FRAMES 40

static void tell_stack(int sig)
{
	static const char what[] = "# a case dies:\n";
	void *frame[DYING_FRAMES];
	int nr = backtrace(frame, DYING_FRAMES);

	if (write(2, what, sizeof(what) - 1) > 0)
		backtrace_symbols_fd(frame, nr, 2);
	/* The signal has its default action again. */
	raise(sig);
}

static void tell_when_dying(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE,
				      SIGILL };
	struct sigaction sa = { .sa_handler = tell_stack,
				.sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	void *frame[1];
	size_t i;

	/* The first call loads a library, which a handler may not. */
	backtrace(frame, 1);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &sa, NULL);
}

/* A case under way: its process, and what it prints. */
struct child {
	char fail[80], said[4096];
	bool is_elsewhere; /* it need not make the call */
	pid_t pid;
	int fd;
};

__attribute__((unused)) static void start_child(struct child *c,
						int (*fn)(void))
{
	int fd[2], status;

	fflush(stdout);
	if (pipe(fd))
		exit(99);
	c->fd = fd[0];
	c->pid = fork();
	if (!c->pid) {
		watchdog_set(30 * (tap_number("LKDF_TIME_SCALE") + 1));
		dup2(fd[1], 1);
		tell_when_dying();
		setenv("FAKE_CUDA_FAIL", c->fail, 1);
		status = fn();
		fflush(stdout);
		_exit(status);
	}
	close(fd[1]);
}

/* Its status, or that of its death. */
__attribute__((unused)) static int end_child(struct child *c)
{
	size_t n = 0;
	ssize_t got;
	int status;

	while (n < sizeof(c->said) - 1 &&
	       (got = read(c->fd, c->said + n, sizeof(c->said) - 1 - n)) > 0)
		n += (size_t)got;
	c->said[n] = 0;
	close(c->fd);
	waitpid(c->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
