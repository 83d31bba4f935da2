/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf probe pins, as a user without rights meets it: he registers his own
 * threads and nobody else's, reads, writes nothing; slots come back whatever
 * way a thread goes, and run out for one user before they do for all.
 */
#include "tests/api/probe/pins.h"

#include <grp.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define NR_OF_USER 2
/* In a machine of tests/vm each of them takes long. */
#define NR_SHORT (getenv("LKDF_VM_NODES") ? 200 : 2000)
#define NR_FUZZ 2000
#define NR_AT_ONCE 2
#define NR_ROUNDS (getenv("LKDF_VM_NODES") ? 40 : 1000)

/* A child that is nobody, and its status. */
static int as_nobody(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		_exit(fn());
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + status;
}

/* ---- what may not be ----------------------------------------------------- */

static int try_writing(void)
{
	size_t bytes = 4096;
	struct lkdf_probe_slot s = { 0 };
	union bpf_attr attr;
	uint32_t key = 0;
	int fd = get_pin("slots");
	void *p;

	if (fd < 0)
		return 1;
	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	if (!mprotect(p, bytes, PROT_READ | PROT_WRITE))
		return 3;
	if (mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	    MAP_FAILED)
		return 4;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&s;
	if (!call_bpf(BPF_MAP_UPDATE_ELEM, &attr))
		return 5;
	return 0;
}

static int try_taking_away(void)
{
	char path[PATH_MAX];

	if (get_pin("link_sched_switch") != -EACCES ||
	    get_pin("link_exit") != -EACCES)
		return 1;
	if (get_pin("stop") != -EACCES)
		return 2;
	snprintf(path, sizeof(path), "%s/bpf/head", probe_dir);
	return unlink(path) ? 0 : 3;
}

/* Whatever is given: an answer, and never another thread's slot. */
static int try_nonsense(void)
{
	uint64_t x = 88172645463325252ull;
	struct lkdf_probe_register r, ours;
	unsigned i, j;
	int rc;

	if (enter(&ours))
		return 1;
	for (i = 0; i < NR_FUZZ; i++) {
		for (j = 0; j < sizeof(r) / 8; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			memcpy((char *)&r + 8 * j, &x, 8);
		}
		if (i % 2)
			r.size = sizeof(r);
		if (i % 4 == 1)
			r.flags = 0;
		rc = run_program(&r, sizeof(r) - (i % 8 ? 0 : i % 64));
		if (rc != -EINVAL && rc)
			return 2;
		if (!rc && (r.slot != ours.slot || r.gen != ours.gen))
			return 3;
	}
	return nr_used() == 1 ? 0 : 4;
}

/* ---- slots --------------------------------------------------------------- */

static int register_once(void)
{
	struct lkdf_probe_register r, again;

	if (enter(&r) || r.slot >= NR_SLOTS)
		return 1;
	if (slots[r.slot].tid != (uint32_t)syscall(SYS_gettid) ||
	    slots[r.slot].tgid != (uint32_t)getpid())
		return 2;
	if (slots[r.slot].gen != r.gen || !r.gen)
		return 3;
	if (enter(&again) || again.slot != r.slot || again.gen != r.gen)
		return 4;
	return 0;
}

