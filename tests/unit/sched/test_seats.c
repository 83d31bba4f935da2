/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A quota that changes while the runtime is open. The cgroup is a directory of
 * this test, the machine is made up.
 */
#include "base/options.h"
#include "core/runtime.h"
#include "mechanism/quota/quota.h"
#include "rt/open.h"
#include "tests/api/api.h"
#include "tests/fixtures/topo/tree.h"
#include "topo/topo.h"

#include <lkdf/signals.h>
#include <sched.h>

#define NR_TASKS 500
#define NR_WORKERS 4
#define NR_NODES 2

static struct {
	struct lkdf *rt;
	struct tree tree;
	char proc[PATH_MAX], group[PATH_MAX];
	atomic_int nr_ran;
	int nr_submitted;
} job;

static void set_quota(const char *text)
{
	tree_write(&job.tree, "cg/cpu.max", text);
}

static struct quota *quota(void)
{
	return quota_in(&job.rt->sched);
}

static uint64_t idle_spin(void)
{
	return sched_spin(&job.rt->sched);
}

static void open_below(const char *quota, int milli, bool follows_quota)
{
	struct topo_attr topo = { .synthetic = "numa:2 core:2" };
	struct options *o = calloc(1, sizeof(*o));

	*o = (struct options){
		.reserve_workers = 1,
		.blocking = 1,
		.spin_us = 40,
		.events = 1 << 20,
		.proc_root = job.proc,
		.cgroup_root = job.group,
	};

	set_quota(quota);
	job.rt = aligned_alloc(CACHE_LINE, sizeof(*job.rt));
	memset((void *)job.rt, 0, sizeof(*job.rt));
	job.rt->log.level = LKDF_LOG_ERROR;
	must(topo_open(&topo, &job.rt->topo));
	topo_set_quota(job.rt->topo, milli);
	if (!follows_quota)
		o->workers = topo_default_workers(job.rt->topo, true);
	job.rt->options = o;
	must(runtime_open(job.rt));
	job.nr_submitted = 0;
	atomic_store(&job.nr_ran, 0);
}

static void open_runtime(bool follows_quota)
{
	open_below("max 100000", 0, follows_quota);
}

static int work(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 20000; i++)
		__asm__ volatile("" ::: "memory");
	atomic_fetch_add(&job.nr_ran, 1);
	return 0;
}

static void submit_some(void)
{
	int i;

	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_submit_fn(job.rt, NULL, "work", work, NULL, NULL));
	job.nr_submitted += NR_TASKS;
}

static void run_some(void)
{
	submit_some();
	must(lkdf_scope_wait(job.rt, NULL, -1));
}

static uint64_t stat_of(const char *name)
{
	uint64_t value = 0;

	must(lkdf_stat(job.rt, name, &value));
	return value;
}

static void run_until_benched(uint32_t nr)
{
	while (a_load(&quota()->nr_standby, relaxed) != nr)
		run_some();
}

/* Events that say so many seats, from that source. */
static int nr_told(uint32_t source, uint64_t seats)
{
	const struct trace_ring *r;
	uint64_t i, head, word;
	int e, nr = 0;

	for (e = 0; e < job.rt->nr_workers; e++) {
		r = job.rt->executors[e].ring;
		head = a_load(&r->event_head, relaxed);
		for (i = 0; i < head && i < EVENT_RECORDS; i++) {
			word = a_load(&r->events[3 * i + 1], relaxed);
			nr += (uint32_t)word == EVENT_SIGNAL_QUOTA &&
			      word >> 32 == source &&
			      a_load(&r->events[3 * i + 2], relaxed) == seats;
		}
	}
	return nr;
}

static void bound_tasks_run(struct lkdf_kind *k)
{
	struct lkdf_event done[NR_NODES];
	int node;

	for (node = 0; node < NR_NODES; node++)
		must(lkdf_submit(job.rt, NULL,
				 ATTR(lkdf_task, .kind = k,
				      .flags = LKDF_PINNED,
				      .place = lkdf_place_node(job.rt, node)),
				 &done[node]));
	for (node = 0; node < NR_NODES; node++)
		is(lkdf_event_wait(done[node], -1), 0,
		   "what is bound to node %d runs", node);
	job.nr_submitted += NR_NODES;
}

