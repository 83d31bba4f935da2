/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/quota/quota.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/options.h"
#include "mechanism/due/due.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/lend/lend.h"
#include "mechanism/team/team.h"
#include "mechanism/unpin/unpin.h"
#include "sched/sched.h"
#include "topo/topo.h"
#include "trace/counters.h"
#include "trace/trace.h"
#include "trace/usdt.h"

#include <limits.h>
#include <lkdf/runtime.h>
#include <lkdf/signals.h>
#include <sched.h>

/* With less than two CPUs of quota a spinner takes from the worker. */
#define SPIN_MILLI 2000

/* By rank within the node first, then by node. */
static uint32_t rank_of(const struct sched *s, const struct worker *w)
{
	const struct worker *first = s->workers;
	uint32_t all_before = 0, rank, nr;
	int i;

	if (lend_is_substitute(w))
		return (uint32_t)w->id;
	while (first->node != w->node)
		first++;
	rank = (uint32_t)(w - first);
	for (i = 0; i < s->nr_nodes; i++) {
		nr = (uint32_t)s->nodes[i].nr_workers;
		all_before += nr < rank ? nr : rank;
		if (&s->nodes[i] < w->node && nr > rank)
			all_before++;
	}
	check(all_before < (uint32_t)s->nr_regular);
	return all_before;
}

static int init_quota(struct sched *s, const struct sched_setup *a)
{
	struct quota *q = quota_in(s);
	int i;

	q->proc_root = a->options->proc_root;
	q->cgroup_root = a->options->cgroup_root;
	q->has_standby = !a->options->workers;
	q->look_ticks = sched_ticks(s, QUOTA_LOOK_NS);
	q->calm_ticks = sched_ticks(s, QUOTA_CALM_NS);
	q->gap_ticks = sched_ticks(s, QUOTA_GAP_NS);
	q->spin_ticks = s->spin_ticks;
	a_store(&q->look_at, UINT64_MAX, relaxed);
	a_store(&q->milli, s->topo->quota_milli, relaxed);
	a_store(&q->cpus, s->nr_regular, relaxed);
	for (i = 0; i < s->nr_workers; i++)
		quota_of(&s->workers[i])->rank = rank_of(s, &s->workers[i]);
	return 0;
}

/* By number once it runs: it may have ended, and be joined. */
static int read_cpus(const struct worker *w, cpu_set_t *set)
{
	int tid = a_load(&w->tid, relaxed);

	return tid ? sched_getaffinity(tid, sizeof(*set), set)
		   : pthread_getaffinity_np(w->thread, sizeof(*set), set);
}

/*
 * CPUs that any worker's thread may run on. A file that cannot be read does not
 * limit.
 */
static int count_cpus(const struct sched *s)
{
	cpu_set_t all, own;
	int i;

	CPU_ZERO(&all);
	for (i = 0; i < s->nr_workers; i++) {
		if (read_cpus(&s->workers[i], &own))
			return s->nr_regular;
		CPU_OR(&all, &all, &own);
		unpin_restore(&s->workers[i],
			      a_load(&s->workers[i].tid, relaxed), &own);
	}
	i = CPU_COUNT(&all);
	return i < s->nr_regular ? i : s->nr_regular;
}

/* True: it was another number before. */
static bool replace_number(_Atomic(int) *old, int value)
{
	bool is_new = a_load(old, relaxed) != value;

	if (is_new)
		a_store(old, value, relaxed);
	return is_new;
}

/* True: there is news, and the workers go by it. */
static bool look_at_quota(struct sched *s)
{
	int nr = s->nr_regular, milli, cpus, least;
	struct quota *q = quota_in(s);
	bool is_new;

	milli = topo_read_quota_milli(q->proc_root, q->cgroup_root);
	cpus = s->topo->is_synthetic ? nr : count_cpus(s);
	is_new = replace_number(&q->milli, milli);
	a_store(&q->read_ns, clock_now_ns(), relaxed);
	is_new |= replace_number(&q->cpus, cpus);
	least = milli / 1000 + (milli % 1000 != 0);
	if (!milli || cpus < least)
		least = cpus;
	a_store(&q->patience,
		milli || cpus < nr ? 0 : q->calm_ticks - q->look_ticks,
		relaxed);
	a_store(&s->spin,
		least < nr || (milli && milli < SPIN_MILLI) ? 0 : q->spin_ticks,
		relaxed);
	if (q->has_standby)
		a_store(&q->nr_running,
			least < s->nr_worker_nodes
				? (uint32_t)s->nr_worker_nodes
				: (uint32_t)least,
			relaxed);
	return is_new;
}

static void start_looking(struct sched *s)
{
	struct quota *q = quota_in(s);

	if (s->is_serial || (s->topo->is_synthetic && !q->cgroup_root))
		return;
	look_at_quota(s);
	/* [quota.on] all threads are there; pairs with [quota.turn]. */
	a_store(&q->look_at, clock_ticks() + q->look_ticks, release);
}

void quota_stir(struct quota *q)
{
	a_store(&q->is_deep, 0, relaxed);
	/* [quota.stir] after the news; pairs with [quota.word]. */
	a_add(&q->word, 1, seq_cst);
	futex_wake(&q->word, INT_MAX);
}

static uint32_t nr_running(const struct sched *s)
{
	uint32_t nr = a_load(&quota_in(s)->nr_running, relaxed);
	uint32_t all = (uint32_t)s->nr_regular;

	return nr && nr < all ? nr : all;
}

