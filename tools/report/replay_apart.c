/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Replays in which tasks do not wait for data; how many tokens a limit has. */
#include "report/replay_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* As many tokens as bodies had at a time: times of begin and, odd, of end. */
int replay_find_cap(struct replay *p, uint32_t l)
{
	const struct slice *s;
	int64_t *at = malloc((2ull * p->nr_bodies + 1) * sizeof(*at));
	uint32_t i, nr = 0, now = 0;

	if (!at)
		return -ENOMEM;
	for (i = 0; i < p->nr_bodies; i++) {
		if (p->body[i].limit != l + 1 ||
		    p->body[i].slice == REPLAY_NONE)
			continue;
		s = &p->r->slice[p->body[i].slice];
		at[nr++] = (int64_t)(s->begin * 2 + 1);
		at[nr++] = (int64_t)(s->end * 2);
	}
	qsort(at, nr, sizeof(*at), by_value);
	for (i = 0; i < nr; i++) {
		now = at[i] & 1 ? now + 1 : now - (now > 0);
		p->cap[l] = now > p->cap[l] ? now : p->cap[l];
	}
	free(at);
	return 0;
}

static bool is_apart(const struct replay *p, uint32_t i, uint32_t name)
{
	const struct replay_body *b = &p->body[i];

	return b->slice != REPLAY_NONE && b->by != REPLAY_NONE &&
	       p->r->slice[b->slice].edge == name;
}

/* The times at which the program submits bodies; NO_TIME: it does not. */
static uint64_t *root_times(const struct replay *p)
{
	uint64_t *at = malloc((p->nr_bodies + 1ull) * sizeof(*at));
	uint32_t i;

	if (!at)
		return NULL;
	memset(at, 0xff, (p->nr_bodies + 1ull) * sizeof(*at));
	for (i = 0; i < p->nr_steps; i++)
		if (!p->step[i].name)
			at[p->step[i].body] = p->step[i].at;
	return at;
}

/* Steps of the program, and as many more as there are bodies that move. */
static struct replay_step *more_steps(const struct replay *p, uint32_t nr_moved)
{
	struct replay_step *step =
		malloc((p->nr_steps + nr_moved + 1ull) * sizeof(*step));

	if (step)
		memcpy(step, p->step, p->nr_steps * sizeof(*step));
	return step;
}

static uint32_t count_apart(const struct replay *p, uint32_t name)
{
	uint32_t i, nr = 0;

	for (i = 0; i < p->nr_bodies; i++)
		nr += is_apart(p, i, name);
	return nr;
}

/* The body that makes it ready comes before it, and has been moved. */
static void move_body(struct replay *p, struct apart *a, uint64_t *at,
		      uint32_t i)
{
	struct replay_body *x = &p->body[i];
	uint32_t by = x->by;

	a->moved[a->nr_moved++] = (struct moved){ i, by, x->offset };
	x->by = p->body[by].by;
	x->offset = p->body[by].offset;
	at[i] = at[by];
	if (x->by == REPLAY_NONE && at[i] != NO_TIME)
		p->step[p->nr_steps++] =
			(struct replay_step){ .at = at[i], .body = i };
}

int replay_apart(struct replay *p, uint32_t name, struct apart *a)
{
	uint32_t i, nr = count_apart(p, name);
	uint64_t *at = root_times(p);
	struct replay_step *step = more_steps(p, nr);

	*a = (struct apart){ .step = p->step, .nr_steps = p->nr_steps };
	a->moved = malloc((nr + 1ull) * sizeof(*a->moved));
	if (!at || !step || !a->moved) {
		free(at);
		free(step);
		free(a->moved);
		return -ENOMEM;
	}
	p->step = step;
	for (i = 0; i < p->nr_bodies; i++)
		if (is_apart(p, i, name))
			move_body(p, a, at, i);
	free(at);
	qsort(p->step, p->nr_steps, sizeof(*p->step), replay_by_time);
	replay_link_kids(p);
	return 0;
}

void replay_together(struct replay *p, struct apart *a)
{
	const struct moved *m;

	free(p->step);
	p->step = a->step;
	p->nr_steps = a->nr_steps;
	for (m = a->moved; m < a->moved + a->nr_moved; m++) {
		p->body[m->body].by = m->by;
		p->body[m->body].offset = m->offset;
	}
	free(a->moved);
	replay_link_kids(p);
}
