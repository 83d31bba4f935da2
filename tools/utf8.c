/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "utf8.h"

size_t utf8_size(const uint8_t *p, size_t left)
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
