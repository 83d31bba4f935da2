/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Carries the slices of one executor into chunks: bodies as SLICES, all else as
 * SPANS, each with the LINKS before it. News of a launcher about the rows of
 * its device goes into chunks of their lanes. The drain thread only.
 */
#ifndef TRACE_CARRY_H
#define TRACE_CARRY_H

#include "trace/file.h"
#include "trace/ring.h"

/* Records a time, so that no chunk overflows. */
#define CARRY_BATCH 1024u

struct carry {
	struct trace_file *file;
	uint32_t executor, nr_executors;
	uint32_t lane; /* of the chunk: carry_slices() sets it */
	uint32_t nr_names; /* in the file: others are told as 0 */
	uint64_t since; /* ticks when recording began */
	const uint8_t *lanes; /* of devices that were told; NULL: none was */
};

/* Slices from .. to, at most CARRY_BATCH; how many of them were bodies. */
uint32_t carry_slices(const struct carry *own,
		      const struct lkdf_stats_slice *ring, uint64_t from,
		      uint64_t to);

#endif
