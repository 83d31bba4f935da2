/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs without some of their parts, for who looks for the least that fails.
 * Parts have numbers: calls or operations, then nodes with what is below them,
 * then edges. Some stay although they are dropped: a program without them has
 * no meaning.
 */
#ifndef TESTS_ORACLE_DROP_H
#define TESTS_ORACLE_DROP_H

#include "tests/oracle/data_program.h"
#include "tests/oracle/program.h"

uint32_t program_nr_parts(const struct program *p);
void program_drop(struct program *p, const bool *is_dropped);

uint32_t d_program_nr_parts(const struct d_program *p);

/* False: what it does is not determined any more. */
bool d_program_drop(struct d_program *p, const bool *is_dropped);

#endif
