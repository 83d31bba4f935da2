/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Why bodies waited until they were ready: a row for each kind and reason. */
#ifndef REPORT_REASONS_H
#define REPORT_REASONS_H

#include "report/model.h"

enum reason {
	REASON_UNKNOWN,
	REASON_PROGRAM, /* a thread of the program submitted it */
	REASON_BODY, /* a body made it: a child, or a task that it submits */
	REASON_LOOP, /* blocks of a loop, since that began */
	REASON_TASK, /* an earlier task of its graph ended */
	REASON_PORT, /* the same, for the value of a port */
	REASON_DATA, /* who used the same data before ended */
	REASON_TOKEN, /* the same, of data with COMMUTE */
	REASON_LIMIT, /* tokens of a limit */
	REASON_EVENT, /* events of its after */
	REASON_AWAY, /* it had left: a channel, or events */
	REASON_OPERATION, /* an operation ended */
	NR_REASONS
};

struct reason_sum {
	enum reason reason;
	uint16_t kind;
	uint32_t name; /* of data, port, limit or channel; 0: none */
	uint16_t mode; /* of data: enum lkdf_mode */
	uint64_t nr, total; /* bodies, and their time */
};

/* The waits for tokens by kind and end; NULL: no memory. To be freed. */
const struct held **held_index(const struct report *r);
/* The wait for tokens that ended when the body became ready; NULL: none did. */
const struct held *held_of(const struct report *r, const struct held **index,
			   const struct slice *s);

/* A fixed word, for programs. */
const char *reason_id(enum reason reason);
/* "RW on config"; to has room for 128 bytes. */
const char *reason_text(const struct report *r, const struct reason_sum *s,
			char *to);

#endif
