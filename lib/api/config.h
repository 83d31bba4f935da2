/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ONE option table. defaults < options < environment, unless the program
 * says "final". The only getenv() of the library is in config.c. A program with
 * raised rights gets defaults and options alone, and does not answer tools
 * unless its options say so.
 */
#ifndef API_CONFIG_H
#define API_CONFIG_H

#include "base/options.h"

#include <stdbool.h>

/* From text, which may be NULL, and the environment. */
int config_read(const char *text, struct options *o);

/* The least important level that is told, or LOG_NONE. */
int config_log_level(const struct options *o, bool has_callback);

/* A variable of hwloc's is set: it may tell of another machine. */
bool config_tells_hwloc(void);

/* The table, for descriptions. */
const struct option_row *config_rows(size_t *nr);

#endif
