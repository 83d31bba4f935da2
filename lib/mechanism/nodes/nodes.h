/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Work that waits at another node: an idle worker takes what is in that node's
 * inbox and backlogs and is bound to no node, where far.h allows it.
 */
#ifndef MECHANISM_NODES_H
#define MECHANISM_NODES_H

#include "sched/mechanism.h"

extern const struct mechanism nodes_mechanism;

#endif
