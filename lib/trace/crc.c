/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/crc.h"

#define POLYNOMIAL 0xedb88320u

void crc_init(struct crc *c)
{
	uint32_t crc, i, bit, step;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		c->table[0][i] = crc;
	}
	for (step = 1; step < 8; step++) {
		for (i = 0; i < 256; i++) {
			crc = c->table[step - 1][i];
			c->table[step][i] = c->table[0][crc & 255] ^ crc >> 8;
		}
	}
}

static uint32_t get_le(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

uint32_t crc_add(const struct crc *c, uint32_t crc, const void *data,
		 size_t size)
{
	const uint32_t(*t)[256] = c->table;
	const uint8_t *p = data;
	uint32_t a, b;

	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		a = crc ^ get_le(p);
		b = get_le(p + 4);
		crc = t[7][a & 255] ^ t[6][a >> 8 & 255] ^ t[5][a >> 16 & 255] ^
		      t[4][a >> 24] ^ t[3][b & 255] ^ t[2][b >> 8 & 255] ^
		      t[1][b >> 16 & 255] ^ t[0][b >> 24];
	}
	for (; size; size--, p++)
		crc = t[0][(crc ^ *p) & 255] ^ crc >> 8;
	return ~crc;
}
