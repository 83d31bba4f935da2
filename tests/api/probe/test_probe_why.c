/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() of workers that sleep in a lock: the word, for how long, and who
 * holds it where the word tells. The probe sees them.
 */
#include "tests/api/probe.h"
#include "tests/api/why.h"

#include <pthread.h>

static pthread_mutex_t mutex;
static atomic_int holder, may_go;

static int hold(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	atomic_store(&holder, lkdf_worker(c) + 1);
	while (!atomic_load(&may_go))
		api_nap_ns(SECOND / 1000);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static int want(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static void make_mutex(int protocol, int robust)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutexattr_setrobust(&a, robust);
	pthread_mutex_init(&mutex, &a);
	pthread_mutexattr_destroy(&a);
}

static struct lkdf *open_probed(void)
{
	char options[128];

	snprintf(options, sizeof(options), "workers=2,probe=%s/bpf,final",
		 probe_dir);
	return api_open(options);
}

static void submit(struct lkdf *rt, struct lkdf_kind *k)
{
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
}

/* A worker holds the mutex, the other one sleeps there. */
static void a_worker_holds(const char *what, bool is_told)
{
	struct lkdf *rt = open_probed();
	struct lkdf_kind *h = api_kind(rt, "holds", hold, 0, 0);
	struct lkdf_kind *w = api_kind(rt, "wants", want, 0, 0);
	char word[64], who[64];
	const char *text;

	atomic_store(&holder, 0);
	atomic_store(&may_go, 0);
	submit(rt, h);
	while (!atomic_load(&holder))
		api_nap_ns(SECOND / 1000);
	submit(rt, w);
	snprintf(word, sizeof(word), " us at futex word %p", (void *)&mutex);
	text = why_until(rt, word);
	has(text, "a body of \"wants\" on worker ", "%s: its kind", what);
	ok(!strstr(text, "nothing was seen to wait"), "something waits");
	if (is_told)
		snprintf(who, sizeof(who), ", which worker %d holds\n",
			 atomic_load(&holder) - 1);
	else
		snprintf(who, sizeof(who), "; who holds it is not known\n");
	has(text, who, "%s: the holder, or that it is not known", what);
	has(why_says(rt, "json"), "\"state\":\"futex\"", "%s: JSON", what);
	atomic_store(&may_go, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(h);
	lkdf_kind_put(w);
	must(lkdf_close(rt));
	pthread_mutex_destroy(&mutex);
}

static void a_thread_of_the_program_holds(void)
{
	struct lkdf *rt = open_probed();
	struct lkdf_kind *w = api_kind(rt, "wants", want, 0, 0);
	char who[64];

	make_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	pthread_mutex_lock(&mutex);
	submit(rt, w);
	snprintf(who, sizeof(who), ", which thread %d holds\n", getpid());
	why_until(rt, who);
	pthread_mutex_unlock(&mutex);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(w);
	must(lkdf_close(rt));
}

static void tests(void)
{
	make_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	a_worker_holds("a PI mutex", true);
	make_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	a_worker_holds("a robust mutex", true);
	make_mutex(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	a_worker_holds("a mutex", false);
	a_thread_of_the_program_holds();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (probe_start(argv[0], "--slots 64"))
		tests();
	else
		probe_absent("why by the probe");
	probe_end();
	return tap_end();
}
