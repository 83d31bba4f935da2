/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_TEAM: bodies that own several CPUs of their node, as long as they run
 * and nobody else does; threads of OpenMP in them and in plain bodies.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static struct lkdf_kind *team_kind(struct lkdf *rt, const char *name,
				   lkdf_fn fn, uint32_t nr_cpus)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = name, .fn = fn,
					.flags = LKDF_TEAM | LKDF_SHARED,
					.nr_cpus = nr_cpus),
			      &k));
	return k;
}

/* ---- nobody else runs --------------------------------------------------- */

/* CPUs of each node that bodies use now, and most at a time. */
static struct node {
	atomic_int used, most;
} nodes[2];

static int of_worker(struct lkdf_ctx *c)
{
	return lkdf_worker(c) / 2 % 2;
}

/* As if so many threads ran. */
static void use(struct node *n, int nr)
{
	int used = atomic_fetch_add(&n->used, nr) + nr, most;
	int i;

	most = atomic_load(&n->most);
	while (used > most &&
	       !atomic_compare_exchange_weak(&n->most, &most, used))
		;
	for (i = 0; i < 3000; i++)
		atomic_load(&n->used);
	atomic_fetch_sub(&n->used, nr);
}

static int nr_per_node; /* workers */
static atomic_int nr_called, nr_wrong;

static struct node *node_of(struct lkdf_ctx *c)
{
	return &nodes[nr_per_node == 2 ? of_worker(c) : 0];
}

static int alone(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	use(node_of(c), 1);
	atomic_fetch_add(&nr_called, 1);
	return 0;
}

static int team(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (lkdf_team_size(c) < 1 || lkdf_team_size(c) > nr_per_node)
		atomic_fetch_add(&nr_wrong, 1);
	use(node_of(c), lkdf_team_size(c));
	atomic_fetch_add(&nr_called, 1);
	return 0;
}

struct all {
	struct lkdf_kind *plain, *two, *whole, *parent;
};

/* Below it are all sorts, again and again. */
static int parent(struct lkdf_ctx *c, void *arg)
{
	struct all *a = *(struct all **)arg;
	int i;

	for (i = 0; i < 4; i++) {
		must(lkdf_spawn(c, a->plain, NULL));
		must(lkdf_spawn(c, i % 2 ? a->two : a->whole, NULL));
	}
	return lkdf_join(c);
}

static void submit_all(struct lkdf *rt, struct all *a, int nr)
{
	struct lkdf_kind *k[4] = { a->plain, a->two, a->whole, a->parent };
	int i;

	for (i = 0; i < nr; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k[i % 4], .arg = &a),
				 NULL));
}

/* In any mixture each has what it owns for itself. */
static void cpus_are_owned(const char *options, int per_node)
{
	struct lkdf *rt = api_open(options);
	struct all a = {
		.plain = api_kind(rt, "plain", alone, 0, LKDF_SHARED),
		.two = team_kind(rt, "two", team, 2),
		.whole = team_kind(rt, "whole", team, 0),
		.parent = api_kind(rt, "parent", parent, sizeof(void *),
				   LKDF_SHARED),
	};
	int i, rc = 0;

	nr_per_node = per_node;
	atomic_store(&nr_called, 0);
	atomic_store(&nr_wrong, 0);
	for (i = 0; i < 2; i++)
		atomic_store(&nodes[i].most, 0);
	for (i = 0; i < 30 && !rc; i++) {
		submit_all(rt, &a, 40);
		rc = lkdf_scope_wait(rt, NULL, -1);
	}
	is(rc, 0, "%s: teams, plain bodies and joins end", options);
	is(atomic_load(&nr_called), 30 * (30 + 10 * 8), "all of them");
	is(atomic_load(&nr_wrong), 0, "no team is larger than its node");
	for (i = 0; i < 2; i++)
		ok(atomic_load(&nodes[i].most) <= per_node,
		   "%d CPUs at most were used of %d",
		   (int)atomic_load(&nodes[i].most), per_node);
	lkdf_kind_put(a.plain);
	lkdf_kind_put(a.two);
	lkdf_kind_put(a.whole);
	lkdf_kind_put(a.parent);
	must(lkdf_close(rt));
}

#define NAP_NS 30000000

static atomic_int is_running, may_end, is_team, nr_beside;

static int hold_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_running, 1);
	api_until(&may_end);
	atomic_store(&is_running, 0);
	return 0;
}

static int count_beside(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_beside, atomic_load(&is_team));
	return 0;
}

static atomic_int size_seen;

static int see_size(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_store(&size_seen, lkdf_team_size(c));
	return 0;
}

