/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Callers in recordings: of bodies that go to sleep in a futex word, and of
 * those that are sampled on a CPU. A stack is told when more of it were taken,
 * behind the places of its addresses; it ends where one is no code of a loaded
 * file.
 */
#ifndef TRACE_PROBED_STACKS_H
#define TRACE_PROBED_STACKS_H

#include "trace/probed.h"

/* For so many places of the source's table. NULL: no memory. */
struct probed_stacks *probed_stacks_new(uint32_t nr);

/* The file gets stacks that came since the sample before; names from nr_names
 * on are told as none. */
void probed_stacks_tell(struct probed *k, struct trace_file *f, uint64_t ticks,
			uint32_t nr_names);

#endif
