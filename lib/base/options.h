/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The values of a runtime's options. api/config.c reads them once when the
 * runtime opens; from then on they are constant, and whoever needs one reads it
 * here. A field has the name of its row in the table of api/config.c, which
 * says its range, its unit and what it means; a BOOL is 0 or 1.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/option.h"

#include <stdbool.h>

/* The values of the option pin. */
enum pin {
	PIN_NO,
	PIN_YES,
	PIN_AUTO
};

/* The values of the option check. */
enum check_wish {
	CHECK_NO,
	CHECK_YES,
	CHECK_ATOMICS
};

struct options {
	int64_t workers, workers_per_node, reserve_workers, substitutes;
	int64_t spin_us;
	int64_t pin; /* enum pin */
	int64_t blocking, events, stack_kib, serial, spawn_inline;
	int64_t order; /* a seed; 0: none */
	int64_t check; /* enum check_wish */
	int64_t memory_limit, memory_strict, memory_huge; /* enum os_huge */
	int64_t placement, far_steals, rehome, solo_runs, static_runs;
	int64_t loop_regions, narrow, narrow_cap; /* enum narrow_wish */
	int64_t io; /* enum io_mode */
	int64_t devices; /* a bit for each of enum backend */
	int64_t device_queues, device_memory, device_pool, device_pin;
	int64_t device_spin_us;
	int64_t copy_inline_kib;
	int64_t signal, signal_kib; /* enum board_wish */
	int64_t ask, log, final;
	int64_t stall, omp, kinds, trace_last;
	int64_t trace_signal; /* index of its words */
	char cpus[OPTION_TEXT_SIZE];
	char topology[OPTION_TEXT_SIZE];
	char probe[OPTION_TEXT_SIZE]; /* the directory of its pins */
	char trace[OPTION_TEXT_SIZE];
	char check_log[OPTION_TEXT_SIZE];
	char socket[OPTION_TEXT_SIZE];
	char hooks[OPTION_TEXT_SIZE];
	char fix[OPTION_TEXT_SIZE]; /* see api/fixes.h */
	char opencl_library[OPTION_TEXT_SIZE]; /* "": the usual one */
	char cuda_library[OPTION_TEXT_SIZE]; /* likewise */
	char nvrtc_library[OPTION_TEXT_SIZE];
	char kernel_cache[OPTION_TEXT_SIZE]; /* a directory; "": none */

	/* Without a row: why this program's rights are raised, or NULL. */
	const char *raised;
	/* Without a row: the file of trace is a variable's, no program's. */
	bool trace_is_variable;
	char left_alone[64]; /* a variable that is not read for it, or "" */

	/* Without a row, for tests: where /proc and cgroups are; or NULL. */
	const char *proc_root, *cgroup_root;
};

#endif
