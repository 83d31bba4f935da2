/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/sums.h"

#include "base/clock.h"
#include "trace/before.h"
#include "trace/ring.h"

void sums_lost(struct trace_file *f, struct trace_ring *r, uint32_t executor)
{
	uint64_t slices = a_load(&r->slice_lost, relaxed) - r->lost_before;

	if (slices + r->events_lost == r->told_lost)
		return;
	r->told_lost = slices + r->events_lost;
	chunk_begin(f, LKDF_CHUNK_LOST);
	chunk_number(f, executor);
	chunk_number(f, clock_ticks());
	chunk_number(f, slices);
	chunk_number(f, r->events_lost);
	chunk_end(f);
}

void sums_bytes(struct trace_file *f, struct trace_ring *r, uint32_t executor,
		const struct before *before, uint64_t ticks)
{
	const uint64_t *from =
		&before->bytes[(size_t)executor * (r->nr_nodes + 1)];
	uint64_t sum = 0;
	uint32_t node;

	for (node = 0; node <= r->nr_nodes; node++)
		sum += a_load(&r->bytes[node], relaxed);
	if (sum == r->told_bytes)
		return;
	r->told_bytes = sum;
	chunk_begin(f, LKDF_CHUNK_BYTES);
	chunk_number(f, executor);
	chunk_number(f, ticks);
	node = r->nr_nodes;
	chunk_number(f, a_load(&r->bytes[node], relaxed) - from[node]);
	for (node = 0; node < r->nr_nodes; node++)
		chunk_number(f, a_load(&r->bytes[node], relaxed) - from[node]);
	chunk_end(f);
}
