/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks that wait for events, and the names of these. */
#include "rt/why.h"

#include "core/runtime.h"
#include "mem/label.h"
#include "scope/event_any.h"
#include "scope/event_tap.h"
#include "task/after.h"
#include "task/again.h"
#include "task/task.h"
#include "task/then.h"

#include <stdio.h>

/* For a task or run: that one is told of, not who waits for its end. */
static bool is_leaf(struct lkdf_event e)
{
	const struct event *ev = event_of(e);

	return ev->any || a_load(&ev->is_users, relaxed);
}

/* For one with a label: behind the words that say what it is. */
static void event_name(const struct event *ev, char *name, size_t size)
{
	char label[LABEL_MAX + 1];

	event_text(ev, label);
	snprintf(name, size, label[0] ? " \"%s\"" : "%s", label);
}

static void says_event(struct why_row *r, const char *how, struct lkdf_event e)
{
	const struct event *ev = event_of(e);
	const struct event_any *any = ev->any;
	char name[LABEL_MAX + 4];
	uint32_t nr;

	event_name(ev, name, sizeof(name));
	if (any && any->leave) {
		why_says(r, "%s until descriptor %d is ready", how, any->fd);
	} else if (any && any->is_all) {
		why_says(r, "%s for all of %u events%s", how, any->nr, name);
	} else if (any) {
		why_says(r, "%s for the first of %u events%s", how, any->nr,
			 name);
	} else if (a_load(&ev->is_pulse, relaxed)) {
		why_says(r,
			 "%s for the next signal of a PULSE event%s, which has "
			 "had %llu",
			 how, name,
			 (unsigned long long)a_load(&ev->nr_pulses, relaxed));
	} else {
		nr = a_load(&ev->word, relaxed) & EVENT_MAX_COUNT;
		why_says(r,
			 "%s for an event%s that the program fires, %u "
			 "signal%s to come",
			 how, name, nr, nr == 1 ? "" : "s");
	}
}

/* Under after_lock: it has not been told that its events are over. */
static void look_at_after(struct why *y, const struct after *x)
{
	struct why_row *r;
	uint32_t i;

	lock_assert_held(&y->rt->after_lock);
	for (i = 0; i < x->nr; i++) {
		if (event_has_fired(x->input[i].event) ||
		    !is_leaf(x->input[i].event))
			continue;
		r = why_add_task(y, WHY_EVENT, x->task);
		if (r)
			says_event(r, "before it starts,", x->input[i].event);
		return;
	}
}

static void look_at_afters(struct why *y)
{
	struct lkdf *rt = y->rt;
	unsigned nr = 0;
	struct after *x;

	lock_take(&rt->after_lock);
	for (x = rt->waiting; x && nr < WHY_LOOK; x = x->next, nr++)
		if (!x->is_over)
			look_at_after(y, x);
	lock_give(&rt->after_lock);
}

static void look_at_tap(struct why *y, const struct event_tap *tap)
{
	const struct task *t;
	const struct again_at *at;
	struct why_row *r;
	bool is_hold;

	t = then_of_tap(tap, &is_hold);
	at = t && !is_hold ? again_waits_at(t) : NULL;
	r = t ? why_add_task(y, at ? WHY_CHANNEL : WHY_EVENT, t) : NULL;
	if (r && at)
		why_says_channel(r, at);
	else if (r)
		says_event(r,
			   is_hold ? "to end, by lkdf_hold(),"
				   : "to go on, by lkdf_then(),",
			   tap->event);
}

static void look_at_taps(struct why *y)
{
	struct event_shard *s;
	struct list *l;
	unsigned nr;
	int i;

	for (i = 0; i < EVENT_SHARDS; i++) {
		s = &y->rt->event_shards[i];
		nr = 0;
		lock_take(&s->lock);
		for (l = s->waiting.next; l != &s->waiting && nr < WHY_LOOK;
		     l = l->next, nr++)
			look_at_tap(y,
				    container_of(l, struct event_tap, peers));
		lock_give(&s->lock);
	}
}

void why_look_at_events(struct why *y)
{
	look_at_afters(y);
	look_at_taps(y);
}
