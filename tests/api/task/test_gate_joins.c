/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Joins x gates x nodes: what lies aside below a join runs, also where nobody
 * may run it but a worker that waits in a join itself.
 */
#include "tests/api/heard.h"

static struct {
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_place *place[2];
	struct lkdf_kind *k, *other; /* at two gates */
	atomic_int has_begun, nr_children;
} cross;

enum role {
	ROOT,
	CHILD,
	GUEST
};

static struct lkdf_task task_on(int node, struct lkdf_kind *k, enum role *role)
{
	return (struct lkdf_task){ .size = sizeof(struct lkdf_task),
				   .kind = k,
				   .arg = role,
				   .place = cross.place[node],
				   .flags = LKDF_PINNED };
}

static void submit_on(int node, struct lkdf_kind *k, enum role *role)
{
	struct lkdf_task t = task_on(node, k, role);

	must(lkdf_submit(cross.rt, cross.s, &t, NULL));
}

/* A child that only the other node's worker may run, which puts it aside. */
static void spawn_far(struct lkdf_ctx *c)
{
	uint64_t before = stat_of(cross.rt, "lkdf.narrow.aside");
	int nr = atomic_load(&cross.nr_children);
	struct lkdf_task t =
		task_on(!lkdf_worker(c), cross.k, &(enum role){ CHILD });

	must(lkdf_spawn_task(c, &t, NULL));
	while (stat_of(cross.rt, "lkdf.narrow.aside") == before &&
	       atomic_load(&cross.nr_children) == nr)
		api_nap_ns(50000);
}

/* On node 1, while the worker of node 0 goes from its body into its join. */
static int join_guest(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_task t = task_on(1, cross.k, &(enum role){ GUEST });

	(void)arg;
	atomic_store(&cross.has_begun, 1);
	must(lkdf_spawn_task(c, &t, NULL));
	return lkdf_join(c);
}

/* The root, on node 0, has put a guest beside the child that lies aside. */
static int cross_body(struct lkdf_ctx *c, void *arg)
{
	enum role *role = arg;

	if (*role == CHILD) {
		atomic_fetch_add(&cross.nr_children, 1);
		return 0;
	}
	spawn_far(c);
	if (*role == ROOT) {
		submit_on(1, cross.other, NULL);
		api_until(&cross.has_begun);
	}
	return lkdf_join(c);
}

/*
 * Two joins, each for a child that lies aside, bound to the node of the other
 * one, while nobody has the token.
 */
static void joins_wait_for_each_others_node(void)
{
	memset(&cross, 0, sizeof(cross));
	cross.rt = api_open("workers=2,pin=no,topology=numa:2 core:1,"
			    "narrow=force,narrow_cap=1");
	must(lkdf_places(cross.rt, LKDF_PLACE_NODE, cross.place, 2));
	must(lkdf_scope_create(cross.rt, NULL, &cross.s));
	cross.k = api_kind(cross.rt, "child", cross_body, sizeof(enum role), 0);
	cross.other = api_kind(cross.rt, "guest", join_guest, 0, 0);
	submit_on(0, cross.k, &(enum role){ ROOT });
	is(lkdf_scope_wait(cross.rt, cross.s, PATIENCE_NS), 0,
	   "joins end that wait for each other's node");
	is(cross.nr_children, 2, "both children have run");
	lkdf_kind_put(cross.other);
	lkdf_kind_put(cross.k);
	lkdf_scope_put(cross.s);
	is(lkdf_close(cross.rt), 0, "the runtime closes");
}

int main(void)
{
	int i;

	tap_start(120);
	for (i = 0; i < 20; i++)
		joins_wait_for_each_others_node();
	return tap_end();
}
