/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The search: every execution replays the choices of the one before up to the
 * last that has an alternative left. With a preemption bound all interleavings
 * within it are run. Without one, sleep sets (Godefroid 1996) leave out those
 * that only swap independent steps.
 */
#include "checker.h"

#include <string.h>

/* Rounds that a spinning thread may make while nothing changes at all. */
#define MAX_IDLE 2
/* Pauses per thread after which its own writes let it read the past on. */
#define FREE_PAUSES 2
#define DEFAULT_STEPS 5000

unsigned explore_choose(unsigned nr)
{
	if (nr > UINT8_MAX)
		nr = UINT8_MAX;
	if (mc.pos == MC_CHOICES)
		mc_fail("checker: too many choices");
	if (mc.pos == mc.nr_choices)
		mc.choices[mc.nr_choices++] = (struct choice){ 0, (uint8_t)nr };
	else if (mc.choices[mc.pos].nr != nr)
		mc_fail("checker: the scenario is not deterministic");
	return mc.choices[mc.pos++].taken;
}

bool explore_next(void)
{
	struct choice *c;

	mc.nr_choices = mc.pos;
	while (mc.nr_choices) {
		c = &mc.choices[mc.nr_choices - 1];
		if (++c->taken < c->nr)
			return true;
		mc.nr_choices--;
	}
	return false;
}

_Noreturn void explore_leave(enum mc_end_of state)
{
	mc.state = state;
	if (!mc.cur)
		longjmp(mc.main_jmp, 1);
	fiber_switch(&mc.cur->sp, mc.main_sp);
	__builtin_unreachable();
}

/* A round of a loop that wrote nothing and would read the same once more. */
static bool is_waiting(const struct thread *t)
{
	unsigned i;

	if (t->is_stale || t->changes != t->seen_own)
		return false;
	for (i = 0; i < mc.nr_locs; i++)
		if (t->read_at[i] == t->pauses && mc.locs[i].nr != t->nr_at[i])
			return false;
	return true;
}

static bool may_end_sleep(const struct thread *t)
{
	return t->is_woken || (t->is_timed && mc.timeouts < mc.sc->timeouts) ||
	       mc.spurious < mc.sc->spurious;
}

static bool is_enabled(const struct thread *t)
{
	switch (t->op) {
	case MC_END:
		return false;
	case MC_PAUSE:
		return !is_waiting(t);
	case MC_FUTEX_SLEEP:
		return may_end_sleep(t);
	default:
		return true;
	}
}

/* Nobody can move: time goes on, and who spins may stop spinning. */
static bool is_forced(const struct thread *t)
{
	if (t->op == MC_FUTEX_SLEEP)
		return t->is_timed && mc.sc->timeouts >= 0;
	return t->op == MC_PAUSE &&
	       (t->idle_at != mc.changes || t->nr_idle < MAX_IDLE);
}

static unsigned mask_of(bool (*pred)(const struct thread *t))
{
	unsigned mask = 0;
	int i;

	for (i = 0; i < mc.sc->nr_threads; i++)
		if (pred(&mc.threads[i]))
			mask |= 1u << i;
	return mask;
}

static bool has_ended(const struct thread *t)
{
	return t->op == MC_END;
}

/* Who can move; ends the execution if nobody can. */
static unsigned who_can(void)
{
	unsigned mask = mask_of(is_enabled);
	char text[MC_TEXT / 2];

	mc.is_forced = !mask;
	if (mask)
		return mask;
	mask = mask_of(is_forced);
	if (mask)
		return mask;
	if (mask_of(has_ended) == (1u << mc.sc->nr_threads) - 1)
		explore_leave(RUN_DONE);
	report_waiters(text, sizeof(text));
	mc_fail("deadlock: %s", text);
}

static bool is_write(enum mc_kind k)
{
	return k != MC_LOAD;
}

/* Would the order of these two next steps matter? In doubt, yes. */
static bool is_dependent(const struct thread *a, const struct thread *b)
{
	if (a->op >= MC_FUTEX_WAIT || b->op >= MC_FUTEX_WAIT)
		return true;
	if (a->op == MC_PAUSE || b->op == MC_PAUSE)
		return is_write(a->op) && is_write(b->op);
	return a->loc == b->loc && (is_write(a->op) || is_write(b->op));
}

/* A thread that stands before an access, not one that waits for others. */
static bool is_preempted(const struct thread *t)
{
	return t && is_enabled(t) && t->op != MC_PAUSE &&
	       t->op != MC_FUTEX_SLEEP;
}

/* The threads of mask in the order they are tried; cur first or last. */
static int candidates(unsigned mask, const struct thread *cur,
		      struct thread **out)
{
	int self = cur ? (int)(cur - mc.threads) : 0;
	int first = is_preempted(cur) ? self : self + 1;
	int nr = mc.sc->nr_threads, n = 0, i, k;

