/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Limits of the run as a whole, and gaps of the recording itself. */
#include "report/find.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LONG_CHAIN 0.4
#define FULL 0.9
#define MOST_WORKERS 9999u

static uint64_t chain_time(const struct kind *k)
{
	return k->on_chain > k->ops_on_chain ? k->on_chain : k->ops_on_chain;
}

static const struct kind *longest_on_chain(const struct report *r)
{
	const struct kind *found = &r->kind[0];
	uint32_t i;

	for (i = 1; i < r->nr_kinds; i++) {
		if (chain_time(&r->kind[i]) > chain_time(found))
			found = &r->kind[i];
	}
	return found;
}

static void chain_is_long(struct report *r)
{
	const struct kind *k = longest_on_chain(r);
	struct finding *f = find_add(r, "chain", FINDING_BOUND, 0);
	const char *name = r->info.name[k->name];
	bool is_op = k->ops_on_chain > k->on_chain;

	PUT(f->title, "One chain of tasks is %s of the run",
	    words_share(share_of(r->chain.body, r->wall)).text);
	PUT(f->why,
	    "%s steps, each made ready by the one before: %s in them (%s of "
	    "it %s%s), %s between them. However many workers, the run does "
	    "not get shorter than %s.",
	    words_count(r->chain.nr_tasks).text, words_time(r->chain.body).text,
	    words_share(share_of(chain_time(k), r->chain.body)).text,
	    is_op ? "operations of " : "", name, words_time(r->chain.wait).text,
	    words_time(r->chain.body).text);
	find_put_order(r, f);
	if (is_op)
		PUT(f->fix,
		    "have more operations of %s under way at a time, "
		    "or start the chain earlier",
		    name);
	else
		PUT(f->fix,
		    "shorten %s, or start the chain earlier (.prio = "
		    "LKDF_HIGH)",
		    name);
	f->at = (struct place){ r->chain.start, r->wall, -1 };
}

static bool has_finding(const struct report *r, const char *id)
{
	unsigned i;

	for (i = 0; i < r->nr_findings; i++)
		if (!strcmp(r->finding[i].id, id))
			return true;
	return false;
}

/*
 * No number of workers makes the run shorter than the chain is: not so where
 * its steps waited for room or tokens, of which there can be more, nor where
 * they are members of a gang, who divide their work by their number.
 */
static bool is_bound(const struct report *r)
{
	return !r->chain.is_joined && !r->chain.has_room &&
	       !longest_on_chain(r)->is_member && !has_finding(r, "limit");
}

static uint64_t all_bodies(const struct report *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		sum += r->kind[i].total;
	return sum;
}

static void more_workers_help(struct report *r)
{
	const struct kind *big = NULL;
	double share = find_in_bodies(r);
	bool knows = r->chain.body && is_bound(r);
	uint64_t most = knows ? all_bodies(r) / r->chain.body : 0;
	struct finding *f = find_add(r, "workers", FINDING_BOUND, 0);
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++) {
		if (!big || r->kind[i].total > big->total)
			big = &r->kind[i];
	}
	most = most < MOST_WORKERS ? most : MOST_WORKERS;
	PUT(f->title,
	    "Workers have enough to do: whether bodies are slower together is "
	    "not known");
	PUT(f->why,
	    "%s of their time is in bodies, %s of that in %s. A recording does "
	    "not tell whether bodies hinder each other: by a spin lock, by "
	    "memory that they share, by its bandwidth.",
	    words_share(share).text,
	    words_share(share_of(big->total, all_bodies(r))).text,
	    r->info.name[big->name]);
	if (knows)
		snprintf(
			f->why + strlen(f->why),
			sizeof(f->why) - strlen(f->why),
			" The longest chain takes %s: at most %u workers could "
			"be of use.",
			words_time(r->chain.body).text, (unsigned)most);
	PUT(f->fix,
	    "lkdf try -w 1,%u -- COMMAND: is %s slower together? If not, perf "
	    "record",
	    r->nr_workers > 1 ? r->nr_workers : 2, r->info.name[big->name]);
}

void find_bounds(struct report *r)
{
	double full = find_in_bodies(r);
	double chain = share_of(r->chain.body, r->wall);

	/* Data of that name is why there is a chain. */
	if (!r->nr_slices || has_finding(r, "order"))
		return;
	if (chain > LONG_CHAIN && is_bound(r))
		chain_is_long(r);
	else if (full > FULL)
		more_workers_help(r);
}

void find_lost(struct report *r)
{
	uint64_t lost = r->info.slices_lost;
	double share = share_of(lost, lost + nr_tasks(r) + r->skipped);
	struct finding *f;

	if (r->is_cut) {
		f = find_add(r, "cut", FINDING_LOST, 0);
		f->rank = 2;
		PUT(f->title, "The recording ends in the middle");
		PUT(f->why, "It was cut, damaged, or is still being written: "
			    "what comes after is not in this report.");
		PUT(f->fix, "lkdf trace check says where it ends; a program "
			    "that calls lkdf_close() ends its recording");
	}
	if (r->skipped) {
		f = find_add(r, "long", FINDING_LOST, 0);
		f->rank = 2;
		PUT(f->title, "The recording is longer than this report");
		PUT(f->why, "%s bodies come after %s, where this report ends.",
		    words_count(r->skipped).text, words_time(r->to).text);
		PUT(f->fix, "--from %.6fs shows what comes after",
		    (double)r->to / 1e9);
	}
	if (!lost)
		return;
	f = find_add(r, "lost", FINDING_LOST, 0);
	f->rank = share > 0.01 ? 1 + share : 0;
	PUT(f->title, "%s of the bodies were not recorded",
	    words_share(share).text);
	PUT(f->why,
	    "%s of %s were lost, as rings were full before they could be "
	    "written; their time counts as idle here.",
	    words_count(lost).text,
	    words_count(lost + nr_tasks(r) + r->skipped).text);
	PUT(f->fix, "record to memory (LKDF_TRACE=/dev/shm/a.lkdf), or leave "
		    "a CPU to the thread that writes");
}
