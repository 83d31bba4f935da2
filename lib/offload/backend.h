/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The devices that the library brings, as the option devices asks for them:
 * they become places when the runtime opens. That there are none is no error;
 * why is kept in struct devices.
 */
#ifndef OFFLOAD_BACKEND_H
#define OFFLOAD_BACKEND_H

struct lkdf;

/* Words of the option devices, in the order in which their places come. */
enum backend {
	BACKEND_NONE,
	BACKEND_CUDA,
	BACKEND_OPENCL
};

/* The last step of opening. */
void backend_open(struct lkdf *rt);

#endif
