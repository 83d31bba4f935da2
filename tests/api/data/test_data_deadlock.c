/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Many threads submit tasks that use several data: MXNet 1, where two threads
 * that both wrote X and Y waited for each other for ever. A round that does
 * not end within the watchdog's time ends the program.
 *
 * Each task notes the version of each variable it has met. From these follow
 * the orders of the variables' uses; together with the orders in which the
 * threads have submitted they must be without a cycle. Then there is a serial
 * order of all tasks, and run in this order they leave the same values.
 *
 * test_data_deadlock [SEED [ROUNDS]] runs other programs, and more of them.
 */
#include "tests/api/data/versions.h"

#define ROUND_S (HAS_SANITIZER ? 30 : 5)
#define MAX_THREADS 64

static int note_down(struct lkdf_ctx *c, void *arg)
{
	struct task *t = *(struct task **)arg;
	struct log *l = t->log;
	uint64_t *word[MAX_USES];
	struct note *n;
	uint32_t i;

	atomic_fetch_add(&t->nr_ran, 1);
	t->seen = (uint64_t)(t - l->task);
	for (i = 0; i < t->nr; i++) {
		n = &t->note[i];
		word[i] = lkdf_ptr(c, i);
		if (n->mode & LKDF_READ)
			t->seen = mix(t->seen ^ *word[i]);
	}
	for (i = 0; i < t->nr; i++) {
		n = &t->note[i];
		if (n->mode & LKDF_WRITE) {
			*word[i] = result(t->seen, i);
			l->version[n->var]++;
		}
		n->version = l->version[n->var];
	}
	return 0;
}

static void submit_one(struct task *t)
{
	struct lkdf_use use[MAX_USES];
	uint32_t i;

	for (i = 0; i < t->nr; i++)
		use[i] = (struct lkdf_use){
			.data = t->log->data[t->note[i].var],
			.mode = t->note[i].mode,
		};
	must(lkdf_submit(t->log->rt, NULL,
			 ATTR(lkdf_task, .kind = t->log->kind, .arg = &t,
			      .use = use, .nr_use = t->nr),
			 NULL));
}

static void submit_each(struct log *l, uint32_t thread)
{
	uint32_t i;

	for (i = 0; i < l->nr_each; i++)
		submit_one(&l->task[thread * l->nr_each + i]);
}

struct submitter {
	struct log *log;
	uint32_t nr;
	pthread_t thread;
};

static void *run_submitter(void *arg)
{
	struct submitter *s = arg;

	pthread_barrier_wait(&s->log->start);
	submit_each(s->log, s->nr);
	return NULL;
}

static int submit_in_body(struct lkdf_ctx *c, void *arg)
{
	struct submitter *s = arg;

	(void)c;
	submit_each(s->log, s->nr);
	return 0;
}

static void submit_from_threads(struct log *l)
{
	struct submitter s[MAX_THREADS];
	uint32_t i;

	pthread_barrier_init(&l->start, NULL, l->nr_threads);
	for (i = 0; i < l->nr_threads; i++) {
		s[i] = (struct submitter){ .log = l, .nr = i };
		must(-pthread_create(&s[i].thread, NULL, run_submitter, &s[i]));
	}
	for (i = 0; i < l->nr_threads; i++)
		pthread_join(s[i].thread, NULL);
	pthread_barrier_destroy(&l->start);
}

static void submit_from_bodies(struct log *l)
{
	struct lkdf_kind *k = api_kind(l->rt, "submits", submit_in_body,
				       sizeof(struct submitter), 0);
	struct submitter s = { .log = l };

	for (s.nr = 0; s.nr < l->nr_threads; s.nr++)
		must(lkdf_submit(l->rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &s), NULL));
	must(lkdf_scope_wait(l->rt, NULL, -1));
	lkdf_kind_put(k);
}

/* X: task 0 before task 1; Y: the other way round. */
static void the_check_finds_a_cycle(void)
{
	struct task task[2] = {
		{ .nr = 2, .note = { { 0, LKDF_RW, 1 }, { 1, LKDF_RW, 2 } } },
		{ .nr = 2, .note = { { 0, LKDF_RW, 2 }, { 1, LKDF_RW, 1 } } },
	};
	struct log l = {
		.nr_threads = 2, .nr_each = 1, .nr_vars = 2, .task = task
	};
	const char *bad = log_check(&l);

	has(bad ? bad : "", "cycle", "the check finds a made-up cycle");
	task[1].note[1].version = 2;
	bad = log_check(&l);
	has(bad ? bad : "", "same version", "and a version written twice");
	task[0].note[1].version = 1;
	bad = log_check(&l);
	has(bad ? bad : "", "serial order", "and values of no order");
}

/*
 * Rounds
 */

static void log_create(struct log *l, struct lkdf *rt, uint32_t nr_threads,
		       uint32_t nr_each)
{
	uint64_t value;
	uint32_t i;

	memset(l, 0, sizeof(*l));
	l->rt = rt;
	l->kind = api_kind(rt, "notes", note_down, sizeof(struct task *), 0);
	l->nr_threads = nr_threads;
	l->nr_each = nr_each;
	l->task = calloc(nr_tasks(l), sizeof(*l->task));
	for (i = 0; i < nr_tasks(l); i++)
		l->task[i].log = l;
	for (i = 0; i < MAX_VARS; i++) {
		value = initial(i);
		must(lkdf_data_create(rt,
				      ATTR(lkdf_data_attr,
					   .bytes = sizeof(value),
					   .init = &value),
				      &l->data[i]));
	}
}

