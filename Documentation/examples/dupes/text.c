/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Text for people and for programs, see text.h. The UTF-8 reader takes the
 * shortest form only and no surrogates, as the standard demands.
 */
#include "text.h"
#include <stdbool.h>

/* Length of the character at s and its code, 0 if it is no UTF-8. */
static int utf8_next(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int i, len;

	if (*s < 0x80) {
		*code = *s;
		return 1;
	}
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	len = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	*code = *s & (0xff >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[len] || *code > 0x10ffff)
		return 0;
	return *code >= 0xd800 && *code <= 0xdfff ? 0 : len;
}

/* Could this character steer a terminal or turn text around? */
static bool is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

void text_name(FILE *f, const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	uint32_t code = 0;
	int i, len;

	for (; *s; s += len) {
		len = utf8_next(s, &code);
		if (len && code == '\\') {
			fputs("\\\\", f);
		} else if (len && code == '\n') {
			fputs("\\n", f);
		} else if (len && !is_unsafe(code)) {
			fwrite(s, 1, len, f);
		} else {
			len = len ? len : 1;
			for (i = 0; i < len; i++)
				fprintf(f, "\\x%02x", s[i]);
		}
	}
}

void text_json(FILE *f, const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	uint32_t code = 0;
	int len;

	putc('"', f);
	for (; *s; s += len) {
		len = utf8_next(s, &code);
		if (!len) {
			fprintf(f, "\\udc%02x", *s);
			len = 1;
		} else if (code == '"' || code == '\\') {
			fprintf(f, "\\%c", (int)code);
		} else if (is_unsafe(code)) {
			fprintf(f, "\\u%04x", (unsigned)code);
		} else {
			fwrite(s, 1, len, f);
		}
	}
	putc('"', f);
}

struct text text_size(uint64_t bytes)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB" };
	double x = (double)bytes / 1024;
	struct text t;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(t.s, sizeof(t.s), "%u B", (unsigned)bytes);
		return t;
	}
	/* 1023.95 would be shown as 1024.0 */
	while (x >= 1023.95 && i + 1 < sizeof(unit) / sizeof(*unit)) {
		x /= 1024;
		i++;
	}
	snprintf(t.s, sizeof(t.s), "%.1f %s", x, unit[i]);
	return t;
}
