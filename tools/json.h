/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Writes JSON to a stream, commas, indentation and escapes included. A key of
 * NULL is for members of an array. Numbers that JSON has no word for are null.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned depth;
	bool is_first, is_flat; /* flat: all on one line from here */
	unsigned flat_depth;
};

void json_init(struct json *j, FILE *out);
void json_open(struct json *j, const char *key, char bracket);
/* As json_open(), but what is inside stays on one line. */
void json_open_flat(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_text(struct json *j, const char *key, const char *value);
/* A value of NULL is null. */
void json_text_or_null(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_number(struct json *j, const char *key, double value);
/* With so many digits after the point. */
void json_fixed(struct json *j, const char *key, double value, int digits);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