static int size_with(struct lkdf *rt, struct lkdf_kind *k)
{
	must(api_call(rt, k, NULL));
	lkdf_kind_put(k);
	return atomic_load(&size_seen);
}

/* All workers on one node: a machine may have a node for each. */
static struct lkdf *open_together(const char *options)
{
	struct lkdf *rt = api_open(options);
	int nr = lkdf_nr_workers(rt);
	char text[64];

	if (size_with(rt, team_kind(rt, "all", see_size, 0)) == nr)
		return rt;
	must(lkdf_close(rt));
	snprintf(text, sizeof(text), "workers=%d,topology=\"numa:1 core:%d\"",
		 nr, nr);
	return api_open(text);
}

/* Others would have a while to begin beside it. */
static int last(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_team, 1);
	atomic_fetch_add(&nr_beside, atomic_load(&is_running));
	api_nap_ns(NAP_NS);
	atomic_store(&is_team, 0);
	return 0;
}

/* Of all workers: one that runs is waited for, others do not begin. */
static void a_team_is_alone(const char *options)
{
	struct lkdf *rt = open_together(options);
	struct lkdf_kind *k = api_kind(rt, "hold on", hold_on, 0, 0);
	struct lkdf_kind *beside =
		api_kind(rt, "beside", count_beside, 0, LKDF_SHARED);
	struct lkdf_kind *all = team_kind(rt, "all", last, 0);
	int round, i;

	atomic_store(&nr_beside, 0);
	for (round = 0; round < 3; round++) {
		atomic_store(&may_end, 0);
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
		api_until(&is_running);
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = all), NULL));
		api_nap_ns(NAP_NS);
		atomic_store(&may_end, 1);
		for (i = 0; i < 50; i++) {
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = beside),
					 NULL));
			api_nap_ns(NAP_NS / 20);
		}
		is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: all end", options);
	}
	is(atomic_load(&nr_beside), 0, "no body ran beside the team's");
	lkdf_kind_put(k);
	lkdf_kind_put(beside);
	lkdf_kind_put(all);
	must(lkdf_close(rt));
}

/*
 * Nobody runs anything: those who sleep and those who still look for work leave
 * their CPUs to the team, which would not begin before.
 */
static void idle_workers_lend_their_cpus(const char *options)
{
	struct lkdf *rt = open_together(options);
	struct lkdf_kind *all = team_kind(rt, "all", see_size, 0);
	struct lkdf_event done;
	int round, rc = 0;

	for (round = 0; round < 20 && !rc; round++) {
		/* Asleep in every other round. */
		if (round % 2)
			api_nap_ns(NAP_NS);
		atomic_store(&size_seen, 0);
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = all),
				 &done));
		rc = lkdf_event_wait(done, PATIENCE_NS);
		rc = rc ? rc : size_seen != lkdf_nr_workers(rt);
	}
	if (!is(rc, 0, "%s: a team begins beside idle workers", options))
		exit(tap_end()); /* it would wait for ever */
	lkdf_kind_put(all);
	must(lkdf_close(rt));
}

static void it_has_what_it_asks_for(void)
{
	struct lkdf *rt = api_open("workers=4,topology=\"numa:2 core:2\"");

	is(size_with(rt, api_kind(rt, "plain", see_size, 0, 0)), 1,
	   "a plain body has one CPU");
	is(size_with(rt, team_kind(rt, "one", see_size, 1)), 1, "or one");
	is(size_with(rt, team_kind(rt, "two", see_size, 2)), 2, "or two");
	is(size_with(rt, team_kind(rt, "ten", see_size, 10)), 2,
	   "at most what its node has");
	is(size_with(rt, team_kind(rt, "all", see_size, 0)), 2, "or all of it");
	must(lkdf_close(rt));
	rt = api_open("serial=yes");
	is(size_with(rt, team_kind(rt, "all", see_size, 0)), 1,
	   "one in serial mode");
	must(lkdf_close(rt));
}

/* ---- threads of OpenMP -------------------------------------------------- */

#ifdef _OPENMP
#define MOST 64

/* ThreadSanitizer does not see the barriers of OpenMP. */
static struct {
	atomic_int nr_threads, cpu[MOST], nr_cpus[MOST], most;
	int before, after;
} omp;

static int count_own_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? -1 : CPU_COUNT(&set);
}

static int run_omp(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	omp.before = count_own_cpus();
	omp.most = omp_get_max_threads();
#pragma omp parallel
	{
		int i = omp_get_thread_num();

		if (i < MOST) {
			omp.cpu[i] = sched_getcpu();
			omp.nr_cpus[i] = count_own_cpus();
		}
#pragma omp single
		omp.nr_threads = omp_get_num_threads();
	}
	return 0;
}

