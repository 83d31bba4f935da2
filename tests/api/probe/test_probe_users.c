/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How lkdf probe shares out its slots: any number of users one after the other,
 * and no more than a share for many users that are one group, or in one user
 * namespace.
 */
#include "tests/api/probe/pins.h"

#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define NR_OF_USER 2
#define NR_OF_GROUP 4
/* More than the kernel's programs have room to count apart. */
#define NR_USERS 4200
#define FIRST_USER 200000

/* A thread of its own, whose real user is uid; the kernel asks each thread. */
static void *enter_as(void *uid)
{
	struct lkdf_probe_register r;

	if (syscall(SYS_setresuid, *(uid_t *)uid, -1, -1))
		return (void *)uid;
	return enter(&r) ? uid : NULL;
}

/* One after the other: no slot is in use when the next one comes. */
static void many_users(void)
{
	int nr_bad = 0;
	pthread_t t;
	void *bad;
	uid_t uid;

	for (uid = FIRST_USER; uid < FIRST_USER + NR_USERS; uid++) {
		if (pthread_create(&t, NULL, enter_as, &uid))
			abort();
		pthread_join(t, &bad);
		nr_bad += bad != NULL;
	}
	is(nr_bad, 0, "%d users register one after the other", NR_USERS);
}

/* Children of another user each, in one group, that have a slot: how many. */
static int nr_held_by_users(gid_t gid, uid_t first, int nr)
{
	struct lkdf_probe_register r;
	int i, rc, nr_held = 0, fd[2];
	pid_t pid;

	for (i = 0; i < nr; i++) {
		if (pipe(fd))
			return -1;
		pid = fork();
		if (!pid) {
			rc = setgroups(0, NULL) || setresgid(gid, gid, gid) ||
					     setresuid(first + i, first + i,
						       first + i)
				     ? -EIO
				     : enter(&r);
			if (write(fd[1], &rc, sizeof(rc)) < 0)
				_exit(1);
			for (;;)
				pause();
		}
		if (read(fd[0], &rc, sizeof(rc)) != sizeof(rc))
			rc = -EIO;
		close(fd[0]);
		close(fd[1]);
		nr_held += !rc;
	}
	return nr_held;
}

/* Its children end with it, as it leads their process group. */
static int in_a_group(int (*fn)(void))
{
	int status = -1, alive;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		alive = fn();
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
		_exit(alive);
	}
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	while (nr_used())
		sched_yield();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int users_of_a_group(void)
{
	return nr_held_by_users(NOBODY, FIRST_USER, NR_SLOTS);
}

/* The file's namespace gets a thousand users or groups. */
static void map_ids(pid_t pid, const char *file)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "we");
	if (!f)
		return;
	fprintf(f, "0 %d 1000\n", FIRST_USER);
	fclose(f);
}

#define NO_NAMESPACE 101

/* All users that it can be, in two groups. */
static _Noreturn void be_many_users(int up, int down)
{
	const int half = NR_SLOTS / 2;
	char c = 0;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || unshare(CLONE_NEWUSER))
		_exit(NO_NAMESPACE);
	if (write(up, &c, 1) != 1 || read(down, &c, 1) != 1)
		_exit(100);
	_exit(nr_held_by_users(1, 1, half) +
	      nr_held_by_users(2, 1 + half, half));
}

/* NOBODY owns a user namespace; whoever is in it is one of many users. */
static int users_of_an_owner(void)
{
	int up[2], down[2], status = -1;
	pid_t pid;
	char c;

	if (pipe(up) || pipe(down))
		return 100;
	pid = fork();
	if (!pid)
		be_many_users(up[1], down[0]);
	close(up[1]);
	if (read(up[0], &c, 1) == 1) {
		map_ids(pid, "uid_map");
		map_ids(pid, "gid_map");
		if (write(down[1], &c, 1) != 1)
			return 100;
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static void users_share(void)
{
	int nr;

	is(in_a_group(users_of_a_group), NR_OF_GROUP,
	   "users of one group get half of the slots together");
	nr = in_a_group(users_of_an_owner);
	if (nr == NO_NAMESPACE)
		skip("users of a namespace", "no user namespaces");
	else
		is(nr, NR_OF_USER,
		   "the owner of a user namespace pays for its users");
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (pins_start(argv[0])) {
		many_users();
		users_share();
	} else {
		probe_absent("shares of users");
	}
	probe_end();
	return tap_end();
}
