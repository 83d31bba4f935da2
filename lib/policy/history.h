/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * On which nodes the last tasks of a block ran, in one word: the reason for
 * moving it, and for moving it back. A node that took its task once was idle by
 * chance; one that took two of the last three will take the next one.
 *
 * Pure functions; a node is 0 .. 32767.
 */
#ifndef POLICY_HISTORY_H
#define POLICY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

/* So many tasks are remembered, and so many of them make a taker. */
#define HISTORY_TASKS 3
#define HISTORY_TAKES 2
/* A move is on trial for so many tasks of the block. */
#define HISTORY_TRIAL 2
/* So many moves that did not pay, and the graph's blocks stay. */
#define HISTORY_FAILS 2

#define HISTORY_BITS 16
#define HISTORY_NODES (((uint64_t)1 << HISTORY_TASKS * HISTORY_BITS) - 1)

/* The block has come to another node: what was before does not count. */
static inline uint64_t history_moved(void)
{
	return (uint64_t)HISTORY_TRIAL << HISTORY_TASKS * HISTORY_BITS;
}

/* Did it come within its last tasks? */
static inline bool history_is_trial(uint64_t history)
{
	return history > HISTORY_NODES;
}

/* A task of the block runs on the node. */
static inline uint64_t history_add(uint64_t history, int node)
{
	uint64_t trial = history & ~HISTORY_NODES;

	if (trial)
		trial -= HISTORY_NODES + 1;
	return trial | ((history << HISTORY_BITS | (uint64_t)(node + 1)) &
			HISTORY_NODES);
}

/* Has the node taken enough of the last tasks? */
static inline bool history_is_taker(uint64_t history, int node)
{
	int i, nr = 0;

	for (i = 0; i < HISTORY_TASKS; i++, history >>= HISTORY_BITS)
		nr += (history & 0xffff) == (uint64_t)(node + 1);
	return nr >= HISTORY_TAKES;
}

#endif
