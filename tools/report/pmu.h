/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Cycles, instructions and cache misses of kinds: the kernel samples the
 * threads of a command that this process starts, and a sample belongs to the
 * body that its thread was in at that time, by the command's recording.
 */
#ifndef REPORT_PMU_H
#define REPORT_PMU_H

#include "report/model.h"

enum pmu_event {
	PMU_CYCLES,
	PMU_INSTRUCTIONS,
	PMU_MISSES,
	NR_PMU_EVENTS
};

struct pmu_counts {
	uint64_t n[NR_PMU_EVENTS]; /* samples times their period */
};

struct pmu_ring;

struct pmu_sample {
	uint64_t at; /* CLOCK_MONOTONIC */
	uint32_t tid;
	enum pmu_event event;
};

struct pmu {
	struct pmu_ring *ring; /* of each CPU */
	unsigned nr_rings;
	struct pmu_sample *sample;
	size_t nr, cap;
	uint64_t nr_lost; /* there was no room for them */
};

/*
 * Commands that are started from now on are sampled. 0; -errno: this machine
 * has no such counters, or does not permit them; then p holds nothing.
 */
int pmu_open(struct pmu *p);
/* Takes what the kernel has written; several times a second. */
void pmu_drain(struct pmu *p);
/* Samples stay. */
void pmu_stop(struct pmu *p);
void pmu_free(struct pmu *p);

/* Adds the samples to the kinds of their bodies: by_kind has r->nr_kinds. */
void pmu_attribute(const struct pmu *p, const struct report *r,
		   struct pmu_counts *by_kind);

#endif
