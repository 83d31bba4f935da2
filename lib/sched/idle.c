/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/idle.h"

#include "base/clock.h"
#include "mechanism/client/client.h"
#include "mechanism/crew/crew.h"
#include "mechanism/due/due.h"
#include "mechanism/far/far.h"
#include "mechanism/gate/gate.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/lend/lend.h"
#include "mechanism/part/part.h"
#include "mechanism/publish/publish.h"
#include "mechanism/quota/quota.h"
#include "mechanism/team/team.h"
#include "sched/help.h"
#include "sched/intake.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "sched/sched.h"
#include "sched/steal_request.h"
#include "sched/tick.h"
#include "trace/usdt.h"

/*
 * An only item may be the successor that a body has spawned and that its owner
 * takes at once. An item that is there after a few looks is worth it.
 */
static bool is_stale(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);
	int i;

	if (span_split(span) - span_tail(span) != 1)
		return true;
	for (i = 0; i < 4; i++) {
		if (!deque_has_public(d))
			return false;
		a_delay();
	}
	return true;
}

/* Of another node: what we may not take stays, see far.h. */
static enum deque_result steal_far(struct worker *w, struct worker *victim,
				   int level, uint64_t *item)
{
	struct deque *d = &victim->deque[level];
	uint64_t span;

	if (!deque_look(d, &span, item))
		return DEQUE_EMPTY;
	/* A worker that has seen it sees that there is planned work. */
	if (item_is_planned(*item) && !far_allows(w, victim->node))
		return DEQUE_EMPTY;
	return deque_steal_at(d, span, item);
}

static bool steal_from(struct worker *w, int i, uint64_t *item)
{
	struct worker *victim = &w->sched->workers[w->victims[i]];
	bool is_near = i < w->nr_near;
	int level = is_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
	int lowest = holdoff_holds(w, victim) ? CLASS_NORMAL + 1 : 0;
	unsigned deques = worker_deques(victim);
	enum deque_result rc;

	for (; level >= lowest; level--) {
		if (!(deques & 1u << level) || !is_stale(&victim->deque[level]))
			continue;
		do {
			rc = is_near ? deque_steal(&victim->deque[level], item)
				     : steal_far(w, victim, level, item);
		} while (rc == DEQUE_LOST &&
			 (level == CLASS_URGENT || level == CLASS_SPARE));
		if (rc == DEQUE_TAKEN) {
			holdoff_join(w, victim);
			counter_add(w->executor->counters,
				    is_near ? COUNTER_STEALS_NEAR
					    : COUNTER_STEALS_FAR,
				    1);
			trace_event(w->executor->ring, EVENT_STEAL,
				    (uint32_t)victim->id,
				    far_why(w, is_near, *item));
			usdt_3(steal, w->id, victim->id, !is_near);
			return true;
		}
	}
	if (!lowest)
		steal_request_send(victim);
	return false;
}

static bool take_crew(struct worker *w, bool is_far, uint64_t *item)
{
	(void)is_far;
	return crew_offered(&w->node->crew, (uint32_t)w->id, item);
}

/* The sources, and what waits at the own node; see has_home(). */
static bool take_home(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;

	(void)is_far;
	return ((s->ops.poll && s->ops.poll(w)) || worker_take_home(w)) &&
	       worker_pop(w, item);
}

static bool take_victims(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int nr = is_far ? s->nr_workers - 1 : w->nr_near, i;

	if (is_far && s->nr_nodes > 1)
		far_look(w, clock_ticks() - w->idle_since);
	for (i = 0; i < nr; i++)
		if (steal_from(w, i, item))
			return true;
	return false;
}

static bool take_nodes(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; is_far && i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) &&
		    intake_any(w, &s->nodes[i]) && worker_pop(w, item))
			return true;
	return false;
}

static bool take_parts(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; is_far && i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) &&
		    part_help(&s->nodes[i], item))
			return true;
	return false;
}

/*
 * Sources have a bell, see park_set_bell(). Nobody outside of a part takes what
 * is bound to it.
 */
static unsigned has_home(struct worker *w)
{
	struct sched_node *node = w->node;
	unsigned found = intake_has(node);

	if (!inbox_is_empty(&node->bound) ||
	    !backlog_is_empty(&node->backlog[DEQUE_BOUND]))
		found |= 1u << DEQUE_BOUND;
	return part_has_bound(w) ? found | 1u << DEQUE_PART : found;
}

static unsigned has_nodes(struct worker *w)
{
	struct sched *s = w->sched;
	unsigned found = 0;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (&s->nodes[i] != w->node && far_allows(w, &s->nodes[i]))
			found |= intake_has(&s->nodes[i]);
	return found;
}

static unsigned has_parts(struct worker *w)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) && part_has_wish(&s->nodes[i]))
			return 1u << CLASS_NORMAL;
	return 0;
}

