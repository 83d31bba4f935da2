/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Launches of one queue that go to the card together. The library says of a
 * launch that another one comes behind it at once (LKDF_LAUNCH_QUIET): such
 * launches are held until the last of them is there. A batch that was given
 * before becomes a CUDA graph, which the card runs several times faster than
 * the launches one by one.
 *
 *	first time: one by one
 *	second: captured in a stream of its own, instantiated, run
 *	from then on: run; with other values or addresses captured again before,
 *	and the graph updated
 *
 * Launches that differ in functions, order or sizes are another batch. A batch
 * that the driver refuses to capture or to run goes one by one for a while: the
 * next time, then 3, 7 .. times, at most 1,023, before it is tried again.
 *
 * All of it is the launcher's.
 */
#ifndef CUDA_BATCH_H
#define CUDA_BATCH_H

#include "base/list.h"
#include "cuda/abi.h"

#include <lkdf/device.h>

#define BATCH_LAUNCHES 256
#define BATCH_BYTES 65536 /* of all values */
#define BATCH_LEAST 4 /* launches of a graph */
#define BATCH_ENOUGH 32 /* then the next one that is told ends the batch */
#define BATCH_REFUSED 10 /* refusals behind which it rests as long as ever */
#define BATCH_GRAPHS 64 /* batches that a device remembers */

struct cuda_device;
struct cuda_known;

struct cuda_shape {
	unsigned grid[3], block[3], dynamic;
};

/* A launch, but for its values. No padding: they are compared as bytes. */
struct cuda_step {
	struct cuda_known *known;
	struct cuda_shape shape;
	unsigned has_word; /* it is told, and not the last: 1; else 0 */
};

struct cuda_batch {
	uint32_t nr, nr_told;
	uint32_t bytes; /* of values */
	bool is_told; /* the last one is */
	struct cuda_step step[BATCH_LAUNCHES];
	struct lkdf_device_op op[BATCH_LAUNCHES];
	_Alignas(16) unsigned char value[BATCH_BYTES];
};

/* A batch that was given, and the graph of it. */
struct cuda_graph {
	struct list list; /* of the device's, the last one used first */
	cu_exec exec; /* NULL: none yet */
	unsigned nr_refused; /* since the last run of it */
	unsigned rests; /* so many times it goes one by one */
	bool has_words; /* their numbers differ each time */
	uint32_t nr, bytes;
	struct cuda_step *step;
	unsigned char *value; /* as the graph has them */
};

/*
 * The launch joins the batch of the queue; param: its values, as many as the
 * function has. False: it does not, and is to be given now.
 */
bool cuda_hold(struct cuda_device *d, unsigned queue, const struct cuda_step *s,
	       void **param, bool is_quiet, struct lkdf_device_op op);

/* The driver is given all that the queue holds, or all queues. */
void cuda_flush(struct cuda_device *d, unsigned queue);
void cuda_flush_all(struct cuda_device *d);

/* The driver runs the launch in the stream. */
cu_result cuda_run_step(const struct cuda_device *d, const struct cuda_step *s,
			void **param, cu_stream stream);

/* Those with the function; NULL: all. */
void cuda_forget_graphs(struct cuda_device *d, const struct cuda_known *k);

#endif
