/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The bytes of a use as a tensor of DLPack, which PyTorch, CuPy, JAX and TVM
 * take without a copy: struct lkdf_tensor is DLTensor of dlpack.h, field by
 * field, so its address may be given wherever a DLTensor * is wanted.
 */
#ifndef LKDF_DLPACK_H
#define LKDF_DLPACK_H

#include <lkdf/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_dlpack_device {
	LKDF_DLPACK_CPU = 1, /* kDLCPU */
	LKDF_DLPACK_CUDA = 2, /* kDLCUDA; id: its number in cudart */
};

struct lkdf_tensor_device {
	int32_t type, id; /* type: enum lkdf_dlpack_device */
};

struct lkdf_tensor_type {
	uint8_t code, bits; /* code: 0 int, 1 unsigned, 2 float */
	uint16_t lanes; /* 1 */
};

struct lkdf_tensor {
	void *data;
	struct lkdf_tensor_device device;
	int32_t ndim;
	struct lkdf_tensor_type dtype;
	int64_t *shape; /* ndim */
	int64_t *strides; /* in elements; NULL: rows are whole */
	uint64_t byte_offset;
};

/**
 * lkdf_dlpack() - where the bytes of a use are, as a tensor of DLPack
 * @c:   context of a body, or of enqueue() of a kernel
 * @use: index of the use
 * @t:   receives data, device and a byte_offset of 0; ndim, dtype, shape and
 *       strides are the program's
 *
 * The bytes are the task's until it ends: on a device until all is done that
 * enqueue() has given to its queue.
 *
 * Context: a body, or enqueue(), does not block.
 * Return: 0; -EINVAL no such use, @t is NULL, or not a body; -EOPNOTSUPP the
 * device is none that DLPack has a name for, see struct lkdf_device_info.
 */
int lkdf_dlpack(struct lkdf_ctx *c, unsigned use, struct lkdf_tensor *t);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
