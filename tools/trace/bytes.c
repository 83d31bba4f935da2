/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/bytes.h"

uint32_t trace_crc32(uint32_t crc, const uint8_t *p, size_t size)
{
	int bit;

	for (crc = ~crc; size; size--, p++) {
		crc ^= *p;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

uint64_t trace_le(const uint8_t *p, int size)
{
	uint64_t v = 0;

	while (size)
		v = v << 8 | p[--size];
	return v;
}
