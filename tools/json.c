/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A byte that is no UTF-8 becomes U+FFFD. */
#include "json.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out, .is_first = true };
}

/* A control character, of C1 too. */
static void put_code(struct json *j, uint8_t c)
{
	static const char hex[] = "0123456789abcdef";

	fprintf(j->out, "\\u00%c%c", hex[c >> 4], hex[c & 15]);
}

static void put_text(struct json *j, const char *text)
{
	const uint8_t *c, *end;
	size_t size;

	c = (const uint8_t *)text;
	end = c + strlen(text);
	fputc('"', j->out);
	for (; c < end; c += size ? size : 1) {
		size = utf8_size(c, (size_t)(end - c));
		if (*c == '"' || *c == '\\')
			fprintf(j->out, "\\%c", *c);
		else if (*c == '\n')
			fputs("\\n", j->out);
		else if (*c == '\t')
			fputs("\\t", j->out);
		else if (*c < 0x20 || *c == 0x7f)
			put_code(j, *c);
		else if (size == 2 && *c == 0xc2 && c[1] < 0xa0)
			put_code(j, c[1]);
		else if (size)
			fwrite(c, 1, size, j->out);
		else
			fputs("\xef\xbf\xbd", j->out);
	}
	fputc('"', j->out);
}

static void new_line(struct json *j)
{
	if (j->is_flat)
		return;
	fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
}

static void begin(struct json *j, const char *key)
{
	if (!j->is_first)
		fputs(j->is_flat ? ", " : ",", j->out);
	if (j->depth)
		new_line(j);
	j->is_first = false;
	if (key) {
		put_text(j, key);
		fputs(": ", j->out);
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	fputc(bracket, j->out);
	j->depth++;
	j->is_first = true;
}

void json_open_flat(struct json *j, const char *key, char bracket)
{
	json_open(j, key, bracket);
	if (j->is_flat)
		return;
	j->is_flat = true;
	j->flat_depth = j->depth;
}

void json_close(struct json *j, char bracket)
{
	bool was_flat = j->is_flat;

	if (j->is_flat && j->depth == j->flat_depth)
		j->is_flat = false;
	j->depth--;
	if (!j->is_first && !was_flat)
		new_line(j);
	fputc(bracket, j->out);
	j->is_first = false;
	if (!j->depth)
		fputc('\n', j->out);
}

void json_text(struct json *j, const char *key, const char *value)
{
	begin(j, key);
	put_text(j, value ? value : "");
}

void json_text_or_null(struct json *j, const char *key, const char *value)
{
	if (value)
		json_text(j, key, value);
	else
		json_null(j, key);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	begin(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_number(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->out, "%.6g", value);
}

void json_fixed(struct json *j, const char *key, double value, int digits)
{
	begin(j, key);
	if (isfinite(value))
		fprintf(j->out, "%.*f", digits, value);
	else
		fputs("null", j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->out);
}
