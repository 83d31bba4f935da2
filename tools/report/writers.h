/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The three outputs of one report. */
#ifndef REPORT_WRITERS_H
#define REPORT_WRITERS_H

#include "json.h"
#include "report/model.h"

struct class_word {
	const char *id, *text; /* for programs, for people */
};

extern const struct class_word class_words[NR_TIME_CLASSES];
extern const struct class_word starve_words[NR_STARVES];

/* Indices of kinds, longest total first; the caller frees. NULL: no memory. */
uint32_t *kinds_in_order(const struct report *r);

/* The fact that a class needs; NULL: the recording has it. */
const char *class_lacks(const struct report *r, enum time_class c);

/* Facts that the recording does not have, fact by fact; calls back for each. */
void each_lack(const struct report *r, void (*tell)(void *u, const char *what),
	       void *u);

/* The name of kind i of those that met there. */
const char *futex_kind_name(const struct report *r, const struct futex *f,
			    uint32_t i);

/* @kind: NULL, or the only kind to show. Return: 0; -ENOMEM. */
int text_write(const struct report *r, FILE *out, const char *kind);

/* An object; @j is open for members of it afterwards if @is_open. */
int json_write(const struct report *r, struct json *j, bool is_open);

/* json_gains.c: a member of the report. */
void json_gains(const struct report *r, struct json *j);

/* json_requests.c: members of the report. */
void json_requests(const struct report *r, struct json *j);

/* json_probe.c: members of the report, and of a worker. */
void json_probe(const struct report *r, struct json *j);
void json_probed_worker(const struct lane *l, struct json *j);

/* A self-contained file. Return: 0; -ENOMEM; the stream tells of others. */
int html_write(const struct report *r, FILE *out);

#endif
