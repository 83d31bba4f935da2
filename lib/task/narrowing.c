/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/narrowing.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/options.h"
#include "data/facts.h"
#include "mem/os.h"
#include "mem/region.h"
#include "signal/windows.h"
#include "task/gate.h"
#include "task/narrow_sets.h"
#include "topo/topo.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A window that is longer has seen workers that slept. */
#define MOST_NS ((uint64_t)4 * WINDOWS_NS)

/* With a probe, loud windows in a row in which no word was seen. */
#define WORDLESS 8

/* ---- open and close ------------------------------------------------------ */

int narrowing_open(struct lkdf *rt)
{
	struct narrowing *n;

	if (rt->options->narrow != NARROW_WISH_AUTO || rt->nr_workers < 2 ||
	    !rt->signals.has_self)
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n)
		return err(-ENOMEM, "runtime: no memory for option narrow");
	n->rt = rt;
	n->nr_workers = (uint32_t)rt->nr_workers;
	n->least_ticks = clock_ticks_per_1024ns() / 4;
	a_store(&n->active, n->nr_workers, relaxed);
	rt->narrowing = n;
	n->tasks = calloc((size_t)rt->nr_workers, sizeof(*n->tasks));
	if (n->tasks && !count_open(n))
		return 0;
	narrowing_close(rt);
	return err(-ENOMEM, "runtime: no memory for option narrow");
}

void narrowing_close(struct lkdf *rt)
{
	struct narrowing *n = rt->narrowing;

	rt->narrowing = NULL;
	if (!n)
		return;
	count_free(n);
	free(n->tasks);
	free(n);
}

/* ---- steps --------------------------------------------------------------- */

static void begin_view(struct narrowing *n, const struct window *win,
		       struct narrow_view *v)
{
	const struct lkdf *rt = n->rt;
	uint64_t tasks;
	int i;

	*v = (struct narrow_view){ .win = win };
	for (i = 0; i < rt->nr_workers; i++) {
		tasks = a_load(&rt->executors[i].counters->v[COUNTER_TASKS],
			       relaxed);
		v->nr_active += tasks != n->tasks[i];
		v->nr_tasks += tasks - n->tasks[i];
		n->tasks[i] = tasks;
	}
	v->has_words = win->share.source == LKDF_SIGNAL_BPF;
	if (win->nr_kinds || win->share.permille < NARROW_LOUD)
		n->nr_wordless = 0;
	else
		n->nr_wordless++;
	v->expects_words = n->nr_wordless && n->nr_wordless < WORDLESS &&
			   workers_have_probe(&rt->signals);
	v->is_whole = win->ns && win->ns <= MOST_NS &&
		      win->delay_ns * 8 <= win->ns * v->nr_active;
}

/* Workers at once, of the set: by tokens while there are fewer of them. */
static void read_gate(struct narrow_set *s, const struct narrow_view *v,
		      uint32_t nr_workers)
{
	struct gate_count c;

	s->most_running = v->nr_active;
	s->is_passed = false;
	if (!s->gate)
		return;
	gate_read(s->gate, &c);
	s->is_passed = (c.nr_over - s->nr_over) * 2 > c.nr_bodies - s->nr_begun;
	s->nr_begun = c.nr_bodies;
	s->nr_over = c.nr_over;
	if (s->cap < nr_workers)
		s->most_running = c.most_running;
}

static struct narrow_in make_in(const struct narrowing *n,
				const struct narrow_set *s,
				const struct narrow_view *v)
{
	const struct window *win = v->win;
	struct narrow_in in = {
		.ticks = win->ns,
		.progress = v->progress,
		.permille = -1,
		.is_stretched = s->is_stretched && s->most_running > 1,
		.most_running = s->most_running,
		/* A cap that most bodies pass by is not measured. */
		.is_whole = v->is_whole && !s->is_passed,
	};

	if (n->counts)
		in.nr_bodies = s->nr_bodies;
	else if (s->most_running)
		in.nr_bodies = (uint32_t)min_u64(v->nr_tasks, UINT32_MAX);
	if (v->has_words)
		in.permille = (int32_t)s->permille;
	else if (win->share.source != LKDF_SIGNAL_NONE)
		in.permille = (int32_t)win->share.permille;
	return in;
}

/* False: no memory, or no kind of it can wait at one. */
static bool make_gate(struct narrowing *n, struct narrow_set *s)
{
	struct lkdf *rt = n->rt;
	struct gate *g =
		n->nr_spare ? n->spare[--n->nr_spare] : gate_create(rt);
	struct lkdf_kind *k;
	bool is_any = false;
	struct list *l;

	if (!g)
		return false;
	pthread_mutex_lock(&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, struct lkdf_kind, all);
		if (set_has(n, s, k->trace_name))
			is_any |= gate_add_locked(g, k);
	}
	pthread_mutex_unlock(&rt->lock);
	gate_reset(g);
	s->nr_begun = s->nr_over = 0;
	lock_take(&n->lock);
	s->gate = g;
	s->is_refused = !is_any;
	lock_give(&n->lock);
	return is_any;
}

