/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For ring.h: what comes again and again is in none of its scenarios.
 */
#ifndef MC_RING_MULTI_H
#define MC_RING_MULTI_H

#include "io/io_multi.h"
#include "io/io_ring.h"
#include "mc.h"

enum io_piece io_multi_piece(struct io_req *r, int res, const void *bytes,
			     bool is_last)
{
	(void)r;
	(void)res;
	(void)bytes;
	(void)is_last;
	NOT_REACHED;
}

void io_multi_wake(struct executor *ex, struct io_req *r)
{
	(void)ex;
	(void)r;
	NOT_REACHED;
}

void io_multi_came(struct executor *ex, struct io_req *r, int64_t res)
{
	(void)ex;
	(void)r;
	(void)res;
	NOT_REACHED;
}

void uring_buffers_lend(struct uring_buffers *b, uint16_t at)
{
	(void)b;
	(void)at;
	NOT_REACHED;
}

#endif
