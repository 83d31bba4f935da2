/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Time of bodies in the kernel, and their page faults, by the kernel's counts
 * of the worker's thread. The kernel tells system time in steps (10 ms, as a
 * rule): each step is spread over the CPU time since the step before. The
 * bodies' part of a sample is their part of its CPU time.
 */
#include "report/find.h"
#include "report/samples.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LEAST_KERNEL 0.1

static uint64_t portion(uint64_t part, uint64_t of, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)part * of / whole) : 0;
}

/* From the step at @from to the one at @to, both known. */
static void spread_step(struct kernel_sample *k, uint32_t from, uint32_t to)
{
	const struct kernel_sample a = k[from], b = k[to];
	uint32_t i;

	for (i = from + 1; i < to; i++)
		k[i].system_ns =
			a.system_ns + portion(b.system_ns - a.system_ns,
					      k[i].cpu_ns - a.cpu_ns,
					      b.cpu_ns - a.cpu_ns);
}

void kernel_spread(struct lane *l)
{
	uint32_t i, last = 0;

	for (i = 1; i < l->nr_kernel; i++) {
		if (l->kernel[i].system_ns == l->kernel[last].system_ns)
			continue;
		spread_step(l->kernel, last, i);
		last = i;
	}
}

/* The counts at a time between two samples, or at the first or last. */
static struct kernel_sample counts_at(const struct lane *l, uint64_t at)
{
	const struct kernel_sample *k = l->kernel, *b;
	struct kernel_sample sum;
	uint32_t low = 0, high = l->nr_kernel, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (k[mid].at < at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || low == l->nr_kernel)
		return k[low ? low - 1 : 0];
	sum = k[low - 1];
	b = &k[low];
	sum.system_ns += portion(b->system_ns - sum.system_ns, at - sum.at,
				 b->at - sum.at);
	sum.faults +=
		portion(b->faults - sum.faults, at - sum.at, b->at - sum.at);
	return sum;
}

uint64_t kernel_part(const struct lane *l, uint64_t from, uint64_t to,
		     const uint64_t *row, uint64_t cpu_ns, uint64_t *faults)
{
	struct kernel_sample a, b;
	uint64_t body = row[TIME_BODY], system;

	*faults = 0;
	if (!l->nr_kernel || !cpu_ns || !body)
		return 0;
	a = counts_at(l, from);
	b = counts_at(l, to);
	system = b.system_ns - a.system_ns;
	/* The calls of io_uring_enter(2) are in the kernel all the time. */
	system -= system < row[TIME_ENTER] ? system : row[TIME_ENTER];
	if (cpu_ns < body)
		cpu_ns = body;
	*faults = b.faults - a.faults;
	return portion(system, body, cpu_ns);
}

static const struct kind *most_kernel(const struct report *r)
{
	const struct kind *found = &r->kind[0];
	uint32_t i;

	for (i = 1; i < r->nr_kinds; i++)
		if (r->kind[i].kernel > found->kernel)
			found = &r->kind[i];
	return found;
}

/*
 * Kinds that take turns within a sample get the same share each: a kind is to
 * blame only if it has nearly all of the time, or clearly more than others.
 */
static bool is_told_apart(const struct report *r, const struct kind *k)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		all += r->kind[i].total;
	return k->total > all / 10 * 9 ||
	       share_of(k->kernel, k->total) >
		       1.2 * share_of(r->time[TIME_KERNEL], all);
}

static void say_kind(const struct report *r, struct finding *f,
		     const struct kind *k)
{
	const char *name = r->info.name[k->name];
	double faults = k->nr ? k->faults / (double)k->nr : 0;

	PUT(f->title, "Bodies are in the kernel: %.40s spends %s there", name,
	    words_share(share_of(k->kernel, k->total)).text);
	PUT(f->why,
	    "%s of worker time is system time of bodies, %s of it in %.40s "
	    "(%s in the middle), with %.3g page faults a body.",
	    words_time(r->time[TIME_KERNEL]).text,
	    words_share(share_of(k->kernel, r->time[TIME_KERNEL])).text, name,
	    words_time(k->p50).text, faults);
}

static void say_bodies(const struct report *r, struct finding *f,
		       const struct kind *k, double faults)
{
	PUT(f->title, "Bodies are in the kernel for %s of worker time",
	    words_share(find_share(r, TIME_KERNEL)).text);
	PUT(f->why,
	    "%s of worker time is system time of bodies, with %.3g page faults "
	    "a body. Kinds take turns too fast to say which of them; %.40s has "
	    "most of the time.",
	    words_time(r->time[TIME_KERNEL]).text, faults,
	    r->info.name[k->name]);
}

static double all_faults(const struct report *r)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		sum += r->kind[i].faults;
	return nr_tasks(r) ? sum / nr_tasks(r) : 0;
}

void find_kernel(struct report *r)
{
	const struct kind *k = most_kernel(r);
	uint64_t futex = r->nr_futexes ? find_futex_cpu(r) : 0;
	double faults = all_faults(r), share;
	struct finding *f;

	/* Time inside futex(2) has a finding of its own. */
	if (futex > r->time[TIME_KERNEL])
		futex = r->time[TIME_KERNEL];
	share = share_of(r->time[TIME_KERNEL] - futex, worker_time(r));

	if (find_is_small(r, share, LEAST_KERNEL) || !k->kernel)
		return;
	f = find_add(r, "kernel", FINDING_COST, share);
	if (is_told_apart(r, k))
		say_kind(r, f, k);
	else
		say_bodies(r, f, k, faults);
	if (futex)
		snprintf(f->why + strlen(f->why),
			 sizeof(f->why) - strlen(f->why),
			 " %s of it are inside futex(2) and count there.",
			 words_time(futex).text);
	if (faults >= 1)
		PUT(f->fix,
		    "keep memory from body to body (lkdf_alloc(), no mmap(), "
		    "munmap() or free() in them): each fault is a page that "
		    "the kernel makes anew");
	else
		PUT(f->fix, "fewer or larger system calls in bodies: "
			    "perf trace -s says which");
	find_source(f, "/proc/PID/task/TID/stat");
	find_weigh(r, f, "no-kernel");
}
