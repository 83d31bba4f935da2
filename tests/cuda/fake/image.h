/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Kernels that libnvrtc.so of this folder has compiled for the CPU. */
#ifndef FAKE_IMAGE_H
#define FAKE_IMAGE_H

#include "tests/cuda/fake/fake.h"

/* It begins as an ELF file or a fat binary does. */
bool image_is(const void *image);

/* 200: not of this library; 209: for another card. */
cu_result image_load(struct CUmod_st *m, const void *image);

/* All threads of all blocks, one after the other; 0 or the error of a fault. */
cu_result image_run(const struct op *o);

#endif
