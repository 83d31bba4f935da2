/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Submitted and spawned tasks with a place: strict ones run on their node and
 * nowhere else, and nobody waits for ever because of it.
 */
#include "tests/api/bound.h"

#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/*
 * A body that goes on until other nodes have run what is bound to none, and one
 * of their workers has then found nothing to do: it has looked everywhere. Not
 * for ever: its own node may have run all that, while the others slept.
 */
#define NR_FREE 40

static atomic_int nr_free_elsewhere, patience;
static uint64_t nr_parks_before;

static bool may_go_on(void)
{
	sched_yield();
	return patience-- > 0;
}

static int free_body(struct lkdf_ctx *c, void *arg)
{
	nr_free_elsewhere += node_of(c) != *(const int *)arg;
	return 0;
}

static uint64_t nr_parks(struct lkdf *rt)
{
	uint64_t nr = 0;

	lkdf_stat(rt, "lkdf.parks", &nr);
	return nr;
}

static int long_body(struct lkdf_ctx *c, void *arg)
{
	/* Where it does not belong it must not wait for itself. */
	if (node_of(c) != *(const int *)arg)
		return body(c, arg);
	while (nr_free_elsewhere < NR_FREE / 2 && may_go_on())
		;
	while (nr_parks(lkdf_runtime(c)) == nr_parks_before && may_go_on())
		;
	return body(c, arg);
}

static void submitted_tasks_run_on_their_node(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "bound", body, sizeof(int), 0);
	int i, node;

	for (i = 0; i < 4000; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_astray == 0, "none of 4000 ran elsewhere (%d)", nr_astray);
	for (node = 0; node < NR_NODES; node++)
		ok(nr_on[node] == 1000, "node %d ran its 1000 (%d)", node,
		   nr_on[node]);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* Long bodies on one node: six idle workers must not help. */
static void nobody_steals_bound_work(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "long", long_body, sizeof(int), 0);
	struct lkdf_kind *f = api_kind(rt, "free", free_body, sizeof(int), 0);
	int i, node = 2;

	nr_free_elsewhere = 0;
	patience = 100000;
	for (i = 0; i < 40; i++)
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	nr_parks_before = nr_parks(rt);
	for (i = 0; i < NR_FREE; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = f, .arg = &node),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	ok(nr_on[2] == 40 && nr_astray == 0, "all 40 ran on node 2 (%d)",
	   nr_on[2]);
	lkdf_kind_put(f);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* The parent of node 0 spawns one child for each node and joins them. */
static struct lkdf_kind *child_kind;

static int parent_body(struct lkdf_ctx *c, void *arg)
{
	int i, rc;

	body(c, arg);
	for (i = 0; i < NR_NODES; i++) {
		rc = lkdf_spawn_task(c, BOUND(child_kind, i, &i), NULL);
		if (rc)
			return rc;
	}
	return lkdf_join(c);
}

