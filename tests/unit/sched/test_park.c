/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The three counts of the park word, move by move, from one thread: who counts
 * as spinning, who as asleep, and when a wake-up is given. One more test lets
 * two threads sleep and be woken, so that the futex is used too.
 */
#include "base/clock.h"
#include "sched/park.h"
#include "tests/tap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define NR_ROUNDS 2000
#define ROUNDS_NS (5 * 1000000000ll)
#define HANG_NS (30 * 1000000000ll)
#define NR_THREADS 2

static uint64_t word_of(struct park *p)
{
	return a_load(&p->word, relaxed);
}

/* Spinners, sleepers, tokens as one number: 100s, 10s, 1s. */
static int counts(struct park *p)
{
	uint64_t word = word_of(p);

	return (int)(park_spinners(word) * 100 + park_sleepers(word) * 10 +
		     (uint32_t)word);
}

/* So many workers asleep, nobody spinning. */
static void make(struct park *p, int nr_sleepers)
{
	park_init(p);
	while (nr_sleepers--) {
		park_spin(p);
		park_announce(p);
	}
}

static void moves_are_counted(void)
{
	struct park p;

	park_init(&p);
	is(counts(&p), 0, "all are busy at first");
	park_spin(&p);
	is(counts(&p), 100, "one spins");
	park_announce(&p);
	is(counts(&p), 10, "it says that it sleeps");
	park_retract(&p);
	is(counts(&p), 100, "it found work after all");
	park_spin(&p);
	ok(!park_found(&p), "one is busy, the other one goes on looking");
	ok(park_found(&p), "the last one is told that nobody looks any more");
	is(counts(&p), 0, "both are busy");
}

static void token_wakes_one(void)
{
	struct park p;

	make(&p, 2);
	is(counts(&p), 20, "two sleep");
	ok(park_notify(&p), "new work wakes one");
	is(counts(&p), 111, "which spins as soon as it has the token");
	ok(!park_notify(&p), "while it looks, more work wakes nobody");
	ok(!park_wake(&p), "nor does a waker that insists");
	is(park_sleep(&p, -1), 0, "it takes the token without sleeping");
	is(counts(&p), 110, "the token is gone");
	ok(park_found(&p), "the last spinner that finds work is told so");
	is(counts(&p), 10, "it is busy, the other one sleeps");
	ok(park_notify(&p), "so more work wakes that one");
	is(counts(&p), 101, "nobody sleeps then");
}

static void spinner_needs_no_token(void)
{
	struct park p;

	make(&p, 1);
	park_spin(&p);
	ok(!park_notify(&p), "no token while one spins");
	is(counts(&p), 110, "nothing has changed");
	park_announce(&p);
	ok(park_notify(&p), "a token once it has said that it sleeps");
	is(counts(&p), 111, "one spins, one sleeps");
}

static void nobody_to_wake(void)
{
	struct park p;

	park_init(&p);
	ok(!park_notify(&p), "no sleeper, no token");
	ok(!park_wake(&p), "by either call");
	is(counts(&p), 0, "nothing has changed");
}

/* It saw work itself just when somebody gave it a token. */
static void retract_takes_the_token(void)
{
	struct park p;

	make(&p, 1);
	ok(park_wake(&p), "a token is given");
	is(counts(&p), 101, "the sleeper counts as a spinner");
	park_retract(&p);
	is(counts(&p), 100, "retracting takes it: one spinner, not two");
}

/* A token has no name: whoever retracts first takes it. */
static void token_belongs_to_anybody(void)
{
	struct park p;

	make(&p, 2);
	ok(park_wake(&p), "two sleep, one is woken");
	park_retract(&p);
	is(counts(&p), 110, "the one that retracts takes the token");
	park_retract(&p);
	is(counts(&p), 200, "the other one retracts without");
}

static void timeout_is_told(void)
{
	struct park p;

	make(&p, 1);
	is(park_sleep(&p, 0), -ETIMEDOUT, "a sleep of no time ends");
	is(counts(&p), 100, "and counts as spinning again");
}

static void wake_all_asks_nobody(void)
{
	struct park p;

	make(&p, 3);
	park_spin(&p);
	park_wake_all(&p);
	is(counts(&p), 403, "all three are woken though one spins");
	is(park_sleep(&p, -1), 0, "the first takes its token");
	is(park_sleep(&p, -1), 0, "so does the second");
	is(park_sleep(&p, -1), 0, "and the third");
	is(counts(&p), 400, "no token is left");
	park_wake_all(&p);
	is(counts(&p), 400, "with no sleeper there is nothing to give");
}

/* ---- CPUs --------------------------------------------------------------- */

static struct park shared;
static _Atomic(int) first_awake; /* 1 or 2; 0: both sleep */

struct sleeper {
	pthread_t thread;
	_Atomic(int) tid;
	int nr, cpu;
};

static void *sleep_once(void *arg)
{
	struct sleeper *me = arg;
	int nobody = 0;

	park_spin(&shared);
	park_announce(&shared);
	a_store(&me->tid, gettid(), relaxed);
	park_sleep_uncalled(&shared, -1, NULL, park_bits(me->cpu));
	a_cas(&first_awake, &nobody, me->nr, seq_cst, seq_cst);
	return NULL;
}

/* Asleep in the kernel, where it waits for nothing else. */
static bool is_asleep(struct sleeper *s)
{
	char path[64], state = 0;
	FILE *f;

	if (!a_load(&s->tid, relaxed))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
		 a_load(&s->tid, relaxed));
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'S';
}