/* Of workers whose seat is gone: the part has nobody else. */
static void tasks_bound_to_parts_run(struct lkdf_kind *k)
{
	struct lkdf_place *part;
	struct lkdf_event done;
	unsigned i;

	for (i = 0; i < NR_WORKERS; i++) {
		must(lkdf_place_part(lkdf_place_node(job.rt, (int)i / 2), i % 2,
				     2, &part));
		must(lkdf_submit(job.rt, NULL,
				 ATTR(lkdf_task, .kind = k,
				      .flags = LKDF_PINNED, .place = part),
				 &done));
		is(lkdf_event_wait(done, -1), 0,
		   "what is bound to worker %u runs", i);
	}
	job.nr_submitted += NR_WORKERS;
}

static bool describes(const char *part)
{
	FILE *f = tmpfile();
	char text[8192];
	size_t n;

	must(lkdf_describe(job.rt, "topo", "text", fileno(f)));
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return strstr(text, part) != NULL;
}

static void fewer_workers_run(void)
{
	struct lkdf_kind *k;

	open_runtime(true);
	k = api_kind(job.rt, "bound", work, 0, 0);
	run_some();
	is(a_load(&quota()->nr_standby, relaxed), 0, "no quota: all run");
	ok(idle_spin() > 0, "and idle ones spin");
	set_quota("100000 100000");
	run_until_benched(2);
	is(stat_of("lkdf.standby"), 2, "one CPU: one worker a node runs");
	ok(stat_of("lkdf.quota") == 1, "the change was counted");
	is(nr_told(LKDF_SIGNAL_SELF, 2), 1,
	   "and told, with the source and how many run");
	is(idle_spin(), 0, "nobody spins");
	ok(describes("cgroup quota 1.00 CPUs"), "the description tells");
	ok(describes("2 of 4 workers run"), "and how many run");
	bound_tasks_run(k);
	set_quota("300000 100000");
	run_until_benched(1);
	bound_tasks_run(k);
	set_quota("max 100000");
	run_until_benched(0);
	ok(idle_spin() > 0, "without a quota they spin again");
	is(atomic_load(&job.nr_ran), job.nr_submitted, "all tasks have run");
	set_quota("100000 100000");
	run_until_benched(2);
	lkdf_kind_put(k);
	is(lkdf_close(job.rt), 0, "it closes with workers on standby");
}

static void a_part_keeps_a_worker(void)
{
	struct lkdf_kind *k;

	open_runtime(true);
	k = api_kind(job.rt, "bound", work, 0, 0);
	set_quota("100000 100000");
	run_until_benched(2);
	tasks_bound_to_parts_run(k);
	run_until_benched(0);
	is(atomic_load(&job.nr_ran), job.nr_submitted,
	   "with a part for each worker all come back from standby");
	lkdf_kind_put(k);
	is(lkdf_close(job.rt), 0, "it closes");
}

static int wait_for_all(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	while (a_load(&quota()->nr_standby, relaxed))
		sched_yield();
	return 0;
}

/* All that may run are in bodies that end when nobody is on standby. */
static void a_rise_is_seen_behind_bodies(void)
{
	int i;

	open_runtime(true);
	set_quota("100000 100000");
	run_until_benched(2);
	set_quota("max 100000");
	for (i = 0; i < NR_WORKERS; i++)
		must(lkdf_submit_fn(job.rt, NULL, "wait", wait_for_all, NULL,
				    NULL));
	is(lkdf_scope_wait(job.rt, NULL, -1), 0,
	   "a worker on standby sees the rise");
	is(lkdf_close(job.rt), 0, "it closes");
}

static void idle_for_long(void)
{
	open_runtime(true);
	set_quota("100000 100000");
	run_until_benched(2);
	while (!a_load(&quota()->is_deep, relaxed))
		sched_yield();
	ok(true, "when all sleep those on standby sleep for ever");
	set_quota("max 100000");
	must(lkdf_submit_fn(job.rt, NULL, "wait", wait_for_all, NULL, NULL));
	is(lkdf_scope_wait(job.rt, NULL, -1), 0,
	   "the first that finds work stirs it");
	is(lkdf_close(job.rt), 0, "it closes");
}

