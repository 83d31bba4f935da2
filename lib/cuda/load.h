/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * NVIDIA's driver, found when it is asked for: the library libcuda.so.1, which
 * belongs to the driver of the system's kernel and not to the CUDA Toolkit.
 */
#ifndef CUDA_LOAD_H
#define CUDA_LOAD_H

#include "cuda/abi.h"

#define CUDA_LIBRARY "libcuda.so.1"

/*
 * Fills in all calls; the library stays until the process ends, because the
 * driver has threads. It calls nothing of the driver but for calls and its
 * version. -ENOENT: no such library, with the loader's words; -ENOSYS: it is
 * older than CUDA 12.0, or another library; -ENODEV: it is the empty one of the
 * toolkit, for linkers.
 */
int cuda_load(const char *library, struct cuda *cuda);

/* cuInit(): 0; -ENODEV with a text: there is no device. */
int cuda_init(const struct cuda *cuda);

/* The driver's version as the documentation has it, 12040; 0: it is not told.
 */
int cuda_version(const struct cuda *cuda);

/* The error as a negative errno. */
int cuda_errno(cu_result error);

/* err() with the name of the call and of its error. */
int cuda_failed(const struct cuda *cuda, const char *call, cu_result error);

#endif
