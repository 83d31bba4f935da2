/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Objects that a program has not put when its runtime closes: names for the
 * log. All threads have been joined.
 */
#ifndef RT_REPORT_H
#define RT_REPORT_H

struct lkdf;

/* Kinds, graphs, scopes and limits, which are orphans from then on. */
void report_handles(struct lkdf *rt);

/* Events; an error that one of them alone has is told. */
void report_events(struct lkdf *rt);

#endif
