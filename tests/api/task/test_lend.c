/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option substitutes: while workers rest in joins others run what is ready.
 * Children of kind "child" are on threads of the blocking pool, and end when a
 * task says so that no worker in a join may run.
 */
#include "tests/api/heard.h"
#include "tests/api/why.h"

#include <sys/wait.h>
#include <unistd.h>

#define MOST 16

struct story {
	struct lkdf_kind *child, *foreign, *parent;
	atomic_int nr_begun, may_end, has_joined, has_left;
	atomic_int run_by; /* the foreign body */
	bool waits; /* the foreign body, for what comes after the join */
};

static int child(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;

	(void)c;
	atomic_fetch_add(&s->nr_begun, 1);
	api_until(&s->may_end);
	return 0;
}

static int parent(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	int rc;

	must(lkdf_spawn(c, s->child, &s));
	rc = lkdf_join(c);
	atomic_store(&s->has_joined, 1);
	return rc;
}

static int foreign(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;

	atomic_store(&s->run_by, lkdf_worker(c));
	atomic_store(&s->may_end, 1);
	if (s->waits)
		api_until(&s->has_joined);
	atomic_store(&s->has_left, 1);
	return 0;
}

static void begin_story(struct lkdf *rt, struct story *s)
{
	const uint32_t size = sizeof(struct story *);

	s->child = api_kind(rt, "child", child, size, LKDF_BLOCKING);
	s->parent = api_kind(rt, "parent", parent, size, 0);
	s->foreign = api_kind(rt, "foreign", foreign, size, 0);
}

static void end_story(struct story *s)
{
	lkdf_kind_put(s->child);
	lkdf_kind_put(s->parent);
	lkdf_kind_put(s->foreign);
}

static struct lkdf *open_with(int workers, int substitutes)
{
	char options[64];

	snprintf(options, sizeof(options), "workers=%d,substitutes=%d", workers,
		 substitutes);
	return api_open(options);
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, struct story *s,
		   struct lkdf_event *done)
{
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &s), done));
}

/* All workers are in joins, and stay there until the foreign body has run. */
static void foreign_work_runs(int workers, int substitutes, bool waits)
{
	struct lkdf *rt = open_with(workers, substitutes);
	struct story s = { .waits = waits };
	struct lkdf_event done[MOST], last;
	int i, rc = 0;

	begin_story(rt, &s);
	for (i = 0; i < workers; i++)
		submit(rt, s.parent, &s, &done[i]);
	while (atomic_load(&s.nr_begun) < workers)
		api_nap_ns(50000);
	submit(rt, s.foreign, &s, &last);
	for (i = 0; i < workers; i++)
		rc |= lkdf_event_wait(done[i], -1);
	rc |= lkdf_event_wait(last, -1);
	is(rc, 0, "%d workers in joins, %d more: all of it ends%s", workers,
	   substitutes, waits ? ", the lender before its substitute" : "");
	/* A parent of several may be on a substitute, too. */
	if (workers == 1)
		is(s.run_by >= 1 && s.run_by < 1 + substitutes, 1,
		   "a substitute has run the foreign body");
	is(stat_of(rt, "lkdf.lends") > 0, 1, "a seat was lent");
	end_story(&s);
	must(lkdf_close(rt));
}

/* A substitute rests in a join, too, and there is one more. */
static int foreign_parent(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;

	must(lkdf_spawn(c, s->child, &s));
	return lkdf_join(c);
}

