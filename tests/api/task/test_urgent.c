/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * URGENT tasks behind full bodies: all workers are held in bodies that do not
 * end before the urgent tasks have run, which so have to run on spare threads,
 * at most one a worker at a time. Whatever a body may do, it does there, too.
 */
#include "tests/api/heard.h"

#define MAX_WORKERS 4
#define NR_MANY 50
#define NR_ROUNDS 30
#define NR_BESIDE 40

static struct {
	struct lkdf *rt;
	struct lkdf_kind *holder, *urgent;
	int nr_workers;
	atomic_int nr_held, is_released;
	atomic_int nr_ran, nr_here, most_here, nr_on_workers, nr_dropped;
	atomic_int gate; /* bodies wait until it is 0 */
} all;

/* Bounded: a test that fails ends all the same. */
static bool wait_until(atomic_int *word, int value)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	int64_t end = api_now_ns() + PATIENCE_NS;

	while (atomic_load(word) != value && api_now_ns() < end)
		nanosleep(&nap, NULL);
	return atomic_load(word) == value;
}

static int hold(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&all.nr_held, 1);
	wait_until(&all.is_released, 1);
	return 0;
}

static void count_here(void)
{
	int here = atomic_fetch_add(&all.nr_here, 1) + 1;
	int most = atomic_load(&all.most_here);

	while (here > most &&
	       !atomic_compare_exchange_weak(&all.most_here, &most, here))
		;
}

static int note(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	count_here();
	wait_until(&all.gate, 0);
	if (lkdf_worker(c) < all.nr_workers)
		atomic_fetch_add(&all.nr_on_workers, 1);
	atomic_fetch_sub(&all.nr_here, 1);
	atomic_fetch_add(&all.nr_ran, 1);
	return 0;
}

static void note_drop(void *arg)
{
	(void)arg;
	atomic_fetch_add(&all.nr_dropped, 1);
}

static struct lkdf_kind *urgent_kind(const char *name, lkdf_fn fn)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(all.rt,
			      ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				   .prio = LKDF_URGENT, .drop = note_drop),
			      &k));
	return k;
}

static void submit(struct lkdf_scope *s, struct lkdf_kind *k, int prio,
		   struct lkdf_event *done)
{
	must(lkdf_submit(all.rt, s, ATTR(lkdf_task, .kind = k, .prio = prio),
			 done));
}

static void forget(void)
{
	atomic_store(&all.nr_ran, 0);
	atomic_store(&all.most_here, 0);
	atomic_store(&all.nr_on_workers, 0);
	atomic_store(&all.nr_dropped, 0);
}

static void start(int nr_workers, const char *options)
{
	char text[96];

	snprintf(text, sizeof(text), "workers=%d%s", nr_workers, options);
	printf("# %s\n", text);
	all.rt = api_open(text);
	all.nr_workers = nr_workers;
	all.holder = api_kind(all.rt, "holder", hold, 0, LKDF_SHARED);
	all.urgent = urgent_kind("urgent", note);
	forget();
}

/* Every worker is in a body. */
static void hold_all(void)
{
	int i;

	atomic_store(&all.is_released, 0);
	atomic_store(&all.nr_held, 0);
	for (i = 0; i < all.nr_workers; i++)
		submit(NULL, all.holder, LKDF_PRIO_DEFAULT, NULL);
	if (!wait_until(&all.nr_held, all.nr_workers))
		must(-ETIMEDOUT);
}

static void release_all(void)
{
	atomic_store(&all.is_released, 1);
}

static void end(void)
{
	release_all();
	must(lkdf_scope_wait(all.rt, NULL, -1));
	lkdf_kind_put(all.urgent);
	lkdf_kind_put(all.holder);
	is(lkdf_close(all.rt), 0, "the runtime closes");
}

/* ---- from outside ------------------------------------------------------- */

static void one_runs(int nr_workers, const char *options)
{
	struct lkdf_event done;

	start(nr_workers, options);
	hold_all();
	submit(NULL, all.urgent, LKDF_PRIO_DEFAULT, &done);
	is(lkdf_event_wait(done, PATIENCE_NS), 0,
	   "an urgent task runs while all workers are held");
	is(atomic_load(&all.nr_on_workers), 0, "on no worker");
	is(stat_of(all.rt, "lkdf.blocking.urgent"), 1, "which is counted");
	is(atomic_load(&all.nr_dropped), 1, "its argument is dropped");
	/* Of a kind that is not urgent, and the other way round. */
	submit(NULL, all.urgent, LKDF_NORMAL, NULL);
	submit(NULL, all.holder, LKDF_URGENT, NULL);
	ok(wait_until(&all.nr_held, all.nr_workers + 1),
	   "a task is urgent that is not of an urgent kind");
	is(atomic_load(&all.nr_ran), 1, "one that is not urgent waits");
	end();
	is(atomic_load(&all.nr_ran), 2, "until a worker has time");
}