/* Anything that we may take? See holdoff.h and, of another node, far.h. */
static bool is_left(struct worker *w, struct worker *victim, int level)
{
	struct deque *d = &victim->deque[level];
	/* [park.d] after park_announce(); pairs with [deque.share]. */
	uint64_t span = a_load(&d->span, seq_cst), item;

	if (span_tail(span) == span_split(span))
		return false;
	if (level == DEQUE_BOUND)
		return victim->node == w->node;
	return (level > CLASS_NORMAL || !holdoff_hides(w, victim)) &&
	       (!deque_peek(d, &item) || !item_is_planned(item) ||
		far_allows(w, victim->node));
}

/* Of deques. Bound work is for workers of the node. */
static unsigned has_victims(struct worker *w)
{
	struct sched *s = w->sched;
	unsigned deques, found = 0;
	struct worker *v;
	int level;

	for (v = s->workers; v < s->workers + s->nr_workers; v++) {
		deques = worker_deques(v);
		for (level = 0; level < NR_DEQUES; level++)
			if (deques & 1u << level && is_left(w, v, level))
				found |= 1u << level;
	}
	return found;
}

static unsigned has_crew(struct worker *w)
{
	uint64_t item;

	return take_crew(w, false, &item) ? 1u << CLASS_NORMAL : 0;
}

/*
 * Places where work may lie that a worker does not own. The worker looks at
 * each row while it spins (take) and once more after it has said that it sleeps
 * (has): a row without both is a lost wake-up. The model checker drops each has
 * in turn, and a scenario of mc_strand.c, mc_part.c or mc_gate.c dies of it.
 */
struct work_place {
	const char *name;
	/* Spinning, at other nodes if is_far. True: *item is the caller's. */
	bool (*take)(struct worker *w, bool is_far, uint64_t *item);
	/* After park_announce(): bits of deques, as those of share_all(). */
	unsigned (*has)(struct worker *w);
};

static const struct work_place places[] = {
	{ "home", take_home, has_home },
	{ "crew", take_crew, has_crew },
	{ "gates", gate_take_any, gate_has_any },
	{ "victims", take_victims, has_victims },
	{ "nodes", take_nodes, has_nodes },
	{ "parts", take_parts, has_parts },
};

/* The member, or what was bound to the worker before it. */
static bool take_due(struct worker *w, uint64_t *item)
{
	struct link *link =
		part_dig_bound(w, UINT32_MAX, w->sched->ops.precedes);

	if (link)
		*item = link_item(link);
	return link != NULL;
}

/* A round over all places. */
static bool look_once(struct worker *w, bool is_far, uint64_t *item)
{
	size_t i;

	w->nr_rounds++;
	if (due_is(w))
		return take_due(w, item);
		/* So that the compiler knows the calls. */
#pragma GCC unroll 4
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].take(w, is_far, item))
			return true;
	return false;
}

/* After we have said that we sleep: is anything left that we may take? */
static unsigned work_left(struct worker *w)
{
	unsigned found = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!row_is_dropped(places[i].name))
			found |= places[i].has(w);
	return found;
}

/* Work that another worker may take: not what is bound to a part. */
static unsigned public_for(struct worker *w)
{
	return work_left(w) & ~(1u << DEQUE_PART);
}

/* Spinner -> sleeper, and all know that somebody has nothing to do. */
static void announce_sleep(struct worker *w)
{
	struct sched *s = w->sched;
	int i;

	publish_watch(w);
	park_announce(&w->node->park);
	for (i = 0; i < s->nr_workers - 1; i++)
		steal_request_send(&s->workers[w->victims[i]]);
}

static bool is_stopping(struct worker *w)
{
	/* [sched.stopping] after we said that we sleep; pairs with
	 * [sched.stop]. */
	return a_load(&w->sched->is_stopping, seq_cst) != 0 || help_is_over(w);
}

/* The kernel would not take all operations: it is asked again. */
static int64_t retry_nap(struct worker *w)
{
	return unlikely(w->io_waits) ? IO_RETRY_NS : -1;
}

/* The layer above: what idle workers do for others beside taking work. */
static int64_t duty_nap(struct worker *w)
{
	const struct sched *s = w->sched;

	return s->nr_worker_nodes > 1 && s->ops.nap ? s->ops.nap(w) : -1;
}

/* Why a sleeper comes back by itself, but for timers: see nap.h. */
static int64_t (*const naps[])(struct worker *w) = {
	holdoff_nap, /* another worker keeps its work for a while */
	gate_nap, /* a worker with a token may come by no more */
	publish_nap, /* a body may go on and on before private work */
	far_nap, /* planned work of another node becomes late */
	retry_nap,   duty_nap, /* the last one: it may say 0, not at all */
};

/* Its CPU is somebody else's, or the one whose seat it had is back. */
static inline bool has_to_go(struct worker *w)
{
	return (team_has(w) || lend_is_substitute(w)) && quota_must_leave(w);
}

/* Spinner -> busy. True: nobody of the node looks for work any more. */
static bool leave_spinners(struct worker *w)
{
	if (!park_found(&w->node->park))
		return false;
	/* [urgent.look] after we left; pairs with [urgent.set]. */
	if (unlikely(a_load(&w->sched->has_urgent, seq_cst)))
		w->sched->ops.urgent(w->executor->rt);
	return true;
}

