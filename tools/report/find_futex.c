/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Findings from the probe's counts, and which source findings rest on. */
#include "report/find.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LEAST_FUTEX 0.03
/* From here on the other source does not matter. */
#define MOST 0.9
#define LEAST_SEEN 0.01

const char *find_cpu_source(const struct report *r)
{
	double seen = share_of(r->probe_ns, worker_time(r));

	if (!r->has.cpu)
		return NULL;
	if (seen < LEAST_SEEN)
		return "schedstat";
	return seen < MOST ? "probe and schedstat" : "probe";
}

void find_source(struct finding *f, const char *source)
{
	size_t used = strlen(f->why);

	f->source = source;
	if (source)
		snprintf(f->why + used, sizeof(f->why) - used, " Source: %s.",
			 source);
}

/* CPU time of workers inside futex(2), in bodies. */
static uint64_t futex_cpu(const struct report *r)
{
	uint64_t nr = report_probe_count(r, LKDF_PROBED_FUTEX_SAMPLES);
	uint64_t all = report_probe_count(r, LKDF_PROBED_SAMPLES);
	double ns = share_of(nr, all) *
		    (double)(r->time[TIME_BODY] + r->time[TIME_KERNEL]);
	double most = r->probe_hz ? (double)nr * 1e9 / r->probe_hz : 0;

	/* Samples come when an idle CPU wakes, too. */
	return (uint64_t)(ns < most ? ns : most);
}

static const char *kind_of(const struct report *r, const struct futex *f)
{
	return f->nr_kinds && f->kind[0].kind != NO_KIND
		       ? kind_name(r, f->kind[0].kind)
		       : "(no body)";
}

static void say_why(const struct report *r, struct finding *f, uint64_t cpu)
{
	const struct futex *top = &r->futex[0];
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < r->nr_futexes; i++)
		all += r->futex[i].time / (r->nr_futexes + 1ull);
	all = all ? all : 1;
	PUT(f->why,
	    "%s of worker time asleep in bodies on futex words, %s times, and "
	    "%s of CPU time inside futex(2). %s of that is this word, most in "
	    "%.96s.",
	    words_time(r->futex_ns).text,
	    words_count(report_probe_count(r, LKDF_PROBED_FUTEXES)).text,
	    words_time(cpu).text,
	    words_share((double)(top->time / (r->nr_futexes + 1ull)) /
			(double)all)
		    .text,
	    kind_of(r, top));
}

void find_futex(struct report *r)
{
	uint64_t cpu = futex_cpu(r);
	double cost = share_of(r->futex_ns, worker_time(r)) +
		      share_of(cpu, worker_time(r));
	struct finding *f;

	if (find_is_small(r, cost, LEAST_FUTEX) || !r->nr_futexes)
		return;
	f = find_add(r, "futex", FINDING_COST, cost < 1 ? cost : 1);
	PUT(f->title, "Bodies wait for one another at %.150s",
	    r->futex[0].text);
	say_why(r, f, cpu);
	PUT(f->fix,
	    "lkdf_limit_create() instead of a lock around %.64s, or data of "
	    "its own for each task",
	    kind_of(r, &r->futex[0]));
	find_source(f, "probe");
}
