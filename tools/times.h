/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Times as users write them: a number, with a fraction if they like, and a
 * unit. */
#ifndef TOOLS_TIMES_H
#define TOOLS_TIMES_H

#include <stdint.h>

#define NS_PER_MS 1000000ll
#define NS_PER_S 1000000000ll
#define NS_PER_HOUR (3600 * NS_PER_S)
#define NS_PER_YEAR (365 * 24 * NS_PER_HOUR)

/* The ns of "ns", "us", "ms", "s", "m" (minute), "h" or "d"; 0: no such unit.
 */
double times_unit(const char *word);

/*
 * "1.5s", "250 ms", ".5m"; unit_ns is that of a number alone. NULL, or what is
 * wrong with the text.
 */
const char *times_read(const char *text, double unit_ns, int64_t *ns);

#endif
