/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/quote.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character that begins with s[0] >= 0x80; 0: it is none. */
static size_t utf8_size(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = s[0] & 0x7fu >> n;

	if (s[0] < 0xc0 || s[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

const char *quote_next(const char *text, char to[QUOTE_SIZE])
{
	const unsigned char *s = (const unsigned char *)text;
	size_t size = 1;

	if (!*s)
		return NULL;
	if (*s == '"' || *s == '\\') {
		snprintf(to, QUOTE_SIZE, "\\%c", *s);
	} else if (*s < 0x20) {
		snprintf(to, QUOTE_SIZE, "\\u%04x", *s);
	} else if (*s < 0x80 || (size = utf8_size(s)) != 0) {
		memcpy(to, s, size);
		to[size] = 0;
	} else {
		memcpy(to, "\xef\xbf\xbd", 4);
		size = 1;
	}
	return text + size;
}
