/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A text that grows. Once there is no memory it stays as it is; the buffer is
 * whoever's that has begun it with zeroes.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *buf; /* ends with a NUL; NULL: nothing was put */
	size_t used, size;
	bool has_failed;
};

__attribute__((format(printf, 2, 3))) void text_put(struct text *t,
						    const char *fmt, ...);

/* Between quotes of JSON. */
void text_put_quoted(struct text *t, const char *s);

#endif
