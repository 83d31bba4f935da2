/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs for lkdf check, see test_check.sh: check_orders
 * lock|order|stuck|thread|blocking|gang|deep|again, and 1 for what is right.
 */
#include <errno.h>
#include <lkdf/gang.h>
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct lkdf *rt;
static bool is_right;
static int shared, beside;

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "check_orders: %s\n", lkdf_errmsg());
	exit(3);
}

/* Two tasks without an order. */
static void submit_two(lkdf_fn fn, const char *one, const char *two)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "body", .fn = fn), &k));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = one),
			 NULL));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = two),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* A variable is written within the lock, and where it is wrong one beside. */
static int locks(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	if (!is_right)
		beside++;
	pthread_mutex_lock(&mutex);
	shared++;
	pthread_mutex_unlock(&mutex);
	return 0;
}

static int says(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	puts(is_right ? "one" : arg);
	return 0;
}

static void wait_for_ever(void)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_wait(e, -1));
}

static void *writes_beside(void *arg)
{
	shared++;
	return arg;
}

/* A thread of its own, which is over before the body goes on, or is not. */
static int starts_thread(struct lkdf_ctx *c, void *arg)
{
	pthread_t thread;

	(void)c;
	(void)arg;
	if (pthread_create(&thread, NULL, writes_beside, NULL))
		return 0;
	if (!is_right)
		shared++;
	pthread_join(thread, NULL);
	shared++;
	return 0;
}

static void submit_starter(void)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "starter",
				   .fn = starts_thread),
			      &k));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* A kind whose bodies may block, in a runtime that wants threads. */
static void submit_blocking(void)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "waits", .fn = says,
				   .flags = LKDF_BLOCKING),
			      &k));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = "x"),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

static void create_gang(void)
{
	struct lkdf_gang *g;
	int rc = lkdf_gang_create(rt, &g);

	if (rc != -EOPNOTSUPP)
		exit(3);
}

static struct lkdf_kind *level;

/* Each waits in a join for the next. */
static int goes_deeper(struct lkdf_ctx *c, void *arg)
{
	int left = *(int *)arg - 1;

	if (left)
		must(lkdf_spawn(c, level, &left));
	return lkdf_join(c);
}

static void submit_deep(void)
{
	int levels = is_right ? 200 : 4100;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "level",
				   .fn = goes_deeper, .arg_size = sizeof(int)),
			      &level));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = level, .arg = &levels), NULL));
	if (lkdf_scope_wait(rt, NULL, -1))
		fprintf(stderr, "check_orders: %s\n", lkdf_errmsg());
}

static struct lkdf_graph *graph;

/* Repeats its call until no other run is under way. */
static int runs_graph(struct lkdf_ctx *c, void *arg)
{
	int i, rc;

	(void)c;
	(void)arg;
	for (i = 0; i < 3; i++) {
		while ((rc = lkdf_graph_run(graph, NULL, NULL, NULL)) ==
		       -EAGAIN)
			continue;
		must(rc);
	}
	return 0;
}

static void submit_asker(void)
{
	struct lkdf_kind *k, *one;

	must(lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "one", .fn = says), &one));
	must(lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "asks", .fn = runs_graph),
		&k));
	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .inflight = 1),
			       &graph));
	must(lkdf_graph_add(graph, one, "one", NULL, 0));
	must(lkdf_graph_seal(graph, NULL));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	is_right = argv[2][0] == '1';
	must(lkdf_open(is_right ? NULL : "serial=no,workers=2,final", &rt));
	if (!strcmp(argv[1], "lock"))
		submit_two(locks, NULL, NULL);
	else if (!strcmp(argv[1], "order"))
		submit_two(says, "one", "two");
	else if (!strcmp(argv[1], "thread"))
		submit_starter();
	else if (!strcmp(argv[1], "blocking"))
		submit_blocking();
	else if (!strcmp(argv[1], "gang"))
		create_gang();
	else if (!strcmp(argv[1], "deep"))
		submit_deep();
	else if (!strcmp(argv[1], "again"))
		submit_asker();
	else
		wait_for_ever();
	return 0;
}
