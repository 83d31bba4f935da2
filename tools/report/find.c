/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From numbers to findings. Each rule looks at one cause, says what it costs,
 * on which evidence, and which option or call changes it. Costs are measured
 * shares of worker time unless the finding says that they are estimated.
 */
#include "report/find.h"

#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below these shares of worker time there is nothing to tell. */
#define LEAST_IDLE WORTH_TELLING
#define LEAST_TAKEN 0.03
/* Where all is asked for; words_share() rounds less to 0 %. */
#define LEAST_OF_ALL 0.001
/* To start workers takes as long as a run below that. */
#define LEAST_WALL 2000000

struct finding *find_add(struct report *r, const char *id,
			 enum finding_sort sort, double cost)
{
	struct finding *f = &r->finding[r->nr_findings];

	/* There are fewer rules than that. */
	if (r->nr_findings < MAX_FINDINGS - 1)
		r->nr_findings++;
	*f = (struct finding){
		.id = id,
		.sort = sort,
		.cost = cost,
		.rank = cost,
		.at.lane = -1,
	};
	return f;
}

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

double find_share(const struct report *r, enum time_class c)
{
	return share_of(r->time[c], worker_time(r));
}

double find_in_bodies(const struct report *r)
{
	return find_share(r, TIME_BODY) + find_share(r, TIME_KERNEL) +
	       find_share(r, TIME_CALLER);
}

double find_part(const struct report *r, enum starve why)
{
	return share_of(r->starved[why], worker_time(r));
}

bool find_is_small(const struct report *r, double share, double least)
{
	return share < (r->wants_all ? LEAST_OF_ALL : least);
}

/* The kind for which a number is greatest; NULL: all are 0. */
const struct kind *find_most(const struct report *r,
			     double (*number)(const struct kind *))
{
	const struct kind *found = NULL;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++) {
		if (number(&r->kind[i]) > (found ? number(found) : 0))
			found = &r->kind[i];
	}
	return found;
}

const char *find_kind_name(const struct report *r, const struct kind *k)
{
	return k ? r->info.name[k->name] : "?";
}

static double asleep(const struct kind *k)
{
	return (double)k->asleep;
}

/* For kinds that wait for workers: those of the pool wait for its threads. */
double find_waited(const struct kind *k)
{
	return k->nr_pooled * 2 > k->nr
		       ? 0
		       : (double)k->waited99 * (double)k->nr_waited;
}

static double total(const struct kind *k)
{
	return (double)k->total;
}

/* How far lengths spread, weighted by how much of it there is. */
static double spread(const struct kind *k)
{
	return k->p50 ? (double)k->p99 / (double)k->p50 * (double)k->total : 0;
}

static void find_late(struct report *r)
{
	const struct kind *k = find_most(r, find_waited);
	struct finding *f;

	if (find_is_small(r, find_share(r, TIME_LATE), LEAST_IDLE))
		return;
	if (find_is_service(r))
		return;
	/* Members of small regions lie, and nothing else. */
	if (find_region(r) && k && k->is_member)
		return;
	f = find_add(r, "late", FINDING_COST, find_share(r, TIME_LATE));
	PUT(f->title, "Ready tasks lie while workers are idle");
	PUT(f->why,
	    "For %s of worker time a worker was idle although a task was "
	    "ready. %s waits longest: %s in the middle, 1 %% of them %s and "
	    "more.",
	    words_time(r->time[TIME_LATE]).text, find_kind_name(r, k),
	    words_time(k ? k->waited50 : 0).text,
	    words_time(k ? k->waited99 : 0).text);
	PUT(f->fix, "%s",
	    r->nr_nodes > 1 ? "tasks bound to one node: bind fewer, or "
			      "LKDF_FAR_STEALS=yes; else a larger LKDF_SPIN_US"
			    : "a larger LKDF_SPIN_US, by trial: it helps if "
			      "workers slept and had to be woken");
	f->at = r->late_gap.at;
}

/* Locks would be seen. */
static bool is_seen(const struct report *r)
{
	const char *source = find_cpu_source(r);

	return source && !strcmp(source, "probe");
}

