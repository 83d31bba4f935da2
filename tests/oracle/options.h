/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The oracle's options; main.c says what they mean.
 */
#ifndef TESTS_ORACLE_OPTIONS_H
#define TESTS_ORACLE_OPTIONS_H

#include "tests/oracle/data_device.h"

#define MAX_RUNTIMES 8

struct options {
	uint64_t programs, seed, base;
	uint32_t tasks, repeat, seconds, watchdog, narrow, substitutes;
	uint32_t orders, order; /* 0: none */
	const char *drop; /* parts of the one program, or NULL */
	bool has_seed, shrinks, compares;
	enum d_devices devices;
	int data; /* -1: both sorts of programs */
	int workers[MAX_RUNTIMES];
	uint32_t nr_workers;
};

/* False: there is no such option. */
bool options_parse(struct options *o, const char *name, const char *value);

/* The smallest failing number of tasks, then what of it is needed. */
int options_shrink(struct options *o, const char *self);

#endif
