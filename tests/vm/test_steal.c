/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who steals from whom. One worker is the thief; all others hold items in
 * their deques that they share, and do nothing else until the thief has seen
 * all of them. Then the order in which it took the items is the order in which
 * it looks.
 */
#include "tests/vm/vm.h"

#define NR_ITEMS 8
#define MAX_TAKEN (VM_MAX_CPUS * NR_ITEMS)

static struct {
	struct lkdf *rt;
	struct lkdf_kind *role, *item;
	int nr_workers, thief;
	atomic_int nr_entered; /* roles that run, each on its own worker */
	atomic_int nr_holding; /* holders whose items can be stolen */
	atomic_int is_over;
	int node_of[VM_MAX_CPUS]; /* of a worker */
	uint64_t near, far; /* what the thief had stolen before */
	/* Owners of the items the thief took, in this order. */
	int taken[MAX_TAKEN];
	atomic_int nr_taken;
} stage;

/* All but the one that keeps the owner busy. */
static bool has_taken_all_from(int worker)
{
	int i, nr = atomic_load(&stage.nr_taken), nr_found = 0;

	for (i = 0; i < nr; i++)
		nr_found += stage.taken[i] == worker;
	return nr_found == NR_ITEMS - 1;
}

/* The owner's first one keeps it busy; the rest is shared by then. */
static int run_item(struct lkdf_ctx *c, void *arg)
{
	int owner = *(int *)arg, nr;

	if (atomic_load(&stage.is_over))
		return 0;
	if (lkdf_worker(c) == owner) {
		atomic_fetch_add(&stage.nr_holding, 1);
		api_until(&stage.is_over);
	} else if (lkdf_worker(c) == stage.thief) {
		nr = atomic_load(&stage.nr_taken);
		stage.taken[nr] = owner;
		atomic_store(&stage.nr_taken, nr + 1);
	}
	return 0;
}

static int play(struct lkdf_ctx *c, void *arg)
{
	int self = lkdf_worker(c), i;

	(void)arg;
	atomic_fetch_add(&stage.nr_entered, 1);
	while (atomic_load(&stage.nr_entered) < stage.nr_workers)
		api_nap_ns(50000);
	if (self == stage.thief) {
		while (atomic_load(&stage.nr_holding) < stage.nr_workers - 1)
			api_nap_ns(50000);
		stage.near = vm_stat(stage.rt, self, "steals.near");
		stage.far = vm_stat(stage.rt, self, "steals.far");
		return 0;
	}
	for (i = 0; i < NR_ITEMS; i++)
		must(lkdf_spawn(c, stage.item, &self));
	return 0;
}

/* One role at a time: the last one's worker is busy by then. */
static void start_roles(void)
{
	int i;

	for (i = 0; i < stage.nr_workers; i++) {
		must(lkdf_submit(stage.rt, NULL,
				 ATTR(lkdf_task, .kind = stage.role), NULL));
		while (atomic_load(&stage.nr_entered) <= i)
			api_nap_ns(50000);
	}
}

/* Until the thief has taken all, or for so long that it never will. */
static int wait_for_thief(void)
{
	int i, nr_seen = 0, round;

	for (round = 0; round < 10000 && nr_seen < stage.nr_workers - 1;
	     round++) {
		api_nap_ns(1000000);
		nr_seen = 0;
		for (i = 0; i < stage.nr_workers; i++)
			nr_seen += has_taken_all_from(i);
	}
	return nr_seen;
}

static int distance_to(int owner)
{
	return vm.distance[stage.node_of[stage.thief]][stage.node_of[owner]];
}

static void say_what_was_taken(void)
{
	int i;

	printf("# thief %d took from", stage.thief);
	for (i = 0; i < stage.nr_taken; i++)
		printf(" %d(%d)", stage.taken[i], distance_to(stage.taken[i]));
	printf("\n");
}

static void is_in_order(void)
{
	int i, nr_back = 0;

	for (i = 1; i < stage.nr_taken; i++)
		nr_back += distance_to(stage.taken[i]) <
			   distance_to(stage.taken[i - 1]);
	is(nr_back, 0, "thief %d: near ones first, then by distance",
	   stage.thief);
	say_what_was_taken();
}

static void is_counted(void)
{
	uint64_t near = vm_stat(stage.rt, stage.thief, "steals.near");
	uint64_t far = vm_stat(stage.rt, stage.thief, "steals.far");
	int i, nr_near = 0;

	for (i = 0; i < stage.nr_taken; i++)
		nr_near += distance_to(stage.taken[i]) == 10;
	is(near - stage.near, nr_near,
	   "thief %d: steals of its node are counted as near", stage.thief);
	is(far - stage.far, stage.nr_taken - nr_near,
	   "thief %d: the others as far", stage.thief);
}

static void the_thief_looks_near_first(int thief)
{
	stage.thief = thief;
	stage.nr_entered = stage.nr_holding = stage.nr_taken = 0;
	stage.is_over = 0;
	start_roles();
	is(wait_for_thief(), stage.nr_workers - 1,
	   "thief %d takes all from every other worker", thief);
	is_in_order();
	is_counted();
	atomic_store(&stage.is_over, 1);
	is(lkdf_scope_wait(stage.rt, NULL, -1), 0, "all items run");
}

static void open_stage(const char *options)
{
	int i;

	stage.rt = api_open(options);
	stage.nr_workers = vm_nr_workers(stage.rt);
	stage.role = api_kind(stage.rt, "role", play, 0, 0);
	stage.item = api_kind(stage.rt, "item", run_item, sizeof(int), 0);
	for (i = 0; i < stage.nr_workers; i++)
		stage.node_of[i] = vm.node_of[vm_stat(stage.rt, i, "cpu")];
}

static void close_stage(void)
{
	lkdf_kind_put(stage.role);
	lkdf_kind_put(stage.item);
	is(lkdf_close(stage.rt), 0, "it closes");
}

int main(void)
{
	char one_for_each_node[32];
	int thief;

	vm_start(120);
	snprintf(one_for_each_node, sizeof(one_for_each_node),
		 "workers=%d,pin=yes", vm.nr_cpu_nodes);
	open_stage(NULL);
	for (thief = 0; thief < stage.nr_workers; thief++)
		the_thief_looks_near_first(thief);
	close_stage();
	/* No worker is near another one. */
	open_stage(one_for_each_node);
	for (thief = 0; thief < stage.nr_workers; thief++)
		the_thief_looks_near_first(thief);
	close_stage();
	return tap_end();
}
