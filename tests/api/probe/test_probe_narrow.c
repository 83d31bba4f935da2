/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option narrow beside a probe that is not there at first, ends while tasks lie
 * aside, sees four workers of eight, or tells that the worker with the token
 * sleeps: each task runs once, and nobody waits for ever.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"

#include <lkdf/signals.h>
#include <pthread.h>
#include <semaphore.h>

#define NR 500u
#define ROUNDS 5

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint nr_run;
static sem_t told;

static int meet(struct lkdf_ctx *c, void *arg)
{
	volatile unsigned x = 1;
	int i, j;

	(void)c;
	(void)arg;
	for (i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		for (j = 0; j < 50; j++)
			x = x * 5 + 1;
		pthread_mutex_unlock(&mutex);
	}
	atomic_fetch_add(&nr_run, 1);
	return 0;
}

static struct lkdf *open_narrow(const char *narrow, int workers)
{
	char options[160];

	snprintf(options, sizeof(options), "workers=%d,probe=%s/bpf,narrow=%s",
		 workers, probe_dir, narrow);
	return api_open(options);
}

static void submit_some(struct lkdf *rt, struct lkdf_kind *k)
{
	unsigned i;

	for (i = 0; i < NR; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k), NULL));
}

/* what: words for the probe after each round's tasks were submitted. */
static void tasks_run(const char *narrow, const char *const *what,
		      const char *when)
{
	struct lkdf *rt = open_narrow(narrow, 8);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	unsigned i;

	atomic_store(&nr_run, 0);
	for (i = 0; i < ROUNDS; i++) {
		submit_some(rt, k);
		if (what && what[i % 2])
			probe_run(what[i % 2]);
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(atomic_load(&nr_run), ROUNDS * NR, "narrow=%s, %s: all tasks run",
	   narrow, when);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and it closes");
}

static int wait_there(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	while (sem_wait(&told))
		;
	return 0;
}

static int tell_it(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	sem_post(&told);
	return 0;
}

/* The first has the token and sleeps; the second, which ends that, waits. */
static void token_is_taken_back(void)
{
	struct lkdf *rt = open_narrow("force", 2);
	struct lkdf_kind *sleeps = api_kind(rt, "sleeps", wait_there, 0, 0);
	struct lkdf_kind *tells = api_kind(rt, "tells", tell_it, 0, 0);
	uint64_t nr = 0;
	int i;

	sem_init(&told, 0, 0);
	for (i = 0; i < 20; i++) {
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = sleeps), NULL));
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = tells), NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	must(lkdf_stat(rt, "lkdf.narrow.revoked", &nr));
	ok(true, "a sleeper with the token holds nobody up: %llu taken back",
	   (unsigned long long)nr);
	lkdf_kind_put(sleeps);
	lkdf_kind_put(tells);
	is(lkdf_close(rt), 0, "and it closes");
}

int main(int argc, char **argv)
{
	static const char *const ends[] = { "stop", "start" };
	static const char *const modes[] = { "auto", "force" };
	unsigned i;

	(void)argc;
	tap_start(100);
	if (!probe_start(argv[0], "")) {
		skip("narrow beside the probe", "it needs root and BPF");
		return tap_end();
	}
	token_is_taken_back();
	for (i = 0; i < 2; i++) {
		tasks_run(modes[i], NULL, "the probe is there");
		tasks_run(modes[i], ends, "it ends and begins meanwhile");
		probe_run("stop");
		probe_run("start --slots 4");
		tasks_run(modes[i], NULL, "it has few slots");
		probe_run("stop");
		tasks_run(modes[i], NULL, "it is not there");
		probe_run("start");
	}
	return tap_end();
}
