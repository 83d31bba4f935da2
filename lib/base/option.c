/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/option.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest name or value that the parser copies. */
#define TOKEN_SIZE OPTION_TEXT_SIZE

static void *value_at(const struct option_row *row, void *config)
{
	return (char *)config + row->offset;
}

static void set_int(const struct option_row *row, int64_t v, void *config)
{
	memcpy(value_at(row, config), &v, sizeof(v));
}

static void set_text(const struct option_row *row, const char *v, void *config)
{
	snprintf(value_at(row, config), OPTION_TEXT_SIZE, "%s", v ? v : "");
}

void option_defaults(const struct option_row *rows, size_t nr, void *config)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (rows[i].type == OPTION_TEXT)
			set_text(&rows[i], rows[i].text_init, config);
		else
			set_int(&rows[i], rows[i].init, config);
	}
}

/* Levenshtein distance; 99 where a name is too long to be near. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned prev[40], cur[40];
	size_t len = strlen(b), i, j;

	if (len >= ARRAY_SIZE(prev))
		return 99;
	for (j = 0; j <= len; j++)
		prev[j] = (unsigned)j;
	for (i = 0; a[i]; i++) {
		cur[0] = (unsigned)i + 1;
		for (j = 0; j < len; j++) {
			cur[j + 1] = prev[j] + (a[i] != b[j]);
			if (cur[j + 1] > prev[j + 1] + 1)
				cur[j + 1] = prev[j + 1] + 1;
			if (cur[j + 1] > cur[j] + 1)
				cur[j + 1] = cur[j] + 1;
		}
		memcpy(prev, cur, (len + 1) * sizeof(*prev));
	}
	return prev[len];
}

static const char *nearest_name(const struct option_row *rows, size_t nr,
				const char *name)
{
	const char *best = rows[0].name;
	unsigned best_distance = 1000, d;
	size_t i;

	for (i = 0; i < nr; i++) {
		d = edit_distance(name, rows[i].name);
		if (d < best_distance) {
			best_distance = d;
			best = rows[i].name;
		}
	}
	return best;
}

static int parse_bool(const char *value, int64_t *out)
{
	static const char *const yes[] = { "1", "yes", "true", "on" };
	static const char *const no[] = { "0", "no", "false", "off" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yes); i++) {
		if (!strcmp(value, yes[i]) || !strcmp(value, no[i])) {
			*out = !strcmp(value, yes[i]);
			return 0;
		}
	}
	return -EINVAL;
}

static int set_number(const struct option_row *row, const char *value,
		      void *config, const char *where)
{
	char *end;
	int64_t v;

	errno = 0;
	v = strtoll(value, &end, 0);
	if (errno || end == value || *end)
		return err(-EINVAL, "%s: %s=%s is not a number", where,
			   row->name, value);
	if (v < row->min || v > row->max)
		return err(-EINVAL,
			   "%s: %s=%" PRId64 " is outside %" PRId64
			   " .. %" PRId64,
			   where, row->name, v, row->min, row->max);
	set_int(row, v, config);
	return 0;
}

/* Words that begin with "no", "yes" are a boolean that has more to say. */
static bool is_yes_or_no(const struct option_row *row)
{
	return !strcmp(row->words[0], "no") && row->words[1] &&
	       !strcmp(row->words[1], "yes");
}

/* The index of the word of n bytes; -EINVAL names those there are. */
static int64_t find_word(const struct option_row *row, const char *word,
			 size_t n, const char *where)
{
	char known[128] = "";
	size_t used = 0;
	int64_t i;

	for (i = 0; row->words[i]; i++) {
		if (strlen(row->words[i]) == n &&
		    !memcmp(word, row->words[i], n))
			return i;
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used,
						 sizeof(known) - used, "%s%s",
						 i ? ", " : "", row->words[i]);
	}
	return err(-EINVAL, "%s: %s=%.*s: expected one of %s", where, row->name,
		   (int)n, word, known);
}

static int set_word(const struct option_row *row, const char *value,
		    void *config, const char *where)
{
	int64_t i;

	if (!is_yes_or_no(row) || parse_bool(value, &i))
		i = find_word(row, value, strlen(value), where);
	if (i < 0)
		return (int)i;
	set_int(row, i, config);
	return 0;
}

