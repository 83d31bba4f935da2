/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program has read and left in the library, compared with what the
 * interpreter says, and the order in which its steps went; and batches of
 * programs, by their seeds.
 */
#ifndef TESTS_API_COMPARE_H
#define TESTS_API_COMPARE_H

#include "tests/api/probe/world.h"

#include <signal.h>

/* Of the program under way, for the watchdog. */
static volatile uint64_t seed_now;

static void say_seed(int sig)
{
	char text[64];
	int len, error = errno;

	if (watchdog_waits()) {
		errno = error;
		return;
	}
	len = snprintf(text, sizeof(text), "# hangs with seed %llu\n",
		       (unsigned long long)seed_now);
	if (write(STDOUT_FILENO, text, (size_t)len) != len)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

__attribute__((unused)) static void say_seed_in_time(void)
{
	signal(SIGALRM, say_seed);
}

/* What the bodies have read, and that each has run once. */
__attribute__((unused)) static void world_check_marks(struct world *w,
						      const struct state *st)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_steps; i++) {
		if (w->mark[i].nr_ran != !st->is_skipped[i])
			wrong(w, "step %u ran %u times", i, w->mark[i].nr_ran);
		else if (w->mark[i].nr_ran && w->mark[i].seen != st->seen[i])
			wrong(w, "step %u has read something else", i);
	}
}

/* What the last step has left in a data; waits for it. */
static void check_data(struct world *w, const struct state *st, uint32_t d)
{
	const struct shape *s = &w->p->shape[d];
	struct op whole = { .data = (uint8_t)d };
	uint32_t i;
	void *bytes;
	int rc, want = 0;

	for (i = 0; i < s->nr_parts && !want; i++)
		want = st->error[d][i];
	rc = lkdf_data_acquire(w->data[d], LKDF_READ, -1, &bytes);
	if (rc != want)
		wrong(w, "acquire data %u: %d, expected %d: %s", d, rc, want,
		      lkdf_errmsg());
	if (rc)
		return;
	for (i = 0; i < s->nr_parts; i++)
		if (bytes_value(w, part_at(w->p, &whole, bytes, i),
				part_words(s, i),
				"acquires") != st->value[d][i])
			wrong(w, "data %u part %u has another value", d, i + 1);
	rc = lkdf_data_release(w->data[d]);
	if (rc)
		wrong(w, "release data %u: %d %s", d, rc, lkdf_errmsg());
}

__attribute__((unused)) static void world_check_data(struct world *w,
						     const struct state *st)
{
	uint32_t d;

	for (d = 0; d < w->p->nr_data; d++)
		check_data(w, st, d);
}

/* Only where no data is split and nothing is reduced. */
__attribute__((unused)) static void world_check_versions(struct world *w,
							 const struct state *st)
{
	unsigned long long is;
	uint32_t d;

	for (d = 0; d < w->p->nr_data; d++) {
		is = lkdf_data_version(w->data[d]);
		if (is != st->version[d])
			wrong(w, "data %u: version %llu, expected %llu", d, is,
			      (unsigned long long)st->version[d]);
	}
}

/* Uses of one part so far: of the group at work, and of all before it. */
struct group {
	uint32_t mode;
	uint64_t before, end;
};

/* The same mode goes on with the group, but for those that are alone. */
static void group_add(struct world *w, struct group *g, uint32_t step,
		      uint32_t mode, uint64_t end)
{
	bool is_same = mode == g->mode && !(mode & LKDF_WRITE);

	if (!is_same) {
		if (g->end > g->before)
			g->before = g->end;
		g->mode = mode;
	}
	if (w->mark[step].start < g->before)
		wrong(w, "step %u started before what it waits for has ended",
		      step);
	if (end > g->end)
		g->end = end;
}

/* The intervals of all uses of one part, in the order of submission. */
static void check_part_order(struct world *w, uint32_t d, uint32_t part)
{
	struct group g = { 0 };
	const struct step *s;
	uint32_t i, j, mode;
	uint64_t end;

	for (i = 0; i < w->p->nr_steps; i++) {
		if (!w->mark[i].nr_ran)
			continue;
		s = &w->p->step[i];
		mode = 0;
		end = 0;
		for (j = 0; j < s->nr; j++) {
			if (s->op[j].data != d || part < op_first(&s->op[j]) ||
			    part >= op_end(w->p, &s->op[j]) ||
			    !op_holds(w, &s->op[j]))
				continue;
			mode |= s->op[j].mode & ~(uint32_t)LKDF_MAYBE;
			end = w->mark[i].end[j];
		}
		if (mode)
			group_add(w, &g, i, mode, end);
	}
}

/* Whatever must not overlap has not, and went in the order of the steps. */
__attribute__((unused)) static void world_check_order(struct world *w)
{
	uint32_t d, part;

	for (d = 0; d < w->p->nr_data; d++)
		for (part = 0; part < w->p->shape[d].nr_parts; part++)
			check_part_order(w, d, part);
}