static void spawned_tasks_run_on_their_node(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k =
		api_kind(rt, "parent", parent_body, sizeof(int), 0);
	int i, node;

	child_kind = api_kind(rt, "child", body, sizeof(int), 0);
	for (i = 0; i < 200; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "all joins end");
	ok(nr_astray == 0, "none of 1000 ran elsewhere (%d)", nr_astray);
	ok(nr_on[3] == 250, "node 3 ran a quarter (%d)", nr_on[3]);
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* A body that goes on until its partner on another node has started. */
static atomic_int has_started;

static int waits(struct lkdf_ctx *c, void *arg)
{
	int node = 3;
	int rc = lkdf_spawn_task(c, BOUND(child_kind, node, &node), NULL);

	(void)arg;
	while (!rc && !has_started)
		sched_yield();
	return rc;
}

static int starts(struct lkdf_ctx *c, void *arg)
{
	has_started = 1;
	return body(c, arg);
}

static bool is_asleep(const char *task)
{
	char path[300], text[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	f = fopen(path, "r");
	if (!f)
		return true;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	state = strrchr(text, ')');
	return !state || state[2] == 'S';
}

/* All threads but this one. */
static void wait_until_asleep(void)
{
	struct dirent *e;
	bool all = false;
	DIR *dir;

	while (!all) {
		sched_yield();
		all = true;
		dir = opendir("/proc/self/task");
		while (dir && (e = readdir(dir)))
			if (e->d_name[0] != '.' && atoi(e->d_name) != getpid())
				all &= is_asleep(e->d_name);
		if (dir)
			closedir(dir);
	}
}

static void a_sleeping_node_is_woken(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "waits", waits, 0, 0);
	int i;

	child_kind = api_kind(rt, "starts", starts, sizeof(int), 0);
	for (i = 0; i < 5; i++) {
		wait_until_asleep();
		has_started = 0;
		must(lkdf_submit(rt, NULL, BOUND(k, 0, NULL), NULL));
		ok(lkdf_scope_wait(rt, NULL, PATIENCE_NS) == 0,
		   "both have met, time %d", i);
	}
	ok(nr_on[3] == 5 && !nr_astray, "on node 3");
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static int leave(struct lkdf_ctx *c, void *arg);

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	return body(c, arg);
}

/* Children are where they like to be; the continuation comes back home. */
static int leave(struct lkdf_ctx *c, void *arg)
{
	int node = (*(const int *)arg + 1) % NR_NODES;
	struct lkdf_event none = { 0 };
	int rc = lkdf_spawn_task(c, BOUND(child_kind, node, &node), NULL);

	return rc ? rc : lkdf_then(c, goes_on, none);
}

static void a_continuation_comes_home(void)
{
	struct lkdf *rt = open_machine();
	struct lkdf_kind *k = api_kind(rt, "leave", leave, sizeof(int), 0);
	int i, node;

	child_kind = api_kind(rt, "child", body, sizeof(int), 0);
	for (i = 0; i < 400; i++) {
		node = i % NR_NODES;
		must(lkdf_submit(rt, NULL, BOUND(k, node, &node), NULL));
	}
	ok(lkdf_scope_wait(rt, NULL, -1) == 0, "continuations end");
	ok(nr_astray == 0 && nr_on[0] + nr_on[1] + nr_on[2] + nr_on[3] == 800,
	   "on their nodes");
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void what_cannot_be_is_refused(void)
{
	struct lkdf *rt = api_open("workers=2,topology=numa:4 core:2");
	struct lkdf *other = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "none", body, sizeof(int), 0);
	struct lkdf_kind *b =
		api_kind(rt, "blocks", body, sizeof(int), LKDF_BLOCKING);
	int node = 0, rc, i, nr = 0;

	for (i = 0; i < NR_NODES; i++)
		place[i] = lkdf_place_node(rt, i);
	for (i = 0; i < NR_NODES; i++) {
		rc = lkdf_submit(rt, NULL, BOUND(k, i, &node), NULL);
		if (rc == -EINVAL && strstr(lkdf_errmsg(), "no worker"))
			nr++;
	}
	ok(nr == 2, "nodes without workers are refused (%d)", nr);
	ok(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .arg = &node,
			    .flags = LKDF_PINNED),
		       NULL) == -EINVAL,
	   "pinned to nothing: %s", lkdf_errmsg());
	ok(lkdf_submit(rt, NULL, BOUND(b, 0, &node), NULL) == -EOPNOTSUPP,
	   "pinned and blocking: %s", lkdf_errmsg());
	place[0] = lkdf_place_node(other, 0);
	ok(lkdf_submit(rt, NULL, BOUND(k, 0, &node), NULL) == -EINVAL,
	   "another runtime's place: %s", lkdf_errmsg());
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(b);
	lkdf_kind_put(k);
	must(lkdf_close(other));
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	submitted_tasks_run_on_their_node();
	nobody_steals_bound_work();
	spawned_tasks_run_on_their_node();
	a_sleeping_node_is_woken();
	a_continuation_comes_home();
	what_cannot_be_is_refused();
	return tap_end();
}
