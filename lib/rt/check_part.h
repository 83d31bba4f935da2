/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Option check of a runtime: a program without a sanitizer goes on without. */
#ifndef RT_CHECK_PART_H
#define RT_CHECK_PART_H

struct lkdf;

/* After the heap is there and before its first block. 0 or -ENOMEM. */
int check_part_open(struct lkdf *rt);
void check_part_close(struct lkdf *rt);

#endif
