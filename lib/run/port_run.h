/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values at ports in one run: where they lie, which edges were live, and what
 * is dropped.
 *
 * An out port with a drop has a state: EMPTY -> OPEN -> FULL -> EMPTY
 *
 *	OPEN   the body has asked for the room in this call
 *	FULL   a call that succeeded has left a value, which nobody owns
 */
#ifndef RUN_PORT_RUN_H
#define RUN_PORT_RUN_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct lkdf_ctx;

enum port_state {
	PORT_EMPTY,
	PORT_OPEN,
	PORT_FULL,
};

/* A frame's own; NULL without ports. */
struct port_run {
	char *bytes; /* the producer's body; then its readers */
	_Atomic(uint8_t)
		*live; /* whoever resolves the edge, before it arrives */
	_Atomic(uint8_t) *state; /* the producer; then whoever owns the value */
};

/* For a sealed graph with ports. 0 or -ENOMEM. */
int port_run_create(struct frame *f);
void port_run_destroy(struct frame *f);

/* A task is resolved: has its body succeeded? Before it tells others. */
void port_resolved(struct frame *f, uint32_t index, bool is_live);

/* The run is over: values that nobody owns are dropped. */
void port_end(struct frame *f);

/* An edge with a value is resolved; before it arrives. */
static inline void port_tell(struct port_run *r, uint32_t live, bool is_live)
{
	/* Relaxed: readers come after the arrival. */
	a_store(&r->live[live], is_live, relaxed);
}

const void *port_in(const struct lkdf_ctx *c, unsigned port);
void *port_out(const struct lkdf_ctx *c, unsigned port);
int port_own(const struct lkdf_ctx *c, unsigned port);
int port_pass(const struct lkdf_ctx *c, unsigned out, unsigned in);

#endif
