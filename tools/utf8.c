/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "utf8.h"

#include <string.h>

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

/* For a character that is UTF-8. */
static int is_order(const uint8_t *p)
{
	if (*p < 0x20 || *p == 0x7f)
		return 1;
	if (*p == 0xc2)
		return p[1] < 0xa0;
	if (*p != 0xe2)
		return 0;
	/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
	if (p[1] == 0x80)
		return (p[2] >= 0x8e && p[2] <= 0x8f) ||
		       (p[2] >= 0xa8 && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

void utf8_tame_bytes(char *text, size_t size, const char *kept)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t i, n;

	for (i = 0; i < size; i += n ? n : 1) {
		n = utf8_size(p + i, size - i);
		if (n == 1 && strchr(kept, text[i]))
			continue;
		if (!n || is_order(p + i))
			memset(text + i, '?', n ? n : 1);
	}
}

void utf8_tame(char *text)
{
	utf8_tame_bytes(text, strlen(text), "");
}
