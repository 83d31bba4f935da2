/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Members that drop out of a gang's barriers: those that wait go on, the rest
 * meet without them, their tasks still end with the run, and the next run has
 * all members again.
 */
#include "tests/api/api.h"

#define WORKERS 4
#define ROUNDS 50
#define TURNS 20

struct shared {
	struct lkdf_kind *kind;
	atomic_uint nr_wrong, nr_waits;
	atomic_int nr_tasks;
	unsigned nr, value[WORKERS], stays;
};

/* The first ones leave early: of the others each has the value of this round.
 */
static void look_at_rest(struct shared *s, unsigned num, unsigned round)
{
	unsigned i;

	for (i = num; i < s->nr; i++)
		if (s->value[i] != round)
			atomic_fetch_add(&s->nr_wrong, 1);
}

static void leave_in_turn(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;
	unsigned i;

	for (i = 1; i <= ROUNDS * (num + 1); i++) {
		s->value[num] = i;
		if (lkdf_gang_barrier(c))
			atomic_fetch_add(&s->nr_wrong, 1);
		look_at_rest(s, num, i);
		if (lkdf_gang_barrier(c))
			atomic_fetch_add(&s->nr_wrong, 1);
	}
	must(lkdf_spawn(c, s->kind, &s->nr_tasks));
	if (lkdf_gang_drop(c))
		atomic_fetch_add(&s->nr_wrong, 1);
}

static void rest_meets(struct lkdf_gang *g, struct lkdf_kind *k)
{
	struct shared s = { .kind = k };
	unsigned turn;

	for (s.nr = 1; s.nr <= WORKERS; s.nr++) {
		s.nr_wrong = 0;
		atomic_store(&s.nr_tasks, 0);
		for (turn = 0; turn < TURNS; turn++)
			must(lkdf_gang_run(g, s.nr, leave_in_turn, &s));
		is(s.nr_wrong, 0, "%u members drop out one after another",
		   s.nr);
		is(s.nr_tasks, (int)(s.nr * TURNS),
		   "and their tasks end with the run");
	}
}

/* One gives up, whichever it is, while all others wait or come later. */
static void give_up(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;

	if (num == s->stays) {
		lkdf_gang_drop(c);
		return;
	}
	atomic_fetch_add(&s->nr_waits, 1);
	if (lkdf_gang_barrier(c) || lkdf_gang_barrier(c))
		atomic_fetch_add(&s->nr_wrong, 1);
}

static void waiters_go_on(struct lkdf_gang *g)
{
	struct shared s = { .nr = WORKERS };
	unsigned turn;

	for (s.stays = 0; s.stays < WORKERS; s.stays++) {
		s.nr_wrong = s.nr_waits = 0;
		for (turn = 0; turn < 10 * TURNS; turn++)
			must(lkdf_gang_run(g, WORKERS, give_up, &s));
		is(s.nr_wrong, 0, "member %u gives up, the others meet twice",
		   s.stays);
		is(s.nr_waits, 10 * TURNS * (WORKERS - 1), "all of them");
	}
}

static void all_drop(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;

	(void)num;
	if (lkdf_gang_drop(c))
		atomic_fetch_add(&s->nr_wrong, 1);
}

static int drop_in_task(struct lkdf_ctx *c, void *arg)
{
	*(int *)arg = lkdf_gang_drop(c);
	return 0;
}

static void is_refused(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "drops", drop_in_task, 0, 0);
	int rc = 0;

	must(api_call(rt, k, &rc));
	is(rc, -EINVAL, "a task is no member");
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	struct lkdf_gang *g = NULL;
	struct lkdf_kind *k;
	struct shared s = { .nr = WORKERS };

	tap_start(60);
	rt = api_open_workers(WORKERS);
	is_refused(rt);
	k = api_kind(rt, "count", api_count, 0, 0);
	must(lkdf_gang_create(rt, &g));
	rest_meets(g, k);
	waiters_go_on(g);
	must(lkdf_gang_run(g, WORKERS, all_drop, &s));
	is(s.nr_wrong, 0, "all drop out");
	lkdf_gang_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