static void log_destroy(struct log *l)
{
	uint32_t i;

	for (i = 0; i < MAX_VARS; i++)
		lkdf_data_put(l->data[i]);
	lkdf_kind_put(l->kind);
	free(l->task);
}

/* All that is left when nothing runs any more. */
static const char *log_end(struct log *l)
{
	uint32_t i;
	void *bytes;

	must(lkdf_scope_wait(l->rt, NULL, -1));
	for (i = 0; i < l->nr_vars; i++) {
		must(lkdf_data_acquire(l->data[i], LKDF_READ, -1, &bytes));
		l->last[i] = *(uint64_t *)bytes;
		must(lkdf_data_release(l->data[i]));
		if (lkdf_data_version(l->data[i]) != 1 + l->version[i])
			return "a version has another number";
	}
	for (i = 0; i < nr_tasks(l); i++)
		if (atomic_load(&l->task[i].nr_ran) != 1)
			return "a task has not run once";
	return log_check(l);
}

/* Half of the threads write X and Y, the others Y and X. */
static void make_opposite(struct log *l, struct rng *r)
{
	uint32_t i, turned;
	struct task *t;

	(void)r;
	l->nr_vars = 2;
	for (i = 0; i < nr_tasks(l); i++) {
		t = &l->task[i];
		turned = i / l->nr_each % 2;
		t->nr = 2;
		t->note[0] = (struct note){ (uint8_t)turned, LKDF_RW, 0 };
		t->note[1] = (struct note){ (uint8_t)!turned, LKDF_RW, 0 };
	}
}

static void make_random(struct log *l, struct rng *r)
{
	static const uint8_t modes[] = { LKDF_READ, LKDF_READ, LKDF_RW,
					 LKDF_WRITE };
	uint32_t i, j, first, step;
	struct task *t;

	l->nr_vars = MAX_VARS;
	for (i = 0; i < nr_tasks(l); i++) {
		t = &l->task[i];
		t->nr = rng_range(r, 1, MAX_USES);
		first = rng_range(r, 0, MAX_VARS - 1);
		/* Odd: no variable comes twice. */
		step = rng_range(r, 0, MAX_VARS / 2 - 1) * 2 + 1;
		for (j = 0; j < t->nr; j++) {
			t->note[j].var =
				(uint8_t)((first + j * step) % MAX_VARS);
			t->note[j].mode = modes[rng_range(r, 0, 3)];
		}
	}
}

struct round {
	const char *name;
	void (*make)(struct log *l, struct rng *r);
	void (*submit)(struct log *l);
};

static bool round_goes(struct lkdf *rt, const struct round *round,
		       uint32_t nr_threads, uint64_t seed)
{
	struct rng rng = { seed };
	const char *bad;
	struct log l;

	watchdog_set(ROUND_S);
	log_create(&l, rt, nr_threads, 6400 / nr_threads / 4);
	round->make(&l, &rng);
	round->submit(&l);
	bad = log_end(&l);
	if (bad)
		printf("# %s, %u threads, seed %llu: %s\n", round->name,
		       nr_threads, (unsigned long long)seed, bad);
	log_destroy(&l);
	return !bad;
}

static void rounds_go(struct lkdf *rt, const struct round *round, uint64_t seed,
		      int nr)
{
	static const uint32_t nr_threads[] = { 2, 3, 8, MAX_THREADS };
	size_t i;
	int j, nr_good;

	for (i = 0; i < sizeof(nr_threads) / sizeof(*nr_threads); i++) {
		printf("# %s: %u threads, seeds from %llu\n", round->name,
		       nr_threads[i], (unsigned long long)seed);
		nr_good = 0;
		for (j = 0; j < nr; j++)
			nr_good += round_goes(rt, round, nr_threads[i],
					      seed + (uint64_t)j);
		is(nr_good, nr, "MXNet 1: %s of %u submitters end, in order",
		   round->name, nr_threads[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct round rounds[] = {
		{ "opposite writes", make_opposite, submit_from_threads },
		{ "random uses", make_random, submit_from_threads },
		{ "opposite writes in bodies", make_opposite,
		  submit_from_bodies },
		{ "random uses in bodies", make_random, submit_from_bodies },
	};
	static const char *const options[] = { "workers=2", "workers=1",
					       "workers=8", "serial=yes" };
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	int nr = argc > 2 ? atoi(argv[2]) : HAS_SANITIZER ? 2 : 10;
	struct lkdf *rt;
	size_t i, j;

	tap_start(ROUND_S);
	the_check_finds_a_cycle();
	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		for (j = 0; j < sizeof(rounds) / sizeof(*rounds); j++) {
			rounds_go(rt, &rounds[j], seed, nr);
			seed += (uint64_t)nr;
		}
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
