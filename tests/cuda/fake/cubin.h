/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The head of an image, see kernel.h: what a cubin begins with, and our own. */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define CUBIN_MACHINE 190
#define CUBIN_SM 90
#define CUBIN_MAGIC 0x6e6962756320796dull

struct cubin {
	Elf64_Ehdr elf;
	uint64_t magic, size, sum;
	unsigned char bytes[];
};

static inline uint64_t cubin_sum(const unsigned char *p, size_t size)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (size--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

#endif
