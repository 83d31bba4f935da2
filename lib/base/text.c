/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/text.h"

#include "base/quote.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool make_room(struct text *t, size_t more)
{
	size_t size = t->size ? t->size : 4096;
	char *buf;

	while (size - t->used <= more)
		size *= 2;
	if (size == t->size)
		return true;
	buf = realloc(t->buf, size);
	if (!buf) {
		t->has_failed = true;
		return false;
	}
	t->buf = buf;
	t->size = size;
	return true;
}

void text_put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (t->has_failed || n < 0 || !make_room(t, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	t->used += (size_t)n;
}

void text_put_quoted(struct text *t, const char *s)
{
	char c[QUOTE_SIZE];

	text_put(t, "\"");
	while ((s = quote_next(s, c)))
		text_put(t, "%s", c);
	text_put(t, "\"");
}
