/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A lock's word has the number of the thread that holds it, whichever way it
 * was taken, and the bit of waiters once somebody sleeps; a forked child has
 * another number than its parent. Internal: no call shows a word.
 */
#include "base/lock.h"
#include "base/thread.h"
#include "tests/tap.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static struct lock lock;
static _Atomic(uint32_t) waiter, seen_by_waiter;

static uint32_t own_number(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static uint32_t word(void)
{
	return a_load(&lock.word, relaxed);
}

static void *wait_for_it(void *arg)
{
	a_store(&waiter, own_number(), relaxed);
	lock_take(&lock);
	a_store(&seen_by_waiter, word(), relaxed);
	lock_give(&lock);
	return arg;
}

/* The watchdog ends a test in which nobody comes. */
static void wait_for_sleeper(void)
{
	struct timespec ms = { 0, 1000000 };

	while (!(word() & FUTEX_WAITERS))
		nanosleep(&ms, NULL);
}

static void a_holder_is_named(void)
{
	ok(!word(), "an open lock is 0");
	lock_take(&lock);
	ok(word() == own_number(), "a lock has its holder's number");
	lock_give(&lock);
	ok(!word(), "and 0 again");
}

static void a_waiter_is_named(void)
{
	pthread_t t;
	uint32_t held;

	lock_take(&lock);
	if (pthread_create(&t, NULL, wait_for_it, NULL))
		abort();
	wait_for_sleeper();
	held = word();
	ok(held == (own_number() | FUTEX_WAITERS),
	   "somebody sleeps: the holder's number stays, beside the bit");
	lock_give(&lock);
	pthread_join(t, NULL);
	held = a_load(&seen_by_waiter, relaxed);
	ok((held & FUTEX_TID_MASK) == a_load(&waiter, relaxed),
	   "who has waited is named");
	ok(!word(), "the lock is open");
}

static void *take_unknown(void *arg)
{
	lock_take(&lock);
	a_store((_Atomic(uint32_t) *)arg, word(), relaxed);
	lock_give(&lock);
	return NULL;
}

static void *take_known(void *arg)
{
	thread_self();
	take_unknown(arg);
	a_store((_Atomic(uint32_t) *)arg,
		a_load((_Atomic(uint32_t) *)arg, relaxed) == own_number(),
		relaxed);
	return NULL;
}

static uint32_t run(void *(*fn)(void *))
{
	_Atomic(uint32_t) out;
	pthread_t t;

	a_store(&out, 0, relaxed);
	if (pthread_create(&t, NULL, fn, &out))
		abort();
	pthread_join(t, NULL);
	return a_load(&out, relaxed);
}

static void numbers_of_threads(void)
{
	ok(run(take_known) == 1, "a thread that has called the library");
	ok(run(take_unknown) == FUTEX_TID_MASK,
	   "before its first call a thread has no thread's number");
}

/* As the handlers of fork() do that the library has. */
static void a_child(void)
{
	pid_t pid = fork();
	int status = 0;
	bool good;

	if (!pid) {
		lock_owner_learn();
		lock_take(&lock);
		good = word() == (uint32_t)getpid();
		lock_give(&lock);
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status),
	   "a forked child has its own number");
}

int main(void)
{
	tap_start(20);
	thread_self();
	a_holder_is_named();
	a_waiter_is_named();
	numbers_of_threads();
	a_child();
	return tap_end();
}
