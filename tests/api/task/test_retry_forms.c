/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * nr_tries in each form of work: loops, streams, included graphs, data, limits,
 * priorities, events, several runtimes, a forked child. Each body fails twice
 * and is right the third time, so it has three calls for each execution.
 */
#include "tests/api/loop.h"
#include "tests/api/using.h"

#include <sys/wait.h>

#define TRIES 3
#define ROUNDS 40

/* A body that never runs beside itself. */
struct form {
	int nr_calls, nr_ends, nr_inside, nr_beside;
	int last; /* ends after which it returns LKDF_NO_BRANCH */
};

static int third_time(struct lkdf_ctx *c, void *arg)
{
	struct form *f = arg;

	(void)c;
	if (++f->nr_calls % TRIES)
		return -EIO;
	return ++f->nr_ends == f->last ? LKDF_NO_BRANCH : 0;
}

static struct lkdf_kind *kind_of(struct lkdf *rt, lkdf_fn fn, int8_t prio,
				 const struct lkdf_limit_use *limit)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "third", .fn = fn, .prio = prio,
					.limit = limit,
					.nr_limit = limit != NULL,
					.nr_tries = TRIES),
			      &k));
	return k;
}

static void is_done(const struct form *f, int ends, const char *what)
{
	is(f->nr_ends, ends, "%s: executions", what);
	is(f->nr_calls, ends * TRIES, "%s: three calls for each", what);
}

/* ---- graphs ------------------------------------------------------------- */

/* In a loop each round has all tries, and the last one's branch counts. */
static void a_loop_goes_round(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, third_time, 0, NULL);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct form head = { .last = -1 }, latch = { .last = ROUNDS };

	must(lkdf_graph_add(g, k, &head, NULL, 0));
	must(lkdf_graph_add(g, k, &latch, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_back(g, 1, 0, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "a loop is right");
	is_done(&head, ROUNDS, "head of a loop");
	is_done(&latch, ROUNDS, "latch of a loop");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static struct lkdf_graph *chain_of(struct lkdf *rt, struct lkdf_kind *k,
				   struct form *f, int nr)
{
	struct lkdf_graph *g = api_graph(rt, 4);
	int i;

	for (i = 0; i < nr; i++) {
		must(lkdf_graph_add(g, k, &f[i], NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	return g;
}

/* Waves and repetitions: a task's executions come one after another. */
static void waves_and_repetitions_are_right(struct lkdf *rt)
{
	static const uint32_t flags[] = { 0, LKDF_RUN_STREAM };
	struct lkdf_kind *k = kind_of(rt, third_time, LKDF_URGENT, NULL);
	struct lkdf_graph *g;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct form f[3] = { { .last = -1 },
				     { .last = -1 },
				     { .last = -1 } };

		g = chain_of(rt, k, f, 3);
		must(lkdf_graph_seal(g, NULL));
		is(api_run(g, NULL,
			   ATTR(lkdf_run, .times = ROUNDS, .flags = flags[i])),
		   0, "%s is right", i ? "a stream" : "a repetition");
		is_done(&f[0], ROUNDS, "first");
		is_done(&f[2], ROUNDS, "last");
		lkdf_graph_put(g);
	}
	lkdf_kind_put(k);
}

static void included_graphs_are_right(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, third_time, 0, NULL);
	struct form f[2] = { { .last = -1 }, { .last = -1 } };
	struct lkdf_graph *part = chain_of(rt, k, f, 2);
	struct lkdf_graph *g = api_graph(rt, 1);
	int first = must(lkdf_graph_include(g, part));
	int then = must(lkdf_graph_include(g, part));

	must(lkdf_graph_order(g, first, then));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "an included graph is right");
	is_done(&f[0], 2, "first of a part");
	is_done(&f[1], 2, "last of a part");
	lkdf_graph_put(part);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* ---- data, limits, events ------------------------------------------------ */

/* What a failed try has written stays for the next one. */
static int adds(struct lkdf_ctx *c, void *arg)
{
	uint64_t *sum = lkdf_ptr(c, 0);

	(void)arg;
	return ++*sum % TRIES ? -EIO : 0;
}

static int looks(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)arg = *(const uint64_t *)lkdf_ptr(c, 0);
	return 0;
}

static void data_keep_what_a_try_wrote(struct lkdf *rt)
{
	static const uint32_t modes[] = { LKDF_RW, LKDF_COMMUTE };
	struct lkdf_kind *k = kind_of(rt, adds, 0, NULL);
	struct lkdf_kind *look = api_kind(rt, "looks", looks, 0, 0);
	struct lkdf_data *d;
	uint64_t sum = 0;
	size_t m;
	int i;

	for (m = 0; m < LENGTH(modes); m++) {
		d = number(rt, "sum", &(uint64_t){ 0 });
		for (i = 0; i < ROUNDS; i++)
			must(submit_on(rt, k, NULL, ON(d, modes[m]), NULL));
		must(submit_on(rt, look, &sum, ON(d, LKDF_READ), NULL));
		is(lkdf_scope_wait(rt, NULL, -1), 0, "all tasks are right");
		is((int)sum, ROUNDS * TRIES, "each try has added one");
		lkdf_data_put(d);
	}
	lkdf_kind_put(look);
	lkdf_kind_put(k);
}

static int stays_alone(struct lkdf_ctx *c, void *arg)
{
	struct form *f = arg;
	int rc;

	f->nr_beside += f->nr_inside++ != 0;
	rc = third_time(c, arg);
	f->nr_inside--;
	return rc;
}

/* A task keeps its token from its first try to its last. */
static void a_limit_holds_for_all_tries(struct lkdf *rt)
{
	struct form f = { .last = -1 };
	struct lkdf_limit *l;
	struct lkdf_kind *k;
	int i;

	must(lkdf_limit_create(rt, 1, &l));
	k = kind_of(rt, stays_alone, 0, &(struct lkdf_limit_use){ l, 1 });
	for (i = 0; i < ROUNDS; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &f),
				 NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "tasks of a limit are right");
	is_done(&f, ROUNDS, "a limit");
	is(f.nr_beside, 0, "one at a time");
	lkdf_kind_put(k);
	lkdf_limit_put(l);
}

/* Who comes after an event of such a task comes after its last try. */
static void an_event_is_that_of_the_last_try(struct lkdf *rt)
{
	struct lkdf_kind *k = kind_of(rt, third_time, 0, NULL);
	struct form a = { .last = -1 }, b = { .last = -1 };
	struct lkdf_event first, then;

	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &a), &first));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &b, .after = &first,
				   .nr_after = 1),
			 &then));
	is(lkdf_event_wait(then, -1), 0, "the task after it is right");
	is_done(&a, 1, "before the event");
	is_done(&b, 1, "after the event");
	is(lkdf_event_wait(first, -1), 0, "the event has no error");
	lkdf_kind_put(k);
}

