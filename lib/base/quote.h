/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A text of the user's between the quotes of JSON or DOT, one character at a
 * time. The output is UTF-8 for any input: a byte that is none becomes U+FFFD.
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#define QUOTE_SIZE 8

/*
 * Writes the first character of the text, escaped where it must be, and a NUL
 * to @to. Return: the rest of the text; NULL: the text is empty.
 */
const char *quote_next(const char *text, char to[QUOTE_SIZE]);

#endif