/* After so many runs of all steps that have no errors. */
__attribute__((unused)) static void
world_check_runs(struct world *w, struct state *st, uint32_t nr_runs)
{
	uint32_t i;

	if (lkdf_scope_wait(w->rt, NULL, -1))
		wrong(w, "scope: %s", lkdf_errmsg());
	for (i = 0; i < w->p->nr_steps; i++) {
		if (w->mark[i].nr_ran != nr_runs)
			wrong(w, "step %u ran %u times in %u runs", i,
			      w->mark[i].nr_ran, nr_runs);
		w->mark[i].nr_ran = 1;
	}
	world_check_marks(w, st);
	world_check_order(w);
	world_check_data(w, st);
}

/* All checks; says the program if one fails. Return: how much went wrong. */
__attribute__((unused)) static int
world_check(struct world *w, const struct state *st, bool has_versions)
{
	int nr;

	world_check_data(w, st);
	world_check_marks(w, st);
	world_check_order(w);
	if (has_versions)
		world_check_versions(w, st);
	nr = atomic_load(&w->nr_wrong);
	if (nr)
		program_say(w->p);
	return nr;
}

/* Submits one after another. Return: how much went wrong. */
__attribute__((unused)) static int run_program(struct lkdf *rt,
					       struct lkdf_kind *k,
					       const struct choice *c,
					       uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct world *w;
	uint32_t i;
	int nr;

	program_make(&p, c, seed);
	state_run(&st, &p);
	w = world_create(rt, &p, k);
	for (i = 0; i < p.nr_steps; i++)
		world_submit(w, i, NULL, NULL);
	/* In half of the cases acquire is the one that waits. */
	if (seed % 2)
		world_check_data(w, &st);
	if (lkdf_scope_wait(rt, NULL, -1))
		wrong(w, "scope: %s", lkdf_errmsg());
	/* Uses of several parts may count as one, or as many. */
	nr = world_check(w, &st,
			 !(c->modes & LKDF_REDUCE) &&
				 (c->max_parts == 1 || !c->has_twice));
	world_destroy(w);
	return nr;
}

/* Programs of some sorts. run: returns how much went wrong. */
struct batch {
	const struct choice *choice;
	size_t nr_choices;
	int (*run)(struct lkdf *rt, struct lkdf_kind *k, const struct choice *c,
		   uint64_t seed);
	lkdf_fn body;
};

/* nr of each sort; ends with a sort at the third that goes wrong. */
__attribute__((unused)) static void run_batch(struct lkdf *rt,
					      const struct batch *b,
					      const char *options,
					      uint64_t seed, int nr)
{
	struct lkdf_kind *k =
		api_kind(rt, "step", b->body, sizeof(struct job), 0);
	int i, nr_wrong;
	size_t sort;

	for (sort = 0; sort < b->nr_choices; sort++) {
		nr_wrong = 0;
		for (i = 0; i < nr && nr_wrong < 3; i++) {
			seed_now = seed + (uint64_t)i;
			nr_wrong +=
				b->run(rt, k, &b->choice[sort], seed_now) != 0;
		}
		is(nr_wrong, 0, "%s: programs of sort %zu, seeds %llu to %llu",
		   options, sort, (unsigned long long)seed,
		   (unsigned long long)seed + (unsigned)nr - 1);
	}
	lkdf_kind_put(k);
}

/* A test program: tests of its own and a batch, in a runtime of each sort. */
struct suite {
	struct batch batch;
	uint64_t seed; /* of the first program; one may be named as argument */
	int nr, nr_sanitized; /* programs of each sort */
	bool is_short; /* without 8 workers */
	void (*tests)(struct lkdf *rt, bool is_serial); /* or NULL */
};

static void suite_run_with(const struct suite *s, const char *options,
			   uint64_t seed, int nr)
{
	struct lkdf *rt;

	printf("# %s\n", options);
	rt = api_open(options);
	if (s->tests)
		s->tests(rt, !strcmp(options, "serial=yes"));
	run_batch(rt, &s->batch, options, seed, nr);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Arguments: the first seed, and how many programs of each sort. */
__attribute__((unused)) static void suite_run(const struct suite *s, int argc,
					      char **argv)
{
	static const char *const options[] = {
		"workers=1",  "workers=2", "workers=4",
		"serial=yes", "workers=8",
	};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : s->seed;
	int nr = argc > 2	 ? atoi(argv[2])
		 : HAS_SANITIZER ? s->nr_sanitized
				 : s->nr;
	size_t i;

	tap_start(argc > 2 ? 3600 : 240);
	say_seed_in_time();
	for (i = 0; i < LENGTH(options) - s->is_short; i++) {
		suite_run_with(s, options[i], seed, nr);
		seed += (uint64_t)nr;
	}
}

#endif