/* Tokens go first to the node that has the page of the word, see gate.h. */
static void find_home(const struct narrowing *n, const struct narrow_set *s)
{
	const struct lkdf *rt = n->rt;
	void *page =
		(void *)(uintptr_t)(s->word & ~(uint64_t)(REGION_PAGE - 1));
	int os, node;

	if (!s->word || !s->gate || rt->sched.nr_worker_nodes < 2)
		return;
	if (!os_where(&page, 1, &os) || os < 0) {
		gate_set_home(s->gate, -1);
		return;
	}
	for (node = 0; node < rt->topo->nr_nodes; node++)
		if (rt->topo->node[node].os_node == os)
			gate_set_home(s->gate, facts_home(rt, node));
}

static void tell_step(struct narrowing *n, struct worker *w,
		      struct narrow_set *s)
{
	static const enum counter counts[] = {
		[NARROW_TRIAL] = COUNTER_TRIALS,
		[NARROW_WON] = COUNTER_WINS,
		[NARROW_LOST] = COUNTER_LOSSES,
	};
	enum narrow_why why = s->narrow.why;

	if (why == NARROW_NOTHING)
		return;
	if (why == NARROW_TRIAL || why == NARROW_WON || why == NARROW_LOST)
		counter_add(w->executor->counters, counts[why], 1);
	trace_event(w->executor->ring, EVENT_NARROW, s->kind[0],
		    narrowing_word(s->cap, s->source, why));
	lock_take(&n->lock);
	s->why = why;
	lock_give(&n->lock);
}

/* Bodies are counted while a set tries, and no longer. */
static void follow_trial(struct narrowing *n, struct narrow_set *s)
{
	bool tries = narrow_measures(&s->narrow);

	if (tries && !n->counts)
		count_begin(n);
	n->trial = tries ? s : NULL;
	if (!tries && n->counts)
		count_end(n);
}

static void step_set(struct narrowing *n, struct worker *w,
		     struct narrow_set *s, const struct narrow_view *v)
{
	struct narrow_in in;
	uint32_t cap;

	read_gate(s, v, n->nr_workers);
	in = make_in(n, s, v);
	if (s->is_refused ||
	    (!s->gate && narrow_is_due(&s->narrow, &in) && !make_gate(n, s)))
		return;
	cap = narrow_step(&s->narrow, &in);
	if (cap != s->cap)
		gate_set_cap(s->gate, cap);
	s->cap = cap;
	if (s->narrow.why != NARROW_NOTHING)
		find_home(n, s);
	if (s->narrow.why == NARROW_LOST || s->narrow.why == NARROW_WON)
		s->has_lost = s->narrow.why == NARROW_LOST;
	tell_step(n, w, s);
	if (s == n->trial || narrow_measures(&s->narrow))
		follow_trial(n, s);
}

static void step_sets(struct narrowing *n, struct worker *w,
		      const struct narrow_view *v)
{
	struct narrow_set *s;

	if (n->trial) {
		step_set(n, w, n->trial, v);
		return;
	}
	for (s = n->set; s < n->set + n->nr_sets && !n->trial; s++)
		step_set(n, w, s, v);
}

void narrowing_turn(struct worker *w, const struct window *win)
{
	struct lkdf *rt = w->executor->rt;
	struct narrowing *n = rt->narrowing;
	struct narrow_view v;

	if (!n)
		return;
	begin_view(n, win, &v);
	sets_look(n, &v);
	step_sets(n, w, &v);
	sets_age(n);
}

/* ---- reading ------------------------------------------------------------- */

static void read_set(struct narrowing *n, const struct narrow_set *s,
		     struct narrowed *out)
{
	*out = (struct narrowed){
		.gate = s->gate,
		.nr_workers = n->nr_workers,
		.word = s->word,
		.source = (enum lkdf_signal_source)s->source,
		.why = s->why,
		.nr_kinds = s->nr_kinds,
	};
	memcpy(out->kind, s->kind, sizeof(out->kind));
}

bool narrowing_read(struct lkdf *rt, uint32_t i, struct narrowed *out)
{
	struct narrowing *n = rt->narrowing;
	struct gate *g = NULL;
	uint64_t state;
	uint32_t k;

	if (!n)
		return false;
	lock_take(&n->lock);
	for (k = 0; k < n->nr_sets && !g; k++) {
		if (!n->set[k].gate || n->set[k].is_refused || i--)
			continue;
		g = n->set[k].gate;
		read_set(n, &n->set[k], out);
	}
	lock_give(&n->lock);
	if (!g)
		return false;
	state = a_load(&g->state, relaxed);
	out->cap = gate_cap(state);
	out->running = gate_running(state);
	out->aside = gate_aside(state);
	return true;
}

void narrowing_tell(const struct lkdf *rt, struct lkdf_facts *out)
{
	const struct narrowing *n = rt->narrowing;

	if (!n)
		return;
	out->active_workers = a_load(&n->active, relaxed);
	out->nr_narrow = a_load(&n->nr_narrow, relaxed);
}
