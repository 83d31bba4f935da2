/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What threads of the user keep of runtimes: threads come and go, runtimes
 * open and close, in any order, and nothing is lost, used twice or kept for
 * ever; also in a forked child, and without a record per thread.
 */
#include "core/runtime.h"
#include "tests/api/api.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#define NR_THREADS 4
#define NR_RUNTIMES 12

struct place {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	atomic_int nr_ran, nr_wrong;
};

static void place_open(struct place *p)
{
	p->rt = api_open("workers=1");
	p->kind = api_kind(p->rt, "count", api_count, 0, LKDF_SHARED);
	p->nr_ran = p->nr_wrong = 0;
}

static void place_close(struct place *p)
{
	lkdf_kind_put(p->kind);
	p->nr_wrong += lkdf_close(p->rt) != 0;
}

/* Tasks and events come from here and end there, and the other way round. */
static void use(struct place *p, int nr)
{
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = p->kind,
			       .arg = &p->nr_ran };
	struct lkdf_event done;
	int i;

	for (i = 0; i < nr; i++) {
		if (lkdf_submit(p->rt, NULL, &t, &done)) {
			p->nr_wrong++;
			return;
		}
		p->nr_wrong += lkdf_event_wait(done, -1) != 0;
	}
}

static void start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, fn, arg))
			abort();
}

static void join(const pthread_t *thread)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void *use_a_little(void *arg)
{
	use(arg, 3);
	return NULL;
}

static uint64_t nr_made(struct place *p)
{
	return pool_nr_objects(&p->rt->pool[POOL_TASK]) +
	       pool_nr_objects(&p->rt->pool[POOL_EVENT]);
}

static void threads_leave_nothing_behind(void)
{
	pthread_t thread[NR_THREADS];
	uint64_t before = 0;
	struct place p;
	int i;

	place_open(&p);
	for (i = 0; i < 200; i++) {
		start(thread, use_a_little, &p);
		join(thread);
		if (i == 9)
			before = nr_made(&p);
	}
	is(p.nr_wrong, 0, "800 threads submit and wait");
	is(p.nr_ran, 800 * 3, "all their tasks run");
	ok(nr_made(&p) <= before + 8 * POOL_BATCH,
	   "%llu objects after 40 threads, %llu after 800",
	   (unsigned long long)before, (unsigned long long)nr_made(&p));
	ok(list_is_empty(&p.rt->stocks.threads), "no thread's stock is left");
	place_close(&p);
	is(p.nr_wrong, 0, "the runtime closes");
}

static struct place many[NR_RUNTIMES];

static void *use_many(void *arg)
{
	int i, round;

	(void)arg;
	for (round = 0; round < 20; round++)
		for (i = 0; i < NR_RUNTIMES; i++)
			use(&many[i], 2);
	return NULL;
}

static void a_thread_uses_many_runtimes(void)
{
	pthread_t thread[NR_THREADS];
	int i, nr_wrong = 0, nr_ran = 0;

	for (i = 0; i < NR_RUNTIMES; i++)
		place_open(&many[i]);
	start(thread, use_many, NULL);
	use_many(NULL);
	join(thread);
	for (i = 0; i < NR_RUNTIMES; i++) {
		place_close(&many[i]);
		nr_wrong += many[i].nr_wrong;
		nr_ran += many[i].nr_ran;
	}
	is(nr_wrong, 0, "five threads use twelve runtimes in turn");
	is(nr_ran, 5 * 20 * NR_RUNTIMES * 2, "all their tasks run");
}

/* The threads live on while runtimes open and close around them. */
#define NR_LIVES 60

static struct place lives;
static pthread_barrier_t turn;

