/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Workers starve: the time in which nothing was ready, and its reasons. */
#include "report/find.h"

#include "report/text.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

#define LEAST_IDLE WORTH_TELLING
/* In bodies: with less of it a program waits for what comes to it. */
#define LEAST_LOADED 0.1
/* Half of the tasks of each kind begin so soon after they are ready, in ns: a
 * worker was woken, no more. */
#define MOST_WAITED 1000000
/* Shares of tasks that the program's own threads give: of a service, whose
 * request may be a chain of tasks, and of one that submits. */
#define LEAST_ASKED 0.05
#define LEAST_SUBMITTED 0.3

static double blame_starved(const struct kind *k)
{
	return k->blame_starved;
}

/* The program itself is in a wait of the library: it gives nothing to do. */
static void all_wait(struct report *r, struct finding *f, const struct kind *k,
		     double part)
{
	const char *name = find_kind_name(r, k);

	PUT(f->title, "Everybody waits for %s, which began last", name);
	PUT(f->why,
	    "For %s of worker time no task was ready, and %s of it a thread of "
	    "the program was waiting for tasks, too. Meanwhile %s was running "
	    "in %s of it (it takes %s in the middle, at most %s).",
	    words_time(r->time[TIME_STARVED]).text,
	    words_share(
		    share_of(r->starved[STARVE_TASKS], r->time[TIME_STARVED]))
		    .text,
	    name, words_share(part < 1 ? part : 1).text,
	    words_time(k->p50).text, words_time(k->max).text);
	PUT(f->fix,
	    "start %s first (.prio = LKDF_HIGH), or split %s into "
	    "smaller tasks",
	    name, name);
}

static bool is_from_outside(const struct report *r, double least)
{
	return (double)r->nr_outside > least * (double)nr_tasks(r);
}

static bool is_late(const struct kind *k)
{
	return k->nr_pooled * 2 <= k->nr && k->waited50 > MOST_WAITED;
}

/*
 * A load of the program's own rhythm: idle time is no fault while tasks begin
 * soon. The share of late time tells nothing here: each wake-up of one of many
 * idle workers counts for all of them.
 */
bool find_is_service(const struct report *r)
{
	uint32_t i;

	if (!r->has.ready || find_in_bodies(r) >= LEAST_LOADED ||
	    !is_from_outside(r, LEAST_ASKED))
		return false;
	for (i = 0; i < r->nr_kinds; i++)
		if (is_late(&r->kind[i]))
			return false;
	return true;
}

static void not_loaded(struct report *r)
{
	const struct kind *k = find_most(r, find_waited);
	struct finding *f = find_add(r, "load", FINDING_BOUND, 0);

	PUT(f->title, "Not loaded: workers are in bodies for %s of their time",
	    words_share(find_in_bodies(r)).text);
	PUT(f->why,
	    "Tasks come from outside, and none lies while a worker is idle for "
	    "long: %s waits longest, 1 %% of its tasks %s and more.",
	    find_kind_name(r, k), words_time(k ? k->waited99 : 0).text);
	PUT(f->fix, "nothing: record again under load");
}

/* Neither helps: to begin earlier, or to be shorter. */
static bool is_no_limit(const struct report *r, const char *name)
{
	return find_is_refuted(r, "first", name) &&
	       find_is_refuted(r, "split", name);
}

static void say_no_body(struct report *r, struct finding *f)
{
	PUT(f->title, "Workers have nothing to do: no body runs");
	PUT(f->why,
	    "For %s of worker time no task was ready, and for most of it no "
	    "body was running. The longest gap is %s.",
	    words_time(r->time[TIME_STARVED]).text,
	    words_time(r->starved_gap.size).text);
	PUT(f->fix, "the program itself is the limit: more under way at a "
		    "time, or fewer waits between the phases");
}

/* The change that gains most of those that were replayed. */
static void say_best(const struct report *r, struct finding *f)
{
	bool has_one = r->nr_gains && r->gain[0].part >= WORTH_TELLING;

	if (has_one) {
		gain_text(&r->gain[0], f->fix, sizeof(f->fix));
		f->gain = r->gain[0].part;
	} else {
		PUT(f->fix, "none of the changes that were replayed gains 2 "
			    "%%: more under way at a time");
	}
}