static void more_than_threads(int nr_workers)
{
	int i;

	start(nr_workers, "");
	hold_all();
	atomic_store(&all.gate, 1);
	for (i = 0; i < NR_MANY; i++)
		submit(NULL, all.urgent, 0, NULL);
	ok(wait_until(&all.nr_here, nr_workers),
	   "as many urgent bodies as there are workers run side by side");
	atomic_store(&all.gate, 0);
	ok(wait_until(&all.nr_ran, NR_MANY), "and all the others then");
	is(atomic_load(&all.most_here), nr_workers, "never more at a time");
	is(stat_of(all.rt, "lkdf.blocking.urgent"), NR_MANY,
	   "all of them on spare threads");
	end();
	is(atomic_load(&all.nr_dropped), NR_MANY, "all are dropped once");
}

/*
 * The worker has time when both are submitted, and takes one of them: the other
 * one's submitter may have seen that somebody looks for work.
 */
static void two_at_once(const char *options)
{
	int i, nr_met = 0;

	start(1, options);
	for (i = 0; i < NR_ROUNDS && nr_met == i; i++) {
		atomic_store(&all.gate, 1);
		submit(NULL, all.urgent, 0, NULL);
		submit(NULL, all.urgent, 0, NULL);
		nr_met += wait_until(&all.nr_here, 2);
		atomic_store(&all.gate, 0);
		must(lkdf_scope_wait(all.rt, NULL, -1));
	}
	is(nr_met, NR_ROUNDS, "two run side by side with one worker");
	end();
}

/* Workers that have time run urgent tasks themselves. */
static void idle_workers_run_them(void)
{
	int i;

	start(1, ",spin_us=1000000");
	for (i = 0; i < NR_ROUNDS; i++) {
		submit(NULL, all.urgent, 0, NULL);
		must(lkdf_scope_wait(all.rt, NULL, -1));
	}
	is(atomic_load(&all.nr_on_workers), NR_ROUNDS,
	   "an idle worker takes them before the time is over");
	is(stat_of(all.rt, "lkdf.blocking.urgent"), 0, "no spare thread does");
	end();
}

/* ---- what urgent bodies do there ---------------------------------------- */

static int is_urgent_child(struct lkdf_ctx *c)
{
	return lkdf_spawn_task(
		c, ATTR(lkdf_task, .kind = all.urgent, .prio = LKDF_URGENT),
		NULL);
}

static atomic_int behind, joined; /* so many had run */

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (lkdf_worker(c) < all.nr_workers)
		atomic_fetch_add(&all.nr_on_workers, 1);
	atomic_store(&behind, atomic_load(&all.nr_ran));
	return 0;
}

static int then(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		must(is_urgent_child(c));
	return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

static int join(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++)
		must(is_urgent_child(c));
	must(lkdf_join(c));
	atomic_store(&joined, atomic_load(&all.nr_ran));
	return 0;
}

/* Two workers, so that one spare thread is left for children of a join. */
static void bodies_do_all(void)
{
	struct lkdf_kind *k[2];

	start(2, "");
	k[0] = urgent_kind("then", then);
	k[1] = urgent_kind("join", join);
	hold_all();
	submit(NULL, k[0], 0, NULL);
	ok(wait_until(&behind, 3),
	   "lkdf_then() goes on behind urgent children");
	is(atomic_load(&all.nr_on_workers), 0, "and is on no worker");
	forget();
	submit(NULL, k[1], 0, NULL);
	ok(wait_until(&joined, 3), "lkdf_join() of urgent children");
	is(atomic_load(&all.nr_on_workers), 0, "none was on a worker");
	lkdf_kind_put(k[0]);
	lkdf_kind_put(k[1]);
	end();
}

static atomic_int parent_saw;

/* Spawned by a body that goes on, whose worker keeps them in its deque. */
static int spawn_and_hold(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR_MANY; i++)
		must(is_urgent_child(c));
	atomic_store(&parent_saw, wait_until(&all.nr_ran, NR_MANY));
	return 0;
}

