/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Text for people and for programs: file names that cannot harm a terminal,
 * JSON strings, sizes.
 *
 * A file name is any bytes but '/' and 0. Shown to a person, whatever could
 * steer a terminal (control characters, marks that turn the direction of
 * writing, bytes that are no UTF-8) becomes \xNN or \n. In JSON a byte that is
 * no UTF-8 becomes the lone surrogate \udcNN, which Python's os.fsencode()
 * turns back into that byte.
 */
#ifndef DUPES_TEXT_H
#define DUPES_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Room for a size as text: "1023.9 MiB". */
struct text {
	char s[32];
};

void text_name(FILE *f, const char *name);
void text_json(FILE *f, const char *name);
struct text text_size(uint64_t bytes);

#endif