static int set_words(const struct option_row *row, const char *value,
		     void *config, const char *where)
{
	int64_t set = 0, i;
	size_t n;

	do {
		n = strcspn(value, ",");
		i = find_word(row, value, n, where);
		if (i < 0)
			return (int)i;
		set |= i ? (int64_t)1 << i : 0;
		value += n + (value[n] == ',');
	} while (value[0] || value[-1] == ',');
	set_int(row, set, config);
	return 0;
}

int option_set(const struct option_row *row, const char *value, void *config,
	       const char *where)
{
	int64_t v;

	switch (row->type) {
	case OPTION_INT:
		return set_number(row, value, config, where);
	case OPTION_BOOL:
		if (parse_bool(value, &v))
			return err(-EINVAL, "%s: %s=%s: expected yes or no",
				   where, row->name, value);
		set_int(row, v, config);
		return 0;
	case OPTION_WORD:
		return set_word(row, value, config, where);
	case OPTION_WORDS:
		return set_words(row, value, config, where);
	case OPTION_TEXT:
		if (strlen(value) >= OPTION_TEXT_SIZE)
			return err(-EINVAL, "%s: %s is longer than %d bytes",
				   where, row->name, OPTION_TEXT_SIZE - 1);
		set_text(row, value, config);
		return 0;
	}
	return -EINVAL;
}

/* Copies up to a stop character; quotes hide the stop. NULL: too long. */
static const char *take_token(const char *s, const char *stop, char *buf)
{
	size_t n = 0;
	bool quoted = false;

	for (; *s && (quoted || !strchr(stop, *s)); s++) {
		if (*s == '"') {
			quoted = !quoted;
			continue;
		}
		if (n + 1 >= TOKEN_SIZE)
			return NULL;
		buf[n++] = *s;
	}
	buf[n] = '\0';
	return quoted ? NULL : s;
}

static int parse_one(const struct option_row *rows, size_t nr, const char **s,
		     void *config)
{
	char name[TOKEN_SIZE], value[TOKEN_SIZE] = "";
	bool has_value;
	size_t i;

	*s = take_token(*s, "=,", name);
	if (!*s)
		return err(-EINVAL,
			   "option: name too long or quote not closed");
	has_value = **s == '=';
	if (has_value) {
		*s = take_token(*s + 1, ",", value);
		if (!*s)
			return err(
				-EINVAL,
				"option: value of %s is longer than %d bytes "
				"or its quote is not closed",
				name, TOKEN_SIZE - 1);
	}
	for (i = 0; i < nr && strcmp(name, rows[i].name); i++)
		;
	if (i == nr)
		return err(-EINVAL, "option: unknown \"%s\", nearest is \"%s\"",
			   name, nearest_name(rows, nr, name));
	if (!has_value && rows[i].type != OPTION_BOOL)
		return err(-EINVAL, "option: %s needs a value", name);
	return option_set(&rows[i], has_value ? value : "yes", config,
			  "option");
}

int option_parse(const struct option_row *rows, size_t nr, const char *text,
		 void *config)
{
	const char *s = text;
	int rc;

	while (s && *s) {
		if (*s == ',' || *s == ' ') {
			s++;
			continue;
		}
		rc = parse_one(rows, nr, &s, config);
		if (rc)
			return rc;
	}
	return 0;
}

static void write_words(const struct option_row *row, int64_t set, char *buf,
			size_t size)
{
	size_t used = 0;
	int64_t i;

	snprintf(buf, size, "%s", set ? "" : row->words[0]);
	for (i = 1; row->words[i] && used < size; i++)
		if (set >> i & 1)
			used += (size_t)snprintf(buf + used, size - used,
						 "%s%s", used ? "," : "",
						 row->words[i]);
}

const char *option_text(const struct option_row *row, const void *config,
			char *buf, size_t size)
{
	const char *at = (const char *)config + row->offset;
	int64_t v = 0;

	if (row->type != OPTION_TEXT)
		memcpy(&v, at, sizeof(v));
	switch (row->type) {
	case OPTION_INT:
		snprintf(buf, size, "%" PRId64, v);
		break;
	case OPTION_BOOL:
		snprintf(buf, size, "%s", v ? "yes" : "no");
		break;
	case OPTION_WORD:
		snprintf(buf, size, "%s", row->words[v]);
		break;
	case OPTION_WORDS:
		write_words(row, v, buf, size);
		break;
	case OPTION_TEXT:
		snprintf(buf, size, "%s", at);
		break;
	}
	return buf;
}
