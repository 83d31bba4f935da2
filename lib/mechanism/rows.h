/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All mechanisms of workers, in the order in which an idle worker asks them for
 * work. Each row is a folder beside this file.
 */
#ifndef MECHANISM_ROWS_H
#define MECHANISM_ROWS_H

#include "sched/mechanism.h"

/* Ends with NULL. */
extern const struct mechanism *const mechanism_rows[];

#endif
