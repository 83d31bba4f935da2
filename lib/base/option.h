/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Options are one table: name, type, range, default, unit, help. It feeds the
 * parser, the environment, "lkdf doctor" and the manual page, so they cannot
 * drift apart. The table itself is api/config.c.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_INT, /* int64_t */
	OPTION_BOOL, /* int64_t, 0 or 1: yes/no, true/false, on/off, 1/0 */
	OPTION_WORD, /* int64_t, index into words */
	OPTION_WORDS, /* int64_t, a bit for the index of each word that is
		       * given, with commas between; the first word is none */
	OPTION_TEXT, /* char[OPTION_TEXT_SIZE] */
};

#define OPTION_TEXT_SIZE 512

struct option_row {
	const char *name;
	enum option_type type;
	size_t offset; /* of the value in the config struct */
	int64_t min, max, init; /* OPTION_WORD: init is the index */
	const char *const *words; /* NULL-terminated; WORD, WORDS only */
	const char *text_init; /* OPTION_TEXT only; NULL is "" */
	const char *unit;
	const char *help;
};

/* Puts every default into config. */
void option_defaults(const struct option_row *rows, size_t nr, void *config);

/*
 * Parses "name=value,name=value" into config. A value may be quoted with
 * double quotes to hold commas. -EINVAL names the offending key, the range or
 * the nearest known name.
 */
int option_parse(const struct option_row *rows, size_t nr, const char *text,
		 void *config);

/*
 * Sets one option; where names the value's origin ("option", "LKDF_WORKERS").
 */
int option_set(const struct option_row *row, const char *value, void *config,
	       const char *where);

/* Writes the value as text; returns buf. */
const char *option_text(const struct option_row *row, const void *config,
			char *buf, size_t size);

#endif
