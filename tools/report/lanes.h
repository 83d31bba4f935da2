/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The rows of the timeline, packed for the page: timeline.js unpacks them. */
#ifndef REPORT_LANES_H
#define REPORT_LANES_H

#include "report/writers.h"

/* Bodies in a page; of more the shortest are drawn together. */
#define PAGE_SLICES 1000000u

/* Members "unit", "merged" and "lanes" of the open object. 0; -ENOMEM. */
int lanes_write(const struct report *r, struct json *j);

#endif
