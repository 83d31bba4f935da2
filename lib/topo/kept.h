/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * This machine as hwloc told it first, kept for the next runtime of the
 * process: hwloc takes milliseconds. All CPUs are kept that the cgroup left;
 * what the affinity of a thread leaves is asked each time.
 *
 * The machine is read anew when the number of CPUs that are online, or the
 * nodes whose memory the cgroup leaves, have changed, and when this thread may
 * use a CPU that is not kept.
 */
#ifndef TOPO_KEPT_H
#define TOPO_KEPT_H

#include "topo/machine.h"

/* True: m is a copy of what was kept. False: nothing is, or no memory. */
bool kept_copy(struct machine *m);

/* Keeps a copy of m. Without memory nothing is kept. */
void kept_note(const struct machine *m);

/* CPUs that the affinity of this thread leaves. 0 or -ENOMEM. */
int kept_cut(struct machine *m);

#endif