/* A worker without a CPU waits until it has one again. */
static void sit_out(struct worker *w)
{
	if (leave_spinners(w) && notify_has_sleeper(w->sched))
		worker_notify(w, public_for(w));
	quota_stand_by(w);
	park_spin(&w->node->park);
}

/*
 * Spinner on entry and on return. For how many ticks it is worth to spin then:
 * whoever slept its time has no reason to expect more than what it was for.
 */
static uint64_t sleep_once(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t ticks;
	int64_t left, armed;
	size_t i;

	quota_look(w);
	ticks = quota_spin(&s->quota);
	if (has_to_go(w)) {
		sit_out(w);
		return ticks;
	}
	/* Asleep it has nothing to keep. */
	a_store(&w->holdoff_until, 0, relaxed);
	part_nap(w);
	announce_sleep(w);
	left = timers_arm(&s->timers, &armed);
	for (i = 0; i < ARRAY_SIZE(naps); i++)
		left = nap_min(left, naps[i](w));
	if (work_left(w) || is_stopping(w) || has_to_go(w) || !left) {
		park_retract(&w->node->park);
	} else {
		counter_add(w->executor->counters, COUNTER_PARKS, 1);
		trace_event(w->executor->ring, EVENT_PARK, 0, 0);
		usdt_1(park, w->id);
		if (park_sleep_uncalled(&w->node->park, left, &w->is_parking,
					park_bits(w->cpu)))
			ticks = 0;
		else
			w->wake_link = wake_depth_take(&s->wakes);
		trace_event(w->executor->ring, EVENT_UNPARK, 0, 0);
		usdt_1(unpark, w->id);
	}
	part_rise(w);
	quota_rise(w);
	timers_disarm(&s->timers, armed);
	return ticks;
}

/*
 * Where a thread that submits wants our CPU it has it for as long as we find
 * nothing; it may keep it for milliseconds, so meanwhile no waker counts on us.
 * If it was somebody else who has kept it we do not step aside for a while.
 */
static void step_aside(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks();

	if (!client_is_here(s) || start - w->crowded_at < s->crowded_ticks)
		return;
	announce_sleep(w);
	if (!work_left(w) && !is_stopping(w)) {
		client_forget(s);
		sched_yield();
		if (clock_ticks() - start > s->wake_ticks &&
		    !client_was_here(s))
			w->crowded_at = start;
	}
	park_retract(&w->node->park);
}

/* Spins for so long, a pause between any two looks. True: an item. */
static bool spin_for(struct worker *w, uint64_t ticks, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), idle = 0, aside = s->aside_ticks;
	uint64_t publish = s->publish_ticks, far = quota_spin(&s->quota);

	if (has_to_go(w))
		return false;
	do {
		if (look_once(w, w->nr_near == 0 || policy_steal_far(idle, far),
			      item))
			return true;
		/* A task that a timer starts may come to our own deque. */
		if (worker_has_clock(w) && worker_tick(w) &&
		    worker_pop(w, item))
			return true;
		idle_pause(s->nr_workers);
		idle = clock_ticks() - start;
		ticks = idle_spins_for(w, ticks, idle + far);
		if (idle > aside && idle < ticks) {
			step_aside(w);
			aside = idle + s->aside_ticks;
		}
		if (idle > publish && idle < ticks) {
			publish_look(w);
			publish = idle + s->publish_ticks;
		}
	} while (idle < ticks && !is_stopping(w) && !has_to_go(w) &&
		 idle_spins_on(w));
	if (has_to_go(w))
		return false;
	publish_look(w);
	return look_once(w, true, item);
}

bool idle_find(struct worker *w, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), ticks = quota_spin(&s->quota), ns;
	bool found, is_last;

	w->idle_since = start;
	w->nr_rounds = 0;
	holdoff_leave(w);
	park_spin(&w->node->park);
	while (!(found = spin_for(w, ticks, item)) && !is_stopping(w))
		ticks = sleep_once(w);
	ns = sched_ns(s, clock_ticks() - start);
	counter_add(w->executor->counters, COUNTER_IDLE_NS, ns);
	counter_add(w->executor->counters, COUNTER_STEAL_ROUNDS, w->nr_rounds);
	/* On our way here we may have taken the token of one that sleeps on. */
	if (!found && !w->awaited)
		park_wake_all(&w->node->park);
	/* And have given up what one had asked for, whom we took for awake. */
	if (found && notify_has_sleeper(s))
		steal_request_send(w);
	/* The woken worker wakes the next ones, if there is more. */
	is_last = leave_spinners(w);
	if (notify_has_sleeper(s) && !(found && notify_tree(w, *item)) &&
	    is_last)
		worker_notify(w, public_for(w));
	w->wake_link = 0;
	publish_leave(w, found);
	if (found && s->nr_worker_nodes > 1 && s->ops.leave)
		s->ops.leave(w);
	if (found) {
		quota_found(&s->quota);
		w->holdoff_nap_ns = 0;
		worker_pass_time(w);
	}
	return found;
}
