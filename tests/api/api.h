/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the API tests share: attributes with their size set, and one-line
 * makers that end the program when they fail, so that a test says only what
 * it is about.
 */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#include "tests/tap.h"

#include <dirent.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

#define SECOND 1000000000ll

/* Of a wait that must end: who waits longer has found a hang. A slow machine
 * and a busy one get more of it, as a watchdog does. */
#define PATIENCE_NS \
	(20 * SECOND * (tap_number("LKDF_TIME_SCALE") + 1) * watchdog_times())

/* Some calls are the sanitizer's then. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER true
#else
#define HAS_SANITIZER false
#endif

/*
 * The runtimes that are open, so that a hang can say what they are at. A name
 * in brackets is the function itself.
 */
#define API_RUNTIMES 16
static struct lkdf *_Atomic api_runtime[API_RUNTIMES];

static void api_tell_runtimes(int fd)
{
	struct lkdf *rt;
	int i;

	for (i = 0; i < API_RUNTIMES; i++) {
		rt = atomic_load(&api_runtime[i]);
		if (!rt)
			continue;
		dprintf(fd, "runtime %d:\n", i);
		lkdf_describe(rt, "stats", "text", fd);
	}
}

static void api_swap_runtime(struct lkdf *from, struct lkdf *to)
{
	struct lkdf *was;
	int i;

	hang_also = api_tell_runtimes;
	for (i = 0; i < API_RUNTIMES; i++) {
		was = from;
		if (atomic_compare_exchange_strong(&api_runtime[i], &was, to))
			return;
	}
}

__attribute__((unused)) static int api_opened(int rc, struct lkdf **out)
{
	if (!rc)
		api_swap_runtime(NULL, *out);
	return rc;
}

/* It cannot be described while it closes; stays if it does not. */
__attribute__((unused)) static int api_close(struct lkdf *rt)
{
	int rc;

	api_swap_runtime(rt, NULL);
	rc = lkdf_close(rt);
	if (rc)
		api_swap_runtime(NULL, rt);
	return rc;
}

#define lkdf_open(options, out) api_opened((lkdf_open)(options, out), out)
#define lkdf_open_with(attr, out) api_opened((lkdf_open_with)(attr, out), out)
#define lkdf_close(rt) api_close(rt)

/* Ends the program: the test itself cannot go on. */
#define must(rc) api_must((rc), #rc, __FILE__, __LINE__)

__attribute__((unused)) static int api_must(int rc, const char *what,
					    const char *file, int line)
{
	if (rc >= 0)
		return rc;
	printf("not ok %d - %s\n", ++tap_nr, what);
	printf("# %s:%d: %s: %s\n", file, line, strerror(-rc), lkdf_errmsg());
	exit(1);
}

__attribute__((unused)) static struct lkdf *api_open(const char *options)
{
	struct lkdf *rt = NULL;

	must(lkdf_open(options, &rt));
	return rt;
}

/* Most tests of data and graphs go through these runtimes. */
__attribute__((unused)) static const char *const api_options[] = {
	"workers=1", "workers=2", "workers=4", "workers=8", "serial=yes",
};

__attribute__((unused)) static void api_each(void (*tests)(struct lkdf *rt,
							   const char *options))
{
	struct lkdf *rt;
	size_t i;

	for (i = 0; i < sizeof(api_options) / sizeof(*api_options); i++) {
		printf("# %s\n", api_options[i]);
		rt = api_open(api_options[i]);
		tests(rt, api_options[i]);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
}

__attribute__((unused)) static struct lkdf *api_open_workers(int nr)
{
	char options[64];

	snprintf(options, sizeof(options), "workers=%d", nr);
	return api_open(options);
}

__attribute__((unused)) static struct lkdf_kind *
api_kind(struct lkdf *rt, const char *name, lkdf_fn fn, uint32_t arg_size,
	 uint32_t flags)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .arg_size = arg_size, .flags = flags),
			      &k));
	return k;
}

__attribute__((unused)) static struct lkdf_graph *api_graph(struct lkdf *rt,
							    uint32_t inflight)
{
	struct lkdf_graph *g = NULL;

	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .inflight = inflight),
			       &g));
	return g;
}

/* Runs it and waits; the run's error. */
__attribute__((unused)) static int
api_run(struct lkdf_graph *g, struct lkdf_scope *s, const struct lkdf_run *r)
{
	struct lkdf_event done;

	must(lkdf_graph_run(g, s, r, &done));
	return lkdf_event_wait(done, -1);
}

/* Submits one task and waits; the task's error. */
__attribute__((unused)) static int
api_call(struct lkdf *rt, struct lkdf_kind *k, const void *arg)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = arg),
			 &done));
	return lkdf_event_wait(done, -1);
}

__attribute__((unused)) static int64_t api_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Without it a body may keep others waiting for what it hides. */
__attribute__((unused)) static bool api_has_membarrier(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);

	return commands > 0 &&
	       commands & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
}

__attribute__((unused)) static void api_nap_ns(long ns)
{
	struct timespec ts = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	nanosleep(&ts, NULL);
}

/* Sleeps until the flag is set: only where that is certain to come. */
__attribute__((unused)) static void api_until(atomic_int *flag)
{
	while (!atomic_load(flag))
		api_nap_ns(50000);
}

/* In a directory, without those that begin with a dot. */
__attribute__((unused)) static int api_nr_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int nr = 0;

	while (dir && (d = readdir(dir)))
		nr += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return nr;
}

__attribute__((unused)) static int api_nr_threads(void)
{
	return api_nr_entries("/proc/self/task");
}

/* A joined thread is listed for a moment more. Return: their number. */
__attribute__((unused)) static int api_threads_come_to(int want)
{
	int i;

	for (i = 0; i < 2000 && api_nr_threads() != want; i++)
		api_nap_ns(1000000);
	return api_nr_threads();
}

/* A gate that a body waits at, for kinds that may block. */
struct gate {
	atomic_int entered, open;
};

__attribute__((unused)) static void gate_pass(struct gate *gate)
{
	atomic_fetch_add(&gate->entered, 1);
	api_until(&gate->open);
}

/* Body: argument is the gate. */
__attribute__((unused)) static int pass_gate(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	gate_pass(arg);
	return 0;
}

/* Does nothing. */
__attribute__((unused)) static int api_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Adds one to the counter its argument is. */
__attribute__((unused)) static int api_count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

#endif
