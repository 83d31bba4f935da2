/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/joiner.h"

#include "base/futex.h"
#include "sched/steal_request.h"

/* For what was made public at once: joiners come by themselves for the rest. */
#define MAX_LOOKS 32

uint32_t joiner_announce(struct worker *w, void *root)
{
	struct sched *s = w->sched;
	uint32_t nr_calls = a_load(&w->joiner.nr_calls, relaxed);
	int i;

	check(root && !a_load(&w->joiner.root, relaxed));
	a_store(&w->joiner.root, root, relaxed);
	/* [joiner.c] and the root, before we look for the last time; pairs
	 * with [joiner.b]. */
	a_add(&s->nr_joiners, 1, seq_cst);
	for (i = 0; i < s->nr_workers - 1; i++)
		steal_request_send(&s->workers[w->victims[i]]);
	return nr_calls;
}

void joiner_sleep(struct worker *w, uint32_t nr_calls, int64_t nap_ns)
{
	futex_wait(&w->joiner.nr_calls, nr_calls, nap_ns);
}

void joiner_retract(struct worker *w)
{
	uint32_t nr;

	a_store(&w->joiner.root, NULL, relaxed);
	nr = a_sub(&w->sched->nr_joiners, 1, relaxed);
	check(nr);
	(void)nr;
}

/* Once: until it has looked, and says its root again, nobody else calls. */
static void call_joiner(struct worker *v, void *root)
{
	if (!a_cas(&v->joiner.root, &root, NULL, relaxed, relaxed))
		return;
	a_add(&v->joiner.nr_calls, 1, relaxed);
	futex_wake(&v->joiner.nr_calls, 1);
}

static bool is_any_below(const struct sched *s, const struct deque *d,
			 uint32_t from, const void *root)
{
	uint32_t i, nr = (uint32_t)min_u64(d->split - from, MAX_LOOKS);

	for (i = 0; i < nr; i++)
		if (s->ops.is_below(deque_at(d, from + i), root))
			return true;
	return false;
}

void joiner_tell_of(struct worker *w, const struct deque *d, uint32_t from)
{
	struct sched *s = w->sched;
	struct worker *v;
	void *root;
	int i;

	for (i = 0; i < s->nr_workers; i++) {
		v = &s->workers[i];
		root = a_load(&v->joiner.root, relaxed);
		if (root && is_any_below(s, d, from, root))
			call_joiner(v, root);
	}
}

void joiner_tell(struct sched *s, uint64_t item)
{
	void *root;
	int i;

	for (i = 0; i < s->nr_workers; i++) {
		root = a_load(&s->workers[i].joiner.root, relaxed);
		if (root && s->ops.is_below(item, root))
			call_joiner(&s->workers[i], root);
	}
}

bool joiner_tell_root(struct sched *s, const void *root)
{
	void *waits;
	int i;

	for (i = 0; i < s->nr_workers; i++) {
		waits = a_load(&s->workers[i].joiner.root, relaxed);
		if (waits != root)
			continue;
		call_joiner(&s->workers[i], waits);
		return true;
	}
	return false;
}
