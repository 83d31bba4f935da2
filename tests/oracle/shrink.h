/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef TESTS_ORACLE_SHRINK_H
#define TESTS_ORACLE_SHRINK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The command makes an oracle run one program of so many parts, and fails: with
 * --drop it runs it without some of them. Prints the command that drops the
 * most parts with the same failure, and what that prints. 0; 1: it does not
 * fail.
 */
int shrink_parts(const char *command, uint32_t nr_parts);

/* Of --drop: "1-4,7". NULL: none. The caller frees it. */
bool *shrink_parse(const char *text, uint32_t nr_parts);

#endif
