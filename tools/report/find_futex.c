/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Findings from the probe's counts. */
#include "report/find.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LEAST_FUTEX 0.03

uint64_t find_futex_cpu(const struct report *r)
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

/* A word of libc's own: malloc's arenas, stdio, the loader. */
static bool is_of_libc(const struct where *w)
{
	return !strncmp(w->object, "libc.so", 7) ||
	       !strncmp(w->object, "libc-2.", 7) ||
	       !strncmp(w->object, "ld-linux", 8) ||
	       !strncmp(w->object, "ld-musl", 7);
}

static void say_fix(struct finding *f, const struct futex *top,
		    const char *kind)
{
	if (is_of_libc(&top->where))
		PUT(f->fix,
		    "the word is libc's own: if %.64s calls malloc() or free(), "
		    "preload liblkdf-malloc.so or take memory outside of the "
		    "body; if it prints, print once",
		    kind);
	else
		PUT(f->fix,
		    "lkdf_limit_create() instead of a lock around %.64s, or "
		    "data of its own for each task",
		    kind);
}

void find_futex(struct report *r)
{
	uint64_t cpu = find_futex_cpu(r);
	double cost = share_of(r->futex_ns, worker_time(r)) +
		      share_of(cpu, worker_time(r));
	struct finding *f;

	if (find_is_small(r, cost, LEAST_FUTEX) || !r->nr_futexes)
		return;
	f = find_add(r, "futex", FINDING_COST, cost < 1 ? cost : 1);
	PUT(f->title, "Bodies wait for one another at %.150s",
	    r->futex[0].text);
	say_why(r, f, cpu);
	say_fix(f, &r->futex[0], kind_of(r, &r->futex[0]));
	find_source(f, "probe");
	find_weigh(r, f, "no-lock");
}
