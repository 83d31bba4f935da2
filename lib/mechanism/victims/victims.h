/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stealing: an idle worker takes the oldest public item of another worker's
 * deques, of its own node first. A victim that has nothing public, or too
 * little, is asked to share (sched/steal_request.h).
 */
#ifndef MECHANISM_VICTIMS_H
#define MECHANISM_VICTIMS_H

#include "sched/mechanism.h"

extern const struct mechanism victims_mechanism;

#endif
