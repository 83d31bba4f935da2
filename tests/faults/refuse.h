/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Refuses one system call of a function that runs in a child: the n-th call of
 * a name fails with an errno that its manual page lists. The child puts itself
 * under a filter of seccomp(2) that asks its parent about each call; the loader
 * and main() are over by then. Signals, clocks, futexes and close(2) are not
 * asked about: they do not fail, or a refusal leaves open what the kernel
 * closes.
 *
 * Needs Linux 5.6 (pidfd_getfd) and no sanitizer, which has calls of its own.
 */
#ifndef TESTS_FAULTS_REFUSE_H
#define TESTS_FAULTS_REFUSE_H

#include "tests/faults/refuse_calls.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif

#define REFUSE_HANG_S 30 /* seconds of an idle machine */

/* The at-th call of this name, counted from 1, fails. at 0: none does. */
struct refusal {
	int call; /* index of refuse_calls */
	unsigned at;
	int error;
};

/* Between the child and its parent. */
struct refuse_shared {
	_Atomic int listener; /* the child's descriptor; -1: no filter */
	_Atomic int may_go;
	_Atomic int counts; /* the function runs */
	_Atomic int loads; /* it is the loader's, which may crash */
	char text[256]; /* what the child found wrong */
};

/* What became of the child. */
struct refuse_end {
	int status; /* of waitpid() */
	bool hung, was_refused;
	unsigned nr[REFUSE_NR_CALLS]; /* calls of each name */
	char text[256];
};

static volatile sig_atomic_t refuse_is_late;

static void refuse_on_alarm(int sig)
{
	int error = errno;

	(void)sig;
	if (!watchdog_waits())
		refuse_is_late = 1;
	errno = error;
}

/* In the child, one call after which each call of the table is asked about. */
static int refuse_filter(void)
{
	struct sock_filter code[REFUSE_NR_CALLS + 3];
	struct sock_fprog program = { 0, code };
	int i, n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < REFUSE_NR_CALLS; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refuse_calls[i].nr,
			(uint8_t)(REFUSE_NR_CALLS - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						 SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						 SECCOMP_RET_USER_NOTIF);
	program.len = (unsigned short)n;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_TSYNC |
				    SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
			    &program);
}

/*
 * The child's life: prepare() without a filter, run() with it, check() without
 * a refusal. Each says in text what is wrong; an empty text is right.
 */
struct refuse_life {
	void (*prepare)(char *text, size_t room);
	void (*run)(char *text, size_t room);
	void (*check)(char *text, size_t room);
	bool is_program; /* run() replaces the child by a program */
};

static void refuse_child(struct refuse_shared *s,
			 const struct refuse_life *life)
{
	int listener;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	life->prepare(s->text, sizeof(s->text));
	listener = refuse_filter();
	atomic_store(&s->listener, listener < 0 ? -1 : listener);
	while (!atomic_load(&s->may_go))
		;
	atomic_store(life->is_program ? &s->loads : &s->counts, 1);
	life->run(s->text, sizeof(s->text));
	atomic_store(&s->counts, 0);
	if (!s->text[0])
		life->check(s->text, sizeof(s->text));
	_exit(s->text[0] != 0);
}

static int refuse_index(int nr)
{
	int i;

	for (i = 0; i < REFUSE_NR_CALLS; i++)
		if (refuse_calls[i].nr == nr)
			return i;
	return -1;
}

/* fstat(2) of an open descriptor: the library trusts it, see own_fd. */
static bool refuse_spares(const struct seccomp_data *d)
{
	return d->nr == SYS_newfstatat && d->args[3] & AT_EMPTY_PATH;
}

/* One call of the child: it fails, or the kernel does it. */
static void refuse_answer(int listener, struct refuse_shared *s,
			  const struct refusal *r, struct refuse_end *end)
{
	struct seccomp_notif asked;
	struct seccomp_notif_resp answer;
	int i;

	memset(&asked, 0, sizeof(asked));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
		return;
	/* The last but one of glibc's loader. */
	if (asked.data.nr == SYS_prlimit64 && atomic_load(&s->loads)) {
		atomic_store(&s->loads, 0);
		atomic_store(&s->counts, 1);
	}
	memset(&answer, 0, sizeof(answer));
	answer.id = asked.id;
	answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	i = refuse_index(asked.data.nr);
	if (i >= 0 && atomic_load(&s->counts) && !refuse_spares(&asked.data) &&
	    ++end->nr[i] == r->at && i == r->call) {
		answer.flags = 0;
		answer.error = -r->error;
		end->was_refused = true;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the child has ended, or takes too long. */
static void refuse_serve(pid_t child, int pidfd, int listener,
			 struct refuse_shared *s, const struct refusal *r,
			 struct refuse_end *end)
{
	struct pollfd p[2] = { { .fd = listener, .events = POLLIN },
			       { .fd = pidfd, .events = POLLIN } };

	while (!p[1].revents && !refuse_is_late) {
		if (poll(p, 2, -1) > 0 && p[0].revents & POLLIN)
			refuse_answer(listener, s, r, end);
		/* Nobody is left to ask. */
		if (p[0].revents & POLLHUP)
			p[0].fd = -1;
	}
	if (refuse_is_late) {
		end->hung = true;
		kill(child, SIGKILL);
	}
}

/* The child's listener; -1: it has none. */
static int refuse_listener(int pidfd, const struct refuse_shared *s)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	while (!atomic_load(&s->listener))
		if (poll(&p, 1, 1) > 0)
			return -1;
	if (atomic_load(&s->listener) < 0)
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, atomic_load(&s->listener),
			    0);
}

/* 0; -1: this machine cannot. */
__attribute__((unused)) static int refuse_run(const struct refuse_life *life,
					      const struct refusal *r,
					      struct refuse_end *end)
{
	struct refuse_shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned scale = tap_number("LKDF_TIME_SCALE");
	int pidfd, listener;
	pid_t child;

	if (s == MAP_FAILED)
		return -1;
	memset(end, 0, sizeof(*end));
	fflush(stdout);
	child = fork();
	if (!child)
		refuse_child(s, life);
	refuse_is_late = 0;
	signal(SIGALRM, refuse_on_alarm);
	watchdog_set_for(child, REFUSE_HANG_S * (scale ? scale : 1));
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	listener = refuse_listener(pidfd, s);
	if (listener >= 0) {
		atomic_store(&s->may_go, 1);
		refuse_serve(child, pidfd, listener, s, r, end);
		close(listener);
	} else {
		kill(child, SIGKILL);
	}
	alarm(0);
	waitpid(child, &end->status, 0);
	memcpy(end->text, s->text, sizeof(end->text));
	close(pidfd);
	munmap(s, sizeof(*s));
	return listener < 0 ? -1 : 0;
}

#endif
