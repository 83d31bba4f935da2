/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks that run one after another, as each waits for the same data. */
#include "report/find.h"
#include "words.h"

#include <errno.h>
#include <lkdf/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* Bodies of that kind on the chain that waited last for the same data. */
struct order {
	uint16_t kind, mode;
	uint32_t edge;
	uint64_t nr, total;
	uint64_t nr_in_turn; /* after one of that kind, or for that data */
};

static bool is_same(const struct order *o, const struct slice *s)
{
	return o->kind == s->kind && o->edge == s->edge &&
	       o->mode == s->edge_mode;
}

static int by_edge(const void *a, const void *b, void *u)
{
	const struct report *r = u;
	const struct slice *x = &r->slice[*(const uint32_t *)a];
	const struct slice *y = &r->slice[*(const uint32_t *)b];

	if (x->edge != y->edge)
		return x->edge < y->edge ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->edge_mode - y->edge_mode;
}

/* Steps of the chain that data has put in order; -1: no memory. */
static int64_t gather_steps(const struct report *r, uint32_t **out)
{
	const struct chain *c = &r->chain;
	uint32_t *at = malloc((c->nr_steps + 1ull) * sizeof(*at)), i, s;
	int64_t nr = 0;

	for (i = 0; at && i < c->nr_steps; i++) {
		s = c->step[i].slice;
		if (s < r->nr_slices && r->slice[s].edge)
			at[nr++] = s;
	}
	*out = at;
	return at ? nr : -1;
}

static bool is_in_turn(const struct report *r, const struct slice *s)
{
	const struct slice *by = &r->slice[s->by];

	return s->by < r->nr_slices &&
	       (by->kind == s->kind || by->edge == s->edge);
}

/* The most of them that are of one kind, data and mode. */
static struct order longest_order(const struct report *r)
{
	struct order now = { .nr = 0 }, found = { .nr = 0 };
	const struct slice *s;
	uint32_t *at;
	int64_t nr = gather_steps(r, &at), i;

	if (nr > 0)
		qsort_r(at, (size_t)nr, sizeof(*at), by_edge,
			(void *)(uintptr_t)r);
	for (i = 0; i < nr; i++) {
		s = &r->slice[at[i]];
		if (!now.nr || !is_same(&now, s))
			now = (struct order){
				.kind = s->kind,
				.mode = s->edge_mode,
				.edge = s->edge,
			};
		now.nr++;
		now.nr_in_turn += is_in_turn(r, s);
		now.total += s->end - s->begin;
		if (now.total > found.total)
			found = now;
	}
	free(at);
	return found;
}

static const char *mode_name(uint32_t mode)
{
	if (mode & (LKDF_EDGE_IS_PORT | LKDF_EDGE_IS_AFTER))
		return "they wait for";
	if (mode & LKDF_REDUCE)
		return "REDUCE";
	if (mode & LKDF_COMMUTE)
		return "COMMUTE";
	if ((mode & LKDF_RW) == LKDF_RW)
		return "RW";
	if (mode & LKDF_WRITE)
		return "WRITE";
	return mode & LKDF_READ ? "READ" : "an unknown mode";
}

static void say_fix(struct finding *f, const struct order *o, const char *data)
{
	if (o->mode & LKDF_EDGE_IS_PORT)
		PUT(f->fix,
		    "give the value of %.64s earlier, from a task of its own "
		    "that does the part before it",
		    data);
	else if (o->mode & LKDF_EDGE_IS_AFTER)
		PUT(f->fix, "wait for fewer events (.after), or have them fire "
			    "before the end of the tasks that they are of");
	else if (o->mode & LKDF_COMMUTE)
		PUT(f->fix,
		    "tasks with COMMUTE go one at a time: REDUCE, or a part of "
		    "%.64s for each (lkdf_data_split())",
		    data);
	else if ((o->mode & LKDF_RW) == LKDF_RW)
		PUT(f->fix,
		    "READ would let them run together, if they only read it; "
		    "else a part of %.64s for each (lkdf_data_split())",
		    data);
	else if (o->mode & LKDF_WRITE)
		PUT(f->fix,
		    "data of its own for each task, or a part of %.64s "
		    "(lkdf_data_split())",
		    data);
	else
		PUT(f->fix,
		    "each waits for a task that writes %.64s: write less of it "
		    "(lkdf_data_split()), or earlier",
		    data);
}

void find_put_order(const struct report *r, struct finding *f)
{
	struct order o = longest_order(r);
	size_t used = strlen(f->why);

	if (o.nr > 1)
		snprintf(f->why + used, sizeof(f->why) - used,
			 " %s steps of %.40s waited last for %.64s.",
			 words_count(o.nr).text, kind_name(r, o.kind),
			 r->info.name[o.edge]);
}

bool find_order(struct report *r, double cost)
{
	struct order o = longest_order(r);
	const char *kind, *data;
	struct finding *f;
	bool is_port;

	if (r->chain.is_joined || o.total * 2 < r->chain.body ||
	    o.total * 5 < r->wall * 2 || o.nr_in_turn * 2 < o.nr)
		return false;
	kind = kind_name(r, o.kind);
	data = r->info.name[o.edge];
	if (find_is_refuted(r, "apart", data))
		return false;
	f = find_add(r, "order", FINDING_COST, cost);
	is_port = o.mode & (LKDF_EDGE_IS_PORT | LKDF_EDGE_IS_AFTER);
	PUT(f->title, "%s %.40s run one after another: %s%s %.64s",
	    words_count(o.nr).text, kind, mode_name(o.mode),
	    is_port ? "" : " on", data);
	PUT(f->why,
	    "Each of them waited last for %.64s, which the one before %s: %s "
	    "in their bodies, %s of the run. Nothing was ready for %s of worker "
	    "time.",
	    data, is_port ? "gave" : "used", words_time(o.total).text,
	    words_share(share_of(o.total, r->wall)).text,
	    words_time(r->time[TIME_STARVED]).text);
	say_fix(f, &o, data);
	find_predict(r, f, "apart", data);
	f->at = (struct place){ r->chain.start, r->wall, -1 };
	return true;
}
