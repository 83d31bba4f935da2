/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of a request that are elsewhere: on another device, or on its own where
 * the kernel is to find them on the host.
 */
#include "kernel/kernel.h"

#include "device/away.h"

static void note_lost(struct kernel_req *r, const struct device_operand *o)
{
	int error = 0;

	/* The reader that wants the bytes is told. */
	if (o->mode & LKDF_READ && !r->kernel->is_prefetch)
		error = away_error(o->copies, o->part);
	if (error)
		request_fail(&r->req, error,
			     "kernel %s: bytes that it reads were lost with "
			     "the device that alone had them",
			     r->req.launch.name);
}

bool kernel_waits(struct kernel_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->req.nr_operand; i++) {
		o = &r->req.operand[i];
		/* order: kernel.waits: unless it finds them there. */
		if (o->copies &&
		    away_wait(o->copies, o->part,
			      o->is_kept ? r->req.device : NULL, &r->bytes))
			return true;
	}
	for (i = 0; i < r->req.nr_operand; i++) {
		o = &r->req.operand[i];
		if (o->copies)
			note_lost(r, o);
		/* order: kernel.written */
		if (o->copies && !o->is_kept && o->mode & LKDF_WRITE)
			away_written(o->copies, o->part);
	}
	return false;
}
