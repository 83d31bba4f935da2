/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parts of a place's workers: which workers each has, that strict tasks run on
 * those and on no other ones, however they came to be, that others help with
 * what only prefers a part, and that nobody waits for ever.
 */
#include "tests/api/place/parts.h"

#include <sched.h>

static void parts_are_places(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_place *p = lkdf_place_node(rt, 1), *some, *q = NULL;
	void *block;

	some = part_of(p, 0, 2);
	ok(some != p && some == part_of(p, 0, 2), "half is another, the same "
						  "each time");
	ok(part_of(p, 0, 1) == p, "all of one part is the place");
	ok(part_of(some, 0, 1) == some, "of a part, too");
	ok(part_of(some, 1, 2) == part_of(p, 1, 4),
	   "half of half is a quarter");
	ok(part_of(part_of(p, 3, 4), 7, 9) == part_of(p, 3, 4),
	   "one worker cannot be parted");
	ok(part_of(p, 1023, 1024) == part_of(p, 3, 4),
	   "the last of 1024 parts has the last worker");
	is(lkdf_place_id(some), 1, "its number is the node's");
	is(lkdf_place_distance(some, p), 10, "it is as near as the node");
	is(lkdf_places(rt, 0, NULL, 0), 2, "it is not listed");
	is(lkdf_alloc(some, LKDF_MEM_OWN, 64, 0, NULL, &block), 0,
	   "its memory is the node's");
	lkdf_free(rt, block);
	is(lkdf_place_part(some, 2, 2, &q), -EINVAL, "part 2 of 2 is refused");
	ok(!q, "and nothing given");
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Which workers a part has: one strict task at a time would not tell. */
static void check_range(struct lkdf *rt, struct lkdf_kind *k, unsigned num,
			unsigned den, struct range r)
{
	struct lkdf_place *p = part_of(lkdf_place_node(rt, 1), num, den);
	int i;

	clear_counts();
	for (i = 0; i < 200; i++)
		submit(rt, NULL, k, p, &r, LKDF_PINNED);
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_ran() == 200 && !nr_astray,
	   "part %u of %u: all 200 on workers %d to %d (astray: %d)", num, den,
	   r.first, r.end - 1, nr_astray);
}

