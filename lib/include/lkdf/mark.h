/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Marks and regions: what a program itself says in a recording. */
#ifndef LKDF_MARK_H
#define LKDF_MARK_H

#include <lkdf/base.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * lkdf_mark() - record that something is there, and how much
 * @rt:    runtime
 * @label: what it is, copied, 63 bytes of it; half of the 1024 names of a
 *         runtime are for labels and names of data, later ones are "(more)"
 * @value: a number that belongs to it, or 0
 *
 * While a recording is under way the mark is in it: with the thread or body
 * that called. Viewers draw the values of a label as a curve. The call does
 * nothing otherwise.
 *
 * Context: any thread, bodies included; does not block.
 * Return: 0; -EINVAL @label is NULL or empty; -EOWNERDEAD in a forked child.
 */
int lkdf_mark(struct lkdf *rt, const char *label, int64_t value);

/**
 * lkdf_region_begin() - a region of the program begins
 * @rt: runtime
 *
 * Any thread may end the region, and a region that nobody ends is in no
 * recording.
 *
 * Context: as lkdf_mark().
 * Return: the region, for lkdf_region_end(); 0 while nobody records.
 */
uint64_t lkdf_region_begin(struct lkdf *rt);

/**
 * lkdf_region_begin_by() - a region of the program begins, which has a limit
 * @rt:       runtime
 * @limit_ns: how long it may take; negative: it has none
 *
 * The flight recorder, where there is one, is written some milliseconds after
 * the limit is over if the region has not ended by then: what hangs is in the
 * file. A region that has ended is looked at by lkdf_region_end_by() only. 64
 * regions of a runtime are looked at at a time.
 *
 * Context: as lkdf_mark().
 * Return: as lkdf_region_begin().
 */
uint64_t lkdf_region_begin_by(struct lkdf *rt, int64_t limit_ns);

/**
 * lkdf_region_end() - a region of the program ends
 * @rt:     runtime
 * @label:  as for lkdf_mark()
 * @region: of lkdf_region_begin(); the call does nothing for 0
 *
 * lkdf report has a table of regions: how long they took, up to the slowest.
 *
 * Context: as lkdf_mark().
 * Return: as lkdf_mark().
 */
int lkdf_region_end(struct lkdf *rt, const char *label, uint64_t region);

/**
 * lkdf_region_end_by() - a region of the program ends, which has a limit
 * @rt:       runtime
 * @label:    as for lkdf_mark()
 * @region:   of lkdf_region_begin(); the call does nothing for 0
 * @limit_ns: how long it may have taken
 *
 * The region is recorded as lkdf_region_end() does. If it has taken longer, the
 * flight recorder is written as by lkdf_record_last(), where there is one.
 *
 * Context: as lkdf_mark().
 * Return: 1: it has taken longer; 0: it has not, or nobody records; -EINVAL
 * @label is NULL or empty, or @limit_ns negative; -EOWNERDEAD in a forked
 * child.
 */
int lkdf_region_end_by(struct lkdf *rt, const char *label, uint64_t region,
		       int64_t limit_ns);

/**
 * lkdf_record_last() - write what the flight recorder holds
 * @rt: runtime with option trace_last
 *
 * The thread that records writes the file soon after, once in the time that
 * the recorder holds: the last call within it is answered when it is over, or
 * when the runtime closes. The log tells the file's name at level info.
 *
 * Context: any thread, bodies and handlers of signals included; does not block.
 * Return: 0; -ENOENT the runtime has no flight recorder; -EOWNERDEAD in a
 * forked child.
 */
int lkdf_record_last(struct lkdf *rt);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
