/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the runtime knows of its workers without any rights: times that grow,
 * each with its source and its age, what it knows of the last window and of
 * kinds, and what it says where nobody knows.
 */
#include "tests/api/api.h"

#include <sys/wait.h>

#define NR_BODIES 64
#define NR_STEPS 1000000
#define ENOUGH_NS 50000000

/* Computes, a millisecond and more. */
static int compute(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_STEPS; i++)
		x = x * 5 + 1;
	return 0;
}

static struct lkdf_facts facts_of(struct lkdf *rt, int worker)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	must(lkdf_signals(rt, worker, &f));
	return f;
}

static void run_bodies(struct lkdf *rt, struct lkdf_kind *k)
{
	int i;

	for (i = 0; i < NR_BODIES; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

static void run_some(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "compute", compute, 0, 0);

	run_bodies(rt, k);
	lkdf_kind_put(k);
}

/* Threads look at themselves now and then: until it has told of some work. */
static void times_grow(void)
{
	struct lkdf *rt = api_open("workers=2,final");
	struct lkdf_facts all, one, other;

	do {
		run_some(rt);
		all = facts_of(rt, -1);
	} while (all.user_ns.value + all.system_ns.value < ENOUGH_NS);
	ok(all.user_ns.value > all.system_ns.value,
	   "bodies that compute: %llu ms of the user, %llu of the system",
	   (unsigned long long)all.user_ns.value / 1000000,
	   (unsigned long long)all.system_ns.value / 1000000);
	is(all.user_ns.source, LKDF_SIGNAL_SELF, "threads tell of themselves");
	ok(all.user_ns.age_ns > 0, "some time ago");
	is(all.nr_slept.source, LKDF_SIGNAL_SELF, "so with switches");
	is(all.worker, -1, "of all");
	one = facts_of(rt, 0);
	other = facts_of(rt, 1);
	ok(one.user_ns.value + other.user_ns.value >= all.user_ns.value,
	   "the sum of two workers");
	is(one.worker, 0, "of one");
	if (access("/proc/self/schedstat", R_OK))
		skip("run delay", "there is no schedstat");
	else
		is(all.run_delay_ns.source, LKDF_SIGNAL_SELF, "and run delay");
	must(lkdf_close(rt));
}

/* Until workers that come by have closed two of them. */
static void windows_are_told(void)
{
	struct lkdf *rt = api_open("workers=2,probe=\"\",final");
	struct lkdf_kind *k = api_kind(rt, "compute", compute, 0, 0);
	struct lkdf_facts all;
	uint64_t ns = 0;

	do {
		run_bodies(rt, k);
		all = facts_of(rt, -1);
	} while (!all.window_ns.value);
	ok(all.window_ns.value >= 10000000, "a window of 10 ms and more");
	ok(all.window_ppm.value < 1000000 &&
		   all.window_ppm.source == LKDF_SIGNAL_SELF,
	   "and what part of it went to the system: %llu ppm",
	   (unsigned long long)all.window_ppm.value);
	is(all.window_word.source, LKDF_SIGNAL_NONE, "in no word that we know");
	is(facts_of(rt, 0).window_ns.source, LKDF_SIGNAL_NONE,
	   "one worker has none of its own");
	is(lkdf_stat(rt, "lkdf.kind.compute.alone_ns", &ns), 0,
	   "the kind's shortest body is known");
	ok(ns > 1000, "it takes %llu ns", (unsigned long long)ns);
	is(lkdf_stat(rt, "lkdf.kind.compute.futex_ppm", &ns), -ENOENT,
	   "its share is not");
	is(lkdf_stat(rt, "lkdf.kind.compute.bodies", &ns), -ENOENT,
	   "nor how many there were");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* When it was read, and not much later. */
static int64_t quota_read_at(struct lkdf *rt)
{
	struct lkdf_facts f = facts_of(rt, -1);

	return api_now_ns() - (int64_t)f.quota_milli.age_ns;
}

static void the_quota_is_told(void)
{
	struct lkdf *rt = api_open("workers=1,final");
	struct lkdf_facts f = facts_of(rt, -1);
	int64_t first = quota_read_at(rt);

	is(f.quota_milli.source, LKDF_SIGNAL_SELF,
	   "the quota: %llu / 1000 CPUs",
	   (unsigned long long)f.quota_milli.value);
	/* Ten times a second; until the watchdog if that were not so. */
	do
		run_some(rt);
	while (quota_read_at(rt) - first < ENOUGH_NS);
	ok(true, "a worker with work reads it again");
	must(lkdf_close(rt));
}

static void nobody_knows(const char *options, bool knows_self)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_facts f;
	uint64_t caps;

	run_some(rt);
	f = facts_of(rt, 0);
	caps = lkdf_caps(rt);
	if (!knows_self)
		is(f.user_ns.source + f.nr_slept.source + f.quota_milli.source,
		   LKDF_SIGNAL_NONE, "%s: nobody tells of times", options);
	is(f.state.source + f.samples.source + f.word.source + f.word.value,
	   LKDF_SIGNAL_NONE, "%s: nor of words", options);
	ok(!(caps & LKDF_CAP_PROBE), "and caps say so");
	if (!knows_self)
		is(f.window_ns.source, LKDF_SIGNAL_NONE, "nor of windows");
	is(f.active_workers + f.nr_narrow, 0, "what is not built is 0");
	must(lkdf_close(rt));
}

static void what_is_refused(void)
{
	struct lkdf *rt = api_open("workers=1,final");
	struct lkdf_facts f = { .size = 4 };
	struct {
		struct lkdf_facts f;
		char later[64];
	} more;

	is(lkdf_signals(rt, 0, NULL), -EINVAL, "NULL");
	is(lkdf_signals(rt, 0, &f), -EINVAL, "a size that is none");
	f.size = sizeof(f);
	is(lkdf_signals(rt, -2, &f), -ENOENT, "worker -2");
	is(lkdf_signals(rt, lkdf_nr_executors(rt), &f), -ENOENT,
	   "one too many");
	has(lkdf_errmsg(), "there are", "and how many there are");
	is(lkdf_signals(NULL, 0, &f), -EINVAL, "no runtime");
	memset(&more, 0xff, sizeof(more));
	more.f.size = sizeof(more);
	is(lkdf_signals(rt, 0, &more.f), 0, "a struct of a later version");
	ok(!more.later[0] && !more.later[63], "what we do not know is 0");
	memset(&f, 0xff, sizeof(f));
	f.size = offsetof(struct lkdf_facts, system_ns);
	is(lkdf_signals(rt, 0, &f), 0, "one of an earlier version");
	ok(f.system_ns.value == UINT64_MAX, "gets what it knows");
	must(lkdf_close(rt));
}

static void a_child_is_told_nothing(void)
{
	struct lkdf *rt = api_open("workers=1,final");
	struct lkdf_facts f = { .size = sizeof(f) };
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(lkdf_signals(rt, 0, &f) == -EOWNERDEAD ? 0 : 1);
	if (pid > 0)
		waitpid(pid, &status, 0);
	is(status, 0, "a forked child: -EOWNERDEAD");
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	times_grow();
	windows_are_told();
	the_quota_is_told();
	nobody_knows("workers=1,signal=off,final", false);
	nobody_knows("workers=1,serial=yes,final", false);
	nobody_knows("workers=1,signal=proc,final", true);
	nobody_knows("workers=1,probe=/nonexistent,final", true);
	nobody_knows("workers=1,probe=\"\",final", true);
	what_is_refused();
	a_child_is_told_nothing();
	return tap_end();
}
