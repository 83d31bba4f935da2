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

int replay_apart(const struct replay *p, uint32_t name, struct replay *out)
{
	uint64_t *at = root_times(p);
	struct replay_body *x;
	uint32_t i, by;

	*out = *p;
	out->body = malloc((p->nr_bodies + 1ull) * sizeof(*out->body));
	out->step = malloc((p->nr_bodies + p->nr_steps + 1ull) *
			   sizeof(*out->step));
	if (!at || !out->body || !out->step) {
		free(at);
		return -ENOMEM;
	}
	memcpy(out->body, p->body, p->nr_bodies * sizeof(*p->body));
	memcpy(out->step, p->step, p->nr_steps * sizeof(*p->step));
	/* The body that makes it ready comes before it, and has been moved. */
	for (i = 0; i < p->nr_bodies; i++) {
		x = &out->body[i];
		if (!is_apart(p, i, name))
			continue;
		by = x->by;
		x->by = out->body[by].by;
		x->offset = out->body[by].offset;
		at[i] = at[by];
		if (x->by == REPLAY_NONE && at[i] != NO_TIME)
			out->step[out->nr_steps++] =
				(struct replay_step){ .at = at[i], .body = i };
	}
	free(at);
	qsort(out->step, out->nr_steps, sizeof(*out->step), replay_by_time);
	replay_link_kids(out);
	return 0;
}
