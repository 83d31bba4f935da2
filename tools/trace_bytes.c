/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace_bytes.h"

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

/* Bytes of the UTF-8 character at p, 0: none. */
static size_t utf8_size(const uint8_t *p, size_t left)
{
	uint32_t c = p[0];
	size_t n, i;

	if (c < 0x80)
		return c != 0;
	n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || n > left)
		return 0;
	c &= 0x7fu >> n;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

void trace_clean(char *text, size_t size)
{
	size_t i, n;

	for (i = 0; i < size; i += n) {
		n = utf8_size((const uint8_t *)text + i, size - i);
		if (!n) {
			text[i] = '?';
			n = 1;
		}
	}
}
