/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The times of a device, by rows: one for each of its queues, and one for
 * requests that wait for its memory. A kernel or a copy lasts from the time
 * when the device was given it, or from the end of the one before in its row,
 * until the device says that it is done. Counters have how long the device was
 * at kernels and at copies; a recording has each of them, and a tool is told of
 * each, recorded or not (lkdf/hooks.h).
 *
 * The launcher only.
 */
#ifndef DEVICE_ROWS_H
#define DEVICE_ROWS_H

#include <lkdf/format.h>

struct device;
struct device_req;
struct device_slot;

/* Rows of a device in a file: queues by their number, and the last. */
#define DEVICE_ROWS 64
#define DEVICE_WAIT_ROW (DEVICE_ROWS - 1)

/* The operation that a slot stands for. */
struct device_row_op {
	uint64_t begin; /* ticks */
	uint64_t value; /* as in lkdf_stats_slice */
	uint64_t by; /* uid of the kernel whose bytes it fetches; 0: unknown */
	uint64_t hook; /* id that a tool was told; 0: nobody was */
	uint32_t sort; /* enum lkdf_span_sort; 0: of no row */
	uint32_t row;
	uint32_t copy; /* of a copy: enum rows_copy */
};

enum rows_copy {
	ROWS_UPLOAD,
	ROWS_FETCH,
	ROWS_WITHIN, /* from the device to itself, in the row of uploads */
	NR_ROWS_COPIES,
};

struct device_row {
	uint64_t end; /* of the last one in it, ticks */
	uint64_t number; /* of that one */
	uint32_t told; /* in the recording of that number; 0: in none */
};

struct device_busy {
	uint32_t nr; /* under way */
	uint64_t since; /* ticks */
};

struct device_rows {
	struct device_busy kernels, copies;
	uint32_t name[NR_ROWS_COPIES];
	uint32_t told; /* the same of the device */
	uint64_t last_kernel; /* uid of what ended last; 0: not recorded */
	struct device_row row[DEVICE_ROWS];
};

/* The device is there: its row in the memfd is. */
void rows_open(struct device *d);

/* After each step: fields of that row that change. */
void rows_publish(struct device *d);

/* The device is about to be given what the slot stands for. */
void rows_begin_copy(struct device *d, struct device_slot *s,
		     enum rows_copy what, uint64_t bytes);
void rows_begin_kernel(struct device *d, struct device_slot *s, unsigned queue);

/* It was not; or it is done, and the slot has its request still. */
void rows_cancel(struct device *d, struct device_slot *s);
void rows_end(struct device *d, struct device_slot *s);

/* Does a recording or a tool have the time of each kernel? */
bool rows_are_told(const struct device *d);

/* So many ticks in ns. */
uint64_t rows_ns(const struct device *d, uint64_t ticks);

/* A request has waited for memory since those ticks. */
void rows_waited(struct device *d, const struct device_req *r);

#endif
