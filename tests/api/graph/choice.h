/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs with branches and loops whose bodies return what a list says, and
 * count how often they are called.
 */
#ifndef TESTS_API_GRAPH_CHOICE_H
#define TESTS_API_GRAPH_CHOICE_H

#include "tests/api/api.h"

#define MAX_STEPS 16

/* One task. */
struct step {
	const int *returns; /* one a call; the last one again and again */
	int nr;
	atomic_int calls, order; /* order: the last call's place in the run */
};

struct story {
	struct lkdf *rt;
	struct lkdf_kind *kind, *always, *any, *blocking;
	struct lkdf_graph *g;
	struct step step[MAX_STEPS];
	atomic_int clock;
};

static struct story *story_of; /* of the program's only graph at a time */

__attribute__((unused)) static int choose(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;
	int n = atomic_fetch_add(&s->calls, 1);

	(void)c;
	atomic_store(&s->order, atomic_fetch_add(&story_of->clock, 1) + 1);
	if (!s->nr)
		return 0;
	return s->returns[n < s->nr ? n : s->nr - 1];
}

#define RETURNS(s, i, ...)                                    \
	((s)->step[i].returns = (const int[]){ __VA_ARGS__ }, \
	 (s)->step[i].nr = sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

/* nr tasks, numbered from 0, all of one kind. */
__attribute__((unused)) static void story_open(struct story *s, struct lkdf *rt,
					       int nr)
{
	int i;

	memset(s, 0, sizeof(*s));
	story_of = s;
	s->rt = rt;
	s->kind = api_kind(rt, "task", choose, 0, 0);
	s->always = api_kind(rt, "always", choose, 0, LKDF_ALWAYS);
	s->any = api_kind(rt, "any", choose, 0, LKDF_ANY);
	s->blocking = api_kind(rt, "blocking", choose, 0, LKDF_BLOCKING);
	s->g = api_graph(rt, 1);
	for (i = 0; i < nr; i++)
		must(lkdf_graph_add(s->g, s->kind, &s->step[i], NULL, 0));
}

/* One more task, of another kind: its number. */
__attribute__((unused)) static int story_add(struct story *s, int i,
					     struct lkdf_kind *k)
{
	return must(lkdf_graph_add(s->g, k, &s->step[i], NULL, 0));
}

/* Runs it once: the run's error. */
__attribute__((unused)) static int story_run(struct story *s)
{
	struct lkdf_event done;
	int i;

	for (i = 0; i < MAX_STEPS; i++) {
		atomic_store(&s->step[i].calls, 0);
		atomic_store(&s->step[i].order, 0);
	}
	atomic_store(&s->clock, 0);
	must(lkdf_graph_run(s->g, NULL, NULL, &done));
	return lkdf_event_wait(done, PATIENCE_NS);
}

__attribute__((unused)) static void story_close(struct story *s)
{
	lkdf_graph_put(s->g);
	lkdf_kind_put(s->kind);
	lkdf_kind_put(s->always);
	lkdf_kind_put(s->any);
	lkdf_kind_put(s->blocking);
}

/* How often each task was called, as "1 0 2". */
__attribute__((unused)) static const char *story_calls(struct story *s, int nr)
{
	static char text[MAX_STEPS * 12];
	size_t used = 0;
	int i;

	for (i = 0; i < nr; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%d", i ? " " : "",
					 atomic_load(&s->step[i].calls));
	return text;
}

#define called(s, nr, want, ...)                                    \
	do {                                                        \
		const char *got = story_calls(s, nr);               \
		if (!ok(!strcmp(got, want), __VA_ARGS__))           \
			printf("# called %s, not %s\n", got, want); \
	} while (0)

#endif
