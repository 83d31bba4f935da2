/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top: how lines of a page grow, cell by cell. */
#ifndef TOOLS_TOP_PAGE_H
#define TOOLS_TOP_PAGE_H

#include "top/top.h"

/* A line more; without memory the page has one less. */
void page_line(struct top_page *p, enum cli_paint paint);
void page_head(struct top_page *p);

/*
 * A cell of so many columns, to the right; to the left where width is
 * negative. Text without one: as wide as it is. From the first cell on that
 * has no room left, the rest of the line stays empty.
 */
void page_cell(struct top_page *p, int width, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Words of a program: what a terminal may not be given becomes '?'. */
void page_name(struct top_page *p, int width, const char *name);

/* A number in five columns: 812, 5.4k, 221k, 1.1M; steps of 1000 or 1024. */
const char *page_scaled(char to[16], double v, double step);
void page_number(struct top_page *p, int width, double v);
void page_bytes(struct top_page *p, int width, double v);

/* "  5.4k tasks/s" */
void page_rate(struct top_page *p, double v, const char *what);

/* So much of a bar; none where the line is narrow. */
void page_bar(struct top_page *p, double share);
int page_bar_width(const struct top_page *p);

/* A sentence, wrapped. */
void page_text(struct top_page *p, const char *text);

#endif