/* A child that has a slot, until it is killed; *rc what it was told. */
static pid_t holder(int *rc, bool is_nobody)
{
	struct lkdf_probe_register r;
	int fd[2];
	pid_t pid;

	*rc = -EIO;
	if (pipe(fd))
		return -1;
	pid = fork();
	if (!pid) {
		close(fd[0]);
		if (is_nobody &&
		    (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
			_exit(1);
		*rc = enter(&r);
		if (write(fd[1], rc, sizeof(*rc)) < 0)
			_exit(1);
		close(fd[1]);
		for (;;)
			pause();
	}
	close(fd[1]);
	if (read(fd[0], rc, sizeof(*rc)) < 0)
		*rc = -EIO;
	close(fd[0]);
	return pid;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void slots_run_out(bool is_nobody, int nr, int want, const char *who)
{
	pid_t pid[NR_SLOTS + 1];
	int rc[NR_SLOTS + 1], i, nr_good = 0;

	for (i = 0; i <= nr; i++)
		pid[i] = holder(&rc[i], is_nobody);
	for (i = 0; i < nr; i++)
		nr_good += !rc[i];
	is(nr_good, nr, "%s gets %d slots", who, nr);
	is(rc[nr], want, "and one more is refused");
	is(nr_used(), nr, "so many are used");
	for (i = 0; i <= nr; i++)
		end(pid[i]);
	is(nr_used(), 0, "all come back when their threads are killed");
}

static void many_that_are_killed(void)
{
	int i, rc, nr = NR_SHORT, nr_bad = 0;

	for (i = 0; i < nr; i++) {
		end(holder(&rc, true));
		nr_bad += rc != 0;
	}
	is(nr_bad, 0, "%d processes one after the other, each killed", nr);
	is(nr_used(), 0, "and no slot is lost");
}

static int fork_in_it(void)
{
	struct lkdf_probe_register r, child;
	int status = 1;
	pid_t pid;

	if (enter(&r))
		return 1;
	pid = fork();
	if (!pid) {
		if (nr_used() != 1)
			_exit(1);
		if (enter(&child) || child.slot == r.slot)
			_exit(2);
		_exit(slots[child.slot].tgid == (uint32_t)getpid() ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	return status || nr_used() != 1 ? 10 + WEXITSTATUS(status) : 0;
}

/* The same process, but another program: it has not asked to be seen. */
static void another_program(void)
{
	struct lkdf_probe_register r;
	int fd[2], nr = 0;
	char c;
	pid_t pid;

	if (pipe(fd))
		return;
	pid = fork();
	if (!pid) {
		enter(&r);
		dup2(fd[1], 1);
		execl("/bin/sh", "sh", "-c", "echo x; exec sleep 60", NULL);
		_exit(1);
	}
	close(fd[1]);
	if (read(fd[0], &c, 1) == 1)
		nr = nr_used();
	is(nr, 0, "after exec it is seen no more");
	end(pid);
	close(fd[0]);
}

static pid_t fork_as(pid_t pid)
{
	struct clone_args a = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

/* What the one before has left: 0, it is a thread like any other. */
static int begin_again(uint32_t old_gen)
{
	struct lkdf_probe_register r;

	if (nr_used())
		return 1;
	if (enter(&r) || slots[r.slot].tid != (uint32_t)getpid())
		return 2;
	return r.gen == old_gen ? 3 : 0;
}

static uint32_t gen_of(pid_t pid)
{
	int i;

	for (i = 0; i < NR_SLOTS; i++)
		if (slots[i].tid == (uint32_t)pid)
			return slots[i].gen;
	return 0;
}

static void a_number_that_is_given_again(void)
{
	int rc, status = -1;
	uint32_t gen;
	pid_t pid = holder(&rc, false), again;

	gen = gen_of(pid);
	end(pid);
	ok(!rc && gen, "a process with a slot is killed");
	again = fork_as(pid);
	if (!again)
		_exit(begin_again(gen));
	if (again != pid) {
		skip("another has its number", "clone3 does not give it");
		end(again);
		return;
	}
	waitpid(again, &status, 0);
	is(status, 0, "another has its number: not its slot, nor generation");
	is(nr_used(), 0, "and is gone when it ends");
}

/* ---- at once ------------------------------------------------------------- */

static atomic_int nr_there, nr_good;

static void *enter_at_once(void *u)
{
	struct lkdf_probe_register r;

	(void)u;
	atomic_fetch_add(&nr_there, 1);
	while (atomic_load(&nr_there) < NR_AT_ONCE)
		;
	if (!enter(&r))
		atomic_fetch_add(&nr_good, 1);
	/* It keeps the slot until all have asked. */
	atomic_fetch_add(&nr_there, 1);
	while (atomic_load(&nr_there) < 2 * NR_AT_ONCE)
		sched_yield();
	return NULL;
}

/* One slot is left for them: how many got it. */
static int several_at_once(void)
{
	struct lkdf_probe_register r;
	pthread_t thread[NR_AT_ONCE];
	int i;

	if (enter(&r))
		return 100;

	for (i = 0; i < NR_AT_ONCE; i++)
		if (pthread_create(&thread[i], NULL, enter_at_once, NULL))
			abort();
	for (i = 0; i < NR_AT_ONCE; i++)
		pthread_join(thread[i], NULL);
	return atomic_load(&nr_good);
}

/* Each that registers meets the number that the others have made. */
static void a_user_asks_at_once(void)
{
	int i, nr_bad = 0;

	for (i = 0; i < NR_ROUNDS; i++)
		nr_bad += as_nobody(several_at_once) != 1;
	is(nr_bad, 0, "%d threads at once, the user's last slot, %d times",
	   NR_AT_ONCE, NR_ROUNDS);
	is(nr_used(), 0, "and all come back");
}

static void tests(void)
{
	is(as_nobody(register_once), 0, "a thread registers itself, by group");
	is(nr_used(), 0, "and is gone when it ends");
	is(as_nobody(try_writing), 0, "nothing can be written");
	is(as_nobody(try_taking_away), 0, "nor be taken away");
	is(as_nobody(try_nonsense), 0, "nonsense is refused");
	is(as_nobody(fork_in_it), 0,
	   "a forked child has no slot of its parent");
	another_program();
	a_number_that_is_given_again();
	a_user_asks_at_once();
	slots_run_out(true, NR_OF_USER, -EDQUOT, "a user");
	slots_run_out(false, NR_SLOTS, -ENOSPC, "root");
	many_that_are_killed();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (pins_start(argv[0]))
		tests();
	else
		probe_absent("pins");
	probe_end();
	return tap_end();
}
