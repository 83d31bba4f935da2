/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Columns of the text: text.c and text_tables.c. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report/model.h"

#define NAME_WIDTH 16

/* Columns of a text of which every character is one wide. */
int text_width(const char *text);

/* A name, cut to its column; one byte of UTF-8 is one column at least. */
void text_name(FILE *out, const char *name, int width);
void text_cell(FILE *out, int width, const char *text);

/* A change in words. */
void gain_text(const struct gain *g, char *to, size_t size);
/* The replay and what it predicts. */
void text_gains(const struct report *r, FILE *out);

/* Limits, waits, futex words, devices. */
void text_tables(const struct report *r, FILE *out);

#endif