/* ---- others in the process ----------------------------------------------- */

static void runtimes_count_for_themselves(void)
{
	struct lkdf *rt[2] = { api_open("workers=2"), api_open("workers=1") };
	struct form f[2] = { { .last = -1 }, { .last = -1 } };
	struct lkdf_kind *k[2];
	uint64_t nr;
	int i;

	for (i = 0; i < 2; i++) {
		k[i] = kind_of(rt[i], third_time, 0, NULL);
		must(lkdf_submit(rt[i], NULL,
				 LKDF_TASK(.kind = k[i], .arg = &f[i]), NULL));
	}
	for (i = 0; i < 2; i++) {
		is(lkdf_scope_wait(rt[i], NULL, -1), 0, "runtime %d is right",
		   i);
		is_done(&f[i], 1, "of two runtimes");
		must(lkdf_stat(rt[i], "lkdf.retries", &nr));
		is((int)nr, TRIES - 1, "its own retries");
		lkdf_kind_put(k[i]);
	}
	for (i = 0; i < 2; i++)
		is(lkdf_close(rt[i]), 0, "it closes");
}

static int run_in_child(void)
{
	struct lkdf *rt = api_open("serial=yes");
	struct lkdf_kind *k = kind_of(rt, third_time, 0, NULL);
	struct form f = { .last = -1 };
	int rc = api_call(rt, k, &f);

	lkdf_kind_put(k);
	return rc || lkdf_close(rt) || f.nr_calls != TRIES;
}

static void a_forked_child_tries_again(void)
{
	struct lkdf *rt = api_open("workers=2");
	pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(run_in_child());
	waitpid(child, &status, 0);
	is(status, 0, "a runtime of a forked child tries again");
	is(lkdf_close(rt), 0, "it closes");
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < NR_MACHINES; i++) {
		printf("# %s\n", machines[i]);
		rt = api_open(machines[i]);
		a_loop_goes_round(rt);
		waves_and_repetitions_are_right(rt);
		included_graphs_are_right(rt);
		data_keep_what_a_try_wrote(rt);
		a_limit_holds_for_all_tries(rt);
		an_event_is_that_of_the_last_try(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	runtimes_count_for_themselves();
	a_forked_child_tries_again();
	return tap_end();
}
