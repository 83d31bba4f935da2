/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sleeping on a word. Comparing it and going to sleep is one step, on the
 * newest store, as the kernel's lock makes it; being woken orders nothing.
 * The word may be a part of a wider location.
 */
#include "base/futex.h"

#include "base/membarrier.h"
#include "checker.h"

#include <errno.h>

static struct loc *loc_around(const volatile void *p)
{
	const volatile char *at = p;
	struct loc *l;
	unsigned i;

	for (i = 0; i < mc.nr_locs; i++) {
		l = &mc.locs[i];
		if (l->size && at >= l->addr && at < l->addr + l->size)
			return model_loc(l->addr, l->size);
	}
	return model_loc(p, sizeof(uint32_t));
}

static uint32_t word_of(struct loc *l, const volatile void *p)
{
	size_t offset = (size_t)((const volatile char *)p - l->addr);

	return (uint32_t)(model_newest(l) >> offset * 8);
}

/* Nobody woke us: was it the time, or nothing at all? */
static int end_of_sleep(struct thread *t)
{
	bool time = t->is_timed && mc.timeouts < mc.sc->timeouts;
	bool nothing = mc.spurious < mc.sc->spurious;

	if (mc.is_forced)
		return -ETIMEDOUT;
	if (time && (!nothing || explore_choose(2) == 0)) {
		mc.timeouts++;
		return -ETIMEDOUT;
	}
	mc.spurious++;
	return 0;
}

int futex_wait_as(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns,
		  uint32_t bits)
{
	struct thread *t = mc.cur;
	struct loc *l;
	struct step *step;
	int rc;

	if (!t)
		mc_fail("futex_wait outside of a thread");
	l = loc_around(word);
	model_is_shared(l, true);
	explore_point(MC_FUTEX_WAIT, l, NULL);
	heap_check(word);
	model_coherent_read(l);
	step = report_step(MC_FUTEX_WAIT, l, NULL);
	step->value = word_of(l, word);
	step->has_value = 1;
	if (word_of(l, word) != expect)
		return 0;
	t->is_woken = false;
	t->is_timed = timeout_ns >= 0;
	t->bits = bits;
	explore_point(MC_FUTEX_SLEEP, l, NULL);
	rc = t->is_woken ? 0 : end_of_sleep(t);
	step = report_step(MC_FUTEX_SLEEP, l, NULL);
	step->value = (uint64_t)(rc < 0);
	step->has_value = 1;
	return rc;
}

int futex_wait(_Atomic(uint32_t) *word, uint32_t expect, int64_t timeout_ns)
{
	return futex_wait_as(word, expect, timeout_ns, UINT32_MAX);
}

int futex_wake_of(_Atomic(uint32_t) *word, int nr, uint32_t bits)
{
	struct thread *asleep[MC_THREADS], *t;
	struct loc *l;
	int n = 0, woken, i;

	if (!mc.cur)
		return 0;
	l = loc_around(word);
	model_is_shared(l, true);
	explore_point(MC_FUTEX_WAKE, l, NULL);
	for (i = 0; i < mc.sc->nr_threads; i++) {
		t = &mc.threads[i];
		if (t->op == MC_FUTEX_SLEEP && t->loc == l && !t->is_woken &&
		    t->bits & bits)
			asleep[n++] = t;
	}
	for (woken = 0; woken < nr && n > 0; woken++) {
		i = nr - woken < n ? (int)explore_choose((unsigned)n) : 0;
		asleep[i]->is_woken = true;
		asleep[i] = asleep[--n];
	}
	report_step(MC_FUTEX_WAKE, l, NULL)->value = (uint64_t)woken;
	mc.steps[mc.nr_steps - 1].has_value = 1;
	return woken;
}

int futex_wake(_Atomic(uint32_t) *word, int nr)
{
	return futex_wake_of(word, nr, UINT32_MAX);
}

/* Each thread of a scenario has one. */
int mc_getcpu(void)
{
	return mc_self();
}

/* Who counts on it has accesses that are seq_cst here. */
void membarrier_all(void)
{
}
