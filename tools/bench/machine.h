/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The machine that a report was made on: CPU model, kernel, CPUs, memory. */
#ifndef TOOLS_BENCH_MACHINE_H
#define TOOLS_BENCH_MACHINE_H

#include <stdio.h>

struct json;

void machine_text(FILE *out);
/* The member "machine". */
void machine_json(struct json *j);

#endif