static void find_asleep(struct report *r)
{
	const struct kind *k = find_most(r, asleep);
	uint64_t other = r->time[TIME_ASLEEP] - r->futex_ns;
	double cost = share_of(other, worker_time(r));
	struct finding *f;

	/* Sleeps on futex words have a finding of their own. */
	if (find_is_small(r, cost, LEAST_TAKEN))
		return;
	f = find_add(r, "asleep", FINDING_COST, cost);
	PUT(f->title, "Bodies sleep: %s is not on a CPU all of its time",
	    find_kind_name(r, k));
	PUT(f->why,
	    "%s of worker time was spent asleep within bodies%s, %s of it in "
	    "%s (%s in the middle, 1 %% of them %s and more): %sa page fault "
	    "from disk, or a call that blocks.",
	    words_time(other).text, r->futex_ns ? ", not on futex words" : "",
	    words_share(k ? share_of(k->asleep, r->time[TIME_ASLEEP]) : 0).text,
	    find_kind_name(r, k), words_time(k ? k->p50 : 0).text,
	    words_time(k ? k->p99 : 0).text,
	    r->futex_ns || is_seen(r) ? "" : "a lock that others hold, ");
	find_source(f, find_cpu_source(r));
	find_weigh(r, f, "no-sleep");
	if (r->futex_ns || is_seen(r))
		PUT(f->fix, "LKDF_BLOCKING for kinds that block, as %s may be",
		    find_kind_name(r, k));
	else
		PUT(f->fix,
		    "lkdf_limit_create() instead of a lock around %s; "
		    "LKDF_BLOCKING for kinds that block",
		    find_kind_name(r, k));
}

/* Some bodies of the kind lost their CPU for long. */
static void put_spread(const struct report *r, struct finding *f,
		       const struct kind *k)
{
	size_t used = strlen(f->why);

	if (k && k->p99 >= 2 * k->p50)
		snprintf(f->why + used, sizeof(f->why) - used,
			 " %s takes %s in the middle, but 1 %% of them %s and "
			 "more.",
			 find_kind_name(r, k), words_time(k->p50).text,
			 words_time(k->p99).text);
}

static void find_taken(struct report *r)
{
	const struct kind *k = find_most(r, spread);
	struct finding *f;

	if (find_is_small(r, find_share(r, TIME_TAKEN), LEAST_TAKEN))
		return;
	f = find_add(r, "cpu", FINDING_COST, find_share(r, TIME_TAKEN));
	PUT(f->title, "Workers wait for a CPU while they have work");
	if (is_seen(r))
		PUT(f->why, "%s of worker time preempted, %s times in all",
		    words_time(r->time[TIME_TAKEN]).text,
		    words_count(report_probe_count(r, LKDF_PROBED_PREEMPTS))
			    .text);
	else
		PUT(f->why, "%s of worker time in run queues",
		    words_time(r->time[TIME_TAKEN]).text);
	find_put_cpus(r, f);
	put_spread(r, f, k);
	find_source(f, find_cpu_source(r));
}

static void find_runtime(struct report *r)
{
	const struct kind *k = find_most(r, total);
	struct finding *f;

	if (find_is_small(r, find_share(r, TIME_RUNTIME), LEAST_IDLE) ||
	    !nr_tasks(r))
		return;
	f = find_add(r, "short", FINDING_COST, find_share(r, TIME_RUNTIME));
	PUT(f->title, "Tasks are short against what starting one costs");
	PUT(f->why,
	    "%s between two bodies on average; %s, which there is most of, "
	    "takes %s in the middle.",
	    words_time(r->time[TIME_RUNTIME] / nr_tasks(r)).text,
	    find_kind_name(r, k), words_time(k ? k->p50 : 0).text);
	PUT(f->fix, "more work in each task, lkdf_for() for ranges, or "
		    "a sealed graph instead of tasks one by one");
}

/* The most that is gained first: a cause without a replay counts as it costs.
 */
static int by_rank(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if ((x->sort == FINDING_BOUND) != (y->sort == FINDING_BOUND))
		return x->sort == FINDING_BOUND ? 1 : -1;
	return x->rank > y->rank ? -1 : x->rank < y->rank;
}

/* Shares of a run that short are those of the start and the end of a runtime.
 */
static bool find_brief(struct report *r)
{
	struct finding *f;

	if (r->wall >= LEAST_WALL || r->has_window || r->wants_all)
		return false;
	f = find_add(r, "brief", FINDING_BOUND, 0);
	PUT(f->title, "%s: too short for advice", words_time(r->wall).text);
	PUT(f->why,
	    "In a run of less than %s most of the idle time is the "
	    "start and the end of the workers.",
	    words_time(LEAST_WALL).text);
	PUT(f->fix, "record more of the work; -v shows causes all the same");
	return true;
}

void report_find(struct report *r)
{
	if (r->nr_workers && r->wall && !find_brief(r)) {
		find_starved(r);
		find_late(r);
		find_futex(r);
		find_kernel(r);
		find_asleep(r);
		find_io(r);
		find_enter(r);
		find_taken(r);
		find_runtime(r);
		find_remote(r);
		find_pool(r);
		find_narrow(r);
		find_bounds(r);
	}
	find_lost(r);
	find_sources(r);
	qsort(r->finding, r->nr_findings, sizeof(*r->finding), by_rank);
}
