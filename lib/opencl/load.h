/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The OpenCL library of the system, found when it is asked for: usually the
 * loader of the Khronos group, which finds the drivers.
 */
#ifndef OPENCL_LOAD_H
#define OPENCL_LOAD_H

#include "opencl/abi.h"

#define OPENCL_LIBRARY "libOpenCL.so.1"

/*
 * Fills in all calls; the library stays until the process ends, because its
 * drivers have threads. -ENOENT: no such library; -ENOSYS: it is older than
 * OpenCL 2.0, the text names what it lacks.
 */
int opencl_load(const char *library, struct opencl *cl);

/* The specification's name of an error, without CL_; "error" if unknown. */
const char *opencl_error(int32_t error);

/* The error as a negative errno. */
int opencl_errno(int32_t error);

#endif
