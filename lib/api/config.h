/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ONE option table. defaults < options < environment, unless the program
 * says "final". The only getenv() of the library is in config.c.
 */
#ifndef API_CONFIG_H
#define API_CONFIG_H

#include "base/option.h"

#include <stdbool.h>

struct config {
	int64_t workers, workers_per_node, pin, spin_us, stack_kib, serial;
	int64_t blocking, events, log_words, is_final;
	int64_t io, signal, signal_kib;
	int64_t memory_limit, memory_strict, memory_huge, placement, far_steals,
		rehome, solo_runs, static_runs, spawn_inline, reserve_workers;
	char cpus[OPTION_TEXT_SIZE];
	char trace[OPTION_TEXT_SIZE];
	char socket[OPTION_TEXT_SIZE];
	char hooks[OPTION_TEXT_SIZE];
	char probe[OPTION_TEXT_SIZE];
	char topology[OPTION_TEXT_SIZE];
};

/* options may be NULL. */
int config_read(const char *options, struct config *c);

/* The least important level that is told, or LOG_NONE. */
int config_log_level(const struct config *c, bool has_callback);

/* The table, for descriptions. */
const struct option_row *config_rows(size_t *nr);

#endif
