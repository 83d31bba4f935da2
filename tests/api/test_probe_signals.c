/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf probe tells a runtime of its workers: states, sleeps and the word
 * in which they meet, each with its source; and that nothing of it is taken for
 * true once the probe has been stopped.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"

#include <pthread.h>

#define NR_BODIES 64
#define NR_LOCKS 2000

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
	pthread_mutex_unlock(&gate);
	must(lkdf_scope_wait(rt, NULL, -1));
	do {
		f = facts_of(rt, 0);
	} while (!f.futex_block_ns.value);
	ok(true, "and so is its time, when it is over");
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

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (!probe_start(argv[0], "--hz 1000")) {
		skip("signals", "needs root, BPF and the programs built in");
	} else {
		a_sleep_is_seen();
		the_word_is_told();
		two_runtimes();
		stopped_in_the_middle();
	}
	probe_end();
	return tap_end();
}
