/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Marks and regions: points and times that a program adds to a recording. */
#ifndef LKDF_MARK_H
#define LKDF_MARK_H

#include <lkdf/base.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * lkdf_mark() - record a labelled value
 * @rt:    runtime
 * @label: copied, 63 bytes at most. A runtime has room for 512 labels and names
 *         of data; further ones are "(more)"
 * @value: any number, or 0
 *
 * A recording in progress gets the mark, with the thread or body that called.
 * Viewers draw the values of a label as a curve. Without a recording the call
 * does nothing.
 *
 * Context: any thread, bodies included; does not block.
 * Return: 0; -EINVAL @label is NULL or empty; -EOWNERDEAD in a forked child.
 */
int lkdf_mark(struct lkdf *rt, const char *label, int64_t value);

/**
 * lkdf_region_begin() - a region of the program begins
 * @rt: runtime
 *
 * Any thread may end the region. A region that is not ended is not in the
 * recording.
 *
 * Context: as lkdf_mark().
 * Return: the region, for lkdf_region_end(); 0 without a recording.
 */
uint64_t lkdf_region_begin(struct lkdf *rt);

/**
 * lkdf_region_begin_by() - begin a region that has a time limit
 * @rt:       runtime
 * @limit_ns: time that it may take; negative: no limit
 *
 * If the region has not ended some milliseconds after the limit, the runtime
 * writes the flight recorder, if there is one, so that the file shows what
 * hangs. Use lkdf_region_end_by() to detect regions that end late. A runtime
 * watches at most 64 regions at a time.
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
 * lkdf report prints a table of how long the regions with each label took.
 *
 * Context: as lkdf_mark().
 * Return: as lkdf_mark().
 */
int lkdf_region_end(struct lkdf *rt, const char *label, uint64_t region);

/**
 * lkdf_region_end_by() - end a region that has a time limit
 * @rt:       runtime
 * @label:    as for lkdf_mark()
 * @region:   of lkdf_region_begin(); the call does nothing for 0
 * @limit_ns: time that it may have taken
 *
 * The call records the region, as lkdf_region_end() does. If the region took
 * longer than the limit, it also calls lkdf_record_last().
 *
 * Context: as lkdf_mark().
 * Return: 1 the region took longer; 0 it did not, or there is no recording;
 * -EINVAL @label is NULL or empty, or @limit_ns is negative; -EOWNERDEAD in a
 * forked child.
 */
int lkdf_region_end_by(struct lkdf *rt, const char *label, uint64_t region,
		       int64_t limit_ns);

/**
 * lkdf_record_last() - write the flight recorder to its file
 * @rt: runtime with option trace_last
 *
 * The recorder's thread writes the file soon after the call, at most once in
 * the time span that the recorder holds. Further calls within this span cause
 * one more file at its end, or when the runtime closes. At level info the log
 * has the file's name.
 *
 * Context: any thread, bodies and signal handlers included; does not block.
 * Return: 0; -ENOENT the runtime has no flight recorder; -EOWNERDEAD in a
 * forked child.
 */
int lkdf_record_last(struct lkdf *rt);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
