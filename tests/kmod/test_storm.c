/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Processes that come, fork and are killed anywhere in a call, and many files
 * at a time: in the end nothing is held. LKDF_SEED repeats a run.
 */
#include "device.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

static unsigned seed(void)
{
	const char *text = getenv("LKDF_SEED");
	unsigned n = text ? strtoul(text, NULL, 0) : (unsigned)time(NULL);

	printf("# LKDF_SEED=%u\n", n);
	fflush(stdout);
	return n;
}

static long nr_users(void)
{
	return read_number("/sys/module/lkdf/refcnt");
}

/* Files go on their way out after their processes. */
static void expect_nothing_held(void)
{
	int i;

	for (i = 0; i < 2000 && nr_users() > 0; i++)
		usleep(1000);
	EXPECT_EQ(nr_users(), 0);
}

static void *churn(void *arg)
{
	char *m = arg;

	for (;;) {
		madvise(m, 2 * MIB, MADV_DONTNEED);
		touch(m, 2 * MIB);
		move_memory(m, MIB, PAGE, 0);
	}
	return NULL;
}

static void work(void)
{
	struct lkdf_kmod_query q;
	char *m = small_memory(4 * MIB);
	pthread_t thread;
	int fd, id;

	if (pthread_create(&thread, NULL, churn, m))
		_exit(1);
	for (;;) {
		fd = open_device();
		call_setup(fd, 4, 2000, NULL);
		id = call_add(fd, m, 4 * MIB, 12);
		refresh_id(fd, id, 0, 1024);
		refresh_id(fd, id, LKDF_KMOD_STALE_ONLY, 1024);
		call_query(fd, m, 4 * MIB, &q, NULL);
		if (fork() == 0) {
			refresh_id(fd, id, 0, 1024);
			_exit(0);
		}
		wait(NULL);
		call_del(fd, id);
		close(fd);
	}
}

TEST_LIMIT(processes_killed_anywhere_leave_nothing, 100)
{
	unsigned state = seed();
	pid_t child[8];
	int round, i;

	close(open_device());
	for (round = 0; round < 15; round++) {
		for (i = 0; i < 8; i++) {
			child[i] = fork();
			if (child[i] == 0) {
				setpgid(0, 0);
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				work();
			}
			setpgid(child[i], child[i]);
		}
		for (i = 0; i < 8; i++) {
			usleep(rand_r(&state) % 30000);
			kill(-child[i], SIGKILL);
		}
		for (i = 0; i < 8; i++)
			waitpid(child[i], NULL, 0);
	}
	expect_nothing_held();
}

TEST_LIMIT(a_storm_of_forks_leaves_the_owners_map_right, 100)
{
	struct device d = make_device(1, 1000);
	char *m = small_memory(MIB);
	struct reader r;
	int round, i, status;

	touch(m, MIB);
	r = watch(&d, m, MIB, 12);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 10; i++) {
			if (fork() == 0) {
				m[i * PAGE] = 2;
				/* It has no map. */
				_exit(refresh_id(d.fd, 0, 0, 256) != 256);
			}
		}
		/* Copies on write, here and there. */
		touch(m, MIB);
		ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
		for (i = 0; i < 10; i++) {
			ASSERT(wait(&status) > 0);
			EXPECT_EQ(status, 0);
		}
	}
	ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
	EXPECT_EQ(r.desc->present, 256);
	EXPECT_EQ(r.desc->gen, r.desc->snap_gen);
	close(d.fd);
	munmap(d.map, d.map_bytes);
	expect_nothing_held();
}

static void *refresh_for_ever(void *arg)
{
	struct device *d = arg;

	for (;;)
		refresh_id(d->fd, 0, 0, 1024);
	return NULL;
}

static void *delete_for_ever(void *arg)
{
	struct device *d = arg;

	for (;;) {
		call_del(d->fd, 0);
		call_add(d->fd, d->map, 4 * MIB, 12);
	}
	return NULL;
}

TEST_LIMIT(threads_that_add_delete_refresh_and_unmap_do_no_harm, 60)
{
	struct device d = { .fd = open_device() };
	pthread_t thread;
	pid_t child;
	int i;

	child = fork();
	if (child == 0) {
		call_setup(d.fd, 2, 4096, NULL);
		d.map = small_memory(4 * MIB);
		pthread_create(&thread, NULL, refresh_for_ever, &d);
		pthread_create(&thread, NULL, refresh_for_ever, &d);
		pthread_create(&thread, NULL, delete_for_ever, &d);
		pthread_create(&thread, NULL, churn, d.map);
		for (i = 0; i < 300; i++) {
			/* Unmaps what was there. */
			mmap(d.map, 4 * MIB, PROT_READ | PROT_WRITE,
			     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			usleep(3000);
		}
		raise(SIGKILL);
	}
	waitpid(child, &i, 0);
	EXPECT(WIFSIGNALED(i));
	EXPECT_EQ(WTERMSIG(i), SIGKILL);
	close(d.fd);
	expect_nothing_held();
}

/* A killed process leaves a call over much memory soon. */
TEST_LIMIT(a_signal_ends_a_long_call, 60)
{
	struct lkdf_kmod_query q;
	char *m = map_memory(1UL << 36, PAGE);
	int fd = open_device(), i;
	pid_t child;

	for (i = 0; i < 5; i++) {
		child = fork();
		if (child == 0) {
			for (;;)
				call_query(fd, m, 1UL << 36, &q, NULL);
		}
		usleep(30000);
		kill(child, SIGKILL);
		EXPECT_EQ(waitpid(child, NULL, 0), child);
	}
	close(fd);
	expect_nothing_held();
}
