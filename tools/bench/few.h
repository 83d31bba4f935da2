/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of lkdf bench idle where a few workers do work. */
#ifndef TOOLS_BENCH_FEW_H
#define TOOLS_BENCH_FEW_H

#include "bench/bench.h"

int bench_few(struct bench *b);
double bench_few_steps(const struct bench *b);

#endif