static void parts_share_the_workers_out(void)
{
	static const struct {
		unsigned num, den;
		struct range r;
	} rows[] = {
		{ 0, 2, { 4, 6 } },    { 1, 2, { 6, 8 } },
		{ 0, 3, { 4, 5 } },    { 1, 3, { 5, 6 } },
		{ 2, 3, { 6, 8 } },    { 0, 5, { 4, 5 } },
		{ 1, 5, { 4, 5 } },    { 4, 5, { 7, 8 } },
		{ 0, 1024, { 4, 5 } }, { 512, 1024, { 6, 7 } },
	};
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *k =
		api_kind(rt, "ranged", body, sizeof(struct range), 0);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_range(rt, k, rows[i].num, rows[i].den, rows[i].r);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void strict_tasks_keep_to_one_worker(void)
{
	struct lkdf *rt = open_machine(TWO);
	struct lkdf_kind *k =
		api_kind(rt, "strict", body, sizeof(struct range), 0);
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	struct range r;
	int i, part;

	for (part = 0; part < 2; part++) {
		clear_counts();
		r = (struct range){ part, part + 1 };
		for (i = 0; i < 120; i++)
			submit(rt, NULL, k, part_of(p, (unsigned)part, 2), &r,
			       LKDF_PINNED);
		must(lkdf_scope_wait(rt, NULL, -1));
		is(nr_on[part], 120, "part %d of 2 ran its 120", part);
		is(nr_on[1 - part], 0, "and the other worker none");
	}
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* One task at a time: its worker may be about to sleep, or asleep. */
static void no_wake_up_is_lost(void)
{
	struct lkdf *rt = open_machine(EIGHT ",spin_us=1");
	struct lkdf_kind *k =
		api_kind(rt, "one", body, sizeof(struct range), 0);
	struct lkdf_event done;
	struct range r;
	int i, at;

	for (i = 0; i < 4000; i++) {
		at = i * 7 % NR_WORKERS;
		r = (struct range){ at, at + 1 };
		must(lkdf_submit(
			rt, NULL,
			ATTR(lkdf_task, .kind = k, .arg = &r,
			     .place = part_of(lkdf_place_node(rt, at / 4),
					      (unsigned)at % 4, 4),
			     .flags = LKDF_PINNED),
			&done));
		must(lkdf_event_wait(done, -1));
	}
	ok(nr_ran() == 4000 && !nr_astray,
	   "4000 tasks ran, one after the other, each on its worker (%d)",
	   nr_astray);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Two that need each other run at once. */
static atomic_int nr_met;

static int meet(struct lkdf_ctx *c, void *arg)
{
	nr_met++;
	while (nr_met < 2)
		sched_yield();
	return body(c, arg);
}

static void all_workers_of_a_part_work(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *k =
		api_kind(rt, "meet", meet, sizeof(struct range), 0);
	struct lkdf_place *p = part_of(lkdf_place_node(rt, 0), 1, 2);
	struct range r = { 2, 4 };

	nr_met = 0;
	submit(rt, NULL, k, p, &r, LKDF_PINNED);
	submit(rt, NULL, k, p, &r, LKDF_PINNED);
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_on[2] == 1 && nr_on[3] == 1, "each ran one of both");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* A strict body that waits until others have run all that prefers its part. */
static int wait_for_help(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	while (nr_ran() < *(const int *)arg)
		sched_yield();
	return 0;
}

static void others_help_with_what_prefers_a_part(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *busy =
		api_kind(rt, "busy", wait_for_help, sizeof(int), 0);
	struct lkdf_kind *k =
		api_kind(rt, "prefers", body, sizeof(struct range), 0);
	struct lkdf_place *p = part_of(lkdf_place_node(rt, 0), 3, 4);
	struct range r = { 3, 4 };
	int nr = 100, i;

	submit(rt, NULL, busy, p, &nr, LKDF_PINNED);
	for (i = 0; i < nr; i++)
		submit(rt, NULL, k, p, &r, 0);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(nr_ran(), 100, "all 100 ran while their worker was busy");
	printf("# on their worker: %d\n", nr_on[3]);
	lkdf_kind_put(busy);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Each parent has a child on each half of both nodes, and joins them. */
static struct lkdf_kind *child_kind;

static int parent(struct lkdf_ctx *c, void *arg)
{
	struct range r;
	int i, rc;

	body(c, arg);
	for (i = 0; i < 4; i++) {
		r = (struct range){ 2 * i, 2 * i + 2 };
		rc = lkdf_spawn_task(c,
				     ATTR(lkdf_task, .kind = child_kind,
					  .arg = &r, .place = half[i],
					  .flags = LKDF_PINNED),
				     NULL);
		if (rc)
			return rc;
	}
	return lkdf_join(c);
}

static void children_keep_to_their_part(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *k =
		api_kind(rt, "parent", parent, sizeof(struct range), 0);
	struct range r;
	int i, at;

	find_halves(rt);
	child_kind = api_kind(rt, "child", body, sizeof(struct range), 0);
	for (i = 0; i < 400; i++) {
		at = i % 4;
		r = (struct range){ 2 * at, 2 * at + 2 };
		submit(rt, NULL, k, half[at], &r, LKDF_PINNED);
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all joins end");
	ok(nr_ran() == 2000 && !nr_astray, "none of 2000 ran elsewhere (%d)",
	   nr_astray);
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* A child that prefers a part whose only worker waits for its parent's end. */
static atomic_int parent_ended;

static int wait_for_parent(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	while (!parent_ended)
		sched_yield();
	return 0;
}

static int join_one(struct lkdf_ctx *c, void *arg)
{
	struct range r = { 0, 2 };
	int rc;

	(void)arg;
	rc = lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = child_kind, .arg = &r,
				  .place = half[0]),
			     NULL);
	if (!rc)
		rc = lkdf_join(c);
	parent_ended = 1;
	return rc;
}

static void a_join_runs_its_child_of_a_busy_part(void)
{
	struct lkdf *rt = open_machine(TWO);
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	struct lkdf_kind *busy = api_kind(rt, "busy", wait_for_parent, 0, 0);
	struct lkdf_kind *joins = api_kind(rt, "joins", join_one, 0, 0);

	parent_ended = 0;
	half[0] = part_of(p, 0, 2);
	child_kind = api_kind(rt, "child", body, sizeof(struct range), 0);
	submit(rt, NULL, busy, half[0], NULL, LKDF_PINNED);
	submit(rt, NULL, joins, part_of(p, 1, 2), NULL, LKDF_PINNED);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "it ends");
	is(nr_on[1], 1, "the joining worker ran the child");
	lkdf_kind_put(child_kind);
	lkdf_kind_put(joins);
	lkdf_kind_put(busy);
	must(lkdf_close(rt));
}

static int leave(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event gate;
	int rc = lkdf_event_create(lkdf_runtime(c), 1, 0, &gate);

	if (rc)
		return rc;
	body(c, arg);
	rc = lkdf_then(c, body, gate);
	lkdf_event_signal(gate, 0);
	lkdf_event_put(gate);
	return rc;
}

static void what_goes_on_later_goes_on_there(void)
{
	struct lkdf *rt = open_machine(EIGHT);
	struct lkdf_kind *k =
		api_kind(rt, "leaves", leave, sizeof(struct range), 0);
	struct range r = { 5, 6 };
	struct lkdf_place *p = part_of(lkdf_place_node(rt, 1), 1, 4);
	const struct lkdf_task task = { .size = sizeof(task),
					.kind = k,
					.arg = &r,
					.place = p,
					.flags = LKDF_PINNED };
	const struct lkdf_task *t[50];
	int i;

	for (i = 0; i < 50; i++)
		t[i] = &task;
	must(lkdf_submit_many(rt, NULL, t, 50, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "50 of one call end");
	is(nr_on[5], 100, "both halves of each ran on worker 5");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static atomic_int is_cancelled, has_begun;

static int wait_for_cancel(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	has_begun = 1;
	while (!is_cancelled)
		sched_yield();
	return 0;
}

static void a_cancel_drops_what_waits(void)
{
	struct lkdf *rt = open_machine(TWO);
	struct lkdf_kind *busy = api_kind(rt, "busy", wait_for_cancel, 0, 0);
	struct lkdf_kind *k =
		api_kind(rt, "waits", body, sizeof(struct range), 0);
	struct lkdf_place *p = part_of(lkdf_place_node(rt, 0), 1, 2);
	struct range r = { 1, 2 };
	struct lkdf_scope *s;
	int i;

	is_cancelled = has_begun = 0;
	must(lkdf_scope_create(rt, NULL, &s));
	submit(rt, NULL, busy, p, NULL, LKDF_PINNED);
	while (!has_begun)
		sched_yield();
	for (i = 0; i < 100; i++)
		submit(rt, s, k, p, &r, i % 2 ? LKDF_PINNED : 0);
	must(lkdf_scope_cancel(rt, s, -ECANCELED));
	is_cancelled = 1;
	is(lkdf_scope_wait(rt, s, -1), -ECANCELED, "the scope ends");
	ok(nr_ran() <= 50, "at most those ran that others could take (%d)",
	   nr_ran());
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_scope_put(s);
	lkdf_kind_put(busy);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void one_worker_is_all_parts(const char *options)
{
	struct lkdf *rt = open_machine(options);
	struct lkdf_place *p;
	struct lkdf_kind *k =
		api_kind(rt, "alone", body, sizeof(struct range), 0);
	struct range r = { 0, 1 };

	must(lkdf_places(rt, 0, &p, 1));
	ok(part_of(p, 0, 2) == p && part_of(p, 1, 2) == p,
	   "%s: each half is the place", options);
	submit(rt, NULL, k, part_of(p, 1, 2), &r, LKDF_PINNED);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(nr_ran(), 1, "and runs what is bound to it");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	parts_are_places();
	parts_share_the_workers_out();
	strict_tasks_keep_to_one_worker();
	no_wake_up_is_lost();
	all_workers_of_a_part_work();
	others_help_with_what_prefers_a_part();
	children_keep_to_their_part();
	a_join_runs_its_child_of_a_busy_part();
	what_goes_on_later_goes_on_there();
	a_cancel_drops_what_waits();
	one_worker_is_all_parts("workers=1");
	one_worker_is_all_parts("serial=yes");
	return tap_end();
}
