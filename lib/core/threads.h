/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of a runtime have a name that the program has asked for, and each of
 * them calls a function of the program's when it begins.
 */
#ifndef CORE_THREADS_H
#define CORE_THREADS_H

#include "core/runtime.h"

struct lkdf_open_attr;

/* Before there are threads. 0; -EINVAL: a name that is too long. */
int threads_set(struct lkdf *rt, const struct lkdf_open_attr *a);

/* On the thread of an executor, when it starts and has its own name. */
void threads_enter(const struct executor *ex);

#endif
