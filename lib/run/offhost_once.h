/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies that devices have of bytes that live for one run (transient.h): a
 * kernel leaves them on its device, the next one finds them there, and a task
 * on a CPU has them brought home, as with other data (offhost_run.h). Each run,
 * and each wave of a stream, has copies of its own, made by the first kernel
 * that uses the bytes. When the last reader has left the devices forget them,
 * and the host's bytes are freed after that, for a device may be bringing them
 * home to make room.
 */
#ifndef RUN_OFFHOST_ONCE_H
#define RUN_OFFHOST_ONCE_H

#include "base/util.h"
#include "data/offhost.h"
#include "run/frame.h"

struct offhost_once {
	/* Set when made, constant afterwards. */
	struct copies *copies;
	struct heap *heap;

	/* The one that forgets it sets it. */
	void *bytes;
};

/* For each frame. 0 or -ENOMEM. */
int offhost_once_create(struct frame *f);
void offhost_once_destroy(struct frame *f);

/* For a transient var that may be away. NULL: no kernel has used it. */
static inline struct copies *offhost_once_copies(const struct frame *f,
						 uint32_t var)
{
	/* [once.made] the copies; pairs with itself. */
	const struct offhost_once *o = a_load(&f->values.once[var], acquire);

	return o ? o->copies : NULL;
}

/* Any thread that runs a kernel of the frame. NULL: no memory. */
struct copies *offhost_once_make(struct frame *f, uint32_t var,
				 struct device *const *devices);

/*
 * The last reader has left, or nobody is to come: true: the bytes are freed
 * once no device has anything of them. False: none has.
 */
bool offhost_once_forget(struct frame *f, uint32_t var, void *bytes);

#endif
