/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pieces of sealed graphs as CUDA graphs, which the card runs several times
 * faster than launches one by one. The library says which launches are a piece
 * (struct lkdf_piece), so that nothing is searched.
 *
 *	first time: captured in a stream of its own, instantiated, run
 *	from then on: run; with other values or addresses captured again before,
 *	and the graph updated
 *
 * A launch whose end is told from the middle is a stage: behind it the graph
 * writes the stage's number to a word of the piece, 1, 2, 3; the numbers are
 * constants of the graph. The host sets the word to 0 before each run. The last
 * launch is told by the word of its queue, as any command.
 *
 * A piece that the driver refuses to capture or to run goes launch by launch
 * for a while: the next time, then 3, 7 .. times, at most 1,023. Then it is
 * tried again.
 *
 * All of it is the launcher's.
 */
#ifndef CUDA_PIECE_H
#define CUDA_PIECE_H

#include "base/list.h"
#include "cuda/abi.h"

#include <lkdf/device.h>

#define PIECE_REFUSED 10 /* refusals behind which it rests as long as ever */

struct cuda_device;
struct cuda_known;
struct cuda_queue;

struct cuda_shape {
	unsigned grid[3], block[3], dynamic;
};

/* A launch, but for its values. No padding: they are compared as bytes. */
struct cuda_step {
	struct cuda_known *known;
	struct cuda_shape shape;
	unsigned is_stage; /* 1; else 0 */
};

/* The driver runs the launch in the stream. */
cu_result cuda_run_step(const struct cuda_device *d, const struct cuda_step *s,
			void **param, cu_stream stream);

/* Stages of pieces that have ended; their number. */
int cuda_ask_pieces(struct cuda_device *d);

/* The command of that number has ended: so have all stages of its piece. */
void cuda_end_pieces(struct cuda_queue *q, uint32_t number);

/* The device is closed. */
void cuda_close_pieces(struct cuda_device *d);

/* The function goes: pieces with it are captured again. */
void cuda_forget_pieces(struct cuda_device *d, const struct cuda_known *k);

int cuda_launch_piece(void *dev, unsigned queue, struct lkdf_piece *p,
		      const struct lkdf_launch *const *launch,
		      const struct lkdf_device_op *op);
void cuda_drop_piece(void *dev, struct lkdf_piece *p);

#endif