static int look_after(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	omp.after = count_own_cpus();
	return 0;
}

static void threads_are_counted(const char *options)
{
	struct lkdf *rt = open_together(options);
	struct lkdf_kind *plain = api_kind(rt, "plain", run_omp, 0, 0);
	struct lkdf_kind *two = team_kind(rt, "two", run_omp, 2);
	struct lkdf_kind *after = api_kind(rt, "after", look_after, 0, 0);
	bool is_pinned = lkdf_caps(rt) & LKDF_CAP_PINNED;
	int i;

	for (i = 0; i < 20; i++) {
		must(api_call(rt, plain, NULL));
		if (omp.most != 1 || omp.nr_threads != 1)
			break;
		must(api_call(rt, two, NULL));
		if (omp.most != 2 || omp.nr_threads != 2 ||
		    (is_pinned && (omp.nr_cpus[0] < 2 || omp.nr_cpus[1] < 2)))
			break;
		must(api_call(rt, after, NULL));
		if (is_pinned && omp.after != 1)
			break;
	}
	is(i, 20, "%s: one thread in a plain body, two in a team of two",
	   options);
	printf("# %d and %d threads, CPUs %d and %d, of %d and %d, %d after\n",
	       omp.most, omp.nr_threads, omp.cpu[0], omp.cpu[1], omp.nr_cpus[0],
	       omp.nr_cpus[1], omp.after);
	lkdf_kind_put(plain);
	lkdf_kind_put(two);
	lkdf_kind_put(after);
	must(lkdf_close(rt));
}

static int see_most(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	omp.most = omp_get_max_threads();
	return 0;
}

static void others_are_left_alone(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = api_kind(rt, "pool", see_most, 0, LKDF_BLOCKING);
	int most = omp_get_max_threads();

	must(api_call(rt, k, NULL));
	is(omp.most, 1, "one thread in a body of the blocking pool");
	is(omp_get_max_threads(), most, "threads of the program have theirs");
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	omp_set_num_threads(3);
	rt = api_open("workers=2,omp=no");
	k = api_kind(rt, "plain", see_most, 0, 0);
	must(api_call(rt, k, NULL));
	ok(omp.most != 1 || most == 1, "omp=no: %d, as OpenMP says", omp.most);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

static void openmp(void)
{
	threads_are_counted("workers=2");
	threads_are_counted("workers=4,pin=no");
	others_are_left_alone();
}
#else
static void openmp(void)
{
	skip("threads of OpenMP", "built without");
}
#endif

/* ---- bad input ---------------------------------------------------------- */

static void refused(struct lkdf *rt, struct lkdf_kind_attr a, const char *why)
{
	struct lkdf_kind *k;

	a.size = sizeof(a);
	a.name = "bad";
	a.fn = api_nothing;
	is(lkdf_kind_create(rt, &a, &k), -EINVAL, "refused: %s", why);
	has(lkdf_errmsg(), why, "so it says");
}

static void bad_kinds_are_refused(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k;

	refused(rt, (struct lkdf_kind_attr){ .nr_cpus = 2 },
		"kind bad: nr_cpus 2 without TEAM");
	refused(rt,
		(struct lkdf_kind_attr){ .flags = LKDF_TEAM,
					 .nr_cpus = 1u << 31 },
		"kind bad: nr_cpus 2147483648, at most 2147483647");
	refused(rt,
		(struct lkdf_kind_attr){ .flags = LKDF_TEAM | LKDF_BLOCKING },
		"kind bad: TEAM and BLOCKING: a thread of the blocking pool "
		"has no CPU to begin with");
	is(lkdf_kind_create_io(rt, LKDF_KIND(.name = "io", .flags = LKDF_TEAM),
			       &k),
	   -EINVAL, "an operation with TEAM");
	has(lkdf_errmsg(), "kind io: TEAM is not for operations", "so it says");
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(120);
	/* LLVM's OpenMP: see Documentation/teams.rst. */
	setenv("KMP_AFFINITY", "disabled", 1);
	idle_workers_lend_their_cpus("workers=2");
	idle_workers_lend_their_cpus("workers=4");
	it_has_what_it_asks_for();
	a_team_is_alone("workers=2");
	a_team_is_alone("workers=4,pin=no");
	cpus_are_owned("workers=2", 2);
	cpus_are_owned("workers=4,pin=no", 4);
	cpus_are_owned("workers=4,topology=\"numa:2 core:2\"", 2);
	openmp();
	bad_kinds_are_refused();
	return tap_end();
}
