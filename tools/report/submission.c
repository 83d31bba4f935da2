/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Workers that wait for the thread that submits. The remedy depends on what
 * that thread does between its calls: computes, calls, or sleeps. The kernel's
 * counts of the program's threads tell.
 */
#include "report/find.h"
#include "report/load.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
/* A thread with less of a CPU slept, or waited for others. */
#define LEAST_BUSY 0.5
/* A call that submits one task takes less than that. */
#define CALL_NS 5000

void note_outside(struct report *r, uint64_t at, const struct trace_thread *t)
{
	struct outsider *o = r->outsider, *end = o + r->nr_outsiders;

	/* The library's own submit nothing. */
	if (!strncmp(t->name, "lkdf/", 5))
		return;
	while (o < end && o->tid != t->tid)
		o++;
	if (o == end) {
		if (r->nr_outsiders == MAX_OUTSIDERS)
			return;
		r->nr_outsiders++;
		*o = (struct outsider){
			.tid = t->tid,
			.from = at,
			.from_cpu = t->cpu_ns,
		};
		snprintf(o->name, sizeof(o->name), "%s", t->name);
	}
	o->to = at;
	o->to_cpu = t->cpu_ns;
}

static double busy_of(const struct outsider *o)
{
	return o->to > o->from && o->to_cpu > o->from_cpu
		       ? share_of(o->to_cpu - o->from_cpu, o->to - o->from)
		       : 0;
}

/* The program's thread with most CPU time; NULL: none was seen twice. */
static const struct outsider *busiest(const struct report *r)
{
	const struct outsider *o = r->outsider, *found = NULL;

	for (; o < r->outsider + r->nr_outsiders; o++)
		if (o->to > o->from && (!found || busy_of(o) > busy_of(found)))
			found = o;
	return found;
}

static void say_thread(const struct report *r, struct finding *f,
		       const struct outsider *o)
{
	uint64_t cpu = o->to_cpu - o->from_cpu;
	uint64_t each = r->nr_outside ? cpu / r->nr_outside : 0;
	double busy = busy_of(o);
	size_t used = strlen(f->why);

	snprintf(
		f->why + used, sizeof(f->why) - used,
		" The program's busiest thread, %.15s, had a CPU for %s of the "
		"time, %s a task.",
		o->name, words_share(busy < 1 ? busy : 1).text,
		words_time(each).text);
	if (busy < LEAST_BUSY)
		PUT(f->fix, "it sleeps, or waits for others, in no call of the "
			    "library: submit before that, or from another "
			    "thread");
	else if (each > CALL_NS)
		PUT(f->fix, "it computes between its calls: move that work "
			    "into tasks");
	else
		PUT(f->fix, "it does little but submit: lkdf_submit_many(), or "
			    "record the steps once: lkdf_graph_record()");
}

bool find_submission(struct report *r)
{
	const struct outsider *o = busiest(r);
	struct finding *f;

	if (find_is_refuted(r, "program", ""))
		return false;
	f = find_add(r, "submission", FINDING_COST,
		     find_part(r, STARVE_PROGRAM));

	PUT(f->title, "Workers wait for the thread that submits");
	PUT(f->why,
	    "%s of the tasks were ready the moment they were submitted. Until "
	    "%s, when the last one came, workers had nothing to do for %s in "
	    "all, while no thread of the program was in a wait of the library.",
	    words_share(share_of(r->nr_outside, nr_tasks(r))).text,
	    words_time(r->last_outside).text,
	    words_time(r->starved[STARVE_PROGRAM]).text);
	f->at = r->starved_gap.at;
	if (o)
		say_thread(r, f, o);
	else
		PUT(f->fix, "move what the thread computes between its calls "
			    "into tasks; if it only submits: "
			    "lkdf_submit_many(), or record the steps once: "
			    "lkdf_graph_record()");
	find_source(f, o ? "bodies, waits, schedstat" : "bodies, waits");
	find_predict(r, f, "program", "");
	return true;
}
