/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A process that is asked, for test_ask.sh:
 *
 *	ask_target stuck RUNTIMES	a task waits for an event, in each
 *	ask_target locked		a body on each worker waits for a lock
 *	ask_target calls		bodies read a pipe, wait for a child
 *	ask_target sleeps		a full pipe, a thread's end, a condition
 *	ask_target fork		its child, which it names, has its fds
 *	ask_target serial
 *	ask_target busy RUNTIMES	graphs, tasks, waits, until SIGUSR1
 *	ask_target graph		only prints its graph, as JSON
 *
 * It says "up" and ends with the process that has started it.
 */
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int take_lock(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return pthread_mutex_lock(&lock);
}

static int read_pipe(struct lkdf_ctx *c, void *arg)
{
	int fd[2];
	char x;

	(void)c;
	(void)arg;
	return pipe(fd) || read(fd[0], &x, 1) != 1 ? -1 : 0;
}

static int wait_child(struct lkdf_ctx *c, void *arg)
{
	pid_t child = fork();

	(void)c;
	(void)arg;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int write_pipe(struct lkdf_ctx *c, void *arg)
{
	static const char page[4096];
	int fd[2];

	(void)c;
	(void)arg;
	if (pipe(fd))
		return -1;
	while (write(fd[1], page, sizeof(page)) > 0)
		continue;
	return -1;
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int join_thread(struct lkdf_ctx *c, void *arg)
{
	pthread_t thread;

	(void)c;
	(void)arg;
	return pthread_create(&thread, NULL, sleep_for_ever, NULL) ||
	       pthread_join(thread, NULL);
}

static int wait_condition(struct lkdf_ctx *c, void *arg)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	(void)c;
	(void)arg;
	pthread_mutex_lock(&own);
	for (;;)
		pthread_cond_wait(&never, &own);
}

static struct lkdf *open_one(const char *options)
{
	struct lkdf *rt;

	if (lkdf_open(options, &rt)) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		exit(1);
	}
	return rt;
}

static void start_fn(struct lkdf *rt, const char *name, lkdf_fn fn,
		     struct lkdf_event *after)
{
	struct lkdf_kind *k;

	if (lkdf_kind_create(rt, LKDF_KIND(.name = name, .fn = fn), &k) ||
	    lkdf_submit(rt, NULL,
			LKDF_TASK(.kind = k, .after = after,
				  .nr_after = after ? 1 : 0),
			NULL)) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		exit(1);
	}
}

static void start(struct lkdf *rt, const char *name, struct lkdf_event *after)
{
	start_fn(rt, name, take_lock, after);
}

static void be_in_calls(void)
{
	struct lkdf *rt = open_one("workers=2");

	start_fn(rt, "reader", read_pipe, NULL);
	start_fn(rt, "parent", wait_child, NULL);
}

/* No signal but the last one gets through: state D. */
static int wait_exec(struct lkdf_ctx *c, void *arg)
{
	pid_t child = vfork();

	(void)c;
	(void)arg;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}

static void be_asleep(void)
{
	struct lkdf *rt = open_one("workers=4");

	start_fn(rt, "writer", write_pipe, NULL);
	start_fn(rt, "joiner", join_thread, NULL);
	start_fn(rt, "waiter", wait_condition, NULL);
	start_fn(rt, "execer", wait_exec, NULL);
}

static void be_stuck(int nr)
{
	static const char *const name[] = { "first", "second", "third" };
	struct lkdf_event go;
	struct lkdf *rt;
	int i;

	for (i = 0; i < nr && i < 3; i++) {
		rt = open_one("workers=1");
		if (lkdf_event_create(rt, 1, 0, &go))
			exit(1);
		start(rt, name[i], &go);
	}
}

/* And the runtime's own locks are free. */
static void be_locked(void)
{
	struct lkdf *rt = open_one("workers=2");
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < 4; i++)
		start(rt, "locked", NULL);
}

/* ---- busy --------------------------------------------------------------- */

static volatile sig_atomic_t is_over;

static void end_it(int signal)
{
	(void)signal;
	is_over = 1;
}

static int compute(struct lkdf_ctx *c, void *arg)
{
	volatile int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 3000; i++)
		continue;
	return 0;
}

struct work {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
};

static int begin_work(struct work *w, const char *name)
{
	int rc, i;

	w->rt = open_one("workers=2");
	rc = lkdf_kind_create(
		w->rt, LKDF_KIND(.name = "compute", .fn = compute), &w->kind);
	if (!rc)
		rc = lkdf_graph_create(
			w->rt,
			&(struct lkdf_graph_attr){
				.size = sizeof(struct lkdf_graph_attr),
				.name = name },
			&w->graph);
	for (i = 0; !rc && i < 5; i++) {
		rc = lkdf_graph_add(w->graph, w->kind, NULL, NULL, 0);
		if (rc > 0)
			rc = lkdf_graph_order(w->graph, rc - 1, rc);
	}
	return rc ? rc : lkdf_graph_seal(w->graph, NULL);
}

static int work_once(struct work *w)
{
	int i, rc = lkdf_graph_run(w->graph, NULL, NULL, NULL);

	for (i = 0; !rc && i < 20; i++)
		rc = lkdf_submit(w->rt, NULL, LKDF_TASK(.kind = w->kind), NULL);
	return rc ? rc : lkdf_scope_wait(w->rt, NULL, -1);
}

/* Until it is told to end: then the runtimes close. */
static int be_busy(int nr)
{
	struct work work[3];
	int i, rc = 0;

	signal(SIGUSR1, end_it);
	for (i = 0; !rc && i < nr && i < 3; i++)
		rc = begin_work(&work[i], "row");
	printf("up 0\n");
	fflush(stdout);
	while (!rc && !is_over)
		for (i = 0; !rc && i < nr; i++)
			rc = work_once(&work[i]);
	for (i = 0; i < nr; i++) {
		lkdf_graph_put(work[i].graph);
		lkdf_kind_put(work[i].kind);
		rc = rc ? rc : lkdf_close(work[i].rt);
	}
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	return rc != 0;
}

/* Its name is one that JSON must quote. */
static int print_graph(void)
{
	struct work work;
	int rc = begin_work(&work, "row \"1\"");

	if (!rc)
		rc = lkdf_graph_dump(work.graph, STDOUT_FILENO, "json");
	lkdf_graph_put(work.graph);
	lkdf_kind_put(work.kind);
	rc = rc ? rc : lkdf_close(work.rt);
	return rc != 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "stuck";
	pid_t child = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(how, "graph"))
		return print_graph();
	if (!strcmp(how, "busy"))
		return be_busy(argc > 2 ? atoi(argv[2]) : 1);
	if (!strcmp(how, "stuck"))
		be_stuck(argc > 2 ? atoi(argv[2]) : 1);
	else if (!strcmp(how, "locked"))
		be_locked();
	else if (!strcmp(how, "calls"))
		be_in_calls();
	else if (!strcmp(how, "sleeps"))
		be_asleep();
	else if (!strcmp(how, "serial"))
		open_one("serial=1");
	else
		open_one("workers=1");
	if (!strcmp(how, "fork")) {
		child = fork();
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGHUP);
			signal(SIGHUP, SIG_IGN);
			alarm(300);
		}
	}
	if (child || strcmp(how, "fork")) {
		printf("up %d\n", (int)child);
		fflush(stdout);
	}
	for (;;)
		pause();
}