static void say_meanwhile(struct report *r, struct finding *f,
			  const struct kind *k, double part)
{
	const char *name = find_kind_name(r, k);

	PUT(f->title,
	    "Too little to do at a time: workers starve while %s runs", name);
	PUT(f->why,
	    "For %s of worker time no task was ready. Meanwhile %s was running "
	    "in %s of it (it takes %s in the middle, at most %s); the longest "
	    "gap is %s.",
	    words_time(r->time[TIME_STARVED]).text, name,
	    words_share(part < 1 ? part : 1).text, words_time(k->p50).text,
	    words_time(k->max).text, words_time(r->starved_gap.size).text);
	if (k->is_member)
		PUT(f->fix, "work that its threads end together: a smaller "
			    "chunk or schedule(dynamic) for its loops, tasks");
	else if (is_no_limit(r, name))
		say_best(r, f);
	else
		PUT(f->fix,
		    "split %s into smaller tasks, or .prio = LKDF_HIGH for "
		    "what leads to it",
		    name);
}

static void little_to_do(struct report *r, double cost)
{
	const struct kind *k = find_most(r, blame_starved);
	double part = k ? k->blame_starved / (double)r->time[TIME_STARVED] : 0;
	struct finding *f = find_add(r, "starved", FINDING_COST, cost);
	const char *name = find_kind_name(r, k);

	f->at = r->starved_gap.at;
	if (!k || part < 0.25) {
		say_no_body(r, f);
		return;
	}
	find_predict(r, f, "first", name);
	if (r->starved[STARVE_TASKS] * 2 > r->time[TIME_STARVED] &&
	    f->gain >= WORTH_TELLING)
		all_wait(r, f, k, part);
	else
		say_meanwhile(r, f, k, part);
	find_predict(r, f, "split", name);
}

static void idle_of_unknown_cause(struct report *r)
{
	const struct kind *k = find_most(r, blame_starved);
	struct finding *f =
		find_add(r, "idle", FINDING_COST, find_share(r, TIME_STARVED));

	f->at = r->starved_gap.at;
	PUT(f->title, "Workers are idle");
	PUT(f->why,
	    "%s of worker time is between bodies, most of it while %s ran "
	    "elsewhere; the longest gap is %s. This recording does not say "
	    "since when tasks were ready, so the cause stays open.",
	    words_time(r->time[TIME_STARVED]).text, find_kind_name(r, k),
	    words_time(r->starved_gap.size).text);
	PUT(f->fix, "record again with this version of the library");
}

/* The thread that begins regions is in most of them itself. */
static bool is_of_regions(const struct report *r)
{
	const struct kind *k = find_most(r, blame_starved);

	return k && k->is_member;
}

/* The program is what they wait for: told, if no replay refutes it. */
static bool submits_or_computes(struct report *r, double rest)
{
	if (is_of_regions(r) || !is_from_outside(r, LEAST_SUBMITTED) ||
	    find_part(r, STARVE_PROGRAM) * 2 <= rest)
		return false;
	if (r->nr_outside_loops * 2 > r->nr_outside)
		return find_serial(r);
	return find_submission(r);
}

/*
 * Reasons that are clear at each moment, one after the other. Work elsewhere is
 * one only where it is there most of the time: it may be beside the cause.
 */
static const struct {
	enum starve why;
	bool (*find)(struct report *r);
	bool is_beside;
} clear_reasons[] = {
	{ STARVE_TOKENS, find_held, false },
	{ STARVE_ROOM, find_full, false },
	{ STARVE_LOOP, find_uneven, false },
	{ STARVE_POOL, find_pool_busy, true },
	{ STARVE_DEVICE, find_device, true },
};

/* The share of worker time that none of them explains. */
static double find_clear(struct report *r)
{
	double all = find_share(r, TIME_STARVED), rest = all, part;
	size_t i;

	for (i = 0; i < sizeof(clear_reasons) / sizeof(*clear_reasons); i++) {
		part = find_part(r, clear_reasons[i].why);
		if (find_is_small(r, part, LEAST_IDLE) ||
		    (clear_reasons[i].is_beside && part * 2 < all))
			continue;
		if (clear_reasons[i].find(r))
			rest -= part;
	}
	return rest;
}

void find_starved(struct report *r)
{
	double rest = find_share(r, TIME_STARVED);

	if (find_is_small(r, rest, LEAST_IDLE))
		return;
	if (!r->has.ready && !r->has.edges) {
		idle_of_unknown_cause(r);
		return;
	}
	rest = find_clear(r);
	rest -= find_between(r);
	if (find_is_small(r, rest, LEAST_IDLE) || find_order(r, rest))
		return;
	if (find_is_service(r))
		not_loaded(r);
	else if (!submits_or_computes(r, rest))
		little_to_do(r, rest);
}
