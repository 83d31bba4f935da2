/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dupes: finds files of equal content below some directories.
 *
 * Two waves of tasks in one scope. The first reads the directories, a task for
 * each (walk.c). Then the files are sorted by size, and the second wave looks
 * into those sizes that several files have, a task for each size (class.c),
 * which hashes and compares by children (hash.c, pair.c). Each call that waits
 * for a disk - open, look, read, close - is an operation of lkdf (open.c,
 * reader.c), during which no thread waits. Two limits bound what is open and in
 * memory (pool.h). Ctrl-C cancels the scope; what is known by then is printed.
 */
#include "class.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "walk.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* How often we look up from waiting. */
#define TICK_NS 100000000

/* The one thing a signal handler can reach. */
static volatile sig_atomic_t interrupted;

struct job {
	struct options options;
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct pool pool;
	struct tree tree;
	struct walk walk;
	struct search search;
	struct classes classes;
	struct progress progress;
	int64_t start_ns;
	bool is_cancelled;
};

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void on_signals(void (*handler)(int))
{
	struct sigaction sa = { .sa_flags = SA_RESTART };

	sa.sa_handler = handler;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static void on_log(void *u, int level, const char *text)
{
	(void)u;
	if (level == LKDF_LOG_ERROR)
		fprintf(stderr, "dupes: %s\n", text);
}

static int complain(const char *what, int rc)
{
	const char *why = lkdf_errmsg();

	fprintf(stderr, "dupes: %s: %s\n", what, *why ? why : strerror(-rc));
	return rc;
}

/* Waits for the scope; looks up now and then. 0 also when interrupted. */
static int wait_for_tasks(struct job *j, bool is_reading)
{
	struct lkdf_error e = { .size = sizeof(e) };
	int rc;

	while ((rc = lkdf_scope_wait(j->rt, j->scope, TICK_NS)) == 1) {
		if (is_reading)
			progress_read(&j->progress, &j->search.reading);
		else
			progress_walk(&j->progress, &j->tree);
		if (interrupted && !j->is_cancelled) {
			/* Once we have seen it, a second one is deadly */
			on_signals(SIG_DFL);
			j->is_cancelled = true;
			lkdf_scope_cancel(j->rt, j->scope, -ECANCELED);
		}
	}
	if (!rc || j->is_cancelled)
		return 0;
	if (!lkdf_scope_error(j->rt, j->scope, &e) && *e.why)
		fprintf(stderr, "dupes: task %s: %s\n", e.task, e.why);
	else
		fprintf(stderr, "dupes: %s\n", strerror(-rc));
	return rc;
}

/*
 * Lets so many files be open; fewer where the system allows fewer. A path that
 * is opened step by step takes two descriptors, and some are the runtime's.
 */
static uint64_t allow_open_files(uint64_t nr)
{
	const uint64_t others = 64;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return nr;
	if (r.rlim_cur < 2 * nr + others) {
		r.rlim_cur = 2 * nr + others;
		if (r.rlim_cur > r.rlim_max)
			r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	if (r.rlim_cur >= 2 * nr + others)
		return nr;
	return r.rlim_cur < others + 4 ? 2 : (r.rlim_cur - others) / 2;
}

static int start(struct job *j)
{
	uint64_t nr_files = allow_open_files(j->options.open_files);
	uint64_t nr_pieces = j->options.buffers / PIECE_SIZE;
	struct lkdf_open_attr attr = { .size = sizeof(attr), .log = on_log };
	char text[32];
	int rc;

	if (j->options.workers) {
		snprintf(text, sizeof(text), "workers=%u", j->options.workers);
		attr.options = text;
	}
	rc = lkdf_open_with(&attr, &j->rt);
	if (rc)
		return complain("cannot start", rc);
	rc = lkdf_scope_create(j->rt, NULL, &j->scope);
	if (!rc)
		rc = pool_init(&j->pool, j->rt, nr_files, nr_pieces);
	if (!rc)
		rc = walk_init(&j->walk, j->rt, j->scope, &j->tree, &j->pool);
	if (!rc)
		rc = search_init(&j->search, j->rt, &j->pool);
	j->search.no_hash = j->options.no_hash;
	return rc ? complain("cannot start", rc) : 0;
}

static int walk(struct job *j)
{
	char **path;
	int rc = 0;

	for (path = j->options.path; *path && !rc; path++)
		rc = walk_start(&j->walk, *path);
	if (rc)
		complain("cannot read directories", rc);
	return wait_for_tasks(j, false) ? -EIO : rc;
}

static int look_into_files(struct job *j)
{
	int rc;

	rc = classes_init(&j->classes, &j->search, &j->tree);
	if (rc)
		return complain("cannot sort", rc);
	if (interrupted)
		j->is_cancelled = true;
	if (j->is_cancelled)
		return 0;
	rc = classes_submit(&j->classes, &j->search, j->rt, j->scope);
	if (rc)
		complain("cannot search", rc);
	return wait_for_tasks(j, true) ? -EIO : rc;
}

/* 0 or 1, the exit status; arguments that cannot be read are said always. */
static int print(struct job *j)
{
	struct report report;
	struct summary s;
	int rc, status = 0;

	s = summary_take(j->rt, clock_ns() - j->start_ns);
	progress_end(&j->progress, &j->search.reading);
	rc = report_init(&report, &j->tree, &j->classes, &j->search);
	report.is_partial = j->is_cancelled;
	if (rc)
		complain("cannot report", rc);
	else if (j->options.json)
		report_json(&report, &j->options, &s, stdout);
	else
		report_text(&report, &j->options, &s, stdout);
	troubles_text(&report.troubles, !j->options.quiet, stderr);
	if (report.troubles.nr_arguments)
		status = 1;
	report_fini(&report);
	if (fflush(stdout)) {
		perror("dupes: cannot write");
		status = 1;
	}
	return rc ? 1 : status;
}

static int run(struct job *j)
{
	if (walk(j) || look_into_files(j))
		return 1;
	return print(j);
}

static void stop(struct job *j)
{
	int rc;

	classes_fini(&j->classes);
	search_fini(&j->search);
	walk_fini(&j->walk);
	tree_fini(&j->tree);
	pool_fini(&j->pool);
	lkdf_scope_put(j->scope);
	rc = lkdf_close(j->rt);
	if (rc)
		complain("cannot stop", rc);
}

int main(int argc, char **argv)
{
	struct job j = { .start_ns = clock_ns() };
	int rc;

	rc = options_read(&j.options, argc, argv);
	if (rc)
		return rc < 0 ? 2 : 0;
	on_signals(on_interrupt);
	progress_init(&j.progress, j.options.quiet);
	tree_init(&j.tree, j.options.min_size);
	rc = start(&j) ? 1 : run(&j);
	stop(&j);
	return !rc && j.is_cancelled ? 130 : rc;
}