static void tell_quota(const struct sched *s)
{
	const struct quota *q = quota_in(s);
	int milli = a_load(&q->milli, relaxed);

	log_text(s->log, LKDF_LOG_INFO,
		 "quota: %d.%03d CPUs%s, threads of workers may use %d, "
		 "%u of %d workers run, %s",
		 milli / 1000, milli % 1000, milli ? "" : " (none)",
		 a_load(&q->cpus, relaxed), nr_running(s), s->nr_regular,
		 sched_spin(s) ? "idle ones spin" : "no spinning");
}

void quota_rise(struct worker *w)
{
	quota_of(w)->seen_at = clock_ticks();
}

void quota_look(struct worker *w)
{
	struct quota *q = quota_in(w->sched);
	uint64_t at = a_load(&q->look_at, relaxed), now = clock_ticks();
	bool may_have_lost = now - quota_of(w)->seen_at > q->gap_ticks;

	quota_of(w)->seen_at = now;
	if (likely(now < at))
		return;
	if (!may_have_lost && now - at < a_load(&q->patience, relaxed))
		return;
	/* [quota.turn] one looks, at threads that are there; pairs with
	 * [quota.on]. */
	if (!a_cas(&q->look_at, &at, now + q->look_ticks, acquire, relaxed))
		return;
	if (!look_at_quota(w->sched))
		return;
	counter_add(w->executor->counters, COUNTER_QUOTA, 1);
	trace_event(w->executor->ring, EVENT_SIGNAL_QUOTA, LKDF_SIGNAL_SELF,
		    nr_running(w->sched));
	tell_quota(w->sched);
	quota_stir(q);
}

static bool may_run(const struct worker *w)
{
	const struct quota *q = quota_in(w->sched);
	uint32_t nr = a_load(&q->nr_running, relaxed);

	if (lend_is_substitute(w))
		/* [lend.d] after is_parking; pairs with [lend.a]. */
		return w->id - w->sched->nr_regular <
			       (int)a_load(&q->nr_lent, seq_cst) &&
		       !due_is(w);
	return !team_has(w) && (likely(!nr || quota_of(w)->rank < nr) ||
				a_load(&quota_of(w)->is_exempt, relaxed));
}

bool quota_must_leave(struct worker *w)
{
	struct sched *s = w->sched;

	if (may_run(w) && likely(!team_is_away(w)))
		return false;
	/* It has lent its CPU, and went on. */
	team_back(w);
	if (may_run(w))
		return false;
	if (!s->ops.stays || !s->ops.stays(w))
		return true;
	team_away(w);
	return false;
}

/* True: all sleep that are not on standby. */
static bool all_sleep(struct sched *s)
{
	uint32_t nr = a_load(&quota_in(s)->nr_standby, relaxed);
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		/* [quota.d] after is_deep; pairs with [park.found]. */
		nr += park_sleepers(a_load(&s->nodes[i].park.word, seq_cst));
	return nr == (uint32_t)s->nr_workers;
}

/* Until there is news, or it is time to look. */
static void wait_for_change(struct worker *w, uint32_t word)
{
	struct sched *s = w->sched;
	struct quota *q = quota_in(s);
	int64_t nap_ns = -1;

	if (lend_is_substitute(w)) {
		futex_wait(&q->word, word, nap_ns);
		return;
	}
	/* [quota.c] before we look at the others; pairs with [quota.b]. */
	a_store(&q->is_deep, 1, seq_cst);
	if (!all_sleep(s)) {
		/* Those that sleep for ever are stirred by us, if need be. */
		a_store(&q->is_deep, 0, relaxed);
		nap_ns = QUOTA_LOOK_NS;
	}
	futex_wait(&q->word, word, nap_ns);
}

/* until it may run, or the sched stops. */
static void wait_on_standby(struct worker *w)
{
	struct sched *s = w->sched;
	uint32_t word;

	for (;;) {
		/* [quota.word] before we look; pairs with [quota.stir]. */
		word = a_load(&quota_in(s)->word, seq_cst);
		/* [sched.stopping] after the word; pairs with [sched.stop]. */
		if (may_run(w) || a_load(&s->is_stopping, seq_cst))
			break;
		wait_for_change(w, word);
		quota_look(w);
	}
}

void quota_stand_by(struct worker *w)
{
	struct quota *q = quota_in(w->sched);

	holdoff_end(w);
	worker_share_all(w);
	counter_add(w->executor->counters, COUNTER_STANDBY, 1);
	trace_event(w->executor->ring, EVENT_PARK, 0, 0);
	usdt_1(park, w->id);
	a_add(&q->nr_standby, 1, relaxed);
	do {
		team_away(w);
		wait_on_standby(w);
		team_back(w);
	} while (team_has(w));
	a_sub(&q->nr_standby, 1, relaxed);
	trace_event(w->executor->ring, EVENT_UNPARK, 0, 0);
	usdt_1(unpark, w->id);
}

/* While it looks for work only those leave whose seat somebody else has. */
static bool has_to_go(struct worker *w, bool is_idle)
{
	if (is_idle && !team_has(w) && !lend_is_substitute(w))
		return false;
	return quota_must_leave(w);
}

static void stir_all(struct sched *s)
{
	quota_stir(quota_in(s));
}

static void tell_standby(struct worker *w, bool has_found)
{
	if (has_found)
		quota_found(quota_in(w->sched));
}

const struct mechanism quota_mechanism = {
	.name = "quota",
	.uses = "due holdoff lend team unpin",
	.of_worker = MECHANISM_DATA(struct quota_worker),
	.of_sched = MECHANISM_DATA(struct quota),
	.open = init_quota,
	.started = start_looking,
	.stop = stir_all,
	.before_sleep = quota_look,
	.after_wake = quota_rise,
	.leave = tell_standby,
	.must_leave = has_to_go,
	.stand_by = quota_stand_by,
};
