/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf probe tells a runtime of its workers: states, sleeps and the word
 * in which they meet, each with its source; and that nothing of it is taken for
 * true once the probe has been stopped.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"
#include "tests/api/probe/seccomp.h"

#include <bpf/uapi/lkdf_probe.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#define NR_BODIES 64
#define NR_LOCKS 2000
#define NR_SPINS 1000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_in;

static int meet(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i, j;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_LOCKS; i++) {
		pthread_mutex_lock(&mutex);
		for (j = 0; j < 20; j++)
			x = x * 5 + 1;
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}

/* Waits for whoever holds it. */
static int wait_there(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_in, 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return 0;
}

static struct lkdf *open_probed(int workers)
{
	char options[128];

	snprintf(options, sizeof(options), "workers=%d,probe=%s/bpf,final",
		 workers, probe_dir);
	return api_open(options);
}

static struct lkdf_facts facts_of(struct lkdf *rt, int worker)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	must(lkdf_signals(rt, worker, &f));
	return f;
}

/* A worker registers when its thread starts, after the runtime is open. */
static void until_seen(struct lkdf *rt, const char *what)
{
	while (facts_of(rt, 0).state.source != LKDF_SIGNAL_BPF)
		;
	ok(true, "%s", what);
}

static void run_some(struct lkdf *rt, struct lkdf_kind *k)
{
	int i;

	for (i = 0; i < NR_BODIES; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* However long it takes: who waits there is seen to. */
static void a_sleep_is_seen(void)
{
	struct lkdf *rt = open_probed(1);
	struct lkdf_kind *k = api_kind(rt, "wait", wait_there, 0, 0);
	struct lkdf_facts f;

	ok(lkdf_caps(rt) & LKDF_CAP_PROBE, "caps say that there is a probe");
	until_seen(rt, "its state is known");
	pthread_mutex_lock(&gate);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	do {
		f = facts_of(rt, 0);
	} while (f.state.value != LKDF_STATE_FUTEX);
	ok(true, "a worker that waits for a lock is blocked in a futex");
	ok(f.state.age_ns < SECOND, "known by a beat of less than a second");
	is(f.nr_futex_block.source, LKDF_SIGNAL_BPF, "by the probe");
	ok(f.nr_futex_block.value >= 1, "it is counted");
	api_nap_ns(SECOND / 100);
	f = facts_of(rt, 0);
	ok(f.state_ns.value >= SECOND / 100,
	   "it has been there for as long as we slept, %llu us",
	   (unsigned long long)f.state_ns.value / 1000);
	is(f.state_ns.source, LKDF_SIGNAL_BPF, "says the probe");
	pthread_mutex_unlock(&gate);
	must(lkdf_scope_wait(rt, NULL, -1));
	do {
		f = facts_of(rt, 0);
	} while (!f.futex_block_ns.value);
	ok(true, "and so is its time, when it is over");
	f = facts_of(rt, 0);
	ok(f.nr_block.value >= f.nr_futex_block.value,
	   "sleeps there are sleeps, %llu of %llu",
	   (unsigned long long)f.nr_futex_block.value,
	   (unsigned long long)f.nr_block.value);
	ok(f.futex_block_ns.value >= SECOND / 100 &&
		   f.block_ns.value >= f.futex_block_ns.value,
	   "so is their time");
	is(facts_of(rt, -1).state.source, LKDF_SIGNAL_NONE,
	   "all workers have no state");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Until a sample falls into it. */
static void the_word_is_told(void)
{
	struct lkdf *rt = open_probed(2);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	struct lkdf_facts f;
	int i;

	for (i = 0; i < 2000; i++) {
		run_some(rt, k);
		f = facts_of(rt, -1);
		if (f.futex_samples.value > 4)
			break;
	}
	if (f.futex_samples.value <= 4) {
		skip("the word is told", "the CPUs were not there");
	} else {
		ok((uintptr_t)f.word.value == (uintptr_t)&mutex,
		   "the word is that of the mutex, after %llu samples",
		   (unsigned long long)f.samples.value);
		is(f.word.source, LKDF_SIGNAL_BPF, "by the probe");
		ok(f.futex_ppm.value > 0 && f.futex_ppm.value <= 1000000,
		   "%llu millionths of the time",
		   (unsigned long long)f.futex_ppm.value);
	}
	ok(f.samples.value >= f.futex_samples.value, "some of all samples");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Until a window with enough of them is closed. */
static void windows_have_words(void)
{
	struct lkdf *rt = open_probed(2);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	uint64_t ppm = 0, word = 0;
	struct lkdf_facts f;
	int i;

	for (i = 0; i < 2000; i++) {
		run_some(rt, k);
		f = facts_of(rt, -1);
		if (f.window_word.value &&
		    !lkdf_stat(rt, "lkdf.kind.meet.word", &word))
			break;
	}
	if (i == 2000) {
		skip("the window's word", "the CPUs were not there");
	} else {
		is(f.window_word.source, LKDF_SIGNAL_BPF, "the window's word");
		ok((uintptr_t)word == (uintptr_t)&mutex,
		   "the kind has met in the mutex");
		ok(lkdf_stat(rt, "lkdf.kind.meet.futex_ppm", &ppm) ||
			   (ppm > 0 && ppm <= 1000000),
		   "for some part of the time: %llu ppm",
		   (unsigned long long)ppm);
	}
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int spin(struct lkdf_ctx *c, void *arg)
{
	volatile uint32_t x = 1;
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < NR_SPINS; i++)
		x = x * 5 + 1;
	return 0;
}

static bool keep_two_cpus(cpu_set_t *old)
{
	cpu_set_t two;
	int cpu, nr = 0;

	sched_getaffinity(0, sizeof(*old), old);
	CPU_ZERO(&two);
	for (cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, old)) {
			CPU_SET(cpu, &two);
			nr++;
		}
	return !sched_setaffinity(0, sizeof(two), &two);
}

/* Four workers that compute on two CPUs take these from one another. */
static void who_is_preempted_is_told(void)
{
	struct lkdf_facts f, all;
	struct lkdf_kind *k;
	bool is_seen = false;
	struct lkdf *rt;
	cpu_set_t old;
	int i;

	ok(keep_two_cpus(&old), "two CPUs, or one");
	rt = open_probed(4);
	k = api_kind(rt, "spin", spin, 0, 0);
	do {
		for (i = 0; i < 4 * NR_BODIES; i++)
			must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k),
					 NULL));
		for (i = 0; i < 1000; i++) {
			f = facts_of(rt, i % 4);
			is_seen |= f.state.value == LKDF_STATE_PREEMPTED;
		}
		must(lkdf_scope_wait(rt, NULL, -1));
		all = facts_of(rt, -1);
	} while (!is_seen || !all.nr_preempt.value || !all.preempt_ns.value ||
		 !all.nr_forced.value);
	ok(true, "a worker was seen preempted");
	is(all.nr_preempt.source, LKDF_SIGNAL_BPF, "the probe has counted it");
	is(all.nr_forced.source, LKDF_SIGNAL_SELF, "the threads have, too");
	ok(all.preempt_ns.value / all.nr_preempt.value > 1000,
	   "%llu times, %llu us each", (unsigned long long)all.nr_preempt.value,
	   (unsigned long long)(all.preempt_ns.value / all.nr_preempt.value /
				1000));
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	sched_setaffinity(0, sizeof(old), &old);
}

