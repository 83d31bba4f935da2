/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CRC-32 (polynomial 0xEDB88320, reflected), eight bytes a step: "slicing by
 * 8", Kounavis and Berry, A systematic approach to building high performance
 * software-based CRC generators, 2005.
 */
#ifndef TRACE_CRC_H
#define TRACE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* table[i][b]: the CRC of byte b with i bytes of 0 after it. */
struct crc {
	uint32_t table[8][256];
};

void crc_init(struct crc *c);

/* crc: of the bytes before, 0 at the start. */
uint32_t crc_add(const struct crc *c, uint32_t crc, const void *data,
		 size_t size);

#endif
