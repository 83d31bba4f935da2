/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The suites that lkdf-bench alone has. */
#ifndef TESTS_BENCH_SUITES_SUITES_H
#define TESTS_BENCH_SUITES_SUITES_H

#include "bench/bench.h"

int bench_flow(struct bench *b);
double bench_flow_steps(const struct bench *b);
int bench_channel(struct bench *b);
double bench_channel_steps(const struct bench *b);
int bench_cpp(struct bench *b);
double bench_cpp_steps(const struct bench *b);
int bench_data(struct bench *b);
double bench_data_steps(const struct bench *b);
int bench_io(struct bench *b);
double bench_io_steps(const struct bench *b);
int bench_placement(struct bench *b);
double bench_placement_steps(const struct bench *b);
int bench_policy(struct bench *b);
double bench_policy_steps(const struct bench *b);
int bench_device(struct bench *b);
double bench_device_steps(const struct bench *b);
int bench_scale(struct bench *b);
double bench_scale_steps(const struct bench *b);
int bench_recorded(struct bench *b);
double bench_recorded_steps(const struct bench *b);

#endif
