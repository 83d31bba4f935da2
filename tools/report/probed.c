/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The counts of threads by schedstat, and the probe's, which take the place of
 * schedstat's for as long as the probe has seen a worker: the time for which
 * the thread was off a CPU is measured there at each switch.
 */
#include "report/load.h"

#include <errno.h>
#include <lkdf/signals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_kernel(struct report *r, struct lane *l, uint64_t at,
			const struct trace_thread *t)
{
	struct kernel_sample *k = &l->kernel[l->nr_kernel];

	/* Counts only grow, too. */
	if (l->nr_kernel &&
	    (t->system_ns < k[-1].system_ns || t->faults < k[-1].faults))
		return;
	*k = (struct kernel_sample){ at, t->cpu_ns, t->system_ns, t->faults };
	l->nr_kernel++;
	r->has.kernel = true;
}

void note_thread(void *u, const struct trace_thread *t)
{
	struct load *l = u;
	struct lane *lane = &l->r->lane[t->executor];
	uint64_t at = load_time(l, t->ticks);
	struct cpu_sample *s;

	if (t->executor == l->r->info.header.nr_executors)
		note_outside(l->r, at, t);
	if (lane->kind != LKDF_EXECUTOR_WORKER ||
	    lane->nr_samples == l->count[t->executor].samples)
		return;
	at = at > l->from ? at - l->from : 0;
	/* The thread before counted for itself. */
	if (lane->sampled != t->tid)
		lane->nr_samples = lane->nr_kernel = 0;
	lane->sampled = t->tid;
	s = &lane->sample[lane->nr_samples];
	/* They only grow; a recording that lies is passed over. */
	if (lane->nr_samples && (at <= s[-1].at || t->cpu_ns < s[-1].cpu_ns ||
				 t->queue_ns < s[-1].queued_ns))
		return;
	*s = (struct cpu_sample){
		.at = at,
		.cpu_ns = t->cpu_ns,
		.queued_ns = t->queue_ns,
	};
	if (t->has_kernel)
		note_kernel(l->r, lane, at, t);
	lane->nr_samples++;
	l->r->has.cpu = true;
}

void note_probe(void *u, const struct trace_probe *p)
{
	struct report *r = ((struct load *)u)->r;

	r->probe_sees |= p->sees;
	if (p->sees && p->hz)
		r->probe_hz = p->hz;
}

/*
 * By the name of the thread; what finds no place is counted in all. Libraries
 * before named the thread that had just taken the CPU to look.
 */
void note_preemptor(void *u, const struct trace_preemptor *p)
{
	struct report *r = ((struct load *)u)->r;
	struct preemptor *x = r->preemptor;

	if (r->lane[p->executor].kind != LKDF_EXECUTOR_WORKER ||
	    !strcmp(p->name, "lkdf/drain"))
		return;
	r->nr_preemptors++;
	while (x < r->preemptor + PREEMPTORS && x->nr &&
	       strcmp(x->name, p->name))
		x++;
	if (x == r->preemptor + PREEMPTORS)
		return;
	if (!x->nr)
		snprintf(x->name, sizeof(x->name), "%.31s", p->name);
	x->nr++;
}

static uint64_t at_least(uint64_t now, uint64_t before)
{
	return now > before ? now : before;
}

/* Sums never go down; what is under way counts as far as it has come. */
static void set_sample(struct probe_sample *s, const struct probe_sample *last,
		       const struct trace_probed_thread *t)
{
	bool is_futex = t->state == LKDF_STATE_FUTEX;
	bool is_asleep = is_futex || t->state == LKDF_STATE_BLOCKED;
	bool is_off = t->state == LKDF_STATE_PREEMPTED;

	s->preempted_ns = at_least(t->count[LKDF_PROBED_PREEMPTED_NS] +
					   (is_off ? t->state_ns : 0),
				   last->preempted_ns);
	s->blocked_ns = at_least(t->count[LKDF_PROBED_BLOCKED_NS] +
					 (is_asleep ? t->state_ns : 0),
				 last->blocked_ns);
	s->futex_ns = at_least(t->count[LKDF_PROBED_FUTEX_NS] +
				       (is_futex ? t->state_ns : 0),
			       last->futex_ns);
}