static void substitutes_lend(void)
{
	struct lkdf *rt = open_with(1, 2);
	struct story s = { 0 };
	struct lkdf_event done[3];
	struct lkdf_kind *k = api_kind(rt, "foreign parent", foreign_parent,
				       sizeof(struct story *), 0);
	int i, rc = 0;

	begin_story(rt, &s);
	submit(rt, s.parent, &s, &done[0]);
	submit(rt, k, &s, &done[1]);
	while (atomic_load(&s.nr_begun) < 2)
		api_nap_ns(50000);
	submit(rt, s.foreign, &s, &done[2]);
	for (i = 0; i < 3; i++)
		rc |= lkdf_event_wait(done[i], -1);
	is(rc, 0, "a substitute that rests in a join lends its seat");
	is(s.run_by >= 1, 1, "to another one");
	end_story(&s);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int tell_worker(struct lkdf_ctx *c, void *arg)
{
	**(int **)arg = lkdf_worker(c);
	return 0;
}

/* Once nobody rests in a join any more the substitute stands by. */
static void substitutes_leave(void)
{
	struct lkdf *rt = open_with(1, 1);
	struct lkdf_kind *k =
		api_kind(rt, "tell", tell_worker, sizeof(int *), 0);
	struct story s = { 0 };
	struct lkdf_event done[2];
	int i, worker, *out = &worker, nr_others = 0;
	uint64_t before;

	begin_story(rt, &s);
	/* A substitute that begins while a seat is lent does not stand by
	 * first. */
	while (!(before = (uint64_t)stat_of(rt, "lkdf.standby")))
		api_nap_ns(50000);
	submit(rt, s.parent, &s, &done[0]);
	while (!atomic_load(&s.nr_begun))
		api_nap_ns(50000);
	submit(rt, s.foreign, &s, &done[1]);
	is(lkdf_event_wait(done[0], -1) | lkdf_event_wait(done[1], -1), 0,
	   "both end");
	while ((uint64_t)stat_of(rt, "lkdf.standby") == before)
		api_nap_ns(50000);
	for (i = 0; i < 100; i++) {
		api_call(rt, k, &out);
		nr_others += worker != 0;
	}
	is(nr_others, 0, "the substitute stands by, the worker runs all");
	end_story(&s);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* With nothing to run beside it a seat is lent all the same. */
static void lender_is_named(void)
{
	struct lkdf *rt = api_open("workers=1,substitutes=1,stall=1000");
	struct story s = { 0 };
	struct lkdf_event done;

	begin_story(rt, &s);
	submit(rt, s.parent, &s, &done);
	has(why_until(rt, "a substitute has its seat"),
	    "a body of \"parent\" has run for", "lkdf_why() names the lender");
	atomic_store(&s.may_end, 1);
	is(lkdf_event_wait(done, -1), 0, "which ends");
	end_story(&s);
	must(lkdf_close(rt));
}

/* A team wants all CPUs of the node, the lender's, too. */
static void lender_lends_to_a_team(void)
{
	struct lkdf *rt = open_with(2, 1);
	struct lkdf_kind *team = api_kind(rt, "team", foreign,
					  sizeof(struct story *), LKDF_TEAM);
	struct story s = { 0 };
	struct lkdf_event done[2];

	begin_story(rt, &s);
	submit(rt, s.parent, &s, &done[0]);
	while (!stat_of(rt, "lkdf.lends"))
		api_nap_ns(50000);
	submit(rt, team, &s, &done[1]);
	is(lkdf_event_wait(done[0], -1) | lkdf_event_wait(done[1], -1), 0,
	   "a team takes the CPU of a worker that has lent its seat");
	end_story(&s);
	lkdf_kind_put(team);
	must(lkdf_close(rt));
}

static int count_one(uint64_t begin, uint64_t end, void *u)
{
	atomic_int *nr = u;

	for (; begin < end; begin++)
		atomic_fetch_add(&nr[begin], 1);
	return 0;
}

static void loops_are_whole(uint32_t schedule, const char *what)
{
	static atomic_int nr[1000];
	struct lkdf *rt = open_with(2, 3);
	struct lkdf_for_attr a = { .size = sizeof(a),
				   .range = { 0, 1000, 0 },
				   .schedule = schedule,
				   .fn = count_one,
				   .u = nr };
	int i, turn, nr_wrong = 0;

	for (turn = 0; turn < 20; turn++)
		must(lkdf_for_with(rt, &a));
	for (i = 0; i < 1000; i++)
		nr_wrong += atomic_exchange(&nr[i], 0) != 20;
	is(nr_wrong, 0, "20 loops beside substitutes, %s: each iteration once",
	   what);
	must(lkdf_close(rt));
}

static void numbers_are_told(void)
{
	struct lkdf *rt = open_with(2, 3);

	is(lkdf_nr_workers(rt), 5, "substitutes have numbers of workers");
	must(lkdf_close(rt));
	rt = api_open("serial=yes,substitutes=4");
	is(lkdf_nr_workers(rt), 1, "in serial mode there are none");
	must(lkdf_close(rt));
	is((lkdf_open)("workers=1024,substitutes=1", &rt), -EINVAL,
	   "there are not so many");
	is(strstr(lkdf_errmsg(), "1024 workers and 1 substitutes, at most "
				 "1024") != NULL,
	   1, "and the reason is told");
}

static void children_close(void)
{
	struct lkdf *rt = open_with(2, 2);
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(lkdf_close(rt) ? 1 : 0);
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child closes");
	is(lkdf_close(rt), 0, "and its parent, with substitutes on standby");
}

int main(void)
{
	tap_start(60);
	foreign_work_runs(1, 1, false);
	foreign_work_runs(1, 1, true);
	foreign_work_runs(2, 1, false);
	foreign_work_runs(2, 3, true);
	foreign_work_runs(MOST, 2, true);
	substitutes_lend();
	substitutes_leave();
	lender_is_named();
	lender_lends_to_a_team();
	loops_are_whole(LKDF_SCHEDULE_NODES, "automatic");
	loops_are_whole(LKDF_SCHEDULE_STATIC, "static");
	numbers_are_told();
	children_close();
	return tap_end();
}
