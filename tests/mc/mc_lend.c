/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker in a join lends its seat to a substitute, and takes it back: lend.c
 * and quota.c as they are shipped, with the sleep of park.c. A seat that is
 * lent is heard of; once it is back the substitute stands by again, also from
 * its sleep. A worker that a quota has put on standby sleeps for ever only
 * while all others do.
 */
#include "base/log.h"
#include "lay.h"
#include "mc.h"
#include "mechanism/unpin/unpin.h"
#include "sched/help.h"
#include "sched/idle.h"
#include "topo/topo.h"
#include "trace/counters.h"

static struct sched sched;
static struct sched_node node;
static struct worker workers[2];
static struct executor executors[2];
static struct counters counters[2];
static _Atomic(uint32_t) nr_begun, has_left;

/* ---- what quota.c and help.c call ---------------------------------------- */

void worker_share_all(struct worker *w)
{
	(void)w;
}

void team_away(struct worker *w)
{
	a_store(&team_of(w)->is_away, 1, relaxed);
}

/* The number of CPUs stays as it is, and nobody waits for a word. */
int topo_read_quota_milli(const char *proc_root, const char *cgroup_root)
{
	(void)proc_root;
	(void)cgroup_root;
	mc_fail("%s", __func__);
}

void unpin_restore(const struct worker *v, int tid, const cpu_set_t *own)
{
	(void)v;
	(void)tid;
	(void)own;
	mc_fail("%s", __func__);
}

void log_text(const struct log *l, int level, const char *format, ...)
{
	(void)l;
	(void)level;
	(void)format;
	mc_fail("%s", __func__);
}

void gate_give_up(struct worker *w)
{
	(void)w;
	mc_fail("%s", __func__);
}

void holdoff_stop(struct worker *w)
{
	(void)w;
	mc_fail("%s", __func__);
}

bool worker_take_home(struct worker *w)
{
	(void)w;
	mc_fail("%s", __func__);
}

bool worker_pop_class(struct worker *w, uint64_t *item)
{
	(void)w;
	(void)item;
	mc_fail("%s", __func__);
}

bool deque_pop_published(struct deque *d, uint32_t head, uint64_t *item)
{
	(void)d;
	(void)head;
	(void)item;
	mc_fail("%s", __func__);
}

bool idle_find(struct worker *w, uint64_t *item)
{
	(void)w;
	(void)item;
	mc_fail("%s", __func__);
}

void worker_offer(struct worker *w, bool is_short, uint64_t body_ticks)
{
	(void)w;
	(void)is_short;
	(void)body_ticks;
	mc_fail("%s", __func__);
}

/* ---- workers ------------------------------------------------------------ */

static void init(void)
{
	int i;

	sched.workers = workers;
	sched.nodes = &node;
	sched.nr_nodes = sched.nr_regular = node.nr_workers = 1;
	sched.nr_workers = 2;
	park_init(&node.park);
	lay_data(&sched);
	a_store(&sched.is_stopping, 0, relaxed);
	a_store(&nr_begun, 0, relaxed);
	a_store(&has_left, 0, relaxed);
	for (i = 0; i < 2; i++) {
		executors[i].counters = &counters[i];
		workers[i].executor = &executors[i];
		workers[i].sched = &sched;
		workers[i].node = &node;
		workers[i].id = i;
		workers[i].cpu = -1;
		a_store(&workers[i].is_parking, 0, relaxed);
	}
	mc_name(&quota_in(&sched)->word, "quota word");
	mc_name(&quota_in(&sched)->nr_lent, "nr_lent");
	mc_name(&workers[1].is_parking, "is_parking");
	mc_name(&node.park.word, "park word");
}

static void stop(void)
{
	a_store(&sched.is_stopping, 1, seq_cst);
	park_wake_all(&node.park);
	quota_stir(quota_in(&sched));
}

static void lend_once(struct worker *w, uint32_t nr_before)
{
	mc_assert(!lend_begin(w, LEND_NS));
	mc_assert(lend_begin(w, LEND_NS + 1));
	while (a_load(&nr_begun, relaxed) == nr_before)
		a_pause();
	lend_end(w);
}

/* As sleep_once() of a substitute: nobody wakes it but who wants it to go. */
static void sleep_once(struct worker *w)
{
	worker_nap(w);
	park_announce(&node.park);
	if (quota_must_leave(w) || a_load(&sched.is_stopping, seq_cst)) {
		park_retract(&node.park);
	} else {
		mc_see("sleeps");
		park_sleep_uncalled(&node.park, -1, &w->is_parking,
				    park_bits(w->cpu));
	}
	worker_rise(w);
}

/* It runs while a seat is lent, and finds nothing. */
static void substitute(struct worker *w)
{
	while (!a_load(&sched.is_stopping, seq_cst)) {
		if (quota_must_leave(w)) {
			quota_stand_by(w);
			continue;
		}
		a_add(&nr_begun, 1, relaxed);
		park_spin(&node.park);
		while (!quota_must_leave(w) &&
		       !a_load(&sched.is_stopping, seq_cst))
			sleep_once(w);
		park_found(&node.park);
		a_add(&has_left, 1, relaxed);
	}
}

/* ---- scenarios ---------------------------------------------------------- */

/* And it goes again, though nobody stops the workers. */
static void seat_is_lent(int id)
{
	if (id) {
		substitute(&workers[1]);
		return;
	}
	lend_once(&workers[0], 0);
	while (!a_load(&has_left, relaxed))
		a_pause();
	stop();
}

static void seat_is_lent_twice(int id)
{
	uint32_t nr;

	if (id) {
		substitute(&workers[1]);
		return;
	}
	lend_once(&workers[0], 0);
	while (!a_load(&has_left, relaxed))
		a_pause();
	nr = a_load(&nr_begun, relaxed);
	lend_once(&workers[0], nr);
	stop();
}

/* Of two workers one is without a CPU, and the other sleeps. */
static void init_quota(void)
{
	init();
	sched.nr_regular = node.nr_workers = 2;
	quota_of(&workers[1])->rank = 1;
	a_store(&quota_in(&sched)->nr_running, 1, relaxed);
	park_spin(&node.park);
	park_announce(&node.park);
}

/* It finds work, and there is a CPU more, of which it does not tell. */
static void standby_looks(int id)
{
	if (id) {
		quota_stand_by(&workers[1]);
		return;
	}
	park_retract(&node.park);
	park_found(&node.park);
	quota_found(quota_in(&sched));
	a_store(&quota_in(&sched)->nr_running, 2, relaxed);
}

static void all_is_back(void)
{
	mc_assert(!a_load(&quota_in(&sched)->nr_lent, relaxed));
	mc_assert(!a_load(&quota_in(&sched)->nr_standby, relaxed));
	mc_assert(!park_sleepers(a_load(&node.park.word, relaxed)));
}

static const struct mc_scenario table[] = {
	{ .name = "a seat is lent, and is back",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = 0,
	  .init = init,
	  .thread = seat_is_lent,
	  .final = all_is_back,
	  .must_see = { "sleeps" } },
	{ .name = "it is lent again",
	  .nr_threads = 2,
	  .bound = 2,
	  .timeouts = 0,
	  .init = init,
	  .thread = seat_is_lent_twice,
	  .final = all_is_back },
	{ .name = "a worker on standby looks while another one works",
	  .nr_threads = 2,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = 2,
	  .init = init_quota,
	  .thread = standby_looks,
	  .final = all_is_back },
};

MC_MAIN(table)