void note_probed_thread(void *u, const struct trace_probed_thread *t)
{
	static const struct probe_sample none;
	struct load *l = u;
	struct lane *lane = &l->r->lane[t->executor];
	uint64_t at = load_time(l, t->ticks);
	struct probe_sample *s;

	/* Counts are from where recording began; the last one that matters is
	 * told after the end of the window. */
	if (at <= l->from && l->from)
		memcpy(lane->probe_from, t->count, sizeof(t->count));
	if (!lane->is_probed || lane->probe_at < l->to)
		memcpy(lane->probe_to, t->count, sizeof(t->count));
	lane->is_probed = true;
	lane->probe_at = at;
	if (lane->kind != LKDF_EXECUTOR_WORKER ||
	    lane->nr_probed == l->count[t->executor].probed)
		return;
	at = at > l->from ? at - l->from : 0;
	s = &lane->probed[lane->nr_probed];
	if (lane->nr_probed && at <= s[-1].at)
		return;
	s->at = at;
	set_sample(s, lane->nr_probed ? s - 1 : &none, t);
	lane->nr_probed++;
	l->r->has.cpu = l->r->has.probe = true;
}

static uint64_t at_most(uint64_t v, uint64_t limit)
{
	return v < limit ? v : limit;
}

/* Adds what the probe has seen between two samples. */
static void add_probed(struct cpu_sample *sum, const struct probe_sample *a,
		       const struct probe_sample *b)
{
	uint64_t size = b->at - a->at;
	uint64_t off = at_most(b->preempted_ns - a->preempted_ns, size);
	uint64_t slept = at_most(b->blocked_ns - a->blocked_ns, size - off);

	sum->at = b->at;
	sum->cpu_ns += size - off - slept;
	sum->queued_ns += off;
	sum->futex_ns += at_most(b->futex_ns - a->futex_ns, slept);
	sum->is_probe = true;
}

/* schedstat before the probe's first sample and after its last one. */
static void merge(const struct lane *l, struct cpu_sample *out, uint32_t *nr)
{
	const struct cpu_sample *from = l->sample, *end = from + l->nr_samples;
	const struct probe_sample *p = l->probed;
	struct cpu_sample sum = { .at = 0 }, last = sum;
	uint32_t i;

	for (; from < end && from->at <= p->at; from++)
		if (from->at < p->at)
			out[(*nr)++] = sum = *from;
		else
			sum = *from;
	sum.at = p->at;
	out[(*nr)++] = sum;
	for (i = 1; i < l->nr_probed; i++) {
		add_probed(&sum, &p[i - 1], &p[i]);
		out[(*nr)++] = sum;
	}
	for (from = l->sample; from < end; last = *from++) {
		if (from->at <= sum.at)
			continue;
		sum.at = from->at;
		sum.cpu_ns += from->cpu_ns - last.cpu_ns;
		sum.queued_ns += from->queued_ns - last.queued_ns;
		sum.is_probe = false;
		out[(*nr)++] = sum;
	}
}

static int merge_lane(struct lane *l)
{
	struct cpu_sample *out;
	uint32_t nr = 0;

	if (l->nr_probed < 2)
		return 0;
	out = calloc((size_t)l->nr_samples + l->nr_probed + 1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	merge(l, out, &nr);
	free(l->sample);
	l->sample = out;
	l->nr_samples = nr;
	return 0;
}

int probed_merge(struct load *l)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < l->r->nr_lanes && !rc; i++)
		rc = merge_lane(&l->r->lane[i]);
	return rc;
}

uint64_t report_probe_count(const struct report *r,
			    enum lkdf_probed_count count)
{
	const struct lane *l;
	uint64_t sum = 0;

	for (l = r->lane; l < r->lane + r->nr_lanes; l++)
		if (l->kind == LKDF_EXECUTOR_WORKER &&
		    l->probe_to[count] > l->probe_from[count])
			sum += l->probe_to[count] - l->probe_from[count];
	return sum;
}