	for (i = 0; i < nr; i++) {
		k = (first + i) % nr;
		if (mask & 1u << k)
			out[n++] = &mc.threads[k];
	}
	return n;
}

/* Those tried before sleep until a step that depends on theirs. */
static void put_to_sleep(struct thread **tried, int nr, struct thread *now)
{
	int i;

	for (i = 0; i < nr; i++)
		mc.sleep |= 1u << (tried[i] - mc.threads);
	mc.sleep &= ~(1u << (now - mc.threads));
	for (i = 0; i < mc.sc->nr_threads; i++)
		if (mc.sleep & 1u << i && is_dependent(&mc.threads[i], now))
			mc.sleep &= ~(1u << i);
}

static struct thread *pick(struct thread *cur)
{
	unsigned steps = mc.sc->steps ? mc.sc->steps : DEFAULT_STEPS;
	struct thread *list[MC_THREADS], *t;
	unsigned mask;
	int nr, i = 0;

	if (mc.nr_steps >= steps || mc.nr_steps >= MC_STEPS / 2) {
		if (mc.sc->cut)
			explore_leave(RUN_CUT);
		mc_fail("more than %u steps", mc.nr_steps);
	}
	mask = who_can();
	if (mc.bound >= 0 && mc.preemptions >= mc.bound && is_preempted(cur))
		return cur;
	if (mc.bound < 0)
		mask &= ~mc.sleep;
	nr = candidates(mask, cur, list);
	if (!nr)
		explore_leave(RUN_PRUNED);
	if (nr > 1)
		i = (int)explore_choose((unsigned)nr);
	t = list[i];
	if (is_preempted(cur) && t != cur)
		mc.preemptions++;
	if (mc.bound < 0)
		put_to_sleep(list, i, t);
	return t;
}

static void go_on_with(struct thread *cur, struct thread *next)
{
	if (next == cur)
		return;
	mc.cur = next;
	if (mc.sc->resume)
		mc.sc->resume((int)(next - mc.threads));
	fiber_switch(cur ? &cur->sp : &mc.main_sp, next->sp);
}

/* The running thread is about to do op; others may go first. */
void explore_point(enum mc_kind op, struct loc *loc, struct mc_site *site)
{
	struct thread *t = mc.cur;

	t->op = op;
	t->loc = loc;
	t->site = site;
	if (mc.is_booting)
		fiber_switch(&t->sp, mc.main_sp);
	else
		go_on_with(t, pick(t));
}

/*
 * We spin. A round that wrote nothing and read only the newest waits for a
 * store to what it read; after it loads read the newest of whatever the round
 * has read.
 */
void mc_pause(struct mc_site *s)
{
	struct thread *t = mc.cur;
	bool is_free;
	unsigned i;

	if (!t)
		return;
	explore_point(MC_PAUSE, NULL, s);
	report_step(MC_PAUSE, NULL, s);
	if (mc.is_forced) {
		t->nr_idle = t->idle_at == mc.changes ? t->nr_idle + 1 : 0;
		t->idle_at = mc.changes;
	}
	is_free = t->changes != t->seen_own && t->pauses < FREE_PAUSES;
	for (i = 0; i < mc.nr_locs && !is_free; i++)
		if (mc.locs[i].exec == mc.exec && t->read_at[i] == t->pauses)
			t->fair[i] = (uint16_t)(mc.locs[i].nr - 1);
	t->pauses++;
	t->is_stale = false;
	t->seen_own = t->changes;
}

static void thread_entry(void)
{
	mc.sc->thread(mc_self());
	explore_point(MC_END, NULL, NULL);
	explore_leave(RUN_DONE);
}

static void thread_start(struct thread *t)
{
	t->op = MC_END;
	t->nr_sc = 0;
	t->changes = t->seen_own = 0;
	t->is_stale = t->is_woken = t->is_timed = false;
	/* 0 is "never read" in read_at. */
	t->pauses = 1;
	t->idle_at = UINT32_MAX;
	t->nr_idle = 0;
	memset(t->read_at, 0, sizeof(t->read_at[0]) * mc.nr_locs);
	memset(t->fair, 0, sizeof(t->fair[0]) * mc.nr_locs);
	memset(t->view, 0,
	       sizeof(*t->view) + sizeof(t->view->loc[0]) * mc.nr_locs);
	t->view->nr = mc.nr_locs;
	fiber_prepare(t, thread_entry);
}

/* Runs all threads once; mc.state says how it went. */
void explore_run(void)
{
	int i;

	for (i = 0; i < mc.sc->nr_threads; i++)
		thread_start(&mc.threads[i]);
	/* To their first access each; nothing is shared before it. */
	mc.is_booting = true;
	for (i = 0; i < mc.sc->nr_threads && mc.state == RUN_GOES_ON; i++)
		go_on_with(NULL, &mc.threads[i]);
	mc.is_booting = false;
	mc.cur = NULL;
	if (mc.state == RUN_GOES_ON)
		go_on_with(NULL, pick(NULL));
}