static void *outlive(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR_LIVES; i++) {
		pthread_barrier_wait(&turn);
		use(&lives, 5);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void runtimes_close_while_threads_live(void)
{
	pthread_t thread[NR_THREADS];
	int i, nr_wrong = 0, nr_ran = 0;

	pthread_barrier_init(&turn, NULL, NR_THREADS + 1);
	start(thread, outlive, NULL);
	for (i = 0; i < NR_LIVES; i++) {
		place_open(&lives);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		place_close(&lives);
		nr_wrong += lives.nr_wrong;
		nr_ran += lives.nr_ran;
	}
	join(thread);
	pthread_barrier_destroy(&turn);
	is(nr_wrong, 0, "four threads outlive 60 runtimes");
	is(nr_ran, NR_LIVES * NR_THREADS * 5, "all their tasks run");
}

/* The close and the ends of the threads race. */
static atomic_int nr_through;

static void *use_and_end(void *arg)
{
	use(arg, 2);
	atomic_fetch_add(&nr_through, 1);
	return NULL;
}

static void threads_end_while_runtimes_close(void)
{
	pthread_t thread[NR_THREADS];
	int i, nr_wrong = 0;
	struct place p;

	for (i = 0; i < 100; i++) {
		place_open(&p);
		atomic_store(&nr_through, 0);
		start(thread, use_and_end, &p);
		while (atomic_load(&nr_through) < NR_THREADS)
			sched_yield();
		place_close(&p);
		join(thread);
		nr_wrong += p.nr_wrong;
	}
	is(nr_wrong, 0, "threads end while their runtime closes, 100 times");
}

static atomic_bool is_over;

static void *come_and_go(void *arg)
{
	pthread_t thread;

	while (!atomic_load(&is_over)) {
		if (pthread_create(&thread, NULL, use_a_little, arg))
			abort();
		pthread_join(thread, NULL);
	}
	return NULL;
}

/* Its threads are gone, and what they held with them. */
static _Noreturn void be_child(struct place *p, struct lkdf_event e)
{
	struct place own;

	watchdog_set(20);
	lkdf_event_put(e);
	p->nr_wrong = 0;
	place_close(p);
	place_open(&own);
	own.nr_wrong += p->nr_wrong;
	use(&own, 100);
	if (own.nr_ran != 100)
		own.nr_wrong++;
	place_close(&own);
	_exit(own.nr_wrong != 0);
}

static void children_close_and_open(void)
{
	pthread_t thread[NR_THREADS];
	int i, status, bad = 0;
	struct lkdf_event e;
	struct place p;
	pid_t pid;

	place_open(&p);
	start(thread, come_and_go, &p);
	for (i = 0; i < 60; i++) {
		use(&p, 10);
		must(lkdf_event_create(p.rt, 1, 0, &e));
		pid = fork();
		if (!pid)
			be_child(&p, e);
		bad += waitpid(pid, &status, 0) != pid || status;
		must(lkdf_event_signal(e, 0));
		lkdf_event_put(e);
	}
	atomic_store(&is_over, true);
	join(thread);
	place_close(&p);
	is(bad, 0, "60 children close it and use their own");
	is(p.nr_wrong, 0, "the parent goes on");
}

/* A process without room for our key: all its threads share one record. */
static _Noreturn void be_poor(void)
{
	pthread_t thread[NR_THREADS];
	pthread_key_t key;
	struct place p;

	watchdog_set(20);
	while (!pthread_key_create(&key, NULL))
		;
	place_open(&p);
	start(thread, use_a_little, &p);
	use(&p, 300);
	join(thread);
	if (!list_is_empty(&p.rt->stocks.threads) ||
	    !thread_is_shared(thread_self()))
		p.nr_wrong++;
	p.nr_wrong += p.nr_ran != 300 + NR_THREADS * 3;
	place_close(&p);
	_exit(p.nr_wrong != 0);
}

static void threads_share_where_there_is_no_record(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		be_poor();
	ok(waitpid(pid, &status, 0) == pid && !status,
	   "without records the lock serves");
}

int main(void)
{
	tap_start(120);
	if (HAS_SANITIZER)
		skip("threads share where there is no record",
		     "sanitizers need keys of their own");
	else
		threads_share_where_there_is_no_record();
	threads_leave_nothing_behind();
	a_thread_uses_many_runtimes();
	runtimes_close_while_threads_live();
	threads_end_while_runtimes_close();
	if (HAS_SANITIZER)
		skip("children close and open",
		     "sanitizers have locks of their own at a fork");
	else
		children_close_and_open();
	return tap_end();
}
