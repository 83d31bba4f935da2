/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/help.h"

#include "sched/idle.h"

/* A look at what is near, as between any two bodies; then as an idle worker. */
static bool find_work(struct worker *w, uint64_t *item)
{
	worker_take_home(w);
	return worker_pop(w, item) || idle_find(w, item);
}

void help_until(struct worker *w, const _Atomic(uint32_t) *word, uint32_t value)
{
	const _Atomic(uint32_t) *awaited = w->help.word;
	uint32_t awaited_value = w->help.value;
	uint64_t item;
	size_t i;

	w->help.word = word;
	w->help.value = value;
	while (!help_is_over(w)) {
		if (!find_work(w, &item))
			continue;
		/* A body on top of ours waits for words of its own. */
		w->help.word = NULL;
		w->sched->ops.run_one(w, item);
		w->help.word = word;
		w->help.value = value;
	}
	w->help.word = awaited;
	w->help.value = awaited_value;
	/* Nobody need wait for what we leave until our body ends. */
	for (i = 0; w->sched->calls.release[i]; i++)
		w->sched->calls.release[i](w);
	worker_offer(w, false, 0);
}

void help_call(struct sched *s, int first, int nr)
{
	struct sched_node *node = NULL;
	struct worker *w;
	int i;

	for (i = first; i < first + nr; i++) {
		w = &s->workers[i];
		/* [help.b] after the word; pairs with [part.c]. */
		if (!a_load(&w->is_parking, seq_cst) ||
		    !a_xchg(&w->is_parking, 0, relaxed))
			continue;
		if (node && node != w->node)
			park_call(&node->park);
		node = w->node;
	}
	if (node)
		park_call(&node->park);
}