static void children_run(int nr_workers)
{
	struct lkdf_kind *k;
	int i;

	start(nr_workers, "");
	k = api_kind(all.rt, "parent", spawn_and_hold, 0, 0);
	atomic_store(&all.is_released, 0);
	atomic_store(&all.nr_held, 0);
	for (i = 1; i < nr_workers; i++)
		submit(NULL, all.holder, 0, NULL);
	if (!wait_until(&all.nr_held, nr_workers - 1))
		must(-ETIMEDOUT);
	submit(NULL, k, 0, NULL);
	lkdf_kind_put(k);
	ok(wait_until(&all.nr_ran, NR_MANY), "urgent children run");
	end();
	is(atomic_load(&parent_saw), 1, "while their parent goes on");
	is(atomic_load(&all.nr_on_workers), 0, "on no worker");
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EDOM, "an urgent failure");
}

static atomic_int is_kicked, saw_cancel;

static void kick(void *arg)
{
	(void)arg;
	atomic_store(&is_kicked, 1);
}

static int wait_for_kick(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&all.nr_here, 1);
	wait_until(&is_kicked, 1);
	atomic_store(&saw_cancel, lkdf_cancelled(c));
	atomic_fetch_sub(&all.nr_here, 1);
	return 0;
}

static void errors_are_told(void)
{
	struct lkdf_kind *k;
	struct lkdf_event done;

	start(1, "");
	k = urgent_kind("fail", fail);
	hold_all();
	submit(NULL, k, 0, &done);
	is(lkdf_event_wait(done, PATIENCE_NS), -EDOM, "its error is told");
	lkdf_kind_put(k);
	end();
}

static void cancel_is_seen(void)
{
	struct lkdf_scope *s = NULL;
	struct lkdf_kind *k = NULL;
	int i;

	start(1, "");
	must(lkdf_kind_create(all.rt,
			      ATTR(lkdf_kind_attr, .name = "waits",
				   .fn = wait_for_kick, .on_cancel = kick,
				   .prio = LKDF_URGENT),
			      &k));
	must(lkdf_scope_create(all.rt, NULL, &s));
	hold_all();
	submit(s, k, 0, NULL);
	ok(wait_until(&all.nr_here, 1), "an urgent body waits to be kicked");
	for (i = 0; i < 3; i++)
		submit(s, all.urgent, 0, NULL);
	must(lkdf_scope_cancel(all.rt, s, -ECANCELED));
	is(lkdf_scope_wait(all.rt, s, PATIENCE_NS), -ECANCELED,
	   "a cancelled scope ends while the worker is held");
	is(atomic_load(&is_kicked), 1, "the body was kicked");
	is(atomic_load(&saw_cancel), -ECANCELED, "and saw that it is over");
	is(atomic_load(&all.nr_ran), 0, "those behind it have not run");
	is(atomic_load(&all.nr_dropped), 3, "and are dropped");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	end();
}

/* ---- many rounds -------------------------------------------------------- */

static void *submit_beside(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR_BESIDE; i++)
		submit(NULL, all.urgent, 0, NULL);
	return NULL;
}

/* Workers come and go, spare threads too, and nothing is lost. */
static void rounds(int nr_workers)
{
	pthread_t thread[2];
	int r, i, bad = 0;

	start(nr_workers, "");
	for (r = 0; r < NR_ROUNDS && !bad; r++) {
		forget();
		hold_all();
		for (i = 0; i < 2; i++)
			must(-pthread_create(&thread[i], NULL, submit_beside,
					     NULL));
		if (r % 3 == 1)
			release_all();
		bad += !wait_until(&all.nr_ran, 2 * NR_BESIDE);
		for (i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		release_all();
		must(lkdf_scope_wait(all.rt, NULL, -1));
	}
	is(bad, 0, "each round ran all of its urgent tasks");
	end();
}

/* Close comes when the last spare thread may still be on its way. */
static void close_beside(void)
{
	int r;

	for (r = 0; r < NR_ROUNDS; r++) {
		start(2, ",spin_us=100000");
		hold_all();
		submit(NULL, all.urgent, 0, NULL);
		end();
	}
	start(2, "");
	hold_all();
	submit(NULL, all.urgent, 0, NULL);
	ok(wait_until(&all.nr_ran, 1), "close after rounds of both sorts");
	end();
}

int main(void)
{
	int nr_workers;

	tap_start(300);
	for (nr_workers = 1; nr_workers <= MAX_WORKERS; nr_workers *= 2) {
		one_runs(nr_workers, "");
		more_than_threads(nr_workers);
		children_run(nr_workers);
		rounds(nr_workers);
	}
	one_runs(2, ",blocking=1");
	one_runs(2, ",spin_us=0");
	two_at_once("");
	two_at_once(",spin_us=1000");
	idle_workers_run_them();
	bodies_do_all();
	errors_are_told();
	cancel_is_seen();
	close_beside();
	return tap_end();
}
