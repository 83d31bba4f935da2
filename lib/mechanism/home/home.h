/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker's own node: the sources of completions, its inboxes and backlogs. A
 * worker takes all that has come into its own deques, oldest first.
 */
#ifndef MECHANISM_HOME_H
#define MECHANISM_HOME_H

#include "sched/mechanism.h"

extern const struct mechanism home_mechanism;

#endif
