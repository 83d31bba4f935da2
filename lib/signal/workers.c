/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/workers.h"

#include "base/clock.h"
#include "base/err.h"
#include "mem/region.h"
#include "signal/sources.h"
#include "signal/src_bpf.h"
#include "signal/src_self.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Fewer samples, or less CPU time, tell nothing. */
#define MIN_SAMPLES 8
#define MIN_CPU_NS 2000000

/* The cost of a page that comes, in the kernel, about. */
#define FAULT_NS 1000

int workers_open(const struct workers_attr *a, struct workers *b)
{
	const struct signal_source *s;
	size_t nr, i;
	int rc = 0;

	memset(b, 0, sizeof(*b));
	b->nr = a->nr;
	b->pins = a->pins;
	b->look_ticks =
		(uint64_t)WORKERS_LOOK_NS / 1024 * clock_ticks_per_1024ns();
	snprintf(b->why, sizeof(b->why), "switched off");
	if (a->wish == BOARD_OFF)
		return 0;
	b->of = region_map((size_t)b->nr * sizeof(*b->of));
	if (!b->of)
		return err(-ENOMEM, "signal: no memory for %d workers", b->nr);
	s = signal_sources(&nr);
	for (i = 0; i < nr && rc >= 0; i++)
		if (s[i].open_workers &&
		    (!s[i].has_rights || a->wish == BOARD_AUTO))
			rc = s[i].open_workers(b);
	return rc < 0 ? err(rc, "signal: no memory for the probe") : 0;
}

void workers_close(struct workers *b)
{
	const struct signal_source *s;
	size_t nr, i;

	if (!b->of)
		return;
	s = signal_sources(&nr);
	for (i = 0; i < nr; i++)
		if (s[i].close_workers)
			s[i].close_workers(b);
	region_unmap(b->of, (size_t)b->nr * sizeof(*b->of));
	b->of = NULL;
}

void workers_enter(struct workers *b, int executor,
		   const struct workers_own *own)
{
	const struct signal_source *s;
	size_t nr, i;

	if (!b->of)
		return;
	s = signal_sources(&nr);
	for (i = 0; i < nr; i++)
		if (s[i].enter)
			s[i].enter(b, executor, own);
}

/* ---- looking ------------------------------------------------------------- */

void workers_look_now(struct workers *b, int executor, uint64_t ticks)
{
	check(executor >= 0 && executor < b->nr);
	b->of[executor].look_at = ticks + b->look_ticks;
	src_self_look(b, executor);
}

/* ---- reading ------------------------------------------------------------- */

/* The oldest of all tells the age. */
static void put_fact(struct lkdf_fact *f, uint64_t value, uint64_t age)
{
	f->value += value;
	f->age_ns = max_u64(f->age_ns, age);
	f->source = LKDF_SIGNAL_SELF;
}

static uint64_t age_of(int64_t at, int64_t now)
{
	return now > at ? (uint64_t)(now - at) : 0;
}

static void read_self(const struct worker_facts *f, int64_t now,
		      struct lkdf_facts *out)
{
	int64_t at = a_load(&f->at_ns, relaxed);
	uint64_t age = age_of(at, now);

	if (!at)
		return;
	put_fact(&out->user_ns, a_load(&f->user_ns, relaxed), age);
	put_fact(&out->system_ns, a_load(&f->system_ns, relaxed), age);
	put_fact(&out->nr_slept, a_load(&f->nr_slept, relaxed), age);
	put_fact(&out->nr_forced, a_load(&f->nr_forced, relaxed), age);
	if (a_load(&f->has_delay, relaxed))
		put_fact(&out->run_delay_ns, a_load(&f->run_delay_ns, relaxed),
			 age);
}

static void set_share(struct lkdf_facts *out)
{
	if (!out->samples.value)
		return;
	out->futex_ppm = out->futex_samples;
	out->futex_ppm.value =
		out->futex_samples.value * 1000000 / out->samples.value;
}

void workers_read(const struct workers *b, int executor, struct lkdf_facts *out)
{
	int from = executor < 0 ? 0 : executor;
	int to = executor < 0 ? b->nr : executor + 1, i;
	int64_t now = clock_now_ns();
	bool is_live;
	uint64_t age;

	memset(out, 0, sizeof(*out));
	out->worker = executor;
	if (!b->of)
		return;
	is_live = src_bpf_is_live(b, now, &age);
	for (i = from; i < to; i++) {
		read_self(&b->of[i], now, out);
		if (is_live)
			src_bpf_read(b, i, age, now, out);
	}
	set_share(out);
	if (executor >= 0)
		return;
	memset(&out->state, 0, sizeof(out->state));
	memset(&out->state_ns, 0, sizeof(out->state_ns));
	if (is_live && out->word.source)
		out->word.value = src_bpf_hottest(b);
	if (is_live)
		src_bpf_moved(b, age, &out->moved_pages);
}

bool workers_have_probe(const struct workers *b)
{
	uint64_t age;

	return src_bpf_is_live(b, clock_now_ns(), &age);
}

/* ---- shares -------------------------------------------------------------- */

void workers_mark(const struct workers *b, struct workers_mark *m)
{
	memset(m, 0, sizeof(*m));
	if (!b->has_self)
		return;
	src_self_mark(m);
	src_bpf_mark(b, m);
}

/* Pages that come are the system's time, too, but nobody waits for another. */
static uint64_t without_faults(uint64_t system_ns, uint64_t nr_faults)
{
	uint64_t faults = nr_faults * FAULT_NS;

	return system_ns > faults ? system_ns - faults : 0;
}

/* Thousandths of CPU time, but for faults; 0: too short to tell. */
static uint32_t system_share(const struct workers_mark *from,
			     const struct workers_mark *to)
{
	uint64_t user = to->user_ns - from->user_ns;
	uint64_t system = to->system_ns - from->system_ns, all = user + system;

	if (all < MIN_CPU_NS)
		return 0;
	system = without_faults(system, to->nr_faults - from->nr_faults);
	return (uint32_t)(system * 1000 / all);
}

/* The probe may have been stopped, or threads be gone. */
static bool has_samples(const struct workers_mark *from,
			const struct workers_mark *to)
{
	return to->samples >= from->samples + MIN_SAMPLES &&
	       to->futex >= from->futex && to->own >= from->own;
}

/*
 * The probe knows futexes, and which of them are our own; the system's time is
 * known without it, and futexes are in that. The larger one counts.
 */
struct workers_share workers_share(const struct workers_mark *from,
				   const struct workers_mark *to)
{
	bool is_long =
		to->user_ns - from->user_ns + to->system_ns - from->system_ns >=
		MIN_CPU_NS;
	struct workers_share s = { system_share(from, to),
				   is_long ? LKDF_SIGNAL_SELF
					   : LKDF_SIGNAL_NONE };
	uint64_t samples = to->samples - from->samples;
	uint32_t futex, own;

	if (!has_samples(from, to))
		return s;
	futex = (uint32_t)((to->futex - from->futex) * 1000 / samples);
	own = (uint32_t)((to->own - from->own) * 1000 / samples);
	s.permille = s.permille > own ? s.permille - own : 0;
	if (futex >= s.permille) {
		s.permille = futex;
		s.source = LKDF_SIGNAL_BPF;
	}
	return s;
}