static void up_and_down_under_load(void)
{
	static const char *const text[] = { "100000 100000", "max 100000",
					    "250000 100000", "50000 100000" };
	uint64_t was;
	int i;

	open_runtime(true);
	for (i = 0; i < 12; i++) {
		was = stat_of("lkdf.quota");
		set_quota(text[i % 4]);
		while (stat_of("lkdf.quota") == was)
			submit_some();
	}
	is(lkdf_scope_wait(job.rt, NULL, -1), 0, "all have ended");
	is(atomic_load(&job.nr_ran), job.nr_submitted, "and were run");
	ok(stat_of("lkdf.standby") >= 2, "workers came and went");
	is(lkdf_close(job.rt), 0, "it closes");
}

/* They meet only where each has a worker. */
static int meet(struct lkdf_ctx *c, void *arg)
{
	atomic_int *nr = arg;

	(void)c;
	atomic_fetch_add(nr, 1);
	while (atomic_load(nr) < NR_WORKERS)
		sched_yield();
	return 0;
}

static void a_small_quota_at_open_is_raised(void)
{
	atomic_int nr = 0;
	int i;

	open_below("50000 100000", 500, true);
	is(lkdf_nr_workers(job.rt), NR_WORKERS, "half a CPU: four workers");
	run_until_benched(2);
	is(idle_spin(), 0, "of which one a node runs, and none spins");
	set_quota("400000 100000");
	run_until_benched(0);
	for (i = 0; i < NR_WORKERS; i++)
		must(lkdf_submit_fn(job.rt, NULL, "meet", meet, &nr, NULL));
	is(lkdf_scope_wait(job.rt, NULL, -1), 0, "four CPUs: all run at once");
	ok(idle_spin() > 0, "and idle ones spin");
	is(lkdf_nr_workers(job.rt), NR_WORKERS, "their number is as before");
	is(lkdf_close(job.rt), 0, "it closes");
}

static void the_user_has_said_how_many(void)
{
	open_runtime(false);
	set_quota("100000 100000");
	while (!stat_of("lkdf.quota"))
		run_some();
	is(idle_spin(), 0, "workers=4 does not spin below 4 CPUs");
	run_some();
	is(stat_of("lkdf.standby"), 0, "but all its workers run");
	is(lkdf_close(job.rt), 0, "it closes");
}

static void set_quota_v1(const char *text)
{
	tree_write(&job.tree, "cg/cpu,cpuacct/cpu.cfs_quota_us", text);
}

static void version_1_is_followed_too(void)
{
	tree_write(&job.tree, "proc/self/cgroup", "2:cpu,cpuacct:/\n0::/");
	tree_write(&job.tree, "cg/cpu,cpuacct/cpu.cfs_period_us", "100000");
	set_quota_v1("-1");
	open_runtime(true);
	set_quota_v1("50000");
	run_until_benched(2);
	is(a_load(&quota()->milli, relaxed), 500, "version 1: half a CPU");
	set_quota_v1("300000");
	run_until_benched(1);
	is(a_load(&quota()->milli, relaxed), 3000, "version 1: three CPUs");
	set_quota_v1("-1");
	run_until_benched(0);
	is(a_load(&quota()->milli, relaxed), 0, "version 1: no quota any more");
	is(lkdf_close(job.rt), 0, "it closes");
}

int main(void)
{
	tap_start(100);
	tree_init(&job.tree);
	tree_write(&job.tree, "proc/self/cgroup", "0::/");
	snprintf(job.proc, sizeof(job.proc), "%s",
		 tree_path(&job.tree, "proc"));
	snprintf(job.group, sizeof(job.group), "%s",
		 tree_path(&job.tree, "cg"));
	fewer_workers_run();
	a_part_keeps_a_worker();
	a_rise_is_seen_behind_bodies();
	idle_for_long();
	up_and_down_under_load();
	a_small_quota_at_open_is_raised();
	the_user_has_said_how_many();
	version_1_is_followed_too();
	tree_remove(&job.tree);
	return tap_end();
}
