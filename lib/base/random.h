/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bits that nobody can guess, for names that others see: a name that is made of
 * an address or a clock tells where memory is.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* 0, or -errno where the kernel has none to give. */
int random_bits(uint64_t *bits);

#endif
