/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text that comes from elsewhere: it may be no UTF-8, and orders for a
 * terminal. */
#ifndef TOOLS_UTF8_H
#define TOOLS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at p, which is not 0; 0: it is none. */
size_t utf8_size(const uint8_t *p, size_t left);

/*
 * Makes a text of so many bytes fit for any terminal: what is no UTF-8, control
 * characters, those of C1 and DEL too, and orders of direction become question
 * marks, one a byte. Characters of kept stay: "" or "\n". All text of another
 * process or of a file comes by here before anybody uses it.
 */
void utf8_tame_bytes(char *text, size_t size, const char *kept);

/* Texts of one line keep no such character. */
void utf8_tame(char *text);

#endif
