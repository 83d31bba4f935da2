/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/about.h"

#include "trace/counters.h"
#include "trace/file.h"
#include "trace/ring.h"

#include <stdio.h>

#define COUNTER_ROW(name, text, unit, help) { text, unit },
static const struct {
	const char *name, *unit;
} counter_rows[] = { COUNTER_TABLE(COUNTER_ROW) };

#define EVENT_ROW(name, text, a, b, help) { text, a, b },
static const struct {
	const char *name, *a, *b;
} event_rows[] = { EVENT_TABLE(EVENT_ROW) };

static void write_about(struct trace_file *f)
{
	size_t i;

	chunk_begin(f, LKDF_CHUNK_ABOUT);
	chunk_text(f, "lkdf");
	chunk_number(f, NR_COUNTERS);
	for (i = 0; i < NR_COUNTERS; i++) {
		chunk_text(f, counter_rows[i].name);
		chunk_text(f, counter_rows[i].unit);
	}
	chunk_number(f, NR_EVENTS);
	for (i = 0; i < NR_EVENTS; i++) {
		chunk_text(f, event_rows[i].name);
		chunk_text(f, event_rows[i].a);
		chunk_text(f, event_rows[i].b);
	}
	chunk_end(f);
}

/* Lines "key=value". */
static void write_facts(struct trace_file *f, const char *text)
{
	char key[64], value[LKDF_MAX_TEXT + 1];
	int n;

	chunk_begin(f, LKDF_CHUNK_FACTS);
	while (!chunk_is_full(f) &&
	       sscanf(text, "%63[^=\n]=%255[^\n]%n", key, value, &n) == 2) {
		chunk_text(f, key);
		chunk_text(f, value);
		text += n + (text[n] == '\n');
	}
	chunk_end_if_any(f);
}

void about_write(struct trace_file *f, const char *facts)
{
	write_about(f);
	write_facts(f, facts);
}
