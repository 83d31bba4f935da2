/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program that ends by exit() and never closes its runtime, for
 * test_edges.sh:
 *
 *	exit_target main NR	after NR bodies of a millisecond, one by one
 *	exit_target body NR	a body calls it, others are under way
 *	exit_target child NR	so does a forked child first; it records nothing
 *	exit_target late NR	its handler of exit() closes the runtime
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct lkdf *rt;

static int rest(struct lkdf_ctx *c, void *arg)
{
	const struct timespec ms = { 0, 1000000 };

	(void)c;
	(void)arg;
	nanosleep(&ms, NULL);
	return 0;
}

static int leave(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	exit(0);
}

static void check(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", lkdf_errmsg());
	_exit(1);
}

static struct lkdf_kind *make_kind(const char *name, lkdf_fn fn)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a), .flags = LKDF_SHARED, .name = name, .fn = fn
	};
	struct lkdf_kind *kind;

	check(lkdf_kind_create(rt, &a, &kind));
	return kind;
}

/* One after the other, so that the recording is as long as they are many. */
static void run_bodies(int nr)
{
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_event done;

	t.kind = make_kind("rest", rest);
	while (nr--) {
		check(lkdf_submit(rt, NULL, &t, &done));
		check(lkdf_event_wait(done, -1));
	}
}

static void submit_some(const char *name, lkdf_fn fn, int nr)
{
	struct lkdf_task t = { .size = sizeof(t) };

	t.kind = make_kind(name, fn);
	while (nr--)
		check(lkdf_submit(rt, NULL, &t, NULL));
}

/* The child's exit status. */
static int fork_child(void)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static void close_late(void)
{
	check(lkdf_close(rt));
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3)
		return 2;
	/* Runs after the handlers of whatever is loaded later. */
	if (!strcmp(argv[1], "late"))
		atexit(close_late);
	check(lkdf_open(NULL, &rt));
	if (!strcmp(argv[1], "child") && fork_child())
		return 1;
	run_bodies(nr);
	if (!strcmp(argv[1], "body")) {
		submit_some("rest", rest, 100);
		submit_some("leave", leave, 1);
		pause();
	}
	exit(0);
}