static void put_asleep(struct sleeper *s, int nr, int cpu)
{
	int64_t end = clock_now_ns() + HANG_NS;

	s->nr = nr;
	s->cpu = cpu;
	a_store(&s->tid, 0, relaxed);
	pthread_create(&s->thread, NULL, sleep_once, s);
	while (!is_asleep(s) && clock_now_ns() < end)
		sched_yield();
}

/* Stays where it is. */
static int bind_self(cpu_set_t *before)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	sched_getaffinity(0, sizeof(*before), before);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -1 : cpu;
}

static void a_waker_keeps_its_cpu(void)
{
	struct sleeper here, elsewhere;
	cpu_set_t before;
	int cpu = bind_self(&before);

	park_init(&shared);
	put_asleep(&here, 1, cpu);
	put_asleep(&elsewhere, 2, cpu + 1);
	ok(park_wake(&shared), "two sleep, one is woken");
	while (!a_load(&first_awake, seq_cst))
		sched_yield();
	is(a_load(&first_awake, seq_cst), 2,
	   "not the first one, which is bound to the waker's CPU");
	pthread_join(elsewhere.thread, NULL);
	park_found(&shared);
	ok(park_wake(&shared), "the other one is woken");
	is(pthread_join(here.thread, NULL), 0, "if nobody else sleeps");
	park_found(&shared);
	is(counts(&shared), 0, "nobody is left");
	sched_setaffinity(0, sizeof(before), &before);
}

static void a_spinner_loses_its_cpu(void)
{
	cpu_set_t before;
	struct park p;

	park_init(&p);
	bind_self(&before);
	park_spin(&p);
	ok(park_is_displaced(&p, word_of(&p)),
	   "the spinner began where this thread is: it does not spin now");
	park_spin(&p);
	ok(!park_is_displaced(&p, word_of(&p)), "one of two may");
	park_found(&p);
	a_store(&p.spins_at, a_load(&p.spins_at, relaxed) + 1, relaxed);
	ok(!park_is_displaced(&p, word_of(&p)), "so may one elsewhere");
	sched_setaffinity(0, sizeof(before), &before);
}

/* Work for anybody: a token has no name, so neither may work. */
struct crew {
	struct park p;
	pthread_t thread[NR_THREADS];
	_Atomic(int) nr_work, nr_done, is_stopping;
};

static bool take_work(struct crew *crew)
{
	int nr = a_load(&crew->nr_work, seq_cst);

	while (nr > 0) {
		if (a_cas(&crew->nr_work, &nr, nr - 1, seq_cst, seq_cst))
			return true;
	}
	return false;
}

static bool has_news(struct crew *crew)
{
	return a_load(&crew->nr_work, seq_cst) ||
	       a_load(&crew->is_stopping, seq_cst);
}

/* The protocol of a worker: look, say so, look again, sleep. */
static bool find_work(struct crew *crew)
{
	bool found;

	park_spin(&crew->p);
	while (!(found = take_work(crew)) &&
	       !a_load(&crew->is_stopping, seq_cst)) {
		park_announce(&crew->p);
		if (has_news(crew))
			park_retract(&crew->p);
		else
			park_sleep(&crew->p, -1);
	}
	if (park_found(&crew->p) && found && a_load(&crew->nr_work, seq_cst))
		park_wake(&crew->p);
	return found;
}

static void *work(void *arg)
{
	struct crew *crew = arg;

	while (find_work(crew))
		a_add(&crew->nr_done, 1, seq_cst);
	return NULL;
}

/* What stands still is told: a hang has no second chance to be seen. */
static void wait_for(struct crew *crew, int nr)
{
	int64_t end = clock_now_ns() + HANG_NS;

	while (a_load(&crew->nr_done, seq_cst) != nr) {
		if (clock_now_ns() > end) {
			printf("Bail out! %d of %d done, %d wait, word %#llx\n",
			       a_load(&crew->nr_done, seq_cst), nr,
			       a_load(&crew->nr_work, seq_cst),
			       (unsigned long long)word_of(&crew->p));
			abort();
		}
		sched_yield();
	}
}

/* Fewer rounds where the CPUs are others'. */
static void no_wake_up_is_lost(void)
{
	int64_t end = clock_now_ns() + ROUNDS_NS;
	struct crew crew;
	int i, nr = 0;

	memset(&crew, 0, sizeof(crew));
	park_init(&crew.p);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&crew.thread[i], NULL, work, &crew);
	for (i = 0; i < NR_ROUNDS && clock_now_ns() < end; i++) {
		nr += 1 + i % 3;
		a_add(&crew.nr_work, 1 + i % 3, seq_cst);
		park_notify(&crew.p);
		if (i % 8)
			wait_for(&crew, nr);
	}
	wait_for(&crew, nr);
	a_store(&crew.is_stopping, 1, seq_cst);
	park_wake_all(&crew.p);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(crew.thread[i], NULL);
	is(crew.nr_done, nr, "two sleepers do all work that is announced");
	is(counts(&crew.p), 0, "and all counts are back at none");
}

int main(void)
{
	tap_start(60);
	moves_are_counted();
	token_wakes_one();
	spinner_needs_no_token();
	nobody_to_wake();
	retract_takes_the_token();
	token_belongs_to_anybody();
	timeout_is_told();
	wake_all_asks_nobody();
	a_waker_keeps_its_cpu();
	a_spinner_loses_its_cpu();
	no_wake_up_is_lost();
	return tap_end();
}