static void two_runtimes(void)
{
	struct lkdf *one = open_probed(1), *other = open_probed(1);

	until_seen(one, "two runtimes: one");
	until_seen(other, "the other");
	must(lkdf_close(one));
	is(facts_of(other, 0).state.source, LKDF_SIGNAL_BPF,
	   "and when one is closed");
	must(lkdf_close(other));
}

static void stopped_in_the_middle(void)
{
	struct lkdf *rt = open_probed(2);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	struct lkdf_facts f;

	run_some(rt, k);
	until_seen(rt, "a worker is seen");
	ok(probe_run("stop"), "the probe is stopped");
	f = facts_of(rt, 0);
	is(f.state.source + f.samples.source + f.word.source, LKDF_SIGNAL_NONE,
	   "nothing of it is taken for true any more");
	ok(!(lkdf_caps(rt) & LKDF_CAP_PROBE), "nor do caps say so");
	run_some(rt, k);
	ok(true, "work goes on");
	ok(probe_run("start"), "another probe is started");
	f = facts_of(rt, 0);
	is(f.state.source, LKDF_SIGNAL_NONE, "that does not see the old ones");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	rt = open_probed(1);
	until_seen(rt, "but new ones");
	must(lkdf_close(rt));
}

/* ---- without a hook ------------------------------------------------------ */

static bool start_without_clock(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(seccomp_refuse(SYS_perf_event_open, EPERM) &&
				      probe_run("start")
			      ? 0
			      : 1);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return !status;
}

/* Nobody samples a CPU: what switches tell is taken for true all the same. */
static void switches_are_enough(void)
{
	struct lkdf_facts f;
	struct lkdf *rt;

	probe_run("stop");
	ok(start_without_clock(), "a probe without a clock of CPUs");
	rt = open_probed(1);
	until_seen(rt, "tells of states");
	api_nap_ns(5 * SECOND / 2);
	f = facts_of(rt, 0);
	is(f.state.source, LKDF_SIGNAL_BPF, "so it does long after its start");
	ok(f.state.age_ns < SECOND, "by a beat of less than a second");
	is(f.samples.source, LKDF_SIGNAL_NONE, "there are no samples");
	ok(lkdf_caps(rt) & LKDF_CAP_PROBE, "and caps say that it is there");
	must(lkdf_close(rt));
}

/* What each set of hooks makes of silence, at a second of CLOCK_MONOTONIC. */
static void silence_is_judged_by_hooks(void)
{
	const uint64_t now = 100 * SECOND, old = 97 * SECOND;
	const uint32_t idle = LKDF_PROBE_SAMPLE | LKDF_PROBE_PLACE;
	const uint32_t all = idle | LKDF_PROBE_SWITCH;

	ok(lkdf_probe_is_live(all, 0, now, now), "a beat: it is alive");
	ok(!lkdf_probe_is_live(all, 0, old, now),
	   "no switch for three seconds: it is gone");
	ok(lkdf_probe_is_live(idle, 0, old, now),
	   "no sample for three seconds: CPUs may be idle");
	ok(lkdf_probe_is_live(LKDF_PROBE_PLACE, 0, old, now),
	   "no page has moved: it is alive");
	ok(!lkdf_probe_is_live(idle, old, now, now) &&
		   !lkdf_probe_is_live(all, old, now, now),
	   "stopped it is not");
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(90);
	silence_is_judged_by_hooks();
	if (!probe_start(argv[0], "--hz 1000")) {
		probe_absent("signals");
	} else {
		a_sleep_is_seen();
		the_word_is_told();
		windows_have_words();
		who_is_preempted_is_told();
		two_runtimes();
		stopped_in_the_middle();
		switches_are_enough();
	}
	probe_end();
	return tap_end();
}
