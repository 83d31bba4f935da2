/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The pieces of lkdf bench device. */
#ifndef TESTS_BENCH_SUITES_DEVICE_H
#define TESTS_BENCH_SUITES_DEVICE_H

#include "bench/bench.h"

/* Rows of a device that is done, and the task behind it. */
int device_done_rows(struct bench *b);
double device_done_steps(const struct bench *b);

/* Rows of the first card of NVIDIA's driver. */
int device_cuda_rows(struct bench *b);
double device_cuda_steps(const struct bench *b);

/* null where the floor's samples lie too far apart. */
void device_judge(struct bench *b, struct bench_row *row, enum row_bar dir,
		  double bar, const struct samples *floor);

#endif
