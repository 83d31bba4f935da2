/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One runtime for a process: its users share it, the last one closes it, a
 * forked child has its own, and a program that ends without a put ends.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <sys/wait.h>

#define NR_THREADS 8
#define NR_ROUNDS 50

static void users_share_it(void)
{
	struct lkdf *a, *b;
	int nr_threads;

	/* The first thread of all makes ThreadSanitizer start one of its own.
	 */
	must(lkdf_default(&a));
	must(lkdf_default_put(a));
	nr_threads = api_threads_come_to(1);
	is(lkdf_default(NULL), -EINVAL, "out is NULL");
	is(lkdf_default(&a), 0, "the first user opens it");
	is(lkdf_default(&b), 0, "the second one");
	ok(a == b, "gets the same");
	is(lkdf_default_put(a), 0, "one goes");
	is(lkdf_scope_wait(b, NULL, -1), 0, "it is there for the other one");
	is(lkdf_default_put(b), 0, "who closes it");
	is(lkdf_default_put(NULL), 0, "NULL is nobody's");
	is(api_threads_come_to(nr_threads), nr_threads, "no thread is left");
	is(lkdf_default(&a), 0, "the next user opens another one");
	is(lkdf_default_put(a), 0, "and closes it");
}

static int body_of_work(struct lkdf_ctx *c, void *arg)
{
	api_nap_ns(20000000);
	atomic_store((atomic_int *)arg,
		     lkdf_default_put(lkdf_runtime(c)) == -EDEADLK ? 2 : 1);
	return 0;
}

static void the_last_one_waits(void)
{
	atomic_int state = 0;
	struct lkdf_kind *k;
	struct lkdf *rt;

	must(lkdf_default(&rt));
	k = api_kind(rt, "work", body_of_work, 0, 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &state),
			 NULL));
	lkdf_kind_put(k);
	is(lkdf_default_put(rt), 0, "the last put waits for work");
	is(state, 2, "whose body may not put");
}

static void *take_and_put(void *nr_bad)
{
	struct lkdf *rt;
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		if (lkdf_default(&rt) || lkdf_scope_wait(rt, NULL, -1) ||
		    lkdf_default_put(rt))
			atomic_fetch_add((atomic_int *)nr_bad, 1);
	}
	return NULL;
}

static void threads_race(void)
{
	pthread_t t[NR_THREADS];
	atomic_int nr_bad = 0;
	int i;

	for (i = 0; i < NR_THREADS; i++)
		must(-pthread_create(&t[i], NULL, take_and_put, &nr_bad));
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(t[i], NULL);
	is(nr_bad, 0, "%d threads open and close it", NR_THREADS);
}

static int status_of(pid_t pid)
{
	int status = -1;

	must(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* In a child: which check has failed, or 0. */
static int try_in_child(struct lkdf *parents)
{
	struct lkdf *rt;

	if (lkdf_scope_wait(parents, NULL, -1) != -EOWNERDEAD)
		return 1;
	if (lkdf_default_put(parents))
		return 2;
	if (lkdf_default(&rt) || rt == parents)
		return 3;
	if (lkdf_scope_wait(rt, NULL, -1))
		return 4;
	return lkdf_default_put(rt) ? 5 : 0;
}

static void a_child_has_its_own(void)
{
	struct lkdf *rt;
	pid_t pid;

	if (HAS_SANITIZER) {
		skip("a forked child", "the sanitizer starts no threads there");
		return;
	}
	must(lkdf_default(&rt));
	pid = fork();
	if (!pid)
		_exit(try_in_child(rt));
	is(status_of(pid), 0, "a forked child opens one of its own");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the parent's is as it was");
	is(lkdf_default_put(rt), 0, "and closes");
}

/* Body: until it is cancelled. */
static int run_on(struct lkdf_ctx *c, void *arg)
{
	atomic_store((atomic_int *)arg, 1);
	while (!lkdf_cancelled(c))
		api_nap_ns(100000);
	return lkdf_cancelled(c);
}

/* The program that this one runs: it ends with its work under way. */
static int end_without_a_put(void)
{
	static atomic_int has_begun;
	struct lkdf_kind *k;
	struct lkdf *rt;

	must(lkdf_default(&rt));
	k = api_kind(rt, "runs on", run_on, 0, 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &has_begun), NULL));
	lkdf_kind_put(k);
	api_until(&has_begun);
	return 7;
}

static void exit_closes_it(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "test_default", "end", (char *)NULL);
		_exit(1);
	}
	is(status_of(pid), 7, "a program with work under way ends by return");
}

int main(int argc, char **argv)
{
	(void)argv;
	tap_start(60);
	setenv("LKDF_WORKERS", "2", 1);
	if (argc > 1)
		return end_without_a_put();
	users_share_it();
	the_last_one_waits();
	threads_race();
	a_child_has_its_own();
	exit_closes_it();
	return tap_end();
}
